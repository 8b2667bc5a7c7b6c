/* SPDX-License-Identifier: Apache-2.0 */
/* Format NVM with secure erase, or Sanitize: nothing that was on the drive can be read again, and it is as new. */
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
      command_usage(&command_erase, "--method %s is none of block, crypto, overwrite, exit", optarg);
  }
  if (request.action != 0 && !request.sanitize) command_usage(&command_erase, "--method is for --sanitize");
  if (request.sanitize && request.erase == SPATE_NVME_ERASE_CRYPTO)
    command_usage(&command_erase, "--crypto is for Format NVM: --method crypto is the other one");
  if (request.status && (!request.sanitize || request.action != 0))
    command_usage(&command_erase, "--status is for --sanitize, without --method");
  request.name = *command_words(&command_erase, count, words, 1, "erase takes one TARGET");
  return request;
}

/* What the drive holds, in bytes. A drive under the library's own driver may have no I/O queue meanwhile, so it is
 * opened twice. */
static uint64_t show(const struct request *request) {
  struct target target;
  char why[ADMIN_WHY_BYTES];

  target_open(&target, request->name, TARGET_WRITE, 0);
  if (!admin_is_drive(&target, why)) fail(EXIT_REFUSED, "%s. Nothing was erased", why);
  if (!confirm_describe(&target)) (void)fprintf(stderr, "%s: nothing that is known was found on it\n", request->name);
  confirm(request->name, "erase", request->yes);
  const uint64_t bytes = target.block->blocks << target.block->block_shift;
  target_close(&target);
  return bytes;
}

static bool format_drive(struct target *target, enum spate_nvme_erase erase, char *why) {
  (void)fprintf(stderr, "%s: erasing. Seconds, or many minutes, as the drive likes; do not cut its power\n",
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
    "erase", "erase a drive for good (Format NVM or Sanitize): it is as new afterwards",
    "Usage: spate erase TARGET [options]\n"
    "\n"
    "Formats the namespace of an NVMe drive with secure erase. Nothing that was on it can be read again. Its block\n"
    "size stays. Drives are measured best after it: write cache and spare blocks are as new. Not every drive can.\n"
    "\n"
    "With --sanitize the drive erases all that it ever held, spare blocks included. It goes on by itself, through "
    "power\n"
    "cuts, too; --status shows how far it is. A drive with several namespaces is refused. Until it is done, and after\n"
    "it failed, the drive refuses reads and writes.\n"
    "\n"
    "  --crypto               let the drive forget its key instead: faster, on drives that encrypt\n"
    "  --sanitize             use Sanitize\n"
    "  --method block|crypto|overwrite|exit  of Sanitize; without it the first of them that the drive can do. exit "
    "makes\n"
    "                         a drive usable again whose sanitize failed; old data may be on it\n"
    "  --status               with --sanitize: show how far it is, or how the last one ended; erases nothing\n"
    "  --yes                  do not ask\n" HELP_COMMON "\n"
    "  spate erase /dev/nvme0n1\n"
    "  spate erase vfio:0000:01:00.0 --bind --sanitize\n",
    run};
