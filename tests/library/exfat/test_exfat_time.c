/* SPDX-License-Identifier: Apache-2.0 */
/* Times: what an entry stores of each, and when each of a file's three times changes (specification, 7.4.5 ff.). */
#include "exfat_fixture.h"

#include "exfat/internal.h"

static void given_time(void *context, struct spate_exfat_time *time) { *time = *(struct spate_exfat_time *)context; }

static const struct spate_exfat_time first = {.year = 1980, .month = 1, .day = 1};
static const struct spate_exfat_time last = {
    .year = 2107, .month = 12, .day = 31, .hour = 23, .minute = 59, .second = 59, .centisecond = 99};

static void comes_back(const struct spate_exfat_time *time) {
  struct spate_exfat_time given = *time;
  struct spate_exfat_time got, created;
  struct spate_exfat_config config = {.now = given_time, .now_context = &given};
  uint8_t set[96] = {0};
  spate_exfat_time_stamp(&config, set, false);
  spate_exfat_times_get(set, &created, &got);
  assert_int_equal(got.year, time->year);
  assert_int_equal(got.month, time->month);
  assert_int_equal(got.day, time->day);
  assert_int_equal(got.hour, time->hour);
  assert_int_equal(got.minute, time->minute);
  assert_int_equal(got.second, time->second);
  assert_int_equal(got.centisecond, time->centisecond);
  assert_int_equal(got.utc_known, time->utc_known);
  assert_int_equal(got.utc_quarters, time->utc_quarters);
}

/* Each value of one part of the time, with the others as in `base`. */
static void each_value(const struct spate_exfat_time *base, size_t part, int from, int to) {
  for (int value = from; value <= to; value++) {
    struct spate_exfat_time time = *base;
    uint8_t *parts[] = {&time.month, &time.day, &time.hour, &time.minute, &time.second, &time.centisecond};
    *parts[part] = (uint8_t)value;
    comes_back(&time);
  }
}

static void every_part_of_a_time_comes_back(void **state) {
  (void)state;
  static const int most[] = {12, 31, 23, 59, 59, 99};
  for (unsigned i = 0; i < 2; i++) {
    struct spate_exfat_time time = i ? last : first;
    for (size_t part = 0; part < 6; part++)
      each_value(&time, part, part < 2, most[part]);
    for (uint16_t year = 1980; year <= 2107; year++) {
      time.year = year;
      comes_back(&time);
    }
    time.utc_known = true;
    for (int quarters = -64; quarters <= 63; quarters++) {
      time.utc_quarters = (int8_t)quarters;
      comes_back(&time);
    }
  }
}

/* The first and the last moment, as other implementations read them. */
static void the_fields_lie_where_the_specification_says(void **state) {
  (void)state;
  struct spate_exfat_time time = last;
  struct spate_exfat_config config = {.now = given_time, .now_context = &time};
  uint8_t set[96] = {0};
  spate_exfat_time_stamp(&config, set, true);
  assert_memory_equal(set + 8, "\x7d\xbf\x9f\xff\x7d\xbf\x9f\xff\x7d\xbf\x9f\xff\xc7\xc7\0\0\0", 17);
  time = first;
  time.second = 1;
  time.utc_known = true;
  time.utc_quarters = -1;
  spate_exfat_time_stamp(&config, set, true);
  assert_memory_equal(set + 8, "\0\0\x21\0\0\0\x21\0\0\0\x21\0\x64\x64\xff\xff\xff", 17);
}

/* The creation time is set at arming; the modification time with each new length, by each checkpoint and by close. */
static void a_clip_is_created_once_and_modified_until_it_is_closed(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct spate_exfat_entry entry;
  struct spate_exfat_time now = {.year = 2026, .month = 3, .day = 4, .hour = 5};
  image_open(&image, 32 * MIB, 512, 0);
  image.config.now = given_time;
  image.config.now_context = &now;
  image_format(&image);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 10000), SPATE_OK);
  const uint8_t *set = image.ram.memory + (clip.block->lba << 9) + clip.entry_offset;
  uint32_t created = spate_get32(set + 8);
  for (now.hour = 6; now.hour < 9; now.hour++) {
    if (now.hour < 8) {
      assert_int_equal(image_publish(&image.ram.block, &clip, now.hour * 1000u), SPATE_OK);
    } else {
      assert_int_equal(spate_exfat_close(&clip, 10000), SPATE_OK);
    }
    assert_int_equal(spate_exfat_stat(&image.volume, "clip", &entry), SPATE_OK);
    assert_int_equal(entry.modified.hour, now.hour);
    assert_int_equal(spate_get32(set + 8), created);
    assert_int_equal(spate_get32(set + 16), spate_get32(set + 12)); /* accessed */
  }
  image_close(&image);
}

static void a_file_has_the_time_of_the_callers_clock(void **state) {
  (void)state;
  struct spate_exfat_time when = {.year = 2025,
                                  .month = 12,
                                  .day = 31,
                                  .hour = 23,
                                  .minute = 59,
                                  .second = 59,
                                  .centisecond = 99,
                                  .utc_quarters = -14,
                                  .utc_known = true};
  struct spate_exfat_entry entry;
  image_open(&image, 32 * MIB, 512, 0);
  image.config.now = given_time;
  image.config.now_context = &when;
  image_format(&image);
  put_file("f", "x", 1);
  assert_int_equal(spate_exfat_stat(&image.volume, "f", &entry), SPATE_OK);
  assert_memory_equal(&entry.modified, &when, sizeof when);
  assert_whole(false);
  const uint8_t *set = image_start(&image) + oracle_find(&oracle, "f")->set_offset;
  assert_int_equal(spate_get32(set + 8), (45u << 25) | (12u << 21) | (31u << 16) | (23u << 11) | (59u << 5) | 29u);
  assert_int_equal(set[20], 199);
  assert_int_equal(set[22], 0x80 | 0x72);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_part_of_a_time_comes_back),
      cmocka_unit_test(the_fields_lie_where_the_specification_says),
      cmocka_unit_test(a_clip_is_created_once_and_modified_until_it_is_closed),
      cmocka_unit_test(a_file_has_the_time_of_the_callers_clock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
