/* SPDX-License-Identifier: Apache-2.0 */
/* The boards' replacements for a C library, compared with this machine's C library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define memcpy  board_memcpy
#define memmove board_memmove
#define memset  board_memset
#define memcmp  board_memcmp
#define strlen  board_strlen
#define strcmp  board_strcmp
#include "../../ports/common/freestanding/string.h"
#include "../../ports/common/string.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef strlen
#undef strcmp
#include "../../ports/common/arguments.c"
#include "../../ports/common/calendar.c"
#include "../../ports/common/print.c"

#define SPAN      96u /* several words and the unrolled loop, at each alignment */
#define ALIGNMENT 9u

static uint8_t ours[256], theirs[256];

static void fill(uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    bytes[i] = (uint8_t)(i * 37 + 11);
}

static void copies_at_every_alignment(void **state) {
  (void)state;
  for (size_t to = 0; to < ALIGNMENT; to++)
    for (size_t from = 0; from < ALIGNMENT; from++)
      for (size_t bytes = 0; bytes < SPAN; bytes++) {
        uint8_t source[128];
        fill(source, sizeof source);
        memset(ours, 0xee, sizeof ours), memset(theirs, 0xee, sizeof theirs);
        memcpy(theirs + to, source + from, bytes);
        assert_ptr_equal(board_memcpy(ours + to, source + from, bytes), ours + to);
        assert_memory_equal(ours, theirs, sizeof ours);
      }
}

static void moves_over_itself_in_both_directions(void **state) {
  (void)state;
  for (size_t to = 0; to < 40; to++)
    for (size_t from = 0; from < 40; from++)
      for (size_t bytes = 0; bytes < SPAN; bytes += 1 + bytes / 16) {
        fill(ours, sizeof ours), fill(theirs, sizeof theirs);
        memmove(theirs + to, theirs + from, bytes);
        assert_ptr_equal(board_memmove(ours + to, ours + from, bytes), ours + to);
        assert_memory_equal(ours, theirs, sizeof ours);
      }
}

static void sets_at_every_alignment(void **state) {
  (void)state;
  for (size_t at = 0; at < ALIGNMENT; at++)
    for (size_t bytes = 0; bytes < SPAN; bytes++) {
      fill(ours, sizeof ours), fill(theirs, sizeof theirs);
      int value = (int)(0x100 + bytes); /* only its low byte counts */
      memset(theirs + at, value, bytes);
      assert_ptr_equal(board_memset(ours + at, value, bytes), ours + at);
      assert_memory_equal(ours, theirs, sizeof ours);
    }
}

static void compares_as_the_library_does(void **state) {
  (void)state;
  for (size_t left = 0; left < ALIGNMENT; left++)
    for (size_t right = 0; right < ALIGNMENT; right++)
      for (size_t differs = 0; differs <= 40; differs++) {
        fill(ours + left, 40), fill(theirs + right, 40);
        assert_int_equal(board_memcmp(ours + left, theirs + right, 40), 0);
        if (differs == 40) continue;
        ours[left + differs] = 0x80, theirs[right + differs] = 0x7f;
        assert_true(board_memcmp(ours + left, theirs + right, 40) > 0);
        assert_true(board_memcmp(theirs + right, ours + left, 40) < 0);
        assert_int_equal(board_memcmp(ours + left, theirs + right, differs), 0);
      }
  assert_int_equal(board_strlen("four"), 4);
  assert_int_equal(board_strcmp("same", "same"), 0);
  assert_true(board_strcmp("\xff", "a") > 0);
  assert_true(board_strcmp("a", "aa") < 0);
}

__attribute__((format(printf, 1, 2))) static void same(const char *format, ...) {
  char expected[128];
  char got[128];
  struct target target = {got, sizeof got - 1};
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(expected, sizeof expected, format, arguments);
  va_end(arguments);
  va_start(arguments, format);
  assert_int_equal(print_format(emit_to_target, &target, format, arguments), length);
  va_end(arguments);
  *target.text = 0;
  assert_string_equal(got, expected);
}

