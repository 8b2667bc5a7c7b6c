/* SPDX-License-Identifier: Apache-2.0 */
/* Protects files from deletion: the attribute "read only". */
#include "../recording/ask.h"
#include "../text/failure.h"
#include "../volume.h"
#include "command.h"

enum { OFF = 1000 };

static const struct option options[] = {{"off", no_argument, NULL, OFF}, OPTIONS_COMMON};

/* A recorder that is running has the volume. Returns how many paths it has taken; `failed`: not all are marked. */
static int asked(const char *target, char **paths, int count, bool on, bool *failed) {
  char text[CONTROL_TEXT_BYTES], why[TARGET_WHY_BYTES];

  for (int i = 0; i < count; i++) {
    const enum answer answer = ask(target, on ? CONTROL_PROTECT : CONTROL_UNPROTECT, paths[i], text);
    if (answer == ANSWER_NOBODY) return i;
    /* Anybody can take the address where nobody records: then the volume is free. */
    if (answer == ANSWER_REFUSED && !target_in_use(target, why, sizeof why)) return i;
    if (answer == ANSWER_REFUSED) fail(EXIT_FAILED, "%s: %s", target, text);
    if (answer == ANSWER_FAILED) fail_tell("%s: %s", paths[i], text);
    *failed |= answer == ANSWER_FAILED;
  }
  return count;
}

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
  const int first = optind + 1 + asked(words[optind], words + optind + 1, count - optind - 1, on, &failed);
  if (first == count) return failed ? EXIT_FAILED : EXIT_DONE;
  volume_open(&volume, words[optind], TARGET_WRITE);
  for (int i = first; i < count; i++)
    failed = !protected(&volume, words[i], on) || failed;
  volume_close(&volume);
  return failed ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_protect = {
    "protect", "protect files from deletion",
    "Usage: spate protect TARGET PATH... [options]\n"
    "\n"
    "Marks files and directories as read only. spate rm and PCs then refuse to delete them.\n"
    "A running spate record TARGET --keep does it for this command, so that it never deletes that part. It "
    "does\n"
    "so for its user and for root. While a spate record without --keep is running, nothing can be marked.\n"
    "A path that cannot be marked is named on standard error, and the command continues: exit status 1.\n"
    "\n"
    "  --off                  remove the mark\n" HELP_COMMON "\n"
    "  spate protect rec.img run1.raw run2.raw\n",
    run};
