/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing foreign is overwritten without the erase option. Our own table may be replaced. */
#include "partition_fixture.h"

/* A single byte that is not zero outside the partition makes a drive foreign, and nothing is written to it. */
static void test_foreign_bytes_are_kept(void **state) {
  (void)state;
  FOR_EACH_BLOCK_SIZE(bytes) {
    struct ram_block ram;
    struct spate_partition partition;
    open_drive(&ram, *bytes);
    uint64_t places[] = {0,
                         510,
                         511,
                         512,
                         1024 + 56,
                         4096,
                         0x8001,
                         0x10040,
                         MIB - 1,
                         64 * MIB,
                         DRIVE_BYTES - GPT_ENTRIES_BYTES - *bytes - 1,
                         DRIVE_BYTES - *bytes,
                         DRIVE_BYTES - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
      ram.memory[places[i]] = 1;
      assert_int_equal(spate_partition_check_blank(&ram.block, scratch), SPATE_E_FOREIGN);
      assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 1 << 20, false, &partition), SPATE_E_FOREIGN);
      ram.memory[places[i]] = 0;
    }
    assert_int_equal(ram.count[SPATE_WRITE], 0);
    assert_int_equal(spate_partition_check_blank(&ram.block, scratch), SPATE_OK);
    memset(ram.memory, 0xff, MIB); /* as a trimmed drive may read */
    memset(ram.memory + 64 * MIB, 0xff, *bytes);
    assert_int_equal(spate_partition_check_blank(&ram.block, scratch), SPATE_OK);
    ram_block_close(&ram);
  }
}

/* A changed byte is foreign. */
static void expect_every_byte_to_count(struct ram_block *ram, uint64_t lba, uint64_t end_lba) {
  uint64_t backup_entries = last_lba(ram) - gpt_entries_blocks(&ram->block);
  for (; lba < end_lba; lba++) {
    for (uint32_t i = 0; i < spate_block_bytes(&ram->block); i += i < GPT_ENTRY_BYTES ? 1 : 13) {
      /* Entries may have any GUID; all other fields follow from the drive. */
      bool is_guid = (lba == 2 || lba == backup_entries) && i >= ENTRY_GUID && i < ENTRY_GUID + GPT_GUID_BYTES;
      block_at(ram, lba)[i] ^= 0x20;
      if (spate_partition_check_blank(&ram->block, scratch) != (is_guid ? SPATE_OK : SPATE_E_FOREIGN))
        fail_msg("block %u, byte %u", (unsigned)lba, i);
      block_at(ram, lba)[i] ^= 0x20;
    }
  }
}

/* Our own table may be replaced, whatever the partition holds, unless a volume begins in the partition. */
static void test_own_table_is_not_foreign(void **state) {
  (void)state;
  struct ram_block ram;
  FOR_EACH_BLOCK_SIZE(bytes) {
    open_with_table(&ram, *bytes);
    memset(ram.memory + MIB, 0x77, 63 * MIB);
    assert_int_equal(spate_partition_check_blank(&ram.block, scratch), SPATE_OK);
    memset(block_at(&ram, 2), 0, *bytes); /* an entry that was not written; no volume begins at block 0 */
    assert_int_equal(spate_partition_check_blank(&ram.block, scratch), SPATE_OK);
    ram_block_close(&ram);
  }
  open_with_table(&ram, 512);
  expect_every_byte_to_count(&ram, 0, 4);
  expect_every_byte_to_count(&ram, last_lba(&ram) - 32, last_lba(&ram) - 30);
  expect_every_byte_to_count(&ram, last_lba(&ram), last_lba(&ram) + 1);
  ram_block_close(&ram);
}

/* The remains of a recorded drive after something wiped its beginning, its end, or all of both but one block. */
static void test_a_volume_in_our_partition_is_foreign(void **state) {
  (void)state;
  static const uint32_t aligns_bytes[] = {1 << 20, 32 << 20};
  FOR_EACH_BLOCK_SIZE(bytes) {
    for (unsigned i = 0; i < 8; i++) {
      struct ram_block ram;
      struct spate_partition partition;
      bool backup_boot = i & 1, from_backup = i & 2;
      open_drive(&ram, *bytes);
      assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, aligns_bytes[i / 4], false, &partition),
                       SPATE_OK);
      uint8_t *boot = block_at(&ram, partition.first_lba + (backup_boot ? 12 : 0));
      spate_put16(boot + 510, 0xaa55);
      for (unsigned wiped = 0; wiped < 2; wiped++) {
        assert_int_equal(spate_partition_check_blank(&ram.block, scratch), SPATE_E_FOREIGN);
        assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 1 << 20, false, &partition), SPATE_E_FOREIGN);
        assert_int_equal(spate_partition_whole_disk(&ram.block, scratch, false, &partition), SPATE_E_FOREIGN);
        memset(ram.memory, 0, from_backup ? MIB : *bytes);
        if (!from_backup) memset(ram.memory + 64 * MIB, 0, DRIVE_BYTES - 64 * MIB);
        expect_find(&ram, SPATE_E_NO_TABLE, false);
      }
      boot[510] = 0; /* no volume yet: a table whose writing was interrupted may be written again */
      assert_int_equal(spate_partition_check_blank(&ram.block, scratch), SPATE_OK);
      ram_block_fault(&ram, (struct ram_fault){RAM_OP(SPATE_READ), MIB / *bytes, 63 * MIB / *bytes, 0, RAM_ALWAYS,
                                               SPATE_E_MEDIA, 0x281});
      assert_int_equal(spate_partition_check_blank(&ram.block, scratch), SPATE_E_MEDIA);
      ram_block_close(&ram);
    }
  }
}

