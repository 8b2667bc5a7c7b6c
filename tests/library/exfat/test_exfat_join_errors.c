/* SPDX-License-Identifier: Apache-2.0 */
/* What is not joined, and what is not done while a folder is being joined. */
#include "join_fixture.h"

static enum spate_error begin_join(const char *path) {
  const enum spate_error error = spate_exfat_join_begin(&image.volume, &join, path);
  bool more;
  if (error != SPATE_OK) GIVES(SPATE_E_INVALID, spate_exfat_join_work(&join, &more));
  return error;
}

/* Nothing is written, and the volume is as before. */
static void refuses(enum spate_error error, const char *path) {
  ram_block_clear_log(&image.ram);
  assert_int_equal(begin_join(path), error);
  assert_int_equal(image.ram.count[SPATE_WRITE], 0);
  assert_int_equal(image.volume.joining_cluster, 0);
}

static void wrong_kinds(void **state) {
  (void)state;
  open_small();
  put_parts("recording", 3, 2, 0);
  refuses(SPATE_E_INVALID, "");
  refuses(SPATE_E_INVALID, "/");
  refuses(SPATE_E_NOT_FOUND, "none");
  refuses(SPATE_E_NOT_DIRECTORY, "recording/part 00");
  refuses(SPATE_E_INVALID, "d"); /* empty */
  OK(spate_exfat_protect(&image.volume, "recording", true));
  refuses(SPATE_E_PROTECTED, "recording");
  OK(spate_exfat_protect(&image.volume, "recording", false));
  OK(spate_exfat_protect(&image.volume, "recording/part 01", true)); /* what is in it stays protected */
  join_all("recording");
  expect_joined("recording", 3, 2, 0);
  GIVES(SPATE_E_PROTECTED, spate_exfat_delete(&image.volume, "recording"));
  assert_whole(false);
  image_close(&image);
}

/* A folder with three good parts, and `change` of the media of one of them. */
static void with_changed(uint32_t part, enum spate_error error, void (*change)(uint8_t *set)) {
  char path[32];
  open_small();
  put_parts("recording", 3, 2, 0);
  (void)snprintf(path, sizeof path, "recording/part %02u", part);
  uint8_t *set = set_of(path);
  change(set);
  small_seal(set);
  OK(image_mount(&image));
  if (error != SPATE_OK) refuses(error, "recording");
  if (error == SPATE_OK) join_all("recording");
  image_close(&image);
}

static void end_short(uint8_t *set) {
  spate_put64(set + 40, 2047);
  spate_put64(set + 56, 2047);
}
static void end_invalid(uint8_t *set) { spate_put64(set + 40, 2047); }
static void be_empty(uint8_t *set) {
  spate_put64(set + 40, 0);
  spate_put64(set + 56, 0);
  spate_put32(set + 52, 0);
  set[33] = 1;
}
static void be_chained(uint8_t *set) {
  const uint32_t first = spate_get32(set + 52);
  set[33] = 1;
  spate_put32(fat_entry(first), first + 1);
  spate_put32(fat_entry(first + 1), UINT32_MAX);
}
static void be_directory(uint8_t *set) { spate_put16(set + 4, 0x10); }
static void be_cross_linked(uint8_t *set) { /* with the record's file, whose clusters come early */
  spate_put32(set + 52, spate_get32(set_of("recording/part 01") + 52) + 1);
}
static void be_free(uint8_t *set) {
  const uint32_t at = spate_get32(set + 52) - 2;
  small_cluster(image.ram.memory, 2)[at / 8] &= (uint8_t) ~(1u << at % 8);
}
static void be_the_volumes_own(uint8_t *set) { spate_put32(set + 52, 2); }
static void be_huge(uint8_t *set) {
  spate_put64(set + 40, UINT64_C(1) << 40);
  spate_put64(set + 56, UINT64_C(1) << 40);
}
static void be_damaged(uint8_t *set) { set[32] = 0xc1; }

static void parts_that_are_none(void **state) {
  (void)state;
  for (uint32_t part = 0; part < 3; part++) {
    with_changed(part, part < 2 ? SPATE_E_INVALID : SPATE_OK, end_short);
    with_changed(part, SPATE_E_INVALID, end_invalid);
    with_changed(part, SPATE_E_INVALID, be_empty);
    with_changed(part, SPATE_E_INVALID, be_directory);
    with_changed(part, SPATE_E_UNSUPPORTED, be_chained);
    with_changed(part, SPATE_E_CORRUPT, be_free);
    with_changed(part, SPATE_E_CORRUPT, be_the_volumes_own);
    with_changed(part, SPATE_E_CORRUPT, be_huge);
    with_changed(part, SPATE_E_CORRUPT, be_damaged);
  }
  with_changed(0, SPATE_E_CORRUPT, be_cross_linked);
  with_changed(2, SPATE_E_CORRUPT, be_cross_linked);
}

