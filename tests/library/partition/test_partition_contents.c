/* SPDX-License-Identifier: Apache-2.0 */
/* The exFAT volume is found by its boot sector: under any type, behind other partitions, in a logical one, and where
 * only the backup of the boot sector is left. */
#include "partition_fixture.h"

#define EXTENDED 5000u

static void put_boot(struct ram_block *ram, uint64_t lba, const char *name, uint8_t sector_shift) {
  uint8_t *boot = block_at(ram, lba);
  memcpy(boot + 3, name, 8);
  boot[108] = sector_shift;
  spate_put16(boot + 510, 0xaa55);
}

/* One of the four entries at the end of a block. */
static void put_entry(struct ram_block *ram, uint64_t lba, unsigned place, uint8_t kind, uint32_t first,
                      uint32_t blocks) {
  uint8_t *entry = block_at(ram, lba) + MBR_ENTRIES_OFFSET + (size_t)place * MBR_ENTRY_BYTES;
  entry[4] = kind;
  spate_put32(entry + 8, first);
  spate_put32(entry + 12, blocks);
  spate_put16(block_at(ram, lba) + MBR_SIGNATURE_OFFSET, MBR_SIGNATURE);
}

static void expect_at(struct ram_block *ram, uint64_t lba, unsigned index) {
  struct spate_partition partition;
  assert_int_equal(find(ram, &partition), SPATE_OK);
  assert_int_equal(partition.first_lba, lba);
  assert_int_equal(partition.index, index);
}

/* mkswap, mdadm and ZFS leave an old boot sector where it was. */
static void partitions_of_other_types_are_left_alone(void **state) {
  (void)state;
  static const uint8_t kinds[] = {0x82, 0xfd, 0xbf, 0x8e, 0xef, 0xda, 0x17};
  for (unsigned i = 0; i < sizeof kinds; i++) {
    struct ram_block ram;
    open_drive(&ram, 512);
    put_entry(&ram, 0, 0, kinds[i], 100, 100);
    put_boot(&ram, 100, "EXFAT   ", 9);
    expect_find(&ram, SPATE_E_NOT_FOUND, false);
    put_entry(&ram, 0, 1, 0x07, 300, 100);
    expect_at(&ram, 300, 1);
    ram_block_close(&ram);
  }
}

static void exfat_is_found_under_types_of_others(void **state) {
  (void)state;
  static const uint8_t kinds[] = {0x07, 0x06, 0x0b, 0x0c, 0x0e, 0x83};
  FOR_EACH_BLOCK_SIZE(bytes) {
    for (unsigned i = 0; i < sizeof kinds; i++) {
      struct ram_block ram;
      open_drive(&ram, *bytes);
      put_entry(&ram, 0, 0, 0x07, 100, 100); /* of NTFS */
      put_boot(&ram, 100, "NTFS    ", 0);
      put_entry(&ram, 0, 2, kinds[i], 300, 200);
      expect_at(&ram, 100, 0); /* nothing is known but the types */
      put_boot(&ram, 300, "EXFAT   ", ram.block.block_shift);
      expect_at(&ram, 300, 2);
      put_entry(&ram, 0, 3, kinds[i], 600, 100);
      put_boot(&ram, 600, "EXFAT   ", ram.block.block_shift);
      expect_at(&ram, 300, 2); /* the first */
      put_entry(&ram, 0, 1, 0x83, 499, 10);
      expect_find(&ram, SPATE_E_TABLE, false); /* it overlaps its neighbour */
      ram_block_close(&ram);
    }
  }
}

static void exfat_is_found_under_types_of_a_gpt(void **state) {
  (void)state;
  FOR_EACH_BLOCK_SIZE(bytes) {
    struct ram_block ram;
    open_with_table(&ram, *bytes);
    put_partition(&ram, 0, "a type of ZFS...", 500, 999);
    put_boot(&ram, 500, "EXFAT   ", ram.block.block_shift);
    put_partition(&ram, 1, GPT_BASIC_DATA, 1000, 1999);
    put_partition(&ram, 2, GPT_LINUX_FILE_SYSTEM, 2000, 2999);
    put_partition(&ram, 5, GPT_BASIC_DATA, 3000, 3999);
    expect_at(&ram, 1000, 1); /* nothing is known but the types */
    put_boot(&ram, 2000, "EXFAT   ", ram.block.block_shift);
    expect_at(&ram, 2000, 2);
    put_boot(&ram, 3000, "EXFAT   ", ram.block.block_shift);
    expect_at(&ram, 3000, 5); /* type and boot sector */
    put_partition(&ram, 5, GPT_BASIC_DATA, 2999, 3999);
    put_boot(&ram, 2999, "EXFAT   ", ram.block.block_shift);
    expect_find(&ram, SPATE_E_TABLE, false); /* it overlaps its neighbour */
    ram_block_close(&ram);
  }
}

