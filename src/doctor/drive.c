/* SPDX-License-Identifier: Apache-2.0 */
/* The controller, the drive and its namespaces. */
#include "../nvme/shared.h"
#include "internal.h"

#define CAP_COMMAND_SETS(cap) ((uint32_t)((cap) >> 37) & 0xffu) /* CAP.CSS: bit 0 NVM */
#define CAP_PAGE_MIN(cap)     ((uint32_t)((cap) >> 48) & 0xfu)  /* CAP.MPSMIN: 4 KiB << value */
#define WORN_PERCENT          100u
#define WEARING_PERCENT       90u

/* Bits of the critical warning (5.14.1.2). */
enum { WARN_SPARE = 0x01, WARN_TEMPERATURE = 0x02, WARN_UNRELIABLE = 0x04, WARN_READ_ONLY = 0x08, WARN_BACKUP = 0x10 };

static void report(struct spate_doctor *doctor, enum spate_doctor_code code, uint64_t first, uint64_t second) {
  spate_doctor_report(doctor, &(struct spate_doctor_finding){.code = code, .numbers = {first, second}});
}

void spate_doctor_judge_registers(struct spate_doctor *doctor, const struct spate_doctor_registers *registers,
                                  bool in_use) {
  const uint32_t status = registers->status;

  if (status == NVME_ALL_ONES) {
    report(doctor, SPATE_DOCTOR_REGISTERS_GONE, 0, 0);
    return;
  }
  if (!(CAP_COMMAND_SETS(registers->capabilities) & 1u)) report(doctor, SPATE_DOCTOR_COMMAND_SET, 0, 0);
  if (CAP_PAGE_MIN(registers->capabilities) != 0)
    report(doctor, SPATE_DOCTOR_PAGE_SIZE, UINT64_C(4096) << CAP_PAGE_MIN(registers->capabilities), 0);
  if (status & NVME_CSTS_FATAL)
    report(doctor, SPATE_DOCTOR_CONTROLLER_FATAL, status, 0);
  else if (in_use && (status & NVME_CSTS_SHUTDOWN_MASK) != 0)
    report(doctor, SPATE_DOCTOR_CONTROLLER_SHUT_DOWN, status, 0);
  else if (in_use && !(status & NVME_CSTS_READY))
    report(doctor, SPATE_DOCTOR_CONTROLLER_NOT_READY, registers->configuration & NVME_CC_ENABLE, status);
}

static void judge_wear(struct spate_doctor *doctor, const struct spate_nvme_health *health) {
  const uint8_t warning = health->critical_warning;

  if (warning & WARN_SPARE || health->spare_percent < health->spare_threshold_percent)
    report(doctor, SPATE_DOCTOR_SPARE_LOW, health->spare_percent, health->spare_threshold_percent);
  if (warning & WARN_UNRELIABLE) report(doctor, SPATE_DOCTOR_UNRELIABLE, 0, 0);
  if (warning & WARN_READ_ONLY) report(doctor, SPATE_DOCTOR_READ_ONLY, 0, 0);
  if (warning & WARN_BACKUP) report(doctor, SPATE_DOCTOR_BACKUP_FAILED, 0, 0);
  if (health->used_percent >= WEARING_PERCENT)
    report(doctor, health->used_percent >= WORN_PERCENT ? SPATE_DOCTOR_WORN : SPATE_DOCTOR_WEARING,
           health->used_percent, 0);
  if (health->media_errors != 0) report(doctor, SPATE_DOCTOR_MEDIA_ERRORS, health->media_errors, 0);
}

static void judge_temperature(struct spate_doctor *doctor, const struct spate_doctor_drive *drive) {
  const int16_t now = drive->health->temperature_c;
  const int16_t critical = drive->identity->critical_temperature_c, warning = drive->identity->warning_temperature_c;

  if (critical > 0 && now >= critical)
    report(doctor, SPATE_DOCTOR_TOO_HOT, (uint64_t)now, (uint64_t)critical);
  else if (warning > 0 && now >= warning)
    report(doctor, SPATE_DOCTOR_HOT, (uint64_t)now, (uint64_t)warning);
  else if (drive->health->critical_warning & WARN_TEMPERATURE)
    report(doctor, SPATE_DOCTOR_TEMPERATURE_WARNING, now > 0 ? (uint64_t)now : 0, 0);
}

bool spate_doctor_judge_throttled(struct spate_doctor *doctor, const struct spate_nvme_throttling *before,
                                  const struct spate_nvme_throttling *after) {
  const bool throttled = after->transitions > before->transitions || after->seconds > before->seconds;

  if (throttled) report(doctor, SPATE_DOCTOR_THROTTLED, 0, 0);
  return throttled;
}

static void judge_throttling(struct spate_doctor *doctor, const struct spate_nvme_throttling *before,
                             const struct spate_nvme_throttling *after) {
  if (before == NULL) return;
  if (after != NULL && spate_doctor_judge_throttled(doctor, before, after)) return;
  if (before->transitions != 0 || before->hot_minutes != 0)
    report(doctor, SPATE_DOCTOR_THROTTLED_BEFORE, before->transitions, before->hot_minutes);
}

void spate_doctor_judge_drive(struct spate_doctor *doctor, const struct spate_doctor_drive *drive) {
  judge_wear(doctor, drive->health);
  judge_temperature(doctor, drive);
  judge_throttling(doctor, drive->throttling, drive->throttling_after);
}

void spate_doctor_judge_namespaces(struct spate_doctor *doctor, const struct spate_nvme_namespace *namespaces,
                                   unsigned count) {
  if (count == 0) report(doctor, SPATE_DOCTOR_NO_NAMESPACE, 0, 0);
  for (unsigned i = 0; i < count; i++) {
    if (namespaces[i].metadata)
      report(doctor, SPATE_DOCTOR_NAMESPACE_METADATA, namespaces[i].nsid, 0);
    else if (namespaces[i].block_bytes != 512 && namespaces[i].block_bytes != 4096)
      report(doctor, SPATE_DOCTOR_NAMESPACE_FORMAT, namespaces[i].nsid, 0);
  }
}
