/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "../target/target.h"
#include "../text/progress.h"
#include "../text/units.h"

#include <linux_port.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool command_json;

void command_usage(const struct command *command, const char *format, ...) {
  va_list arguments;

  (void)fprintf(stderr, "spate %s: ", command->name);
  va_start(arguments, format);
  fail_say(format, arguments);
  va_end(arguments);
  (void)fprintf(stderr, "\nSee spate %s --help.\n", command->name);
  exit(EXIT_USAGE);
}

/* Refuses empty words. getopt has moved the words after the options. */
static void check_words(const struct command *command, int count, char **words) {
  for (int i = optind; i < count; i++)
    if (words[i][0] == '\0') command_usage(command, "an argument is empty: is a shell variable not set?");
}

int command_option(const struct command *command, int count, char **words, const struct option *options) {
  for (;;) {
    static char name[32];
    char *called = words[0];
    (void)snprintf(name, sizeof name, "spate %s", command->name);
    words[0] = name; /* getopt prints it */
    const int got = getopt_long(count, words, "hv", options, NULL);
    words[0] = called;
    switch (got) {
    case OPTION_HELP: (void)fputs(command->help, stdout); exit(EXIT_DONE);
    case OPTION_VERBOSE: linux_port_verbose(true); break;
    case OPTION_JSON:
      if (strcmp(optarg, "json") != 0) command_usage(command, "--output-format %s: the only format is json", optarg);
      command_json = true;
      break;
    case OPTION_BIND: target_bind = true; break;
    case OPTION_PROGRESS:
      if (strcmp(optarg, "json") != 0 && strcmp(optarg, "none") != 0)
        command_usage(command, "--progress %s: the choices are json and none", optarg);
      progress_style = optarg[0] == 'j' ? PROGRESS_JSON : PROGRESS_NONE;
      break;
    case '?': (void)fprintf(stderr, "See spate %s --help.\n", command->name); exit(EXIT_USAGE);
    case -1: check_words(command, count, words); return -1;
    default: return got;
    }
  }
}

char **command_words(const struct command *command, int count, char **words, int wanted, const char *what) {
  if (count - optind != wanted) command_usage(command, "%s, not %d arguments", what, count - optind);
  return words + optind;
}

uint64_t command_bytes(const struct command *command, const char *option, const char *text, uint64_t least,
                       uint64_t most) {
  char least_text[UNITS_TEXT_BYTES], most_text[UNITS_TEXT_BYTES];
  uint64_t bytes;

  if (!units_bytes(text, &bytes))
    command_usage(command, "%s \"%s\" is not a size; examples are 500MB, 8GiB and 4096", option, text);
  if (bytes < least || bytes > most)
    command_usage(command, "%s %s is not between %s and %s", option, text, units_text(least, least_text),
                  units_text(most, most_text));
  return bytes;
}
