/* SPDX-License-Identifier: Apache-2.0 */
/* Erases a drive by Format NVM with secure erase, or by Sanitize. Its old data cannot be read again. */
#include "../target/admin.h"
#include "../text/progress.h"
#include "command.h"
#include "confirm.h"
#include "sanitize.h"

#include <stdio.h>

enum { YES = 1000, CRYPTO, SANITIZE, METHOD, STATUS };

static const struct option options[] = {
    {"yes", no_argument, NULL, YES},           {"crypto", no_argument, NULL, CRYPTO},
    {"sanitize", no_argument, NULL, SANITIZE}, {"method", required_argument, NULL, METHOD},
    {"status", no_argument, NULL, STATUS},     OPTIONS_COMMON};

struct request {
  const char *name;
  bool yes, sanitize, status;
  unsigned action; /* of sanitize; 0: the drive's best */
  enum spate_nvme_erase erase;
};

static struct request parse(int count, char **words) {
  struct request request = {.erase = SPATE_NVME_ERASE_USER};

  for (int got; (got = command_option(&command_erase, count, words, options)) != -1;) {
    if (got == YES) request.yes = true;
    if (got == CRYPTO) request.erase = SPATE_NVME_ERASE_CRYPTO;
    if (got == SANITIZE) request.sanitize = true;
    if (got == STATUS) request.status = true;
    if (got == METHOD && !sanitize_action(optarg, &request.action))
      command_usage(&command_erase, "--method %s: the methods are block, crypto, overwrite and exit", optarg);
  }
  if (request.action != 0 && !request.sanitize) command_usage(&command_erase, "--method is for --sanitize");
  if (request.sanitize && request.erase == SPATE_NVME_ERASE_CRYPTO)
    command_usage(&command_erase, "--crypto is for Format NVM; with --sanitize use --method crypto");
  if (request.status && (!request.sanitize || request.action != 0))
    command_usage(&command_erase, "--status is for --sanitize, without --method");
  request.name = *command_words(&command_erase, count, words, 1, "erase takes one TARGET");
  return request;
}

/* Shows the drive, asks, and returns its capacity in bytes. It opens and closes the target: while the library's own
 * driver erases the drive, the drive must have no I/O queue, so the target is opened a second time without one. */
static uint64_t show(const struct request *request) {
  struct target target;
  char why[ADMIN_WHY_BYTES];

  target_open(&target, request->name, TARGET_WRITE, 0);
  if (!admin_is_drive(&target, why)) fail(EXIT_REFUSED, "%s. Nothing was erased", why);
  if (!confirm_describe(&target)) (void)fprintf(stderr, "%s: no known contents were found on it\n", request->name);
  confirm(request->name, "erase", request->yes);
  const uint64_t bytes = target.block->blocks << target.block->block_shift;
  target_close(&target);
  return bytes;
}

static bool format_drive(struct target *target, enum spate_nvme_erase erase, char *why) {
  (void)fprintf(stderr, "%s: erasing. It takes seconds or many minutes, depending on the drive; do not cut its power\n",
                target->name);
  return admin_format(target, erase, why);
}

static enum exit_status show_status(const struct request *request) {
  struct target target;
  char why[ADMIN_WHY_BYTES];

  target_open(&target, request->name, TARGET_READ, 0);
  if (!admin_is_drive(&target, why)) fail(EXIT_REFUSED, "%s", why);
  sanitize_show(&target, target.block->blocks << target.block->block_shift);
  target_close(&target);
  return EXIT_DONE;
}

static enum exit_status run(int count, char **words) {
  const struct request request = parse(count, words);
  if (request.status) return show_status(&request);
  const uint64_t bytes = show(&request);
  struct target target;
  struct progress progress;
  char why[ADMIN_WHY_BYTES] = "";
  bool erased = true;

  target_open(&target, request.name, TARGET_CONTROLLER, 0);
  progress_begin(&progress, "", 0);
  if (request.sanitize)
    sanitize_drive(&target, request.action, bytes);
  else
    erased = format_drive(&target, request.erase, why);
  target_close(&target);
  if (!erased) fail(EXIT_FAILED, "%s", why);
  if (request.action != SPATE_NVME_SANITIZE_EXIT)
    (void)fprintf(stderr, "%s: erased in %.1f s\n", request.name, progress_seconds(&progress));
  return EXIT_DONE;
}

const struct command command_erase = {
    "erase", "erase a drive permanently (Format NVM or Sanitize)",
    "Usage: spate erase TARGET [options]\n"
    "\n"
    "Formats the namespace of an NVMe drive with secure erase. Its old data cannot be read again. The block size\n"
    "stays. Write cache and spare blocks are then as on a new drive, so erase a drive before you measure it. Not "
    "every\n"
    "drive supports this.\n"
    "\n"
    "With --sanitize the drive erases everything that it ever held, including spare blocks. The drive continues "
    "without\n"
    "the host, even after a power cut; --status shows its progress. A drive with several namespaces is refused. The\n"
    "drive refuses reads and writes until the sanitize has succeeded.\n"
    "\n"
    "  --crypto               erase the drive's encryption key instead: faster, on drives that encrypt\n"
    "  --sanitize             use Sanitize\n"
    "  --method block|crypto|overwrite|exit  of Sanitize; without it, the first of these that the drive can do. exit "
    "makes\n"
    "                         a drive usable again after a failed sanitize; old data may still be on it\n"
    "  --status               with --sanitize: show the progress, or how the last one ended; erases nothing\n"
    "  --yes                  do not ask\n" HELP_COMMON "\n"
    "  spate erase /dev/nvme0n1\n"
    "  spate erase vfio:0000:01:00.0 --bind --sanitize\n",
    run};
