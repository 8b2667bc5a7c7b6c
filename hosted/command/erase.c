/* SPDX-License-Identifier: Apache-2.0 */
/* Format NVM with secure erase: nothing that was on the drive can be read again, and it is as new. */
#include "../target/admin.h"
#include "../text/progress.h"
#include "command.h"
#include "confirm.h"

#include <stdio.h>

enum { YES = 1000, CRYPTO };

static const struct option options[] = {
    {"yes", no_argument, NULL, YES}, {"crypto", no_argument, NULL, CRYPTO}, OPTIONS_COMMON};

/* A drive under the library's own driver may have no I/O queue meanwhile, so it is opened twice. */
static void show(const char *name, bool yes) {
  struct target target;
  char why[ADMIN_WHY_BYTES];

  target_open(&target, name, TARGET_WRITE, 0);
  if (!admin_is_drive(&target, why)) fail(EXIT_REFUSED, "%s. Nothing was erased", why);
  if (!confirm_describe(&target)) (void)fprintf(stderr, "%s: nothing that is known was found on it\n", name);
  confirm(name, "erase", yes);
  target_close(&target);
}

static enum exit_status run(int count, char **words) {
  enum spate_nvme_erase erase = SPATE_NVME_ERASE_USER;
  struct target target;
  struct progress progress;
  char why[ADMIN_WHY_BYTES];
  bool yes = false;

  for (int got; (got = command_option(&command_erase, count, words, options)) != -1;) {
    if (got == YES) yes = true;
    if (got == CRYPTO) erase = SPATE_NVME_ERASE_CRYPTO;
  }
  const char *name = *command_words(&command_erase, count, words, 1, "erase takes one TARGET");
  show(name, yes);
  target_open(&target, name, TARGET_CONTROLLER, 0);
  (void)fprintf(stderr, "%s: erasing. Seconds, or many minutes, as the drive likes; do not cut its power\n", name);
  progress_begin(&progress, "", 0);
  const bool erased = admin_format(&target, erase, why);
  target_close(&target);
  if (!erased) fail(EXIT_FAILED, "%s", why);
  (void)fprintf(stderr, "%s: erased in %.1f s\n", name, progress_seconds(&progress));
  return EXIT_DONE;
}

const struct command command_erase = {
    "erase", "erase a drive for good (Format NVM): it is as new afterwards",
    "Usage: spate erase TARGET [options]\n"
    "\n"
    "Formats the first namespace of an NVMe drive with secure erase. Nothing that was on it can be read again. Its "
    "block\n"
    "size stays. Drives are measured best after it: write cache and spare blocks are as new. Not every drive can.\n"
    "\n"
    "  --crypto               let the drive forget its key instead: faster, on drives that encrypt\n"
    "  --yes                  do not ask\n" HELP_COMMON "\n"
    "  spate erase /dev/nvme0n1\n"
    "  spate erase vfio:0000:01:00.0 --bind --crypto\n",
    run};
