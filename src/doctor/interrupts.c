/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts of a drive that a program polls. */
#include "internal.h"

void spate_doctor_judge_interrupts(struct spate_doctor *doctor, const struct spate_doctor_function *drive) {
  const char *name = drive->msix ? drive->msi ? "MSI and MSI-X" : "MSI-X" : "MSI";
  const bool on = drive->msi || drive->msix;

  if (!drive->header_known || drive->silent || drive->kind == SPATE_DOCTOR_KIND_UNKNOWN) return;
  spate_doctor_report(
      doctor, &(struct spate_doctor_finding){
                  .code = on ? SPATE_DOCTOR_INTERRUPTS_ON : SPATE_DOCTOR_POLLED, .function = drive, .name = name});
}
