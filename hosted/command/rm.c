/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes files and empty directories. */
#include "../volume.h"
#include "command.h"

static const struct option options[] = {OPTIONS_COMMON};

static enum exit_status run(int count, char **words) {
  static struct volume volume;

  while (command_option(&command_rm, count, words, options) != -1) {
  }
  if (count - optind < 2) command_usage(&command_rm, "rm takes a TARGET and the paths of files on it");
  volume_open(&volume, words[optind], TARGET_WRITE);
  for (int i = optind + 1; i < count; i++)
    expect(spate_exfat_delete(&volume.exfat, words[i]), words[i]);
  volume_close(&volume);
  return EXIT_DONE;
}

const struct command command_rm = {
    "rm", "delete files",
    "Usage: spate rm TARGET PATH... [options]\n"
    "\n"
    "Deletes files and empty directories, and tells the drive that their blocks are free (trim).\n"
    "\n" HELP_COMMON,
    run};
