/* SPDX-License-Identifier: Apache-2.0 */
/* Who owns clusters: recovery frees what a cut left allocated, except everything that any entry in use claims. */
#include "exfat_fixture.h"

#define RESERVED 100u /* clusters of the clip that was cut; the cases count from its first cluster */

static struct spate_exfat_clip clip;

static uint8_t *root_end(void) {
  uint8_t *entry = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
  while (*entry != 0)
    entry += 32;
  return entry;
}

static void put_chain(uint8_t *entry, uint32_t first, uint64_t bytes) {
  spate_put32(entry + 20, first);
  spate_put64(entry + 24, bytes);
}

/* A single entry, of any type. With `flags` in either place where such a field can be, it claims three of the
 * clusters. */
static void put_entry(uint8_t type, uint8_t primary_flags, uint8_t secondary_flags) {
  uint8_t *entry = root_end();
  entry[0] = type;
  entry[1] = secondary_flags;
  entry[4] = primary_flags;
  put_chain(entry, clip.first_cluster + 10, 2500);
}

/* A file without clusters, whose set has an additional entry after the name. */
static uint8_t *put_vendor(uint8_t type, uint8_t flags, uint32_t first, uint64_t bytes) {
  uint8_t *set = root_end();
  small_add(image.ram.memory, "vendor", 0x20, 0, 0, 0, false);
  set[1]++;
  set[96] = type;
  set[97] = flags;
  put_chain(set + 96, first, bytes);
  small_seal(set);
  return set;
}

/* ---- the cases: each puts something into the root directory of the volume that was cut ---- */

static void put_nothing(void) {}
static void put_vendor_run(void) { put_vendor(0xe1, 3, clip.first_cluster + 10, 2500); }
static void put_vendor_chain(void) {
  spate_put32(fat_entry(clip.first_cluster + 10), clip.first_cluster + 12);
  spate_put32(fat_entry(clip.first_cluster + 12), UINT32_MAX);
  put_vendor(0xe1, 1, clip.first_cluster + 10, 2048);
}
static void put_vendor_extension(void) { put_vendor(0xe0, 0, clip.first_cluster + 10, 2500); }
static void put_vendor_empty(void) { put_vendor(0xe1, 3, 0, 0); }
static void put_vendor_outside(void) { put_vendor(0xe1, 3, 1, 2500); }
static void put_two_vendors(void) {
  uint8_t *set = put_vendor(0xe1, 3, clip.first_cluster, 1024);
  set[1]++;
  set[128] = 0xe1;
  set[129] = 3;
  put_chain(set + 128, clip.first_cluster + RESERVED - 1, 1024);
  small_seal(set);
}
static void put_benign_primary(void) { put_entry(0xa6, 3, 0); }
static void put_benign_primary_without(void) { put_entry(0xa6, 0, 3); }
static void put_benign_secondary(void) { put_entry(0xe2, 0, 3); }
static void put_benign_secondary_without(void) { put_entry(0xe2, 3, 0); }
static void put_unused(void) { put_entry(0x26, 3, 3); }
static void put_guid(void) { put_entry(0xa0, 3, 3); }
static void put_critical(void) { put_entry(0x86, 0, 0); }
static void put_stream_alone(void) { put_entry(0xc0, 0, 0); }
static void put_behind_the_end(void) {
  uint8_t *entry = root_end() + 32;
  memset(entry, 0, 32);
  entry[0] = 0xa6;
  entry[4] = 3;
  put_chain(entry, clip.first_cluster + 10, 2500);
}
static void put_file_without_bytes(void) {
  small_add(image.ram.memory, "f", 0x20, clip.first_cluster + 99, 0, 0, true);
}
static void put_file_partly_valid(void) {
  small_add(image.ram.memory, "f", 0x20, clip.first_cluster + 99, 1024, 1, true);
}
static void put_directory(void) {
  uint8_t *set = root_end();
  uint8_t *inside = small_cluster(image.ram.memory, clip.first_cluster + 20);
  memset(inside, 0, 1024);
  small_add(image.ram.memory, "f", 0x20, clip.first_cluster + 30, 5 * 1024, 1, true);
  memcpy(inside, set, 96);
  memset(set, 0, 96);
  small_add(image.ram.memory, "d", 0x10, clip.first_cluster + 20, 1024, 1024, true);
}
static void put_second_owner(void) {
  small_add(image.ram.memory, "f", 0x20, clip.first_cluster + 10, 3000, 3000, true);
  small_add(image.ram.memory, "g", 0x20, clip.first_cluster + 12, 3000, 3000, true);
}
/* More clusters are owned than exist: such a tree is not believed. */
static void put_owners_of_all(void) {
  uint64_t bytes = (uint64_t)image.volume.cluster_count << 10;
  for (char name[] = "f"; name[0] < 'k'; name[0]++)
    small_add(image.ram.memory, name, 0x20, 2, bytes, bytes, true);
}

