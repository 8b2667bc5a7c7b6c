/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 outside, UTF-16 on the volume: every code point converts both ways, and invalid text is refused (RFC 3629). */
#include "exfat_fixture.h"

#include "exfat/internal.h"

static size_t plain_utf8(uint32_t code, uint8_t *to) {
  if (code < 0x80) {
    to[0] = (uint8_t)code;
    return 1;
  }
  size_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = bytes - 1; i > 0; i--, code /= 64)
    to[i] = (uint8_t)(0x80 + code % 64);
  to[0] = (uint8_t)((0xf00 >> bytes) + code);
  return bytes;
}

static size_t plain_utf16(uint32_t code, uint16_t *to) {
  to[0] = (uint16_t)code;
  if (code < 0x10000) return 1;
  to[0] = (uint16_t)(0xd800 + (code - 0x10000) / 0x400);
  to[1] = (uint16_t)(0xdc00 + (code - 0x10000) % 0x400);
  return 2;
}

static bool is_code_point(uint32_t code) { return code < 0xd800 || (code >= 0xe000 && code < 0x110000); }

/* Control characters, line separators, and marks that change the direction of text. */
static bool is_replaced(uint32_t code) {
  return code == '/' || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

static void every_code_point_goes_there_and_back(void **state) {
  (void)state;
  for (uint32_t code = 0x20; code < 0x110000; code++) {
    char text[8] = {0};
    char back[8];
    uint16_t units[2];
    uint16_t want[2];
    uint32_t count = 0;
    if (!is_code_point(code)) continue;
    size_t bytes = plain_utf8(code, (uint8_t *)text);
    size_t unit_count = plain_utf16(code, want);
    if (spate_exfat_utf16(text, bytes, units, 2, &count) != SPATE_OK) fail_msg("%x is refused", code);
    assert_int_equal(count, unit_count);
    assert_memory_equal(units, want, 2 * unit_count);
    if (spate_exfat_utf16(text, bytes, units, count - 1, &count) != SPATE_E_NAME_LONG) fail_msg("%x had no room", code);
    spate_exfat_utf8(want, (uint32_t)unit_count, back);
    assert_string_equal(back, is_replaced(code) ? "\xef\xbf\xbd" : text);
  }
}

/* Are the bytes valid code points? Decodes them without a check, and compares with their encoding. */
static bool plain_valid(const uint8_t *text, size_t bytes) {
  while (bytes > 0) {
    uint8_t again[8];
    size_t length = text[0] < 0xc0 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    uint32_t code = length == 1 ? text[0] : text[0] & (0x7fu >> length);
    if (length > bytes) return false;
    for (size_t i = 1; i < length; i++)
      code = code * 64 + (text[i] & 0x3fu);
    if (!is_code_point(code) || plain_utf8(code, again) != length || memcmp(again, text, length) != 0) return false;
    text += length;
    bytes -= length;
  }
  return true;
}

static void nothing_else_is_accepted(void **state) {
  (void)state;
  static const uint8_t tails[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff};
  const size_t tail_count = sizeof tails;
  for (uint32_t lead = 0; lead < 0x10000; lead++)
    for (size_t tail = 0; tail < tail_count * tail_count; tail++) {
      uint8_t text[4] = {(uint8_t)(lead >> 8), (uint8_t)lead, tails[tail / tail_count], tails[tail % tail_count]};
      size_t bytes = 1 + tail % 4;
      uint16_t units[4];
      uint32_t count;
      enum spate_error want = plain_valid(text, bytes) ? SPATE_OK : SPATE_E_NAME;
      if (spate_exfat_utf16((const char *)text, bytes, units, 4, &count) != want)
        fail_msg("%02x %02x %02x %02x, of these %zu", text[0], text[1], text[2], text[3], bytes);
    }
}

/* Units in names of others that are not text, that would end the string, or that would lead into another directory
 * become U+FFFD. */
static void units_that_are_no_text_are_replaced(void **state) {
  (void)state;
  static const uint16_t edges[] = {0,     1,      0x1f,   0x20,   '/' - 1, '/',    '/' + 1, 0x7f,   0x80,   0x7ff,
                                   0x800, 0xd7ff, 0xd800, 0xd801, 0xdbff,  0xdc00, 0xdc01,  0xdfff, 0xe000, 0xffff};
  const size_t count = sizeof edges / sizeof edges[0];
  for (size_t i = 0; i < count * count * count; i++) {
    uint16_t units[] = {edges[i / count / count], edges[i / count % count], edges[i % count]};
    uint8_t want[16] = {0};
    char got[16];
    size_t bytes = 0;
    for (size_t at = 0; at < 3; at++) {
      uint32_t code = units[at];
      bool high = code >= 0xd800 && code <= 0xdbff && at < 2;
      if (high && units[at + 1] >= 0xdc00 && units[at + 1] <= 0xdfff)
        code = 0x10000 + (code - 0xd800) * 0x400 + (units[++at] - 0xdc00u);
      else if (!is_code_point(code) || code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2f)
        code = 0xfffd;
      bytes += plain_utf8(code, want + bytes);
    }
    spate_exfat_utf8(units, 3, got); /* changes the units */
    assert_string_equal(got, (const char *)want);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_code_point_goes_there_and_back),
      cmocka_unit_test(nothing_else_is_accepted),
      cmocka_unit_test(units_that_are_no_text_are_replaced),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
