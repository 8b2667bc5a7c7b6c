/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes files and empty directories. */
#include "../text/failure.h"
#include "../volume.h"
#include "command.h"

static const struct option options[] = {OPTIONS_COMMON};

static bool removed(struct volume *volume, const char *path) {
  const enum spate_error error = spate_exfat_delete(&volume->exfat, path);

  if (error != SPATE_OK) fail_tell("%s: %s. %s", path, spate_error_name(failure_of(error)), failure_help(error));
  return error == SPATE_OK;
}

static enum exit_status run(int count, char **words) {
  static struct volume volume;
  bool failed = false;

  while (command_option(&command_rm, count, words, options) != -1) {
  }
  if (count - optind < 2) command_usage(&command_rm, "rm takes a TARGET and the paths of files on it");
  volume_open(&volume, words[optind], TARGET_WRITE);
  for (int i = optind + 1; i < count; i++)
    failed = !removed(&volume, words[i]) || failed;
  volume_close(&volume);
  return failed ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_rm = {
    "rm", "delete files",
    "Usage: spate rm TARGET PATH... [options]\n"
    "\n"
    "Deletes files and empty directories, and tells the drive that their blocks are free (trim).\n"
    "A path that cannot be deleted is named on standard error, and the command continues: exit status 1.\n"
    "\n" HELP_COMMON,
    run};