#define UNREADABLE UINT32_MAX /* nothing is freed, and the record stays */

static const struct {
  const char *what;
  void (*put)(void);
  uint32_t spared_clusters;
} cases[] = {
    {"nothing", put_nothing, 0},
    {"a vendor's run", put_vendor_run, 3},
    {"a vendor's chain in the FAT", put_vendor_chain, 2},
    {"a vendor's entry that cannot own clusters", put_vendor_extension, 0},
    {"a vendor's entry that could", put_vendor_empty, 0},
    {"a vendor's cluster that the volume has not", put_vendor_outside, UNREADABLE},
    {"two vendors', the first and the last cluster", put_two_vendors, 2},
    {"a benign primary entry", put_benign_primary, 3},
    {"a benign primary entry that cannot own clusters", put_benign_primary_without, 0},
    {"a benign secondary entry", put_benign_secondary, 3},
    {"a benign secondary entry that cannot own clusters", put_benign_secondary_without, 0},
    {"an entry that is not in use", put_unused, 0},
    {"a volume's GUID", put_guid, 0},
    {"a critical entry of a type not known here", put_critical, UNREADABLE},
    {"a stream extension without a file", put_stream_alone, UNREADABLE},
    {"what stands past the end", put_behind_the_end, 0},
    {"a file of no bytes that has a cluster all the same", put_file_without_bytes, 1},
    {"a file of which one byte is valid", put_file_partly_valid, 1},
    {"a directory, and the file in it", put_directory, 6},
    {"two files over the same clusters", put_second_owner, 5},
    {"five files, each over the whole volume", put_owners_of_all, UNREADABLE},
};

static void recovery_spares_what_has_an_owner(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    bool unreadable = cases[i].spared_clusters == UNREADABLE;
    uint64_t freed = unreadable ? 0 : (RESERVED - cases[i].spared_clusters) * UINT64_C(1024);
    image_open(&image, 4 * MIB, 512, 0);
    small_format(image.ram.memory, 4 * MIB, 9, 10);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", RESERVED * 1024), SPATE_OK);
    cases[i].put();
    assert_int_equal(image_mount(&image), SPATE_OK);
    if (image.found.reclaimed_bytes != freed)
      fail_msg("%s: %u KiB reclaimed", cases[i].what, (unsigned)(image.found.reclaimed_bytes >> 10));
    assert_int_equal(spate_exfat_unmount(&image.volume), unreadable ? SPATE_E_CORRUPT : SPATE_OK);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.reservations, unreadable);
    assert_int_equal(image.found.dirty, unreadable);
    image_close(&image);
  }
}

/* Clusters that a vendor's entry owns would be lost with the name. An entry that owns nothing is deleted with it. */
static void a_file_with_a_vendors_clusters_is_not_deleted(void **state) {
  (void)state;
  static const struct {
    uint8_t type, flags;
    enum spate_error error;
  } vendors[] = {
      {0xe1, 1, SPATE_E_UNSUPPORTED}, {0xe1, 3, SPATE_E_UNSUPPORTED}, {0xe1, 2, SPATE_OK}, {0xe0, 0, SPATE_OK}};
  for (size_t i = 0; i < sizeof vendors / sizeof vendors[0]; i++) {
    struct spate_exfat_entry entry;
    image_open(&image, 4 * MIB, 512, 0);
    small_format(image.ram.memory, 4 * MIB, 9, 10);
    put_vendor(vendors[i].type, vendors[i].flags, small_allocate(image.ram.memory, 1, 1), 1024);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(spate_exfat_rename(&image.volume, "vendor", "a name of two entries"), SPATE_OK);
    assert_int_equal(spate_exfat_delete(&image.volume, "a name of two entries"), vendors[i].error);
    assert_int_equal(spate_exfat_stat(&image.volume, "a name of two entries", &entry),
                     vendors[i].error == SPATE_OK ? SPATE_E_NOT_FOUND : SPATE_OK);
    assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
    image_close(&image);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recovery_spares_what_has_an_owner),
      cmocka_unit_test(a_file_with_a_vendors_clusters_is_not_deleted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
