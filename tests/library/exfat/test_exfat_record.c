/* SPDX-License-Identifier: Apache-2.0 */
/* What mount accepts as a reservation record: an intact record that this volume wrote, about clusters that it has. */
#include "exfat_fixture.h"

#include "core/crc32.h"
#include "exfat/internal.h"

#define RESERVED_BYTES (UINT64_C(100) << 10)

static struct spate_exfat_clip clip;

/* A cut while a clip is open: its record is in slot 0. */
static void open_cut(void) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", RESERVED_BYTES), SPATE_OK);
}

static uint8_t *slot_at(uint32_t slot) { return image.ram.memory + ((image.volume.record_lba + slot) << 9); }

static void seal(uint8_t *slot) { spate_put32(slot + RECORD_CRC, spate_crc32(0, slot, RECORD_CRC)); }

static void expect_no_record(const char *what, size_t which) {
  uint64_t writes = image.ram.count[SPATE_WRITE];
  assert_int_equal(image_mount(&image), SPATE_OK);
  if (image.found.reservations != 0 || image.found.reclaimed_bytes != 0) fail_msg("%s %zu was accepted", what, which);
  assert_true(image.found.dirty);
  assert_int_equal(image.ram.count[SPATE_WRITE], writes);
}

static void no_bit_of_a_record_can_change(void **state) {
  (void)state;
  open_cut();
  for (size_t bit = 0; bit < 8 * RECORD_BYTES; bit++) {
    slot_at(0)[bit / 8] ^= (uint8_t)(1u << bit % 8);
    expect_no_record("bit", bit);
    slot_at(0)[bit / 8] ^= (uint8_t)(1u << bit % 8);
  }
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reservations, 1);
  assert_int_equal(image.found.reclaimed_bytes, RESERVED_BYTES);
  assert_whole(false);
  image_close(&image);
}

/* A correct CRC, in a record of another volume, of a later version, or made by a bug. */
static void a_record_of_something_that_the_volume_lacks_is_refused(void **state) {
  (void)state;
  open_cut();
  const uint32_t end = image.volume.cluster_count + 2;
  const struct {
    size_t at;
    uint64_t value;
    size_t bytes;
  } wrong[] = {
      {RECORD_MAGIC + 4, 'X', 1},
      {RECORD_VERSION, 2, 4},
      {RECORD_SERIAL, 0x0badcafd, 4},
      {RECORD_PREVIOUS_CLUSTER, 1, 4},
      {RECORD_PREVIOUS_CLUSTER, end, 4},
      {RECORD_CLUSTERS + RECORD_CHAIN_FIRST_CLUSTER, 0, 4},
      {RECORD_CLUSTERS + RECORD_CHAIN_FIRST_CLUSTER, 1, 4},
      {RECORD_CLUSTERS + RECORD_CHAIN_FIRST_CLUSTER, end, 4},
      {RECORD_CLUSTERS + RECORD_CHAIN_FIRST_CLUSTER, end - RESERVED_BYTES / 1024 + 1, 4},
      {RECORD_CLUSTERS + RECORD_CHAIN_BYTES, UINT64_MAX, 8},
      {RECORD_FROM + RECORD_CHAIN_FIRST_CLUSTER, 1, 4},
      {RECORD_FROM + RECORD_CHAIN_FIRST_CLUSTER, end, 4},
      {RECORD_FROM + RECORD_CHAIN_BYTES, 1, 8},
      {RECORD_TO + RECORD_CHAIN_FIRST_CLUSTER, 1, 4},
      {RECORD_TO + RECORD_CHAIN_FIRST_CLUSTER, end, 4},
      {RECORD_TO + RECORD_CHAIN_BYTES, 1, 8},
  };
  uint8_t whole[RECORD_BYTES];
  memcpy(whole, slot_at(0), sizeof whole);
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    uint8_t value[8];
    spate_put64(value, wrong[i].value);
    memcpy(slot_at(0) + wrong[i].at, value, wrong[i].bytes);
    seal(slot_at(0));
    expect_no_record("wrong field", i);
    memcpy(slot_at(0), whole, sizeof whole);
  }
  image_close(&image);
}

