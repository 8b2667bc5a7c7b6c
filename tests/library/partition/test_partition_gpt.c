/* SPDX-License-Identifier: Apache-2.0 */
/* GPTs of others: headers that contradict themselves, tables with many partitions, and the smallest drives. */
#include "partition_fixture.h"

struct contradiction {
  const char *what;
  unsigned field, bytes;
  uint64_t value;
};

/* Headers with correct checksums that contradict themselves or the drive; the same in both copies. */
static void test_contradictions_are_refused(void **state) {
  (void)state;
  static const struct contradiction contradictions[] = {
      {"first usable after last usable", HEADER_FIRST_USABLE, 8, DRIVE_BYTES / 512 - 1},
      {"last usable beyond the drive", HEADER_LAST_USABLE, 8, DRIVE_BYTES / 512},
      {"last usable far beyond the drive", HEADER_LAST_USABLE, 8, UINT64_MAX},
      {"usable blocks within the entries", HEADER_FIRST_USABLE, 8, 20},
      {"entries in block 0", HEADER_ENTRIES_LBA, 8, 0},
      {"entries in the header", HEADER_ENTRIES_LBA, 8, 1},
      {"entries beyond the drive", HEADER_ENTRIES_LBA, 8, DRIVE_BYTES / 512},
      {"entries far beyond the drive", HEADER_ENTRIES_LBA, 8, UINT64_MAX - 8},
      {"entries that run off the drive", HEADER_ENTRIES_LBA, 8, DRIVE_BYTES / 512 - 31},
      {"entries within the usable blocks", HEADER_ENTRIES_LBA, 8, 50000},
      {"no entries", HEADER_ENTRY_COUNT, 4, 0},
      {"four billion entries", HEADER_ENTRY_COUNT, 4, UINT32_MAX},
      {"a product that wraps 32 bits", HEADER_ENTRY_COUNT, 4, UINT32_C(0x02000080)},
      {"entries of no size", HEADER_ENTRY_BYTES, 4, 0},
      {"entries too small", HEADER_ENTRY_BYTES, 4, 64},
      {"entries of an odd size", HEADER_ENTRY_BYTES, 4, 192},
      {"entries too large", HEADER_ENTRY_BYTES, 4, 8192},
      {"another revision", HEADER_REVISION, 4, 0x00020000},
      {"another place", HEADER_MY_LBA, 8, 2},
  };
  for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++) {
    struct ram_block ram;
    open_with_table(&ram, 512);
    const uint64_t copies[] = {1, last_lba(&ram)};
    /* The scratch memory has room for larger tables, so that each contradiction is refused for its own reason. */
    for (unsigned copy = 0; copy < 2; copy++) {
      spate_put64(block_at(&ram, copies[copy]) + HEADER_FIRST_USABLE, 8192);
      spate_put64(block_at(&ram, copies[copy]) + HEADER_LAST_USABLE, 100000);
    }
    put_partition(&ram, 0, GPT_BASIC_DATA, 9000, 9999);
    expect_find(&ram, SPATE_OK, false);
    for (unsigned copy = 0; copy < 2; copy++) {
      uint8_t *field = block_at(&ram, copies[copy]) + contradictions[i].field;
      if (contradictions[i].bytes == 8) spate_put64(field, contradictions[i].value);
      if (contradictions[i].bytes == 4) spate_put32(field, (uint32_t)contradictions[i].value);
      reseal(&ram, copies[copy]);
    }
    struct spate_partition partition;
    if (find(&ram, &partition) != SPATE_E_TABLE) fail_msg("accepted: %s", contradictions[i].what);
    ram_block_close(&ram);
  }
}

static void test_header_size_is_bounded(void **state) {
  (void)state;
  static const uint32_t sizes[] = {0, 91, 513, UINT32_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct ram_block ram;
    open_with_table(&ram, 512);
    spate_put32(block_at(&ram, 1) + HEADER_SIZE, sizes[i]);
    reseal(&ram, 1);
    expect_find(&ram, SPATE_OK, true);
    spate_put32(block_at(&ram, 1) + HEADER_SIZE, 512);
    reseal(&ram, 1);
    expect_find(&ram, SPATE_OK, false);
    ram_block_close(&ram);
  }
}

#define OTHER_TYPE "another type...."
#define UNUSED     "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

