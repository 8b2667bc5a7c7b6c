/* SPDX-License-Identifier: Apache-2.0 */
#include "part_name.h"

static uint32_t digits_of(uint32_t part, uint32_t digits_min) {
  uint32_t digits = 1;

  for (part /= 10u; part > 0; part /= 10u)
    digits++;
  return digits > digits_min ? digits : digits_min;
}

bool spate_part_name(char *to, uint32_t to_bytes, const char *base, uint32_t part, uint32_t digits_min) {
  const uint32_t digits = digits_of(part, digits_min);
  uint32_t dot = UINT32_MAX;
  uint32_t length = 0;

  for (; base[length] != '\0'; length++) {
    if (base[length] == '/')
      dot = UINT32_MAX;
    else if (base[length] == '.')
      dot = length;
  }
  if (dot == UINT32_MAX) dot = length;
  if (length + digits + 2u > to_bytes) return false;
  for (uint32_t i = 0; i < dot; i++)
    to[i] = base[i];
  to[dot] = '_';
  for (uint32_t digit = digits; digit > 0; digit--, part /= 10u)
    to[dot + digit] = (char)('0' + part % 10u);
  for (uint32_t i = dot; i <= length; i++)
    to[i + digits + 1u] = base[i];
  return true;
}
