/* SPDX-License-Identifier: Apache-2.0 */
/* A volume of the most clusters that exFAT has: 2^32 − 11. Counts of clusters come near the end of 32 bits. Sparse
 * memory makes the size cheap. */
#include "exfat_fixture.h"

#define CLUSTER_COUNT UINT32_C(0xfffffff5)
#define BLOCK         UINT64_C(4096) /* and cluster */
#define FAT_BLOCKS    ((CLUSTER_COUNT + UINT64_C(2)) * 4 / BLOCK + 1)
#define HEAP          (24 + FAT_BLOCKS)
#define BITMAP_FIRST  2u
#define BITMAP_COUNT  ((CLUSTER_COUNT / 8u + 1u + 4095u) / 4096u)
#define UPCASE        (BITMAP_FIRST + BITMAP_COUNT)
#define ROOT          (UPCASE + 1u)
#define LAST          (CLUSTER_COUNT + 1u) /* the highest cluster number */
#define WINDOW_BYTES  (16 * MIB)           /* a 32nd of the bitmap */

static void *section;

static void put_fat(uint32_t cluster, uint32_t next) {
  spate_put32(image.ram.memory + 24 * BLOCK + 4 * (uint64_t)cluster, next);
}

static uint8_t *bits_of(uint32_t cluster) { return small_cluster(image.ram.memory, BITMAP_FIRST) + (cluster - 2) / 8; }

static void allocate(uint32_t cluster) { *bits_of(cluster) |= (uint8_t)(1u << ((cluster - 2) & 7)); }

static bool is_allocated(uint32_t cluster) { return (*bits_of(cluster) >> ((cluster - 2) & 7) & 1) != 0; }

static void open_volume(void) {
  const uint64_t blocks = HEAP + CLUSTER_COUNT;
  /* A small volume, whose up-case table and root directory move after a long bitmap. */
  image_open(&image, blocks * BLOCK, 4096, 0);
  uint8_t *memory = image.ram.memory;
  small_format(memory, 64 * MIB, 12, 12);
  uint8_t table[4096];
  uint8_t root[4096];
  uint32_t old_root = spate_get32(memory + 96);
  memcpy(root, small_cluster(memory, old_root), sizeof root);
  memcpy(table, small_cluster(memory, spate_get32(root + 32 + 20)), sizeof table);
  assert_int_equal(root[0], 0x81);
  assert_int_equal(root[32], 0x82);
  memset(memory + 24 * BLOCK, 0, 1 * MIB);
  spate_put64(memory + 72, blocks);
  spate_put32(memory + 84, (uint32_t)FAT_BLOCKS);
  spate_put32(memory + 88, (uint32_t)HEAP);
  spate_put32(memory + 92, CLUSTER_COUNT);
  spate_put32(memory + 96, ROOT);
  small_checksum_boot(memory);
  put_fat(0, 0xfffffff8);
  put_fat(1, UINT32_MAX);
  for (uint32_t i = 0; i < BITMAP_COUNT; i++)
    put_fat(BITMAP_FIRST + i, i + 1 < BITMAP_COUNT ? BITMAP_FIRST + i + 1 : UINT32_MAX);
  put_fat(UPCASE, UINT32_MAX);
  put_fat(ROOT, UINT32_MAX);
  for (uint32_t cluster = 2; cluster <= ROOT; cluster++)
    allocate(cluster);
  spate_put32(root + 20, BITMAP_FIRST);
  spate_put64(root + 24, (CLUSTER_COUNT + UINT64_C(7)) / 8);
  spate_put32(root + 32 + 20, UPCASE);
  memcpy(small_cluster(memory, UPCASE), table, sizeof table);
  memcpy(small_cluster(memory, ROOT), root, sizeof root);
  section = aligned_alloc(4096, WINDOW_BYTES);
  assert_non_null(section);
  image.config.bitmap = section;
  image.config.bitmap_bytes = WINDOW_BYTES;
}

static void close_volume(void) {
  assert_int_equal(image.ram.overlaps, 0);
  image_close(&image);
  free(section);
}

static void a_file_in_the_last_cluster_is_deleted(void **state) {
  (void)state;
  open_volume();
  allocate(LAST);
  small_add(image.ram.memory, "last", 0x20, LAST, 4096, 4096, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("last");
  assert_false(is_allocated(LAST));
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  close_volume();
}

static void the_last_cluster_may_have_two_owners(void **state) {
  (void)state;
  open_volume();
  allocate(LAST);
  small_add(image.ram.memory, "one", 0x20, LAST, 4096, 4096, true);
  small_add(image.ram.memory, "two", 0x20, LAST, 4096, 4096, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("one");
  assert_true(is_allocated(LAST));
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
  close_volume();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_in_the_last_cluster_is_deleted),
      cmocka_unit_test(the_last_cluster_may_have_two_owners),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
