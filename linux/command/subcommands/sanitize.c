/* SPDX-License-Identifier: Apache-2.0 */
#include "sanitize.h"

#include "../target/admin.h"
#include "../text/fail.h"
#include "../text/progress.h"

#include <spate/port.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LOOK_MS 250u /* between two reads of the drive's progress */
#define WHOLE   65536.0

/* In the order of preference: block erase frees all blocks, and crypto erase may leave them mapped. */
static const struct {
  const char *word, *name;
  enum spate_nvme_sanitize_action action;
} methods[] = {{"block", "block erase", SPATE_NVME_SANITIZE_BLOCK},
               {"crypto", "crypto erase", SPATE_NVME_SANITIZE_CRYPTO},
               {"overwrite", "overwrite", SPATE_NVME_SANITIZE_OVERWRITE},
               {"exit", "leaving the failed state", SPATE_NVME_SANITIZE_EXIT}};
#define METHODS (sizeof methods / sizeof methods[0])

bool sanitize_action(const char *word, unsigned *action) {
  *action = 0;
  for (size_t i = 0; i < METHODS; i++)
    if (strcmp(word, methods[i].word) == 0) *action = methods[i].action;
  return *action != 0;
}

static const char *name_of(unsigned action) {
  for (size_t i = 0; i < METHODS; i++)
    if (methods[i].action == action) return methods[i].name;
  return "an unknown method";
}

/* ---- the method ---- */

/* "block, crypto" */
static void list_methods(const struct spate_nvme_identity *identity, char *list, size_t list_bytes) {
  size_t used = 0;

  list[0] = '\0';
  for (size_t i = 0; i < METHODS && used < list_bytes; i++)
    if (methods[i].action != SPATE_NVME_SANITIZE_EXIT && spate_nvme_can_sanitize(identity, methods[i].action))
      used += (size_t)snprintf(list + used, list_bytes - used, "%s%s", used > 0 ? ", " : "", methods[i].word);
}

static struct spate_nvme_identity identify(struct target *target) {
  struct spate_nvme_identity identity;
  char why[ADMIN_WHY_BYTES];

  if (!admin_identity(target, &identity, why)) fail(EXIT_FAILED, "%s", why);
  if (identity.sanitize == 0)
    fail(EXIT_REFUSED,
         "%s: the drive does not support Sanitize, and nothing was erased. spate erase %s without --sanitize uses "
         "Format NVM",
         target->name, target->name);
  return identity;
}

/* The requested action, or the first that the drive supports. */
static unsigned choose(struct target *target, unsigned action) {
  const struct spate_nvme_identity identity = identify(target);
  char list[64];

  for (size_t i = 0; action == 0 && i < METHODS; i++)
    if (spate_nvme_can_sanitize(&identity, methods[i].action)) action = methods[i].action;
  list_methods(&identity, list, sizeof list);
  if (!spate_nvme_can_sanitize(&identity, action))
    fail(EXIT_REFUSED, "%s: the drive does not support %s, and nothing was erased. It supports: %s", target->name,
         name_of(action), list);
  return action;
}

/* ---- progress ---- */

static struct spate_nvme_sanitize_status look(struct target *target) {
  struct spate_nvme_sanitize_status status;
  char why[ADMIN_WHY_BYTES];

  if (!admin_sanitize_status(target, &status, why))
    fail(EXIT_FAILED, "%s. The progress of its sanitize cannot be read; if one is running, the drive continues", why);
  return status;
}

/* Waits in the target's own time: virtual time passes only while the library waits for the drive. */
static void pause_between_looks(const struct target *target) {
  const struct timespec nap = {.tv_nsec = LOOK_MS * 1000000L};
  const uint64_t end_ticks = spate_port_ticks() + spate_port_ticks_per_second() / 1000u * LOOK_MS;

  if (target->nvme == NULL) (void)nanosleep(&nap, NULL);
  while (target->nvme != NULL && spate_port_ticks() < end_ticks)
    spate_port_relax();
}

