/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_PORTS_CALENDAR_H
#define SPATE_PORTS_CALENDAR_H

#include <spate/exfat.h>

/* Converts seconds since 1970-01-01 00:00 UTC to a date. Dates before 1980 or after 2107 become the nearest valid
 * one. */
void calendar_from_unix(uint64_t unix_seconds, struct spate_exfat_time *time);

#endif
