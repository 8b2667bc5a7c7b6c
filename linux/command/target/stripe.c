/* SPDX-License-Identifier: Apache-2.0 */
/* Several targets as one: RAID 0 in the layout of Linux md. */
#include "../memory.h"
#include "../text/fail.h"
#include "target_internal.h"

#include <errno.h>
#include <spate/stripe.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define PARTS 1024u

struct array {
  struct target targets[SPATE_STRIPE_MEMBERS_MAX];
  char names[SPATE_STRIPE_MEMBERS_MAX][512];
  unsigned count;
  struct spate_block *members[SPATE_STRIPE_MEMBERS_MAX];
  struct spate_stripe stripe;
  struct spate_stripe_part parts[PARTS];
  struct spate_stripe_config config;
};

static void split(struct array *array, const char *name, const char *words) {
  for (const char *start = words; start != NULL;) {
    const char *comma = strchr(start, ',');
    const size_t length = comma == NULL ? strlen(start) : (size_t)(comma - start);
    if (array->count == SPATE_STRIPE_MEMBERS_MAX)
      fail(EXIT_USAGE, "%s: at most %u members", name, SPATE_STRIPE_MEMBERS_MAX);
    if (length == 0 || length >= sizeof array->names[0]) fail(EXIT_USAGE, "%s: a member's name is missing", name);
    memcpy(array->names[array->count++], start, length);
    start = comma == NULL ? NULL : comma + 1;
  }
  if (array->count < 2) fail(EXIT_USAGE, "%s: a stripe has two members or more: stripe:A,B", name);
}

static void close_array(struct target *target) {
  struct array *array = target->backend;

  memory_give(array->config.scratch);
  while (array->count > 0)
    target_close(&array->targets[--array->count]);
  free(array);
}

static enum spate_error open_array(struct target *target) {
  struct array *array = target->backend;
  const enum spate_error error = spate_stripe_open(&array->stripe, &array->config);

  if (error == SPATE_OK) target->block = &array->stripe.block;
  return error;
}

/* The whole program has one way to access memory and registers, so members of different kinds cannot be mixed. */
static void check_kinds(const struct array *array, const char *name) {
  static const char *const kinds[] = {"vfio:", "pci:", "sim:", "stripe:"};

  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    unsigned count = 0;
    for (unsigned i = 0; i < array->count; i++)
      count += strncmp(array->names[i], kinds[k], strlen(kinds[k])) == 0;
    if (count > 0 && strcmp(kinds[k], "stripe:") == 0)
      fail(EXIT_USAGE, "%s: a member of a stripe cannot be a stripe", name);
    if (count > 0 && count < array->count)
      fail(EXIT_USAGE, "%s: either all members or none must be %s", name, kinds[k]);
  }
}

void target_open_stripe(struct target *target, const char *words, enum target_access access) {
  struct array *array = calloc(1, sizeof *array);

  if (array == NULL) fail(EXIT_FAILED, "no memory");
  split(array, target->name, words);
  check_kinds(array, target->name);
  for (unsigned i = 0; i < array->count; i++)
    if (strncmp(array->names[i], "sim:", 4) == 0) target_announce_sim(array->names[i] + 4);
  for (unsigned i = 0; i < array->count; i++) {
    target_open(&array->targets[i], array->names[i], access, 0);
    array->members[i] = array->targets[i].block;
  }
  array->config = (struct spate_stripe_config){.members = array->members,
                                               .member_count = (uint8_t)array->count,
                                               .parts = array->parts,
                                               .part_count = PARTS,
                                               .scratch = memory_take(SPATE_STRIPE_SCRATCH_BYTES)};
  target->kind = TARGET_STRIPE;
  target->wait_fd = array->targets[0].wait_fd;
  target->members = array->targets;
  target->member_count = array->count;
  target->backend = array;
  target->close = close_array;
  const enum spate_error error = open_array(target);
  if (error == SPATE_E_NO_STRIPE && access == TARGET_MAKE) return;
  if (error == SPATE_E_NO_STRIPE)
    fail(EXIT_FAILED,
         "%s: these are not members of an array. spate format %s makes an array of them, and erases their contents",
         target->name, target->name);
  expect(error, target->name);
}

enum spate_error target_make_stripe(struct target *target, bool erase) {
  struct array *array = target->backend;
  struct spate_stripe_create create = {.name = "spate", .created_s = (uint64_t)time(NULL), .erase_foreign = erase};

  if (getrandom(create.uuid, sizeof create.uuid, 0) != (ssize_t)sizeof create.uuid)
    fail(EXIT_FAILED, "getrandom: %s", strerror(errno));
  const enum spate_error error = spate_stripe_create(&array->config, &create);
  return error != SPATE_OK ? error : open_array(target);
}
