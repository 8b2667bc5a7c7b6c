/* SPDX-License-Identifier: Apache-2.0 */
/* Timestamps (specification, 7.4.5 ff.): local time in steps of 2 s, the rest in steps of 10 ms, and the UTC offset. */
#include "internal.h"

#define UTC_VALID  0x80u
#define YEAR_FIRST 1980u
#define YEAR_LAST  2107u

static uint8_t at_most(uint8_t value, uint8_t limit) { return value < limit ? value : limit; }

/* Limit a time to what the fields can hold. A clock that was never set gives 1970. */
static void bring_into_range(struct spate_exfat_time *time) {
  struct spate_exfat_time last = {.year = YEAR_LAST, .month = 12, .day = 31, .hour = 23, .minute = 59, .second = 59};

  last.centisecond = 99;
  if (time->year < YEAR_FIRST) *time = (struct spate_exfat_time){.year = YEAR_FIRST};
  if (time->year > YEAR_LAST) *time = last;
  if (time->month == 0) time->month = 1;
  if (time->day == 0) time->day = 1;
  time->month = at_most(time->month, last.month);
  time->day = at_most(time->day, last.day);
  time->hour = at_most(time->hour, last.hour);
  time->minute = at_most(time->minute, last.minute);
  time->second = at_most(time->second, last.second);
  time->centisecond = at_most(time->centisecond, last.centisecond);
}

void spate_exfat_time_stamp(const struct spate_exfat_config *config, uint8_t *set, bool created) {
  struct spate_exfat_time time = {.year = YEAR_FIRST};

  if (config->now != NULL) config->now(config->now_context, &time);
  bring_into_range(&time);
  uint32_t stamp = (time.year - YEAR_FIRST) << 25 | (uint32_t)time.month << 21 | (uint32_t)time.day << 16 |
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

static int32_t quarters_of(uint8_t utc) { return (utc & 0x40u) != 0 ? (int32_t)(utc & 0x7fu) - 0x80 : utc & 0x7f; }

/* The set's creation in steps of 10 ms from some instant on: of local time, or of UTC. Years begin in March, so that
 * a leap day ends a year. Between 1980 and 2107 only 2100 has no leap day among the multiples of four. */
static int64_t created_10ms(const uint8_t *set, bool utc) {
  static const uint16_t days_before[16] = {275, 306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337, 337};
  const uint32_t stamp = spate_field_get32(set + FILE_CREATED);
  const uint32_t month = stamp >> 21 & 0xfu;
  const uint32_t year = YEAR_FIRST + (stamp >> 25) - (month < 3u ? 1u : 0);
  const uint32_t days =
      year * 365u + (year >> 2) - (year >= 2100u ? 1u : 0) + days_before[month] + (stamp >> 16 & 0x1fu);
  const uint32_t minutes = (days * 24u + (stamp >> 11 & 0x1fu)) * 60u + (stamp >> 5 & 0x3fu);
  const int64_t seconds = (int64_t)minutes * 60 + (int64_t)(stamp & 0x1fu) * 2;
  const int64_t ahead_seconds = utc ? (int64_t)quarters_of(set[FILE_CREATED_UTC]) * 15 * 60 : 0;

  return (seconds - ahead_seconds) * 100 + set[FILE_CREATED_10MS];
}

bool spate_exfat_created_before(const uint8_t *set, const uint8_t *other) {
  const bool utc = (set[FILE_CREATED_UTC] & other[FILE_CREATED_UTC] & UTC_VALID) != 0;

  return created_10ms(set, utc) < created_10ms(other, utc);
}

static void get(uint32_t stamp, uint8_t step_10ms, uint8_t utc, struct spate_exfat_time *time) {
  *time = (struct spate_exfat_time){
      .year = (uint16_t)(YEAR_FIRST + (stamp >> 25)),
      .month = stamp >> 21 & 0xf,
      .day = stamp >> 16 & 0x1f,
      .hour = stamp >> 11 & 0x1f,
      .minute = stamp >> 5 & 0x3f,
      .second = (uint8_t)((stamp & 0x1f) * 2u + (step_10ms >= 100u ? 1u : 0u)),
      .centisecond = (uint8_t)(step_10ms >= 100u ? step_10ms - 100u : step_10ms),
      .utc_quarters = (int8_t)quarters_of(utc),
      .utc_known = (utc & UTC_VALID) != 0,
  };
}

void spate_exfat_times_get(const uint8_t *set, struct spate_exfat_time *created, struct spate_exfat_time *modified) {
  get(spate_field_get32(set + FILE_CREATED), set[FILE_CREATED_10MS], set[FILE_CREATED_UTC], created);
  get(spate_field_get32(set + FILE_MODIFIED), set[FILE_MODIFIED_10MS], set[FILE_MODIFIED_UTC], modified);
}
