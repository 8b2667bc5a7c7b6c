/* SPDX-License-Identifier: Apache-2.0 */
#include "stripe.h"

#include "../text/fail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define PARTS 1024u

/* ---- the names ---- */

/* The whole program has one way to access memory and registers, so members of different kinds cannot be mixed. */
static void check_kinds(const struct stripe_names *names, const char *name) {
  static const char *const kinds[] = {"vfio:", "pci:", "sim:", "stripe:"};

  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    unsigned count = 0;
    for (unsigned i = 0; i < names->count; i++)
      count += strncmp(names->names[i], kinds[k], strlen(kinds[k])) == 0;
    if (count > 0 && strcmp(kinds[k], "stripe:") == 0)
      fail(EXIT_USAGE, "%s: a member of a stripe cannot be a stripe", name);
    if (count > 0 && count < names->count)
      fail(EXIT_USAGE, "%s: either all members or none must be %s", name, kinds[k]);
  }
}

void stripe_split(struct stripe_names *names, const char *name, const char *words) {
  *names = (struct stripe_names){.count = 0};
  for (const char *start = words; start != NULL;) {
    const char *comma = strchr(start, ',');
    const size_t length = comma == NULL ? strlen(start) : (size_t)(comma - start);
    if (names->count == SPATE_STRIPE_MEMBERS_MAX)
      fail(EXIT_USAGE, "%s: at most %u members", name, SPATE_STRIPE_MEMBERS_MAX);
    if (length == 0 || length >= sizeof names->names[0]) fail(EXIT_USAGE, "%s: a member's name is missing", name);
    memcpy(names->names[names->count++], start, length);
    start = comma == NULL ? NULL : comma + 1;
  }
  if (names->count < 2) fail(EXIT_USAGE, "%s: a stripe has two members or more: stripe:A,B", name);
  check_kinds(names, name);
}

/* ---- the array ---- */

struct array {
  struct spate_block *members[SPATE_STRIPE_MEMBERS_MAX];
  struct spate_stripe stripe;
  struct spate_stripe_part parts[PARTS];
  struct spate_stripe_config config;
};

static void close_array(struct target *target) {
  struct array *array = target->backend;

  memory_give(target->memory, array->config.scratch);
  free(array);
}

static enum spate_error open_array(struct target *target) {
  struct array *array = target->backend;
  const enum spate_error error = spate_stripe_open(&array->stripe, &array->config);

  if (error == SPATE_OK) target->block = &array->stripe.block;
  return error;
}

void stripe_open(struct target *target, enum target_access access) {
  struct array *array = calloc(1, sizeof *array);

  if (array == NULL) fail(EXIT_FAILED, "no memory");
  for (unsigned i = 0; i < target->member_count; i++)
    array->members[i] = target->members[i].block;
  array->config = (struct spate_stripe_config){.members = array->members,
                                               .member_count = (uint8_t)target->member_count,
                                               .parts = array->parts,
                                               .part_count = PARTS,
                                               .scratch = memory_take(target->memory, SPATE_STRIPE_SCRATCH_BYTES)};
  target->kind = TARGET_STRIPE;
  target->wait_fd = target->members[0].wait_fd;
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
