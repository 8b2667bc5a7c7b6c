/* SPDX-License-Identifier: Apache-2.0 */
#include "confirm.h"

#include "../target/admin.h"
#include "../target/contents.h"
#include "../text/fail.h"
#include "../text/units.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void describe_device(const struct target *target) {
  char size[UNITS_TEXT_BYTES], why[ADMIN_WHY_BYTES];
  struct spate_nvme_identity identity;
  struct target same = *target;

  (void)fprintf(stderr, "%s: %s", target->name, target_kind_name(target));
  if (target->block != NULL)
    (void)fprintf(stderr, " of %s", units_text(target->block->blocks << target->block->block_shift, size));
  /* Without permission to send Identify, the model and the serial number are left out. */
  if (admin_identity(&same, &identity, why)) (void)fprintf(stderr, ", %s, serial %s", identity.model, identity.serial);
  (void)fputc('\n', stderr);
}

static bool describe_one(const struct target *target) {
  describe_device(target);
  return target->block != NULL && contents_write(target, stderr);
}

bool confirm_describe(const struct target *target) {
  bool found = false;

  if (target->block != NULL || target->member_count == 0) return describe_one(target);
  for (unsigned i = 0; i < target->member_count; i++)
    found |= describe_one(&target->members[i]);
  return found;
}

void confirm(const char *name, const char *verb, bool yes) {
  char answer[8] = "";

  if (yes) return;
  if (!isatty(STDIN_FILENO))
    fail(EXIT_REFUSED, "nothing was written: without a terminal, spate needs --yes to %s %s", verb, name);
  (void)fprintf(stderr, "Type yes to %s %s: ", verb, name);
  if (fgets(answer, sizeof answer, stdin) == NULL || strcmp(answer, "yes\n") != 0)
    fail(EXIT_REFUSED, "nothing was written");
}
