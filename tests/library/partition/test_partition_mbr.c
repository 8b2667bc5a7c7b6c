/* SPDX-License-Identifier: Apache-2.0 */
/* Partitions in an MBR, and volumes on the whole drive without a table. */
#include "partition_fixture.h"

static void put_mbr_entry(struct ram_block *ram, unsigned index, uint8_t type, uint32_t first, uint32_t blocks) {
  uint8_t *entry = ram->memory + MBR_ENTRIES_OFFSET + (size_t)index * MBR_ENTRY_BYTES;
  entry[4] = type;
  spate_put32(entry + 8, first);
  spate_put32(entry + 12, blocks);
  spate_put16(ram->memory + MBR_SIGNATURE_OFFSET, MBR_SIGNATURE);
}

static void test_mbr(void **state) {
  (void)state;
  FOR_EACH_BLOCK_SIZE(bytes) {
    struct ram_block ram;
    struct spate_partition partition;
    open_drive(&ram, *bytes);
    uint32_t end = (uint32_t)ram.block.blocks;
    expect_find(&ram, SPATE_E_NO_TABLE, false);
    put_mbr_entry(&ram, 0, 0x05, 100, 100); /* extended: logical partitions are not looked for */
    expect_find(&ram, SPATE_E_NOT_FOUND, false);
    put_mbr_entry(&ram, 1, 0x83, 200, 100);
    put_mbr_entry(&ram, 2, 0x07, 300, end - 300);
    put_mbr_entry(&ram, 3, 0x07, 0, 0); /* ignored: the first partition counts */
    assert_int_equal(find(&ram, &partition), SPATE_OK);
    assert_int_equal(partition.table, SPATE_TABLE_MBR);
    assert_int_equal(partition.index, 2);
    assert_int_equal(partition.first_lba, 300);
    assert_int_equal(partition.blocks, end - 300);
    assert_false(partition.from_backup);

    put_mbr_entry(&ram, 2, 0x07, 300, end - 299);
    expect_find(&ram, SPATE_E_TABLE, false);
    put_mbr_entry(&ram, 2, 0x07, UINT32_MAX, UINT32_MAX);
    expect_find(&ram, SPATE_E_TABLE, false);
    put_mbr_entry(&ram, 2, 0x07, UINT32_MAX - 99, 200); /* a sum that wraps 32 bits */
    expect_find(&ram, SPATE_E_TABLE, false);
    put_mbr_entry(&ram, 2, 0x07, 0, 50);
    expect_find(&ram, SPATE_E_TABLE, false);
    put_mbr_entry(&ram, 2, 0x07, 300, 0);
    expect_find(&ram, SPATE_E_TABLE, false);
    put_mbr_entry(&ram, 2, 0x07, 299, 50); /* overlaps its neighbour */
    expect_find(&ram, SPATE_E_TABLE, false);
    put_mbr_entry(&ram, 2, 0x07, 300, 50);
    ram.memory[MBR_ENTRIES_OFFSET] = 0x80; /* bootable */
    expect_find(&ram, SPATE_OK, false);
    ram.memory[MBR_ENTRIES_OFFSET] = 0x41; /* text: a boot sector */
    expect_find(&ram, SPATE_E_NO_TABLE, false);
    ram.memory[MBR_ENTRIES_OFFSET] = 0;
    ram.memory[MBR_SIGNATURE_OFFSET] = 0;
    expect_find(&ram, SPATE_E_NO_TABLE, false);
    ram_block_close(&ram);
  }
}

static void test_whole_disk(void **state) {
  (void)state;
  struct ram_block ram;
  struct spate_partition partition;
  open_drive(&ram, 512);
  memcpy(ram.memory + 3, "EXFAT   ", 8);
  expect_find(&ram, SPATE_E_NO_TABLE, false);
  spate_put16(ram.memory + MBR_SIGNATURE_OFFSET, MBR_SIGNATURE);
  assert_int_equal(find(&ram, &partition), SPATE_OK);
  assert_int_equal(partition.table, SPATE_TABLE_WHOLE_DISK);
  assert_int_equal(partition.first_lba, 0);
  assert_int_equal(partition.blocks, ram.block.blocks);
  ram_block_close(&ram);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mbr),
      cmocka_unit_test(test_whole_disk),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
