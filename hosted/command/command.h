/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of spate: a file each. A command parses its own options, does its work, and returns an exit status. */
#ifndef SPATE_HOSTED_COMMAND_H
#define SPATE_HOSTED_COMMAND_H

#include "../text/fail.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

struct command {
  const char *name;
  const char *summary;                              /* one line, for spate --help */
  const char *help;                                 /* all of spate NAME --help */
  enum exit_status (*run)(int count, char **words); /* words[0] is the command's name */
};

extern const struct command command_extract, command_format, command_info, command_ls, command_record, command_recover,
    command_rm, command_verify;

/* What every command takes; its own options have values from 1000 on. */
enum { OPTION_HELP = 'h', OPTION_VERBOSE = 'v', OPTION_JSON = 256 };
#define OPTIONS_COMMON                                                                                                 \
  {"help", no_argument, NULL, OPTION_HELP}, {"verbose", no_argument, NULL, OPTION_VERBOSE},                            \
      {"output-format", required_argument, NULL, OPTION_JSON}, {                                                       \
    NULL, 0, NULL, 0                                                                                                   \
  }
#define HELP_COMMON                                                                                                    \
  "  --output-format=json   one JSON document on standard output\n"                                                    \
  "  -v, --verbose          what the library has to say, on standard error\n"                                          \
  "  -h, --help             explain the command\n"

/*
 * The next option of the command's own, −1 at their end; the common ones are dealt with. `optarg` and `optind` are
 * getopt's. Ends the program when an option is wrong.
 */
int command_option(const struct command *command, int count, char **words, const struct option *options);
extern bool command_json;

/* Ends the program with the sentence, and how to get help. */
__attribute__((noreturn, format(printf, 2, 3))) void command_usage(const struct command *command, const char *format,
                                                                   ...);

/* The first of the words behind the options. Ends the program unless there are exactly `wanted` of them. */
char **command_words(const struct command *command, int count, char **words, int wanted, const char *what);

uint64_t command_bytes(const struct command *command, const char *option, const char *text, uint64_t least,
                       uint64_t most);

#endif
