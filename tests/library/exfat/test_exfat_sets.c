/* SPDX-License-Identifier: Apache-2.0 */
/* Which entries form a set and which do not: a listing reports a damaged set once, and shows everything behind it. */
#include "exfat_fixture.h"

static uint8_t *add(const char *name) {
  uint8_t *root = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
  return root + small_add(image.ram.memory, name, 0x20, 0, 0, 0, false);
}

/* ---- changes to a set of three entries; all but the last two get a new checksum ---- */

static void keep(uint8_t *set) { (void)set; }
static void another_modified_time(uint8_t *set) { set[12] ^= 1; }
static void benign_behind_the_name(uint8_t *set) {
  set[1] = 3;
  set[96] = 0xe0;
}
static void critical_behind_the_name(uint8_t *set) {
  set[1] = 3;
  set[96] = 0xc2;
}
static void unused_behind_the_name(uint8_t *set) {
  set[1] = 3;
  set[96] = 0x60;
}
static void primary_behind_the_name(uint8_t *set) {
  set[1] = 3;
  set[96] = 0xa5;
}
static void no_stream(uint8_t *set) { set[32] = 0xc1; }
static void stream_not_in_use(uint8_t *set) { set[32] = 0x40; }
static void no_name_entry(uint8_t *set) { set[64] = 0xe0; }
static void name_of_no_units(uint8_t *set) { set[35] = 0; }
static void name_longer_than_its_entries(uint8_t *set) { set[35] = 16; }
static void no_secondary(uint8_t *set) { set[1] = 0; }
static void one_secondary(uint8_t *set) { set[1] = 1; }
static void too_many_secondaries(uint8_t *set) {
  set[1] = 19;
  for (uint32_t i = 3; i < 20; i++)
    set[32 * (size_t)i] = 0xe0;
}
static void wrong_checksum(uint8_t *set) { set[2] ^= 1; }
static void torn_checksum(uint8_t *set) { set[3] ^= 0x80; }

static const struct {
  const char *what;
  void (*change)(uint8_t *set);
  bool whole;
} cases[] = {
    {"as it should be", keep, true},
    {"another time", another_modified_time, true},
    {"a benign entry after the name", benign_behind_the_name, true},
    {"a critical entry after the name", critical_behind_the_name, false},
    {"an unused entry after the name", unused_behind_the_name, false},
    {"a primary entry after the name", primary_behind_the_name, false},
    {"no stream extension", no_stream, false},
    {"a stream extension that is not in use", stream_not_in_use, false},
    {"no name entry", no_name_entry, false},
    {"a name of no units", name_of_no_units, false},
    {"a name longer than its entries", name_longer_than_its_entries, false},
    {"no secondary entry", no_secondary, false},
    {"one secondary entry", one_secondary, false},
    {"more secondary entries than a set has", too_many_secondaries, false},
    {"a wrong checksum", wrong_checksum, false},
    {"a wrong checksum's high byte", torn_checksum, false},
};
#define UNSEALED 2u /* first of the last two */

static void a_listing_reports_a_damaged_set_and_goes_on(void **state) {
  (void)state;
  const size_t count = sizeof cases / sizeof cases[0];
  for (size_t i = 0; i < count; i++) {
    struct spate_exfat_directory directory;
    struct spate_exfat_entry entry;
    unsigned damaged = 0;
    unsigned files = 0;
    bool more = true;
    image_open(&image, 4 * MIB, 512, 0);
    small_format(image.ram.memory, 4 * MIB, 9, 12);
    uint8_t *set = add("it");
    cases[i].change(set);
    if (i + UNSEALED < count) small_seal(set);
    (void)add("behind");
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(spate_exfat_list(&image.volume, "", &directory), SPATE_OK);
    while (more) {
      enum spate_error error = spate_exfat_list_next(&directory, &entry, &more);
      if (error == SPATE_E_CORRUPT)
        damaged++;
      else
        files += more;
    }
    if (damaged != !cases[i].whole || files != 1u + cases[i].whole) fail_msg("%s", cases[i].what);
    assert_int_equal(spate_exfat_stat(&image.volume, "behind", &entry), SPATE_OK);
    assert_int_equal(spate_exfat_stat(&image.volume, "it", &entry), cases[i].whole ? SPATE_OK : SPATE_E_CORRUPT);
    image_close(&image);
  }
}

/* A name has at most seventeen entries: 255 units. */
static void the_longest_set_is_read(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  char name[256];
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 12);
  memset(name, 'n', 255);
  name[255] = '\0';
  (void)add(name);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, name, &entry), SPATE_OK);
  assert_string_equal(entry.name, name);
  image_close(&image);
}

/* The root directory is as long as its chain: entries in its last cluster are found. */
static void the_root_directory_is_as_long_as_its_chain(void **state) {
  (void)state;
  for (uint32_t clusters = 1; clusters < 5; clusters++) {
    struct spate_exfat_entry entry;
    image_open(&image, 4 * MIB, 512, 0);
    small_format(image.ram.memory, 4 * MIB, 9, 10);
    uint8_t *root = small_cluster(image.ram.memory, 4);
    uint8_t *fat = image.ram.memory + ((size_t)spate_get32(image.ram.memory + 80) << 9);
    uint32_t last = 4;
    uint32_t at = small_add(image.ram.memory, "it", 0x20, 0, 0, 0, false);
    uint8_t set[96];
    memcpy(set, root + at, sizeof set);
    for (uint32_t i = at; clusters > 1 && i < 1024; i += 32)
      root[i] = 5;
    for (uint32_t i = 1; i < clusters; i++) {
      uint32_t next = small_allocate(image.ram.memory, 1, 1);
      spate_put32(fat + 4 * (size_t)last, next);
      last = next;
      for (uint32_t slot = 0; slot < 1024; slot += 32)
        small_cluster(image.ram.memory, next)[slot] = 5;
    }
    memcpy(small_cluster(image.ram.memory, last) + 1024 - 96, set, sizeof set);
    if (clusters == 1) memset(root + at, 5, sizeof set);
    for (uint32_t i = at; clusters == 1 && i < 1024 - 96; i += 32)
      root[i] = 5;
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(spate_exfat_stat(&image.volume, "it", &entry), SPATE_OK);
    assert_int_equal(spate_exfat_stat(&image.volume, "", &entry), SPATE_OK);
    assert_int_equal(entry.bytes, clusters * 1024);
    put_file("f", "x", 1);
    assert_whole(false);
    image_close(&image);
  }
}

/* "." and ".." are not names; longer names that begin like them are. */
static void a_name_may_begin_with_dots(void **state) {
  (void)state;
  static const char *const names[] = {".a", "..a", "...a", ". a", ".spate0"};
  struct spate_exfat_entry entry;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 12);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    put_file(names[i], "x", 1);
    assert_int_equal(spate_exfat_stat(&image.volume, names[i], &entry), SPATE_OK);
  }
  assert_int_equal(spate_exfat_stat(&image.volume, ".", &entry), SPATE_E_NAME);
  assert_int_equal(spate_exfat_stat(&image.volume, "..", &entry), SPATE_E_NAME);
  assert_whole(false);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_listing_reports_a_damaged_set_and_goes_on),
      cmocka_unit_test(the_longest_set_is_read),
      cmocka_unit_test(the_root_directory_is_as_long_as_its_chain),
      cmocka_unit_test(a_name_may_begin_with_dots),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