/* Only a clip consists of chunks: a record with chunks in the slot of directory changes is not accepted. */
static void a_directory_change_is_not_made_of_chunks(void **state) {
  (void)state;
  open_cut();
  uint8_t *journal = slot_at(EXFAT_RECORD_JOURNAL);
  memcpy(journal, slot_at(0), RECORD_BYTES);
  memset(slot_at(0), 0, RECORD_BYTES);
  spate_put32(journal + RECORD_CHUNK_BYTES, 1);
  seal(journal);
  expect_no_record("a record with chunks", EXFAT_RECORD_JOURNAL);

  spate_put32(journal + RECORD_CHUNK_BYTES, 0);
  seal(journal);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, RESERVED_BYTES);
  assert_whole(false);
  image_close(&image);
}

/* The last cluster of a directory whose growth was cut may be any cluster of the volume, also the first and the
 * last. */
static void a_record_may_name_any_cluster_of_the_volume(void **state) {
  (void)state;
  for (unsigned last = 0; last < 2; last++) {
    open_cut();
    spate_put32(slot_at(0) + RECORD_PREVIOUS_CLUSTER, last ? image.volume.cluster_count + 1 : EXFAT_FIRST_CLUSTER);
    seal(slot_at(0));
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.reservations, 1);
    assert_int_equal(image.found.reclaimed_bytes, RESERVED_BYTES);
    assert_whole(false);
    image_close(&image);
  }
}

/* Earlier versions (up to commit b6997e8) wrote where a walk of the chain had stopped: between the first cluster and
 * the length. */
static void a_recorded_chain_is_walked_from_its_start(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint32_t first = small_allocate(image.ram.memory, 5, 2);
  small_add(image.ram.memory, "chained", 0x20, first, 4500, 4500, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK); /* makes the record's file */
  struct ram_fault bitmap_fails = {.ops = RAM_OP(SPATE_WRITE),
                                   .first_lba = image.volume.heap_lba,
                                   .last_lba = image.volume.heap_lba + 1,
                                   .times = 1,
                                   .error = SPATE_E_MEDIA};
  ram_block_fault(&image.ram, bitmap_fails);
  assert_int_equal(spate_exfat_delete(&image.volume, "chained"), SPATE_E_MEDIA);
  uint8_t *journal = slot_at(EXFAT_RECORD_JOURNAL);
  spate_put32(journal + RECORD_CLUSTERS + 4, first + 8);
  spate_put32(journal + RECORD_CLUSTERS + 8, 0);
  seal(journal);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 5 * 1024);
  assert_whole(false);
  image_close(&image);
}

/* What memory happens to hold between two fields does not reach the volume. */
static void between_the_fields_are_zeros(void **state) {
  (void)state;
  static const struct {
    size_t from, to;
  } gaps[] = {{RECORD_CLUSTERS + 4, RECORD_CLUSTERS + 16},
              {RECORD_CLUSTERS + 25, RECORD_FROM},
              {RECORD_FROM + 4, RECORD_FROM + 16},
              {RECORD_FROM + 25, RECORD_FROM + RECORD_PLACE_OFFSET},
              {RECORD_FROM + 37, RECORD_TO},
              {RECORD_TO + 4, RECORD_TO + 16},
              {RECORD_TO + 25, RECORD_TO + RECORD_PLACE_OFFSET},
              {RECORD_TO + 37, RECORD_STREAM}};
  open_cut();
  memset(slot_at(1), 0xa5, RECORD_BYTES); /* what was there before */
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  struct spate_exfat_chunks chunks = {.stream = "between", .chunk_bytes = 4096};
  struct spate_exfat_clip other;
  assert_int_equal(spate_exfat_arm_chunks(&image.volume, &other, "d/chunks", RESERVED_BYTES, &chunks), SPATE_OK);
  for (uint32_t slot = 0; slot < 2; slot++)
    for (size_t i = 0; i < sizeof gaps / sizeof gaps[0]; i++)
      for (size_t at = gaps[i].from; at < gaps[i].to; at++)
        if (slot_at(slot)[at] != 0) fail_msg("slot %u, byte %zu is %02x", slot, at, slot_at(slot)[at]);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_bit_of_a_record_can_change),
      cmocka_unit_test(a_record_of_something_that_the_volume_lacks_is_refused),
      cmocka_unit_test(a_directory_change_is_not_made_of_chunks),
      cmocka_unit_test(a_record_may_name_any_cluster_of_the_volume),
      cmocka_unit_test(a_recorded_chain_is_walked_from_its_start),
      cmocka_unit_test(between_the_fields_are_zeros),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
