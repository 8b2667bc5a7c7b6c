/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
  const char *name;
  double worth;
};

static const struct unit bytes_units[] = {
    {"", 1},         {"B", 1},         {"k", 1e3},     {"kB", 1e3},     {"M", 1e6},     {"MB", 1e6},
    {"G", 1e9},      {"GB", 1e9},      {"T", 1e12},    {"TB", 1e12},    {"Ki", 1024},   {"KiB", 1024},
    {"Mi", 1048576}, {"MiB", 1048576}, {"Gi", 0x1p30}, {"GiB", 0x1p30}, {"Ti", 0x1p40}, {"TiB", 0x1p40},
    {"P", 1e15},     {"PB", 1e15},     {"E", 1e18},    {"EB", 1e18},    {NULL, 0}};
/* Rates of links, in bytes: Gbit/s and Gbps. */
static const struct unit bit_units[] = {{"kbit", 125}, {"Mbit", 125e3}, {"Gbit", 125e6}, {"kb", 125},
                                        {"Mb", 125e3}, {"Gb", 125e6},   {NULL, 0}};
static const struct unit time_units[] = {{"", 1},     {"s", 1},  {"ms", 1e-3}, {"us", 1e-6},
                                         {"min", 60}, {"m", 60}, {"h", 3600},  {NULL, 0}};

/* Parses a decimal number that is not negative, blanks, a unit of the list, and optionally `after`. */
static bool number(const char *text, const struct unit *units, const char *after, double *value) {
  char name[8];
  char *end;

  /* strtod() would also take "inf", "-1", and "0x10". */
  if ((!isdigit((unsigned char)text[0]) && text[0] != '.') || strncasecmp(text, "0x", 2) == 0) return false;
  *value = strtod(text, &end);
  if (end == text || !isfinite(*value)) return false;
  while (*end == ' ')
    end++;
  size_t length = strlen(end);
  const size_t after_length = strlen(after);
  if (after_length > 0 && length >= after_length && strcasecmp(end + length - after_length, after) == 0)
    length -= after_length;
  if (length >= sizeof name) return false;
  memcpy(name, end, length);
  name[length] = '\0';
  for (; units->name != NULL; units++) {
    if (strcasecmp(units->name, name) != 0) continue;
    *value *= units->worth;
    return true;
  }
  return false;
}

bool units_bytes(const char *text, uint64_t *bytes) {
  double value;

  if (!number(text, bytes_units, "", &value) || value > 0x1p63) return false;
  *bytes = (uint64_t)(value + 0.5);
  return true;
}

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), end_length = strlen(end);

  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* "8GBps" could be meant as bytes or bits, and is neither. */
bool units_rate(const char *text, double *bytes_per_s) {
  return number(text, bytes_units, "/s", bytes_per_s) || number(text, bit_units, "/s", bytes_per_s) ||
         (ends_with(text, "bps") && number(text, bit_units, "ps", bytes_per_s));
}

bool units_seconds(const char *text, double *seconds) { return number(text, time_units, "", seconds); }

/* strtod() would also take "nan", "0x32" and blanks. */
bool units_percent(const char *text, double *percent) {
  const size_t digits = strspn(text, "0123456789.");
  char *end;

  if (digits == 0 || strcmp(text + digits, "%") != 0) return false;
  *percent = strtod(text, &end);
  return end == text + digits;
}

#define EXACT_MAX 9999u

/* Uses the largest binary unit of which `bytes` is a whole multiple of at most EXACT_MAX. */
static bool exact_text(uint64_t bytes, char *text) {
  static const char *const names[] = {"KiB", "MiB", "GiB", "TiB"};

  for (unsigned unit = 4; unit >= 1; unit--) {
    const uint64_t count = bytes >> (10u * unit);
    if (count == 0 || count > EXACT_MAX || count << (10u * unit) != bytes) continue;
    (void)snprintf(text, UNITS_TEXT_BYTES, "%u %s", (unsigned)count, names[unit - 1u]);
    return true;
  }
  return false;
}

const char *units_decimal(uint64_t bytes, char *text) {
  static const char *const names[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = (double)bytes;
  unsigned unit = 0;

  while (value >= 999.5 && unit + 1u < sizeof names / sizeof names[0]) {
    value /= 1000;
    unit++;
  }
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  (void)snprintf(text, UNITS_TEXT_BYTES, "%.*f %s", decimals, value, names[unit]);
  return text;
}

const char *units_text(uint64_t bytes, char *text) {
  return exact_text(bytes, text) ? text : units_decimal(bytes, text);
}
