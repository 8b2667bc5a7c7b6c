/* SPDX-License-Identifier: Apache-2.0 */
#include "calendar.h"

#define SECONDS_A_DAY 86400u
#define FIRST_SECOND  UINT64_C(315532800)  /* 1980-01-01 00:00:00 */
#define LAST_SECOND   UINT64_C(4354819199) /* 2107-12-31 23:59:59 */

static bool is_leap(unsigned year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

void calendar_from_unix(uint64_t unix_seconds, struct spate_exfat_time *time) {
  static const uint8_t days_of[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (unix_seconds < FIRST_SECOND) unix_seconds = FIRST_SECOND;
  if (unix_seconds > LAST_SECOND) unix_seconds = LAST_SECOND;
  uint32_t days = (uint32_t)(unix_seconds / SECONDS_A_DAY);
  uint32_t second = (uint32_t)(unix_seconds % SECONDS_A_DAY);

  unsigned year = 1970;
  for (; days >= (is_leap(year) ? 366u : 365u); year++)
    days -= is_leap(year) ? 366 : 365;
  unsigned month = 0;
  for (;; month++) {
    unsigned length = days_of[month] + (month == 1 && is_leap(year) ? 1u : 0u);
    if (days < length) break;
    days -= length;
  }
  *time = (struct spate_exfat_time){
      .year = (uint16_t)year,
      .month = (uint8_t)(month + 1),
      .day = (uint8_t)(days + 1),
      .hour = (uint8_t)(second / 3600),
      .minute = (uint8_t)(second / 60 % 60),
      .second = (uint8_t)(second % 60),
      .utc_known = true,
  };
}
