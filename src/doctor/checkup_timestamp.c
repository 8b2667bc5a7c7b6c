/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port's clock against the drive's: the Timestamp feature (NVMe 1.4, 5.21.1.14) counts milliseconds. It is read
 * twice. The drive took each value between the moment at which the command was sent and the moment at which its
 * completion was seen, so slow completions and interruptions widen the limits instead of causing a finding.
 */
#include "../core/ticks.h"
#include "../nvme/pages.h"
#include "checkup.h"

#define ONCS_TIMESTAMP  0x40u
#define TIMESTAMP_MASK  UINT64_C(0xffffffffffff)
#define APART_MS        500u
#define ROUNDING_MS     2u
#define TOLERANCE_PARTS 10u /* of the time that passed: a tenth */

struct reading {
  uint64_t sent_ticks, seen_ticks, milliseconds;
};

static bool read_timestamp(struct checkup_dma *dma, struct reading *reading) {
  const struct nvme_command command = {
      .opcode = NVME_GET_FEATURES, .data = dma->page, .dword10 = NVME_FEATURE_TIMESTAMP};

  reading->sent_ticks = spate_port_ticks();
  spate_checkup_send(&dma->admin, &command);
  const struct checkup_completion completion = spate_checkup_wait(&dma->admin);
  reading->seen_ticks = spate_port_ticks();
  reading->milliseconds = *(const volatile uint64_t *)dma->page & TIMESTAMP_MASK;
  return completion.seen && completion.is_to_this && completion.status == 0;
}

static uint64_t milliseconds_of(uint64_t ticks) { return ticks * 1000u / spate_port_ticks_per_second(); }

static void judge(const struct spate_checkup *checkup, const struct reading *first, const struct reading *second) {
  const uint64_t least_ms = milliseconds_of(second->sent_ticks - first->seen_ticks);
  const uint64_t most_ms = milliseconds_of(second->seen_ticks - first->sent_ticks);
  const uint64_t drive_ms = (second->milliseconds - first->milliseconds) & TIMESTAMP_MASK;
  const struct checkup_values values = {.numbers = {drive_ms, most_ms}};

  spate_checkup_fact(checkup, "clock", NULL, "{0} ms for the drive, {1} ms for the port", values);
  if (drive_ms + ROUNDING_MS + least_ms / TOLERANCE_PARTS < least_ms ||
      drive_ms > most_ms + ROUNDING_MS + most_ms / TOLERANCE_PARTS)
    spate_checkup_found(checkup, SPATE_DOCTOR_CLOCK_RATE, values);
}

static void not_compared(const struct spate_checkup *checkup, const char *why) {
  spate_checkup_found(checkup, SPATE_DOCTOR_UNDONE_CLOCK, (struct checkup_values){.name = why});
}

void spate_checkup_timestamp(struct checkup_dma *dma) {
  struct reading first, second;

  if (!(spate_nvme_word(dma->identity, NVME_ID_ONCS) & ONCS_TIMESTAMP)) {
    not_compared(dma->checkup, "the drive has no Timestamp");
    return;
  }
  if (!read_timestamp(dma, &first)) {
    not_compared(dma->checkup, "the drive does not return its Timestamp");
    return;
  }
  const uint64_t until_ticks = spate_port_ticks() + spate_ticks_of_ms(APART_MS);
  while (spate_port_ticks() < until_ticks)
    spate_port_relax();
  if (read_timestamp(dma, &second))
    judge(dma->checkup, &first, &second);
  else
    not_compared(dma->checkup, "the drive does not return its Timestamp");
}