static unsigned reads_of(const struct ram_block *ram, uint64_t lba) {
  unsigned count = 0;
  for (size_t i = 0; i < ram->log_count; i++)
    count += ram->log[i].op == SPATE_READ && ram->log[i].lba == lba;
  return count;
}

/* Each record of the list has one partition; a record without one is stepped over. */
static void logical_partitions_are_found(void **state) {
  (void)state;
  static const uint8_t kinds[] = {0x05, 0x0f, 0x85};
  FOR_EACH_BLOCK_SIZE(bytes) {
    for (unsigned i = 0; i < sizeof kinds; i++) {
      struct ram_block ram;
      open_drive(&ram, *bytes);
      put_entry(&ram, 0, 1, kinds[i], EXTENDED, 5000);
      expect_find(&ram, SPATE_E_NOT_FOUND, false);
      put_entry(&ram, EXTENDED, 0, 0x83, 10, 90);
      put_entry(&ram, EXTENDED, 1, 0x05, 1000, 500);
      put_entry(&ram, EXTENDED + 1000, 1, 0x05, 2000, 500); /* without a partition */
      put_entry(&ram, EXTENDED + 2000, 0, 0x07, 10, 490);
      put_entry(&ram, EXTENDED + 2000, 1, 0x05, 3000, 500);
      put_entry(&ram, EXTENDED + 3000, 0, 0x0c, 10, 490);
      ram.keep_log = true;
      ram_block_clear_log(&ram);
      expect_at(&ram, EXTENDED + 2010, 5); /* the first logical one has number 5, and so index 4 */
      ram.keep_log = false;
      assert_int_equal(reads_of(&ram, EXTENDED + 3000), 2); /* the last record: to choose, and to compare */
      put_boot(&ram, EXTENDED + 3010, "EXFAT   ", ram.block.block_shift);
      expect_at(&ram, EXTENDED + 3010, 6);
      put_entry(&ram, EXTENDED + 3000, 1, 0x05, 3000, 500); /* a loop */
      expect_at(&ram, EXTENDED + 3010, 6);
      put_entry(&ram, 0, 0, 0x83, EXTENDED + 3200, 10);
      expect_find(&ram, SPATE_E_TABLE, false); /* a primary partition in the same place */
      put_entry(&ram, 0, 0, 0, 0, 0);
      put_entry(&ram, EXTENDED + 2000, 0, 0x07, 10, 1010);
      expect_find(&ram, SPATE_E_TABLE, false); /* a logical one in the same place */
      put_entry(&ram, EXTENDED + 2000, 0, 0x07, 10, 490);
      put_entry(&ram, EXTENDED + 3000, 0, 0x0c, 10, UINT32_MAX); /* beyond the drive */
      expect_at(&ram, EXTENDED + 2010, 5);
      ram_block_close(&ram);
    }
  }
}

/* Lists that lead outside the drive, to themselves, or to blocks that are no record or cannot be read. */
static void a_broken_list_of_logical_partitions_ends(void **state) {
  (void)state;
  for (unsigned way = 0; way < 5; way++) {
    struct ram_block ram;
    open_drive(&ram, 512);
    put_entry(&ram, 0, 0, 0x07, 100, 100);
    put_entry(&ram, 0, 1, 0x05, EXTENDED, 5000);
    put_entry(&ram, EXTENDED, 0, 0x83, 10, 90);
    put_boot(&ram, EXTENDED + 10, "EXFAT   ", 9);
    put_entry(&ram, EXTENDED, 1, 0x05, 1000, 500);
    put_entry(&ram, EXTENDED + 1000, 0, 0x83, 10, 90);
    if (way == 0) put_entry(&ram, EXTENDED, 1, 0x05, UINT32_MAX, 500);
    if (way == 1) put_entry(&ram, EXTENDED + 1000, 1, 0x05, 1000, 500);
    if (way == 2) spate_put16(block_at(&ram, EXTENDED + 1000) + 510, 0);
    if (way == 3) put_entry(&ram, EXTENDED, 1, 0x05, 0, 500);
    if (way == 4)
      ram_block_fault(&ram, (struct ram_fault){.ops = RAM_OP(SPATE_READ),
                                               .first_lba = EXTENDED,
                                               .last_lba = EXTENDED,
                                               .times = RAM_ALWAYS,
                                               .error = SPATE_E_MEDIA});
    expect_at(&ram, way == 4 ? 100 : EXTENDED + 10, way == 4 ? 0 : 4);
    ram_block_close(&ram);
  }
}

