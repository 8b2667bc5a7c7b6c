/* SPDX-License-Identifier: Apache-2.0 */
/* Protects files from deletion: the attribute "read only". */
#include "../text/failure.h"
#include "../volume.h"
#include "command.h"

enum { OFF = 1000 };

static const struct option options[] = {{"off", no_argument, NULL, OFF}, OPTIONS_COMMON};

static bool protected(struct volume *volume, const char *path, bool on) {
  const enum spate_error error = spate_exfat_protect(&volume->exfat, path, on);

  if (error != SPATE_OK) fail_tell("%s: %s. %s", path, spate_error_name(failure_of(error)), failure_help(error));
  return error == SPATE_OK;
}

static enum exit_status run(int count, char **words) {
  static struct volume volume;
  bool failed = false;
  bool on = true;

  while (command_option(&command_protect, count, words, options) == OFF)
    on = false;
  if (count - optind < 2) command_usage(&command_protect, "protect takes a TARGET and the paths of files on it");
  volume_open(&volume, words[optind], TARGET_WRITE);
  for (int i = optind + 1; i < count; i++)
    failed = !protected(&volume, words[i], on) || failed;
  volume_close(&volume);
  return failed ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_protect = {
    "protect", "protect files from deletion",
    "Usage: spate protect TARGET PATH... [options]\n"
    "\n"
    "Marks files and directories as read only. spate rm and PCs then refuse to delete them.\n"
    "A path that cannot be marked is named on standard error, and the next one follows: exit status 1.\n"
    "\n"
    "  --off                  remove the mark\n" HELP_COMMON "\n"
    "  spate protect rec.img run1.raw run2.raw\n",
    run};
