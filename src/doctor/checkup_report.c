/* SPDX-License-Identifier: Apache-2.0 */
/* Facts and findings of a checkup. */
#include "checkup.h"

void spate_checkup_fact(const struct spate_checkup *checkup, const char *name, const struct spate_pcie_address *at,
                        const char *text, struct checkup_values values) {
  struct spate_doctor_finding finding = {.name = values.name};
  char line[SPATE_CHECKUP_LINE_BYTES];

  for (unsigned i = 0; i < SPATE_DOCTOR_NUMBERS; i++)
    finding.numbers[i] = values.numbers[i];
  const struct spate_checkup_fact fact = {
      .name = name, .at = at, .text = spate_doctor_write(line, sizeof line, text, &finding)};
  checkup->config->fact(checkup->config->fact_context, &fact);
}

void spate_checkup_found(const struct spate_checkup *checkup, enum spate_doctor_code code,
                         struct checkup_values values) {
  struct spate_doctor_finding finding = {.code = code, .name = values.name};

  for (unsigned i = 0; i < SPATE_DOCTOR_NUMBERS; i++)
    finding.numbers[i] = values.numbers[i];
  spate_doctor_report(checkup->doctor, &finding);
}