static void test_entries_of_a_gpt(void **state) {
  (void)state;
  struct ram_block ram;
  struct spate_partition partition;
  open_with_table(&ram, 512);

  put_partition(&ram, 0, OTHER_TYPE, 2048, 4095);
  expect_find(&ram, SPATE_E_NOT_FOUND, false);
  put_partition(&ram, 127, GPT_BASIC_DATA, 8192, 8192);
  put_partition(&ram, 3, GPT_BASIC_DATA, 4096, 8191);
  assert_int_equal(find(&ram, &partition), SPATE_OK);
  assert_int_equal(partition.index, 3);
  assert_int_equal(partition.first_lba, 4096);
  assert_int_equal(partition.blocks, 4096);

  put_partition(&ram, 0, OTHER_TYPE, 2048, 4096); /* one block before the usable range */
  expect_find(&ram, SPATE_E_TABLE, false);
  put_partition(&ram, 0, OTHER_TYPE, 2048, 4095);
  put_partition(&ram, 127, OTHER_TYPE, 8191, 9000); /* and one behind it */
  expect_find(&ram, SPATE_E_TABLE, false);
  put_partition(&ram, 127, UNUSED, 8191, 9000); /* the contents of an unused entry do not matter */
  expect_find(&ram, SPATE_OK, false);

  put_partition(&ram, 3, GPT_BASIC_DATA, 33, 40); /* begins in the table */
  expect_find(&ram, SPATE_E_TABLE, false);
  put_partition(&ram, 3, GPT_BASIC_DATA, 5000, last_lba(&ram) - 32); /* ends in the backup */
  expect_find(&ram, SPATE_E_TABLE, false);
  put_partition(&ram, 3, GPT_BASIC_DATA, 5000, 4999);
  expect_find(&ram, SPATE_E_TABLE, false);
  put_partition(&ram, 3, GPT_BASIC_DATA, 5000, UINT64_MAX);
  expect_find(&ram, SPATE_E_TABLE, false);
  ram_block_close(&ram);
}

/* More entries than fit the scratch memory, and larger ones, are read in several requests. */
static void test_large_arrays(void **state) {
  (void)state;
  FOR_EACH_BLOCK_SIZE(bytes) {
    for (uint32_t entry_bytes = 128; entry_bytes <= 4096; entry_bytes *= 2) {
      struct ram_block ram;
      struct spate_partition partition;
      open_with_table(&ram, *bytes);
      uint8_t *header = block_at(&ram, 1);
      memset(block_at(&ram, 2), 0, 64 * 4096);
      spate_put32(header + HEADER_ENTRY_COUNT, 140);
      spate_put32(header + HEADER_ENTRY_BYTES, entry_bytes);
      spate_put64(header + HEADER_FIRST_USABLE, MIB / *bytes);
      spate_put64(header + HEADER_LAST_USABLE, 32 * MIB / *bytes);
      uint8_t *entry = block_at(&ram, 2) + (size_t)139 * entry_bytes;
      memcpy(entry + ENTRY_TYPE, GPT_BASIC_DATA, GPT_GUID_BYTES);
      spate_put64(entry + ENTRY_FIRST_LBA, 2 * MIB / *bytes);
      spate_put64(entry + ENTRY_LAST_LBA, 3 * MIB / *bytes - 1);
      reseal(&ram, 1);
      assert_int_equal(find(&ram, &partition), SPATE_OK);
      assert_false(partition.from_backup);
      assert_int_equal(partition.index, 139);
      assert_int_equal(partition.blocks, MIB / *bytes);
      ram_block_close(&ram);
    }
  }
}

/* spate_partition.index has eight bits: a partition behind 256 others is not found, instead of getting a wrong
 * index. */
static void test_index_beyond_eight_bits(void **state) {
  (void)state;
  struct ram_block ram;
  struct spate_partition partition;
  open_with_table(&ram, 512);
  uint8_t *header = block_at(&ram, 1);
  spate_put32(header + HEADER_ENTRY_COUNT, 257);
  spate_put64(header + HEADER_FIRST_USABLE, 2048);
  spate_put64(header + HEADER_LAST_USABLE, 100000);
  memset(block_at(&ram, 2), 0, 257 * GPT_ENTRY_BYTES);
  for (unsigned index = 256; index >= 255; index--) {
    uint8_t *entry = block_at(&ram, 2) + (size_t)index * GPT_ENTRY_BYTES;
    memcpy(entry + ENTRY_TYPE, GPT_BASIC_DATA, GPT_GUID_BYTES);
    spate_put64(entry + ENTRY_FIRST_LBA, index * 16);
    spate_put64(entry + ENTRY_LAST_LBA, index * 16 + 15);
    reseal(&ram, 1);
    assert_int_equal(find(&ram, &partition), index == 256 ? SPATE_E_NOT_FOUND : SPATE_OK);
  }
  assert_int_equal(partition.index, 255);
  ram_block_close(&ram);
}

static void test_tiny_drives(void **state) {
  (void)state;
  struct ram_block ram;
  open_with_table(&ram, 512);
  for (ram.block.blocks = 1; ram.block.blocks < 40; ram.block.blocks++)
    expect_find(&ram, SPATE_E_TABLE, false);
  memset(ram.memory, 0, MIB);
  for (ram.block.blocks = 1; ram.block.blocks < 40; ram.block.blocks++)
    assert_int_equal(spate_partition_check_blank(&ram.block, scratch), SPATE_OK);
  ram_block_close(&ram);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_contradictions_are_refused), cmocka_unit_test(test_header_size_is_bounded),
      cmocka_unit_test(test_entries_of_a_gpt),           cmocka_unit_test(test_large_arrays),
      cmocka_unit_test(test_index_beyond_eight_bits),    cmocka_unit_test(test_tiny_drives),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
