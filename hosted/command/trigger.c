/* SPDX-License-Identifier: Apache-2.0 */
/* Has a running recorder keep what it recorded. */
#include "../recording/control.h"
#include "../text/json.h"
#include "command.h"

#include <stdio.h>

static const struct option options[] = {OPTIONS_COMMON};

static enum exit_status run(int count, char **words) {
  char text[CONTROL_TEXT_BYTES];
  bool done;

  while (command_option(&command_trigger, count, words, options) != -1) {
  }
  const char *target = command_words(&command_trigger, count, words, 1, "trigger takes a TARGET")[0];
  if (!control_ask(target, CONTROL_TRIGGER, "", &done, text))
    fail(EXIT_FAILED, "nobody records to %s with --keep, at least not this user or root", target);
  if (!done) fail(EXIT_FAILED, "%s: %s", target, text);
  if (!command_json) {
    (void)printf("%s\n", text);
    return EXIT_DONE;
  }
  struct json json = {.to = stdout};
  json_open(&json, NULL, '{');
  json_string(&json, "kept", text);
  json_close(&json, '}');
  return EXIT_DONE;
}

const struct command command_trigger = {
    "trigger", "keep what a running recorder has recorded",
    "Usage: spate trigger TARGET [options]\n"
    "\n"
    "Tells the spate record TARGET --keep that is running to keep the time before and after this moment (--before,\n"
    "--after) as one file, and prints its path. If a file is being kept already, that becomes longer. Works for the\n"
    "user of the recorder and for root. The signal SIGUSR1 does the same.\n"
    "\n" HELP_COMMON "\n"
    "  spate trigger /dev/nvme0n1\n",
    run};
