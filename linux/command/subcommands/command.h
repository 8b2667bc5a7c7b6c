/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of spate, one file each. A command parses its own options, does its work, and returns an exit status. */
#ifndef SPATE_COMMAND_COMMAND_H
#define SPATE_COMMAND_COMMAND_H

#include "../text/fail.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

struct command {
  const char *name;
  const char *summary;                              /* one line, for spate --help */
  const char *help;                                 /* the whole text of spate NAME --help */
  enum exit_status (*run)(int count, char **words); /* words[0] is the command's name */
};

extern const struct command command_calibrate, command_doctor, command_extract, command_format, command_info,
    command_ls, command_record, command_recover, command_release, command_rm, command_speedtest, command_health,
    command_trim, command_erase, command_replay, command_check, command_plan, command_verify, command_join,
    command_protect, command_trigger, command_monitor;

/* The options that every command takes. A command's own options have values from 1000 on. */
enum { OPTION_HELP = 'h', OPTION_VERBOSE = 'v', OPTION_JSON = 256, OPTION_BIND, OPTION_PROGRESS };
#define OPTIONS_COMMON                                                                                                 \
  {"help", no_argument, NULL, OPTION_HELP}, {"verbose", no_argument, NULL, OPTION_VERBOSE},                            \
      {"output-format", required_argument, NULL, OPTION_JSON}, {"bind", no_argument, NULL, OPTION_BIND},               \
      {"progress", required_argument, NULL, OPTION_PROGRESS}, {                                                        \
    NULL, 0, NULL, 0                                                                                                   \
  }
#define HELP_OF_HELP "  -h, --help             explain the command\n"
#define HELP_COMMON                                                                                                    \
  "  --bind                 vfio: and pci: take the drive from the kernel's driver, and give it back at the end\n"     \
  "  --output-format=json   one JSON document on standard output\n"                                                    \
  "  --progress none|json   no progress, or a line of JSON each second, on standard error\n"                           \
  "  -v, --verbose          print the library's messages on standard error\n"                                          \
  "  -h, --help             explain the command\n"

/*
 * Returns the next of the command's own options, −1 after the last. Handles the common options itself. `optarg` and
 * `optind` are those of getopt. Ends the program if an option is wrong.
 */
int command_option(const struct command *command, int count, char **words, const struct option *options);
extern bool command_json;

/* Prints the message and how to get help, and ends the program. */
__attribute__((noreturn, format(printf, 2, 3))) void command_usage(const struct command *command, const char *format,
                                                                   ...);

/* Returns the arguments after the options. Ends the program unless there are exactly `wanted` of them. */
char **command_words(const struct command *command, int count, char **words, int wanted, const char *what);

uint64_t command_bytes(const struct command *command, const char *option, const char *text, uint64_t least,
                       uint64_t most);

#endif
