/* SPDX-License-Identifier: Apache-2.0 */
/* The last permitted value and the first one beyond: clusters, lengths and valid lengths in entries of other
 * systems. */
#include "exfat_fixture.h"

#define VOLUME_BYTES    (300 * MIB)
#define CLUSTER_BYTES   UINT64_C(4096)
#define DIRECTORY_LIMIT (256 * MIB)

/* Clusters are numbered 2 … COUNT + 1; `first` counts from 0 like the heap, −2: none. */
#define COUNT     ((int64_t)spate_get32(image.ram.memory + 92))
#define ALL_BYTES ((uint64_t)COUNT * CLUSTER_BYTES)

static enum spate_error stat_of(int64_t first, uint64_t bytes, uint64_t valid_bytes, uint16_t attributes,
                                bool contiguous) {
  struct spate_exfat_entry entry;
  uint8_t *root = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
  memset(root + 64, 0, 96);
  small_add(image.ram.memory, "it", attributes, (uint32_t)(first + 2), bytes, valid_bytes, contiguous);
  assert_int_equal(image_mount(&image), SPATE_OK);
  enum spate_error error = spate_exfat_stat(&image.volume, "it", &entry);
  if (error == SPATE_OK) {
    assert_int_equal(entry.bytes, bytes);
    assert_int_equal(entry.valid_bytes, valid_bytes);
    assert_int_equal(entry.contiguous, contiguous);
  }
  return error;
}

/* OK with `bytes`, CORRUPT with one more. */
static void ends_with(int line, int64_t first, uint64_t bytes, uint16_t attributes, bool contiguous) {
  if (stat_of(first, bytes, bytes, attributes, contiguous) != SPATE_OK) fail_msg("line %d: refused", line);
  if (stat_of(first, bytes + 1, bytes, attributes, contiguous) != SPATE_E_CORRUPT) fail_msg("line %d: believed", line);
}

static void no_chain_is_longer_than_the_heap_has_clusters(void **state) {
  (void)state;
  for (unsigned run = 0; run < 2; run++) {
    ends_with(__LINE__, -2, 0, 0x20, run != 0);
    ends_with(__LINE__, 0, ALL_BYTES, 0x20, run != 0);
    ends_with(__LINE__, COUNT - 1, run ? CLUSTER_BYTES : ALL_BYTES, 0x20, run != 0);
    ends_with(__LINE__, COUNT - 7, run ? 7 * CLUSTER_BYTES : ALL_BYTES, 0x20, run != 0);
    assert_int_equal(stat_of(-1, 1, 1, 0x20, run != 0), SPATE_E_CORRUPT);
    assert_int_equal(stat_of(-1, 0, 0, 0x20, run != 0), SPATE_E_CORRUPT);
    assert_int_equal(stat_of(COUNT, 1, 1, 0x20, run != 0), SPATE_E_CORRUPT);
    assert_int_equal(stat_of(COUNT, 0, 0, 0x20, run != 0), SPATE_E_CORRUPT);
  }
}

static void the_valid_length_is_at_most_the_length(void **state) {
  (void)state;
  assert_int_equal(stat_of(100, 5000, 0, 0x20, true), SPATE_OK);
  assert_int_equal(stat_of(100, 5000, 5000, 0x20, true), SPATE_OK);
  assert_int_equal(stat_of(100, 5000, 5001, 0x20, true), SPATE_E_CORRUPT);
  assert_int_equal(stat_of(-2, 0, 1, 0x20, false), SPATE_E_CORRUPT);
}

/* Specification, 7.4.6.2: 256 MiB. A file may be longer. */
static void a_directory_has_its_limit(void **state) {
  (void)state;
  for (unsigned run = 0; run < 2; run++) {
    ends_with(__LINE__, 100, DIRECTORY_LIMIT, 0x10, run != 0);
    assert_int_equal(stat_of(100, DIRECTORY_LIMIT + 1, DIRECTORY_LIMIT, 0x20, run != 0), SPATE_OK);
  }
}

/* This test is the last, because it changes the volume. */
static void a_reservation_is_of_as_many_clusters_as_its_bytes_need(void **state) {
  (void)state;
  static const uint64_t clusters[] = {1, 1, 1, 2, 100};
  const uint64_t bytes[] = {1, 2, CLUSTER_BYTES, CLUSTER_BYTES + 1, 100 * CLUSTER_BYTES};
  uint8_t *root = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
  memset(root + 64, 0, 96);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
    struct spate_exfat_clip clip;
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", bytes[i]), SPATE_OK);
    assert_int_equal(clip.reserved_bytes, clusters[i] * CLUSTER_BYTES);
    assert_int_equal(spate_exfat_discard(&clip), SPATE_OK);
  }
}

static int open_volume(void **state) {
  (void)state;
  image_open(&image, VOLUME_BYTES, 512, 0);
  small_format(image.ram.memory, VOLUME_BYTES, 9, 12);
  return 0;
}

static int close_volume(void **state) {
  (void)state;
  image_close(&image);
  return 0;
}

static struct image other;
static const struct spate_block_ops *inner;
static unsigned idle_polls;

/* The machine would hang: so this ends the program. */
static unsigned poll_not_for_ever(struct spate_block *block, unsigned max) {
  idle_polls = other.ram.pending_count == 0 ? idle_polls + 1u : 0;
  if (idle_polls == 1000000) abort();
  return inner->poll(block, max);
}

/* Nothing waits for a write that has ended. */
static void each_wait_ends_with_its_request(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&other, 4 * MIB, 512, 0);
  small_format(other.ram.memory, 4 * MIB, 9, 12);
  inner = other.ram.block.ops;
  const struct spate_block_ops ops = {inner->submit, inner->kick, poll_not_for_ever};
  other.ram.block.ops = &ops;
  assert_int_equal(image_mount(&other), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&other.volume, &clip, "a", 5000), SPATE_OK);
  image_close(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_wait_ends_with_its_request),
      cmocka_unit_test(no_chain_is_longer_than_the_heap_has_clusters),
      cmocka_unit_test(the_valid_length_is_at_most_the_length),
      cmocka_unit_test(a_directory_has_its_limit),
      cmocka_unit_test(a_reservation_is_of_as_many_clusters_as_its_bytes_need),
  };
  return cmocka_run_group_tests(tests, open_volume, close_volume);
}
