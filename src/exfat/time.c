/* SPDX-License-Identifier: Apache-2.0 */
/* Timestamps (specification, 7.4.5 ff.): local time in steps of 2 s, the rest in steps of 10 ms, and the UTC offset. */
#include "internal.h"

#define UTC_VALID 0x80u

void exfat_time_stamp(const struct spate_exfat_config *config, uint8_t *set, bool created) {
  struct spate_exfat_time time = {.year = 1980, .month = 1, .day = 1};

  if (config->now != NULL) config->now(config->now_context, &time);
  uint32_t stamp = ((uint32_t)time.year - 1980u) << 25 | (uint32_t)time.month << 21 | (uint32_t)time.day << 16 |
                   (uint32_t)time.hour << 11 | (uint32_t)time.minute << 5 | (uint32_t)time.second >> 1;
  uint8_t step_10ms = (uint8_t)((time.second & 1u) * 100u + time.centisecond);
  uint8_t utc = time.utc_known ? (uint8_t)(UTC_VALID | ((uint8_t)time.utc_quarters & 0x7fu)) : 0;

  spate_field_put32(set + FILE_MODIFIED, stamp);
  spate_field_put32(set + FILE_ACCESSED, stamp);
  set[FILE_MODIFIED_10MS] = step_10ms;
  set[FILE_MODIFIED_UTC] = utc;
  set[FILE_ACCESSED_UTC] = utc;
  if (!created) return;
  spate_field_put32(set + FILE_CREATED, stamp);
  set[FILE_CREATED_10MS] = step_10ms;
  set[FILE_CREATED_UTC] = utc;
}

void exfat_time_get(const uint8_t *set, struct spate_exfat_time *modified) {
  uint32_t stamp = spate_field_get32(set + FILE_MODIFIED);
  uint8_t step_10ms = set[FILE_MODIFIED_10MS];
  uint8_t utc = set[FILE_MODIFIED_UTC];

  *modified = (struct spate_exfat_time){
      .year = (uint16_t)(1980u + (stamp >> 25)),
      .month = stamp >> 21 & 0xf,
      .day = stamp >> 16 & 0x1f,
      .hour = stamp >> 11 & 0x1f,
      .minute = stamp >> 5 & 0x3f,
      .second = (uint8_t)((stamp & 0x1f) * 2u + (step_10ms >= 100u ? 1u : 0u)),
      .centisecond = (uint8_t)(step_10ms >= 100u ? step_10ms - 100u : step_10ms),
      .utc_quarters = (int8_t)((utc & 0x40u) != 0 ? (int)(utc & 0x7fu) - 0x80 : (int)(utc & 0x7fu)),
      .utc_known = (utc & UTC_VALID) != 0,
  };
}