static void prints_as_the_library_does(void **state) {
  (void)state;
  same("plain");
  same("100%% %c%c", 'a', 'b');
  same("%s|%8s|%-8s|%.2s|%8.1s|%.*s|%*s", "abc", "abc", "abc", "abc", "abc", 2, "xyz", 6, "r");
  same("%d %d %d %i", 0, -1, INT32_MIN, INT32_MAX);
  same("%5d|%-5d|%05d|%+d|%+05d|%.3d|%8.3d", 42, 42, -42, 42, 42, 7, -7);
  same("%u %x %X %08x %-8x|", UINT32_MAX, 0xbeefu, 0xBEEFu, 0x12u, 0x12u);
  same("%llu %lld %llx %016llx", UINT64_MAX + 0ull, (long long)INT64_MIN, 0xfeedfacecafebeefull, 1ull);
  same("%lu %ld %zu %ju %jd %hhu %hd", 4000000000ul, -5l, (size_t)7, (uintmax_t)8, (intmax_t)-9, (unsigned char)200,
       (short)-3);
  same("%p", (void *)(uintptr_t)0x1234abcd);
  same("%40d|%-40d|%040d", 1, 2, 3); /* wider than the run of blanks */
  same("%u then %s then %llx", 1u, "two", 3ull);
}

static void a_short_buffer_gets_what_fits(void **state) {
  (void)state;
  char got[5] = "####";
  assert_int_equal(print_into(got, 4, "%s", "abcdef"), 6);
  assert_string_equal(got, "abc");
  got[0] = '#';
  assert_int_equal(print_into(got, 0, "%u", 12u), 2);
  assert_int_equal(got[0], '#');
}

static char console[64];

void board_write(const char *text, size_t bytes) { strncat(console, text, bytes); }

static void the_console_gets_the_same(void **state) {
  (void)state;
  console[0] = 0;
  print("%s %d\n", "x", 3);
  assert_string_equal(console, "x 3\n");
  static const char *const odd[] = {"%", "%y", "100%", "%5.3y|", "%ll"};
  for (unsigned i = 0; i < sizeof odd / sizeof odd[0]; i++) {
    void (*unchecked)(const char *format, ...) = print;
    console[0] = 0;
    unchecked(odd[i]);
    assert_string_equal(console, odd[i]);
  }
}

static void arguments_are_found_among_words(void **state) {
  (void)state;
  char line[] = "hello size=12 sizes=3 empty= path=/a=b size=13 last";
  const char *end = line + sizeof line - 1;
  assert_string_equal(arguments_find(line, end, "size"), "12");
  assert_string_equal(arguments_find(line, end, "sizes"), "3");
  assert_string_equal(arguments_find(line, end, "path"), "/a=b");
  assert_string_equal(arguments_find(line, end, "empty"), "");
  assert_string_equal(arguments_find(line, end, "size"), "12"); /* again; the line now contains NULs */
  assert_null(arguments_find(line, end, "siz"));
  assert_null(arguments_find(line, end, "last"));
  assert_null(arguments_find(line, end, "hello"));
  assert_null(arguments_find(line, line, "size"));
}

static void the_calendar_is_the_library_s(void **state) {
  (void)state;
  for (uint64_t at = FIRST_SECOND; at <= LAST_SECOND; at += 86400 * 3 + 12347) {
    time_t when = (time_t)at;
    struct tm expected;
    assert_non_null(gmtime_r(&when, &expected));
    struct spate_exfat_time got;
    calendar_from_unix(at, &got);
    assert_int_equal(got.year, expected.tm_year + 1900);
    assert_int_equal(got.month, expected.tm_mon + 1);
    assert_int_equal(got.day, expected.tm_mday);
    assert_int_equal(got.hour, expected.tm_hour);
    assert_int_equal(got.minute, expected.tm_min);
    assert_int_equal(got.second, expected.tm_sec);
    assert_true(got.utc_known);
  }
  struct spate_exfat_time got;
  calendar_from_unix(0, &got);
  assert_int_equal(got.year, 1980);
  calendar_from_unix(UINT64_MAX, &got);
  assert_int_equal(got.year, 2107);
  assert_int_equal(got.second, 59);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_at_every_alignment),     cmocka_unit_test(moves_over_itself_in_both_directions),
      cmocka_unit_test(sets_at_every_alignment),       cmocka_unit_test(compares_as_the_library_does),
      cmocka_unit_test(prints_as_the_library_does),    cmocka_unit_test(a_short_buffer_gets_what_fits),
      cmocka_unit_test(the_console_gets_the_same),     cmocka_unit_test(arguments_are_found_among_words),
      cmocka_unit_test(the_calendar_is_the_library_s),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
