/* SPDX-License-Identifier: Apache-2.0 */
/* Names: UTF-8 outside, UTF-16 on the volume (specification, 7.4 and 7.7). */
#include "internal.h"

static uint32_t continuation_count(uint8_t lead) {
  if (lead < 0x80) return 0;
  if (lead < 0xe0) return 1;
  return lead < 0xf0 ? 2 : 3;
}

/* One code point; 0 bytes: not UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above 10FFFFh). */
static uint32_t decode(const uint8_t *text, size_t bytes, uint32_t *code) {
  static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
  uint32_t more = continuation_count(text[0]);

  if ((text[0] >= 0x80 && text[0] < 0xc0) || text[0] >= 0xf8 || more >= bytes) return 0;
  *code = more == 0 ? text[0] : text[0] & (0x3fu >> more);
  for (uint32_t i = 1; i <= more; i++) {
    if ((text[i] & 0xc0) != 0x80) return 0;
    *code = *code << 6 | (text[i] & 0x3fu);
  }
  bool surrogate = *code >= 0xd800 && *code < 0xe000;
  return *code < smallest[more] || *code > 0x10ffff || surrogate ? 0 : more + 1u;
}

enum spate_error spate_exfat_utf16(const char *text, size_t bytes, uint16_t *units, uint32_t units_max,
                                   uint32_t *count) {
  const uint8_t *at = (const uint8_t *)text;

  *count = 0;
  while (bytes > 0) {
    uint32_t code;
    uint32_t used_bytes = decode(at, bytes, &code);
    if (used_bytes == 0) return SPATE_E_NAME;
    if (*count + (code > 0xffff ? 2u : 1u) > units_max) return SPATE_E_NAME_LONG;
    if (code > 0xffff) {
      units[(*count)++] = (uint16_t)(0xd800 + ((code - 0x10000) >> 10));
      code = 0xdc00 + ((code - 0x10000) & 0x3ff);
    }
    units[(*count)++] = (uint16_t)code;
    at += used_bytes;
    bytes -= used_bytes;
  }
  return SPATE_OK;
}

static char *encode(uint32_t code, char *to) {
  uint32_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};

  *to++ = (char)(lead[more] | code >> (6u * more));
  while (more-- > 0)
    *to++ = (char)(0x80 | (code >> (6u * more) & 0x3f));
  return to;
}

static bool is_pair(const uint16_t *units, uint32_t count) {
  return count > 1 && units[0] >= 0xd800 && units[0] < 0xdc00 && units[1] >= 0xdc00 && units[1] < 0xe000;
}

/* A name must not end the string, reach into another directory, or command a terminal. */
static bool cannot_be_shown(uint16_t unit) {
  const bool control = unit < 0x20 || (unit >= 0x7f && unit < 0xa0);
  /* Line separators, and marks that change the direction of the text around them. */
  const bool layout = (unit >= 0x2028 && unit <= 0x202e) || (unit >= 0x2066 && unit <= 0x2069);

  return control || layout || unit == '/' || (unit >= 0xd800 && unit < 0xe000);
}

void spate_exfat_name_shown(uint16_t *units, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (is_pair(units + i, count - i))
      i++;
    else if (cannot_be_shown(units[i]))
      units[i] = EXFAT_REPLACEMENT;
  }
}

void spate_exfat_utf8(uint16_t *units, uint32_t count, char *text) {
  spate_exfat_name_shown(units, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t code = units[i];
    if (is_pair(units + i, count - i)) code = 0x10000 + ((code - 0xd800) << 10) + (units[++i] - UINT32_C(0xdc00));
    text = encode(code, text);
  }
  *text = '\0';
}

static bool forbidden(uint16_t unit) {
  static const char characters[] = "\"*/:<>?\\|";

  if (unit < 0x20) return true;
  for (uint32_t i = 0; i < sizeof characters - 1u; i++)
    if (unit == (uint8_t)characters[i]) return true;
  return false;
}

uint16_t spate_exfat_name_hash(const uint16_t *upper, uint32_t count) {
  uint16_t hash = 0;

  for (uint32_t i = 0; i < 2u * count; i++) {
    uint32_t byte = (uint32_t)upper[i / 2u] >> (8u * (i & 1u)) & 0xffu;
    hash = (uint16_t)((uint32_t)(hash << 15 | hash >> 1) + byte);
  }
  return hash;
}

enum spate_error spate_exfat_name_parse(struct spate_exfat *volume, const char *text, size_t bytes,
                                        struct exfat_name *name) {
  uint32_t count;
  enum spate_error error = spate_exfat_utf16(text, bytes, name->units, SPATE_EXFAT_NAME_UNITS_MAX, &count);

  if (error != SPATE_OK) return error;
  if (count == 0 || (text[0] == '.' && (bytes == 1 || (bytes == 2 && text[1] == '.')))) return SPATE_E_NAME;
  name->replaced = false;
  for (uint32_t i = 0; i < count; i++)
    name->replaced |= name->units[i] == EXFAT_REPLACEMENT;
  error = spate_exfat_upcase(volume, name->units, count, name->upper);
  name->count = (uint8_t)count;
  name->hash = spate_exfat_name_hash(name->upper, count);
  return error;
}

bool spate_exfat_name_allowed(const struct exfat_name *name) {
  for (uint32_t i = 0; i < name->count; i++)
    if (forbidden(name->units[i])) return false;
  return true;
}

/* Windows and Linux remove dots and spaces from the end of a name that a user types, and then do not find the file. */
enum spate_error spate_exfat_name_creatable(const struct exfat_name *name) {
  uint16_t last = name->units[name->count - 1u];

  if (!spate_exfat_name_allowed(name)) return SPATE_E_NAME;
  return last == '.' || last == ' ' ? SPATE_E_NAME : SPATE_OK;
}
