/* SPDX-License-Identifier: Apache-2.0 */
/* Several files that could each be the reservation record, because somebody copied files: the newest is the record. */
#include "exfat_fixture.h"

#include "core/crc32.h"
#include "exfat/internal.h"

#define FILE_BYTES (EXFAT_RECORD_SLOTS * 512u)
#define CLIP_BYTES (UINT64_C(100) * 1024)
#define SET_BYTES  96u

static uint32_t place; /* in the root directory, before the record's set */
static uint8_t *live;  /* the record's content, ... */
static uint8_t copy[FILE_BYTES];

static uint8_t *root_directory(void) { return small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96)); }

/* A volume with its record, a recorded clip, and a clip that is being recorded. */
static void open_volume(struct spate_exfat_clip *clip) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  place = small_add(image.ram.memory, "place", 0x20, 0, 0, 0, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("f", "x", 1);
  assert_int_equal(spate_exfat_arm(&image.volume, clip, "clip", CLIP_BYTES), SPATE_OK);
  live = image.ram.memory + (image.volume.record_lba << 9);
  memcpy(copy, live, sizeof copy); /* ... and as it is now */
}

/* Another file that can be the record, before it or after it in the directory. */
static uint8_t *add_other(bool in_front, const uint8_t *content) {
  uint8_t *root = root_directory();
  uint32_t first = small_allocate(image.ram.memory, FILE_BYTES / 1024 + 1, 1);
  uint32_t at = small_add(image.ram.memory, ".spate_2", 0x06, first, FILE_BYTES, FILE_BYTES, false);
  memcpy(small_cluster(image.ram.memory, first), content, FILE_BYTES);
  if (!in_front) return small_cluster(image.ram.memory, first);
  memcpy(root + place, root + at, SET_BYTES);
  memset(root + at, 0, SET_BYTES);
  return small_cluster(image.ram.memory, first);
}

static void expect_live(uint32_t reservations) {
  assert_int_equal(image.found.reservations, reservations);
  assert_int_equal(image.found.reclaimed_bytes, reservations * CLIP_BYTES);
  assert_ptr_equal(image.ram.memory + (image.volume.record_lba << 9), live);
  assert_whole(false);
}

/* An empty record, and one of another volume: what the cut left is repaired, and the volume does not stay dirty. */
static void test_copies_of_others(void **state) {
  (void)state;
  for (unsigned way = 0; way < 4; way++) {
    static const uint8_t zeros[FILE_BYTES];
    struct spate_exfat_clip clip;
    open_volume(&clip);
    spate_put32(copy + 12, 0x5eed); /* the serial number */
    (void)add_other(way & 1, way & 2 ? zeros : copy);
    assert_int_equal(image_mount(&image), SPATE_OK);
    expect_live(1);
    image_close(&image);
  }
}

/* An older copy of the volume's own record is ignored, also after the next cut, and also when the newest record is
 * empty. */
static void test_older_copies(void **state) {
  (void)state;
  for (unsigned way = 0; way < 4; way++) {
    struct spate_exfat_clip clip;
    open_volume(&clip);
    assert_int_equal(spate_exfat_close(&clip, 5000), SPATE_OK);
    if (way & 2) assert_int_equal(spate_exfat_arm(&image.volume, &clip, "next", CLIP_BYTES), SPATE_OK);
    uint8_t *other = add_other(way & 1, copy);
    assert_int_equal(image_mount(&image), SPATE_OK);
    expect_live(way & 2 ? 1 : 0);
    assert_memory_equal(other, copy, sizeof copy); /* other files are never written */
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "last", CLIP_BYTES), SPATE_OK);
    assert_int_equal(image_mount(&image), SPATE_OK);
    expect_live(1);
    assert_int_equal(oracle_find(&oracle, "clip")->bytes, 5000);
    image_close(&image);
  }
}

/* The record is lost, and only an old copy exists: of the clusters that it names, only those without an owner are
 * freed. */
static void test_only_an_old_copy(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_volume(&clip);
  assert_int_equal(spate_exfat_close(&clip, 5000), SPATE_OK);
  put_file("after", NULL, CLIP_BYTES); /* in the clusters that the clip had reserved */
  memcpy(live, copy, sizeof copy);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reservations, 1);
  assert_int_equal(image.found.reclaimed_bytes, 0);
  assert_whole(false);
  assert_int_equal(oracle_find(&oracle, "after")->bytes, CLIP_BYTES);
  image_close(&image);
}

/* The count of writes has 32 bits, and ends at its highest value: a record does not become older than its copies. */
static void test_the_last_numbers(void **state) {
  (void)state;
  for (unsigned way = 0; way < 6; way++) {
    struct spate_exfat_clip clip;
    open_volume(&clip);
    spate_put32(live + RECORD_NUMBER, UINT32_MAX - way / 2);
    spate_put32(live + RECORD_CRC, spate_crc32(0, live, RECORD_CRC));
    memcpy(copy, live, sizeof copy);
    if (way / 2 == 0) { /* a copy of the same number would be as good */
      spate_put32(copy + RECORD_NUMBER, UINT32_MAX - 1);
      spate_put32(copy + RECORD_CRC, spate_crc32(0, copy, RECORD_CRC));
    }
    assert_int_equal(image_mount(&image), SPATE_OK);
    for (unsigned i = 0; i < 3; i++) {
      assert_int_equal(spate_exfat_arm(&image.volume, &clip, i == 0 ? "b" : i == 1 ? "c" : "d", CLIP_BYTES), SPATE_OK);
      assert_int_equal(spate_exfat_close(&clip, 5000), SPATE_OK);
    }
    uint8_t *other = add_other(way & 1, copy);
    assert_int_equal(image_mount(&image), SPATE_OK);
    expect_live(0);
    assert_int_equal(image.volume.record_number, UINT32_MAX);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "last", CLIP_BYTES), SPATE_OK);
    assert_int_equal(image_mount(&image), SPATE_OK);
    expect_live(1);
    assert_memory_equal(other, copy, sizeof copy);
    image_close(&image);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_copies_of_others),
      cmocka_unit_test(test_older_copies),
      cmocka_unit_test(test_only_an_old_copy),
      cmocka_unit_test(test_the_last_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
