/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with units, as people write and read them. */
#ifndef SPATE_COMMAND_UNITS_H
#define SPATE_COMMAND_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parses "8GiB", "8g", "500 MB", "4096", "1.5T": decimal with B, k, M, G, T (and kB ...), binary with Ki, Mi, Gi, Ti
 * (and KiB ...). Units are not case-sensitive; a number without a unit is in bytes. False: not such a number, or above
 * 2^63.
 */
bool units_bytes(const char *text, uint64_t *bytes);

/* The same with an optional "/s", and "8Gbit/s" and "8Gbps". */
bool units_rate(const char *text, double *bytes_per_s);

/* "10s", "500ms", "2min", "1h", "90": seconds. */
bool units_seconds(const char *text, double *seconds);

/* "90%", "2.5%": digits and a point, and nothing else. The value may be any. */
bool units_percent(const char *text, double *percent);

#define UNITS_TEXT_BYTES 24u
/* "8 GiB" and "4 KiB" if that is exact, otherwise three significant digits: "1.50 GB". Returns `text`, of
 * UNITS_TEXT_BYTES. */
const char *units_text(uint64_t bytes, char *text);
/* Always three significant digits, for amounts that change while they are shown. */
const char *units_decimal(uint64_t bytes, char *text);

#endif
