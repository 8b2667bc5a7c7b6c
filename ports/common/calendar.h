/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_PORTS_CALENDAR_H
#define SPATE_PORTS_CALENDAR_H

#include <spate/exfat.h>

/* Seconds since 1970-01-01 00:00 UTC as a date, for years 1980 to 2107; outside: the nearest of the two ends. */
void calendar_from_unix(uint64_t unix_seconds, struct spate_exfat_time *time);

#endif