/* The backup is 12 of the volume's sectors behind the damaged boot sector. */
static void the_backup_of_the_boot_sector_counts_less(void **state) {
  (void)state;
  for (uint8_t shift = 9; shift <= 12; shift++) {
    struct ram_block ram;
    open_drive(&ram, 512);
    put_entry(&ram, 0, 0, 0x07, 1000, 1000);
    put_entry(&ram, 0, 1, 0x83, 2000, 1000);
    put_boot(&ram, 2000 + (12u << (shift - 9)), "EXFAT   ", shift);
    expect_at(&ram, 2000, 1); /* more than a type */
    put_boot(&ram, 2000, "MSDOS5.0", 0);
    expect_at(&ram, 1000, 0); /* a formatter of FAT left the backup */
    memset(block_at(&ram, 2000), 0, 512);
    put_entry(&ram, 0, 2, 0x83, 3000, 1000);
    put_boot(&ram, 3000, "EXFAT   ", 9);
    expect_at(&ram, 3000, 2); /* less than a boot sector */
    put_boot(&ram, 1000 + (12u << (shift - 9)), "EXFAT   ", shift);
    expect_at(&ram, 1000, 0); /* but a damaged volume of exFAT's own type is not passed over */
    ram_block_close(&ram);

    open_drive(&ram, 512);
    put_boot(&ram, 12u << (shift - 9), "EXFAT   ", shift);
    expect_at(&ram, 0, 0);
    spate_put16(ram.memory + 510, 0xaa55); /* what wipefs leaves; or an MBR without partitions */
    expect_at(&ram, 0, 0);
    put_entry(&ram, 0, 3, 0x83, 4000, 100);
    expect_find(&ram, SPATE_E_NOT_FOUND, false);
    memset(ram.memory, 0, 512);
    ram.memory[12u << shift] ^= 1;
    ram.memory[(12u << shift) + 108] = (uint8_t)(shift - 1);
    expect_find(&ram, SPATE_E_NO_TABLE, false); /* it says that it is the backup of a volume elsewhere */
    ram_block_close(&ram);
  }
}

/* A block that cannot be read is no reason to give up, unless nothing else is found. */
static void blocks_that_cannot_be_read(void **state) {
  (void)state;
  struct ram_block ram;
  const struct ram_fault first = {
      .ops = RAM_OP(SPATE_READ), .first_lba = 0, .last_lba = 0, .times = RAM_ALWAYS, .error = SPATE_E_MEDIA};
  open_drive(&ram, 512);
  ram_block_fault(&ram, first);
  expect_find(&ram, SPATE_E_MEDIA, false);
  put_boot(&ram, 12, "EXFAT   ", 9);
  expect_at(&ram, 0, 0);
  ram_block_close(&ram);

  open_with_table(&ram, 512);
  put_partition(&ram, 0, GPT_BASIC_DATA, 1000, 1999);
  put_partition(&ram, 1, GPT_BASIC_DATA, 2000, 2999);
  put_boot(&ram, 2000, "EXFAT   ", 9);
  ram_block_fault(
      &ram,
      (struct ram_fault){
          .ops = RAM_OP(SPATE_READ), .first_lba = 1000, .last_lba = 1999, .times = RAM_ALWAYS, .error = SPATE_E_MEDIA});
  expect_at(&ram, 2000, 1);
  ram_block_clear_faults(&ram);
  for (uint64_t lba = 0; lba < 2100; lba = lba == 0 ? 1 : lba < 40 ? lba + 1 : lba < 1000 ? 1000 : lba + 1000) {
    ram_block_fault(
        &ram,
        (struct ram_fault){
            .ops = RAM_OP(SPATE_READ), .first_lba = lba, .last_lba = lba, .times = RAM_ALWAYS, .error = SPATE_E_GONE});
    if (lba < 34 || lba == 1000) expect_find(&ram, SPATE_E_GONE, false);
    ram_block_clear_faults(&ram);
  }
  ram_block_close(&ram);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exfat_is_found_under_types_of_others),
      cmocka_unit_test(partitions_of_other_types_are_left_alone),
      cmocka_unit_test(exfat_is_found_under_types_of_a_gpt),
      cmocka_unit_test(logical_partitions_are_found),
      cmocka_unit_test(a_broken_list_of_logical_partitions_ends),
      cmocka_unit_test(the_backup_of_the_boot_sector_counts_less),
      cmocka_unit_test(blocks_that_cannot_be_read),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