/* ---- the order of recording ---- */

static void create(uint8_t *set, uint32_t year, uint32_t month, uint32_t day, uint32_t hour, uint8_t utc) {
  spate_put32(set + 8, (year - 1980) << 25 | month << 21 | day << 16 | hour << 11);
  set[20] = 0;
  set[22] = utc;
  small_seal(set);
}

static enum spate_error join_created(uint32_t year, uint32_t month, uint32_t day, uint32_t hour, uint8_t utc,
                                     uint32_t later_year, uint32_t later_month, uint32_t later_day, uint32_t later_hour,
                                     uint8_t later_utc) {
  open_small();
  put_parts("recording", 2, 1, 0);
  create(set_of("recording/part 00"), year, month, day, hour, utc);
  create(set_of("recording/part 01"), later_year, later_month, later_day, later_hour, later_utc);
  OK(image_mount(&image));
  const enum spate_error error = begin_join("recording");
  image_close(&image);
  return error;
}

static void the_order_is_that_of_the_recording(void **state) {
  (void)state;
  const uint8_t summer = 0x88;                          /* UTC + 2 h */
  const uint8_t winter = 0x84;                          /* + 1 h */
  const uint8_t west = 0x80 | (0x80 - 20);              /* − 5 h */
  OK(join_created(2026, 3, 1, 9, 0, 2026, 3, 1, 9, 0)); /* at the same time */
  OK(join_created(2026, 3, 1, 9, 0, 2026, 3, 1, 10, 0));
  GIVES(SPATE_E_INVALID, join_created(2026, 3, 1, 10, 0, 2026, 3, 1, 9, 0));
  OK(join_created(2026, 12, 31, 23, 0, 2027, 1, 1, 0, 0));
  GIVES(SPATE_E_INVALID, join_created(2027, 1, 1, 0, 0, 2026, 12, 31, 23, 0));
  OK(join_created(2028, 2, 29, 23, 0, 2028, 3, 1, 0, 0));
  OK(join_created(2100, 2, 28, 23, 0, 2100, 3, 1, 0, 0));
  OK(join_created(2026, 10, 25, 2, summer, 2026, 10, 25, 2, winter)); /* clocks went back */
  OK(join_created(2026, 10, 25, 2, summer, 2026, 10, 25, 1, winter));
  GIVES(SPATE_E_INVALID, join_created(2026, 10, 25, 2, winter, 2026, 10, 25, 2, summer));
  GIVES(SPATE_E_INVALID, join_created(2026, 10, 25, 2, 0, 2026, 10, 25, 1, winter)); /* one offset is not known */
  OK(join_created(2026, 10, 25, 2, summer, 2026, 10, 24, 19, west));
  GIVES(SPATE_E_INVALID, join_created(2026, 10, 25, 3, summer, 2026, 10, 24, 19, west));
  OK(join_created(2028, 3, 1, 0, winter, 2028, 2, 29, 23, 0x80)); /* the same instant */
  GIVES(SPATE_E_INVALID, join_created(2028, 3, 1, 1, winter, 2028, 2, 29, 23, 0x80));
  GIVES(SPATE_E_INVALID, join_created(2100, 3, 1, 1, winter, 2100, 2, 28, 23, 0x80));
  GIVES(SPATE_E_INVALID, join_created(2028, 3, 1, 1, winter, 2028, 2, 28, 23, 0x80));
  GIVES(SPATE_E_INVALID, join_created(2100, 2, 28, 23, 0x80, 2100, 3, 1, 0, summer));
  OK(join_created(2028, 2, 29, 23, 0x80, 2028, 3, 1, 0, winter)); /* the same instant */
  OK(join_created(2026, 10, 25, 2, 0, 2026, 10, 25, 3, summer));  /* one offset is not known */
  OK(join_created(2026, 10, 25, 3, west, 2026, 10, 25, 4, 0));
  for (uint32_t month = 1; month < 12; month++)
    GIVES(SPATE_E_INVALID, join_created(2027, month + 1, 1, 0, 0, 2027, month, 28, 23, 0));
}

static void steps_of_10_ms_count(void **state) {
  (void)state;
  for (unsigned later = 0; later < 3; later++) {
    open_small();
    put_parts("recording", 2, 1, 0);
    uint8_t *first = set_of("recording/part 00");
    uint8_t *second = set_of("recording/part 01");
    create(first, 2026, 1, 1, 1, 0);
    create(second, 2026, 1, 1, 1, 0);
    first[20] = 100;
    second[20] = (uint8_t)(99 + later);
    small_seal(first);
    small_seal(second);
    OK(image_mount(&image));
    GIVES(later == 0 ? SPATE_E_INVALID : SPATE_OK, begin_join("recording"));
    image_close(&image);
  }
}

