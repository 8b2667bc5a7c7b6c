/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the findings of a checkup. Every step uses it, so it calls none. */
#include "checkup.h"

#include <stdio.h>

static void keep(void *context, const struct spate_doctor_finding *finding) {
  struct checkup *checkup = context;

  if (checkup->finding_count == CHECKUP_FINDINGS_MAX) return; /* the rest is left out */
  struct checkup_finding *kept = &checkup->findings[checkup->finding_count++];
  kept->finding = *finding;
  if (finding->name == NULL) return;
  (void)snprintf(kept->name, sizeof kept->name, "%s", finding->name);
  kept->finding.name = kept->name;
}

void checkup_found(struct checkup *checkup, enum spate_doctor_code code, const char *name, uint64_t first,
                   uint64_t second) {
  const struct spate_doctor_finding finding = {.code = code, .name = name, .numbers = {first, second}};

  spate_doctor_report(&checkup->doctor, &finding);
}

void checkup_begin(struct checkup *checkup, enum checkup_kind kind, enum checkup_use use, const char *address) {
  *checkup = (struct checkup){.kind = kind, .use = use};
  checkup->doctor = (struct spate_doctor){.found = keep, .context = checkup};
  (void)snprintf(checkup->address, sizeof checkup->address, "%s", address);
}
