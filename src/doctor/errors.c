/* SPDX-License-Identifier: Apache-2.0 */
/* Errors that the functions on the path recorded: before a transfer, and during it. */
#include "internal.h"

/* Device Status (7.5.3.5). */
#define STATUS_CORRECTED   0x1u
#define STATUS_NOT_FATAL   0x2u
#define STATUS_FATAL       0x4u
#define STATUS_UNSUPPORTED 0x8u

#define UNSUPPORTED_REQUEST UINT32_C(0x00100000) /* in Uncorrectable Error Status */

static void report(struct spate_doctor *doctor, enum spate_doctor_code code,
                   const struct spate_doctor_function *function, uint32_t kinds, uint64_t count) {
  if (kinds == 0 && count == 0) return;
  spate_doctor_report(doctor, &(struct spate_doctor_finding){
                                  .code = code,
                                  .function = function,
                                  .numbers = {kinds == 0 ? ERROR_KIND_UNKNOWN : kinds, count == 0 ? 1 : count}});
}

/* The kinds of errors. If only Device Status shows that there were errors, their kind is unknown. */
static uint32_t corrected(const struct spate_doctor_errors *errors) {
  if (errors->correctable != 0) return errors->correctable;
  return errors->device_status & STATUS_CORRECTED ? ERROR_KIND_UNKNOWN : 0;
}

/* An unsupported request also sets the bit of non-fatal errors (6.2.3.2.4.1). It is not counted as one of them, because
 * a scan for devices causes it. */
static uint32_t uncorrected(const struct spate_doctor_errors *errors) {
  const bool is_unsupported = errors->uncorrectable & UNSUPPORTED_REQUEST || errors->device_status & STATUS_UNSUPPORTED;

  if (errors->uncorrectable != 0) return errors->uncorrectable & ~UNSUPPORTED_REQUEST;
  return errors->device_status & (is_unsupported ? STATUS_FATAL : STATUS_FATAL | STATUS_NOT_FATAL) ? ERROR_KIND_UNKNOWN
                                                                                                   : 0;
}

static uint32_t unsupported(const struct spate_doctor_errors *errors) {
  return errors->uncorrectable & UNSUPPORTED_REQUEST || errors->device_status & STATUS_UNSUPPORTED ? UNSUPPORTED_REQUEST
                                                                                                   : 0;
}

void spate_doctor_judge_errors_before(struct spate_doctor *doctor, const struct spate_doctor_function *path,
                                      unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    const struct spate_doctor_errors *errors = &path[i].errors;
    if (!errors->known) continue;
    report(doctor, SPATE_DOCTOR_CORRECTED_BEFORE, &path[i], corrected(errors), errors->corrected_count);
    report(doctor, SPATE_DOCTOR_UNCORRECTED_BEFORE, &path[i], uncorrected(errors), errors->uncorrected_count);
    report(doctor, SPATE_DOCTOR_UNSUPPORTED_BEFORE, &path[i], unsupported(errors), 0);
  }
}

static uint64_t risen(uint64_t before, uint64_t after) { return after > before ? after - before : 0; }

/* Status bits stay set until they are cleared. Only bits that were not set before are new errors. */
void spate_doctor_judge_errors_during(struct spate_doctor *doctor, const struct spate_doctor_function *before,
                                      const struct spate_doctor_function *after, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    const struct spate_doctor_errors *old = &before[i].errors, *new = &after[i].errors;
    if (!old->known || !new->known) continue;
    report(doctor, SPATE_DOCTOR_CORRECTED_DURING, &before[i], corrected(new) & ~corrected(old),
           risen(old->corrected_count, new->corrected_count));
    report(doctor, SPATE_DOCTOR_UNCORRECTED_DURING, &before[i],
           (uncorrected(new) | unsupported(new)) & ~(uncorrected(old) | unsupported(old)),
           risen(old->uncorrected_count, new->uncorrected_count));
  }
}