/* ---- entries that are no files ---- */

/* After the last part lies another entry in use: its clusters would be lost. */
static void other_entries(void **state) {
  (void)state;
  static const uint8_t types[] = {0xa1, 0xc1, 0x81, 0xe0};
  for (unsigned i = 0; i < sizeof types; i++) {
    open_small();
    put_parts("recording", 3, 2, 0);
    uint8_t *behind = set_of("recording/part 02") + 96;
    behind[0] = types[i];
    OK(image_mount(&image));
    refuses(SPATE_E_INVALID, "recording");
    behind[0] &= 0x7f;
    OK(image_mount(&image));
    join_all("recording");
    image_close(&image);
  }
}

static void vendor_entries(void **state) {
  (void)state;
  for (unsigned owns = 0; owns < 2; owns++) {
    open_small();
    put_parts("recording", 3, 2, 0);
    uint8_t *set = set_of("recording/part 02");
    set[1]++;
    set[96] = 0xe0;
    set[97] = (uint8_t)owns;
    small_seal(set);
    OK(image_mount(&image));
    if (owns != 0) refuses(SPATE_E_INVALID, "recording");
    if (owns == 0) join_all("recording");
    image_close(&image);
  }
}

/* ---- volumes ---- */

static void volumes_without_changes(void **state) {
  (void)state;
  open_small();
  put_parts("recording", 3, 2, 0);
  OK(spate_exfat_unmount(&image.volume));
  GIVES(SPATE_E_NOT_MOUNTED, begin_join("recording"));
  image.config.read_only = true;
  OK(image_mount(&image));
  refuses(SPATE_E_READ_ONLY, "recording");
  GIVES(SPATE_E_READ_ONLY, spate_exfat_protect(&image.volume, "recording", true));
  GIVES(SPATE_E_READ_ONLY, spate_exfat_prepare_deletions(&image.volume));
  image_close(&image);
}

/* Another system's volume that is full has no room for the record's file. */
static void no_room_for_the_record(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  uint8_t *memory = image.ram.memory;
  small_format(memory, 4 * MIB, 9, 10);
  const uint32_t folder = small_allocate(memory, 1, 1);
  const uint32_t part = small_allocate(memory, 1, 1);
  small_add(memory, "part", 0x20, part, 1024, 1024, true);
  const uint32_t root = spate_get32(memory + 96);
  uint8_t *set = small_cluster(memory, root);
  while (set[0] != 0x85)
    set += 32;
  memcpy(small_cluster(memory, folder), set, 96);
  memset(set, 0, 96);
  small_add(memory, "recording", 0x10, folder, 1024, 1024, true);
  const uint32_t clusters = spate_get32(memory + 92) + 2 - part - 1;
  const uint32_t rest = small_allocate(memory, clusters, 1);
  small_add(memory, "rest", 0x20, rest, clusters * 1024ull, clusters * 1024ull, true);
  OK(image_mount(&image));
  refuses(SPATE_E_NO_SPACE, "recording");
  OK(spate_exfat_protect(&image.volume, "recording", true)); /* needs no room */
  OK(spate_exfat_protect(&image.volume, "recording", false));
  OK(spate_exfat_prepare_deletions(&image.volume));
  OK(spate_exfat_delete(&image.volume, "rest"));
  join_all("recording");
  assert_whole(false);
  image_close(&image);
}

static void a_journal_that_is_held(void **state) {
  (void)state;
  open_small();
  put_parts("recording", 2, 2, 0);
  hold_journal();
  refuses(SPATE_E_CORRUPT, "recording");
  OK(image_mount(&image));
  join_all("recording");
  assert_whole(false);
  image_close(&image);
}

static void a_volume_that_only_records(void **state) {
  (void)state;
  open_small();
  put_parts("recording", 4, 2, 5);
  OK(spate_exfat_unmount(&image.volume));
  OK(spate_exfat_mount_own(&image.volume, &image.config, &image.found));
  join_all("recording");
  expect_joined("recording", 4, 2, 5);
  OK(spate_exfat_unmount(&image.volume));
  assert_whole(false);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_kinds),
      cmocka_unit_test(parts_that_are_none),
      cmocka_unit_test(the_order_is_that_of_the_recording),
      cmocka_unit_test(steps_of_10_ms_count),
      cmocka_unit_test(other_entries),
      cmocka_unit_test(vendor_entries),
      cmocka_unit_test(volumes_without_changes),
      cmocka_unit_test(no_room_for_the_record),
      cmocka_unit_test(a_journal_that_is_held),
      cmocka_unit_test(a_volume_that_only_records),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