static struct spate_nvme_sanitize_status watch(struct target *target, uint64_t bytes) {
  struct spate_nvme_sanitize_status status;
  struct progress progress;

  progress_begin(&progress, "sanitize", bytes);
  while ((status = look(target)).state == SPATE_NVME_SANITIZE_RUNNING) {
    progress_show(&progress, (uint64_t)((double)bytes * status.progress / WHOLE), NULL);
    pause_between_looks(target);
  }
  progress_end(&progress);
  return status;
}

/* ---- sanitize ---- */

static void leave_failed(struct target *target) {
  char why[ADMIN_WHY_BYTES];

  if (look(target).state != SPATE_NVME_SANITIZE_FAILED)
    fail(EXIT_REFUSED, "%s: its last sanitize has not failed, so there is no failed state to exit. Nothing was changed",
         target->name);
  if (!admin_sanitize(target, SPATE_NVME_SANITIZE_EXIT, why)) fail(EXIT_FAILED, "%s", why);
  (void)fprintf(stderr, "%s: the drive accepts reads and writes again. Old data may still be on it\n", target->name);
}

static void start(struct target *target, unsigned action) {
  char why[ADMIN_WHY_BYTES];

  if (!admin_sanitize(target, (enum spate_nvme_sanitize_action)action, why)) fail(EXIT_FAILED, "%s", why);
  (void)fprintf(stderr, "%s: sanitize by %s has begun\n", target->name, name_of(action));
}

__attribute__((noreturn)) static void explain_failure(const struct target *target, unsigned action) {
  fail(EXIT_FAILED,
       "%s: the sanitize by %s failed. The drive refuses reads and writes until one succeeds. Try spate erase %s "
       "--sanitize once more, or with another --method. --method exit makes the drive usable again without a sanitize, "
       "and old data may still be on it. If it fails again, the drive is worn out: only destroying it removes the data",
       target->name, name_of(action), target->name);
}

void sanitize_drive(struct target *target, unsigned action, uint64_t bytes) {
  action = choose(target, action);
  if (action == SPATE_NVME_SANITIZE_EXIT) {
    leave_failed(target);
    return;
  }
  const struct spate_nvme_sanitize_status before = look(target);
  if (before.state == SPATE_NVME_SANITIZE_RUNNING)
    (void)fprintf(stderr, "%s: a sanitize by %s is already running\n", target->name, name_of(before.action));
  else
    start(target, action);
  (void)fprintf(stderr,
                "%s: the drive continues without the host: neither Ctrl-C nor a power cut ends it. spate erase %s "
                "--sanitize --status shows its progress later\n",
                target->name, target->name);
  const struct spate_nvme_sanitize_status after = watch(target, bytes);
  if (after.state == SPATE_NVME_SANITIZE_FAILED) explain_failure(target, after.action);
  if (after.state != SPATE_NVME_SANITIZE_DONE && after.state != SPATE_NVME_SANITIZE_DONE_DEALLOCATED)
    fail(EXIT_FAILED,
         "%s: the drive reports that it was never sanitized (state %u). Whether its data are erased is "
         "unknown",
         target->name, after.state);
}

void sanitize_show(struct target *target, uint64_t bytes) {
  (void)identify(target);
  const struct spate_nvme_sanitize_status before = look(target);
  if (before.state == SPATE_NVME_SANITIZE_RUNNING)
    (void)fprintf(stderr, "%s: a sanitize by %s is running\n", target->name, name_of(before.action));
  const struct spate_nvme_sanitize_status after = watch(target, bytes);
  if (after.state == SPATE_NVME_SANITIZE_FAILED) explain_failure(target, after.action);
  if (after.state == SPATE_NVME_SANITIZE_NEVER)
    (void)fprintf(stderr, "%s: the drive was never sanitized\n", target->name);
  else
    (void)fprintf(stderr, "%s: the last sanitize, by %s, succeeded\n", target->name, name_of(after.action));
}