static void test_erase_leaves_no_signature(void **state) {
  (void)state;
  FOR_EACH_BLOCK_SIZE(bytes) {
    struct ram_block ram;
    struct spate_partition partition;
    open_drive(&ram, *bytes);
    memset(ram.memory, 0x77, ram.bytes);
    assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 1 << 20, true, &partition), SPATE_OK);
    assert_int_equal(spate_partition_check_blank(&ram.block, scratch), SPATE_OK);
    expect_find(&ram, SPATE_OK, false);
    for (uint64_t at = MIB; at < 64 * MIB; at += 509)
      assert_int_equal(ram.memory[at], 0x77);
    ram_block_close(&ram);
  }
}

/* Block 0 comes last, the primary table after the backup, each with a flush; and the copies name one another beyond 2
 * TiB, too. */
static void test_tables_are_written_in_order(void **state) {
  (void)state;
  struct ram_block ram;
  struct spate_partition partition;
  char order[16] = "";
  size_t length = 0;
  ram_block_open(&ram, UINT64_C(5) << 30, 512);
  ram.keep_log = true;
  assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 1 << 20, false, &partition), SPATE_OK);
  for (size_t i = 0; i < ram.log_count; i++) {
    const struct ram_log_entry *entry = &ram.log[i];
    if (entry->op == SPATE_READ) continue;
    assert_true(length < sizeof order - 1);
    order[length++] = (char)(entry->op == SPATE_FLUSH ? 'F' : entry->lba == 0 ? '0' : entry->lba == 1 ? 'p' : 'b');
  }
  assert_string_equal(order, "bFpF0F");
  assert_int_equal(spate_get64(block_at(&ram, 1) + HEADER_ALTERNATE_LBA), last_lba(&ram));
  expect_find(&ram, SPATE_OK, false);
  ram_block_close(&ram);
}

/* A whole-disk volume: no remains of an old table stay at either end, and nothing foreign is erased without the
 * option. */
static void test_clearing_for_a_whole_disk_volume(void **state) {
  (void)state;
  FOR_EACH_BLOCK_SIZE(block_bytes) {
    struct ram_block ram;
    struct spate_partition partition;
    open_with_table(&ram, *block_bytes);
    block_at(&ram, 5)[17] = 1;
    assert_int_equal(spate_partition_whole_disk(&ram.block, scratch, false, &partition), SPATE_E_FOREIGN);
    assert_int_equal(find(&ram, &partition), SPATE_OK);
    ram.memory[2 * MIB] = 0x77; /* inside the partition */
    ram.keep_log = true;
    assert_int_equal(spate_partition_whole_disk(&ram.block, scratch, true, &partition), SPATE_OK);
    assert_int_equal(partition.table, SPATE_TABLE_WHOLE_DISK);
    assert_true(partition.first_lba == 0 && partition.blocks == ram.block.blocks);
    for (uint64_t i = 0; i < ram.bytes; i++)
      if (i != 2 * MIB && ram.memory[i] != 0) fail_msg("byte %llu is not zero", (unsigned long long)i);
    assert_int_equal(ram.memory[2 * MIB], 0x77);
    const struct ram_log_entry *last = &ram.log[ram.log_count - 1];
    assert_int_equal(last->op, SPATE_FLUSH); /* after all zeros: none of the table comes back */
    for (size_t i = 0; i < ram.log_count - 1; i++)
      assert_true(ram.log[i].completed_at < last->submitted_at);
    ram_block_close(&ram);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clearing_for_a_whole_disk_volume),
      cmocka_unit_test(test_tables_are_written_in_order),
      cmocka_unit_test(test_foreign_bytes_are_kept),
      cmocka_unit_test(test_own_table_is_not_foreign),
      cmocka_unit_test(test_a_volume_in_our_partition_is_foreign),
      cmocka_unit_test(test_erase_leaves_no_signature),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
