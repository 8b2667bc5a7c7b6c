/* SPDX-License-Identifier: Apache-2.0 */
/* Renaming a set in its place: what is written, what remains of the old name, and which entries follow the name. */
#include "exfat_fixture.h"

static uint8_t *root_entry(uint32_t index) {
  return small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96)) + 32 * (size_t)index;
}

static void open_volume(void) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 12);
}

static void mount_and_log(void) {
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("first", "x", 1); /* makes the record's file */
  ram_block_clear_log(&image.ram);
  image.ram.keep_log = true;
}

/* The entries that a shorter name does not need become unused, and hold nothing of the longer name. */
static void a_shorter_name_leaves_empty_slots(void **state) {
  (void)state;
  static const uint8_t unused[32] = {5};
  open_volume();
  small_add(image.ram.memory, "a name of more than thirty characters", 0x20, 0, 0, 0, false);
  mount_and_log();
  assert_int_equal(spate_exfat_rename(&image.volume, "a name of more than thirty characters",
                                      "another one of more than thirty of them"),
                   SPATE_OK); /* so that the volume's memory holds a long name */
  ram_block_clear_log(&image.ram);
  assert_int_equal(spate_exfat_rename(&image.volume, "another one of more than thirty of them", "short"), SPATE_OK);
  assert_int_equal(root_entry(2)[0], 0x85);
  assert_int_equal(root_entry(2)[1], 2);
  for (uint32_t i = 5; i < 7; i++)
    assert_memory_equal(root_entry(i), unused, sizeof unused);
  assert_int_equal(image.ram.count[SPATE_WRITE], 1);
  assert_whole(false);
  image_close(&image);
}

/* A set that ends in the same block takes one write. One entry more, and it needs the journal. */
static void one_write_wherever_a_set_lies_in_one_block(void **state) {
  (void)state;
  for (uint32_t at = 2; at < 30; at++) {
    open_volume();
    for (uint32_t i = 2; i < at; i++)
      root_entry(i)[0] = 5;
    small_add(image.ram.memory, "file", 0x20, 0, 0, 0, false);
    mount_and_log();
    assert_int_equal(spate_exfat_rename(&image.volume, "file", "FILE."), SPATE_E_NAME);
    assert_int_equal(spate_exfat_rename(&image.volume, "file", "other"), SPATE_OK);
    if (at / 16 == (at + 2) / 16)
      assert_int_equal(image.ram.count[SPATE_WRITE], 1);
    else
      assert_true(image.ram.count[SPATE_WRITE] > 4);
    assert_whole(false);
    assert_non_null(oracle_find(&oracle, "other"));
    image_close(&image);
  }
}

/* The longest set has nineteen entries, including a vendor's entries after the name. */
static void a_vendors_entries_leave_less_room_for_a_name(void **state) {
  (void)state;
  for (uint32_t vendors = 0; vendors < 3; vendors++) {
    struct spate_exfat_entry entry;
    char name[256];
    open_volume();
    uint8_t *set = root_entry(2);
    small_add(image.ram.memory, "file", 0x20, 0, 0, 0, false);
    for (uint32_t i = 0; i < vendors; i++) {
      set[1]++;
      set[96 + 32 * i] = 0xe0;
      memset(set + 96 + 32 * i + 2, (int)(0x70 + i), 30);
    }
    small_seal(set);
    assert_int_equal(image_mount(&image), SPATE_OK);
    memset(name, 'n', sizeof name);
    name[(17 - vendors) * 15] = '\0';
    assert_int_equal(spate_exfat_rename(&image.volume, "file", name), SPATE_OK);
    assert_int_equal(spate_exfat_stat(&image.volume, name, &entry), SPATE_OK);
    uint32_t at = 0;
    while (root_entry(at)[0] != 0x85 || root_entry(at)[1] != 18)
      at++;
    const uint8_t *moved = root_entry(at);
    for (uint32_t i = 0; i < vendors; i++) {
      assert_int_equal(moved[32 * (19 - vendors + i)], 0xe0);
      assert_int_equal(moved[32 * (19 - vendors + i) + 31], 0x70 + i);
    }
    if (vendors > 0) {
      char longer[256];
      memset(longer, 'l', sizeof longer);
      longer[(17 - vendors) * 15 + 1] = '\0';
      assert_int_equal(spate_exfat_rename(&image.volume, name, longer), SPATE_E_NAME_LONG);
      assert_int_equal(spate_exfat_stat(&image.volume, name, &entry), SPATE_OK);
    }
    image_close(&image);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_shorter_name_leaves_empty_slots),
      cmocka_unit_test(one_write_wherever_a_set_lies_in_one_block),
      cmocka_unit_test(a_vendors_entries_leave_less_room_for_a_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
