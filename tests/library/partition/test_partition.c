/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that the library writes are found again on drives of both block sizes, and the backup replaces a damaged
 * primary. tests/library/partition/test_partition.py compares with other implementations. */
#include "partition_fixture.h"

static void test_crc32(void **state) {
  (void)state;
  assert_int_equal(spate_crc32(0, "123456789", 9), 0xcbf43926); /* the check value of CRC-32/ISO-HDLC */
  assert_int_equal(spate_crc32(spate_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
}

static void test_a_written_table_is_found(void **state) {
  (void)state;
  FOR_EACH_BLOCK_SIZE(bytes) {
    for (uint32_t align_bytes = 1 << 20; align_bytes <= 32 << 20; align_bytes <<= 1) {
      struct ram_block ram;
      struct spate_partition written;
      struct spate_partition found;
      open_drive(&ram, *bytes);
      assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, align_bytes, false, &written), SPATE_OK);
      assert_int_equal(find(&ram, &found), SPATE_OK);
      assert_int_equal(found.table, SPATE_TABLE_GPT);
      assert_int_equal(found.index, 0);
      assert_false(found.from_backup);
      assert_int_equal(found.first_lba, align_bytes / *bytes);
      assert_int_equal(found.first_lba + found.blocks, 64 * MIB / *bytes);
      assert_int_equal(written.first_lba, found.first_lba);
      assert_int_equal(written.blocks, found.blocks);
      assert_int_equal(written.table, SPATE_TABLE_GPT);
      ram_block_close(&ram);
    }
  }
}

static void test_writing_refuses_bad_alignment_and_small_drives(void **state) {
  (void)state;
  FOR_EACH_BLOCK_SIZE(bytes) {
    struct ram_block ram;
    struct spate_partition partition;
    open_drive(&ram, *bytes);
    assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 1 << 19, true, &partition), SPATE_E_INVALID);
    assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 3 << 20, true, &partition), SPATE_E_INVALID);
    uint32_t too_large = 64 << 20;
    assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, too_large, true, &partition), SPATE_E_TOO_SMALL);
    uint32_t least = (uint32_t)((2 * MIB + GPT_ENTRIES_BYTES) / *bytes + 1);
    for (ram.block.blocks = 0; ram.block.blocks < least; ram.block.blocks += 7)
      assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 1 << 20, true, &partition), SPATE_E_TOO_SMALL);
    assert_int_equal(ram.count[SPATE_WRITE], 0);
    ram.block.blocks = least - 1;
    assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 1 << 20, true, &partition), SPATE_E_TOO_SMALL);
    ram.block.blocks = least;
    assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 1 << 20, false, &partition), SPATE_OK);
    assert_int_equal(partition.blocks, MIB / *bytes);
    ram_block_close(&ram);
  }
}

/* Change any byte that a checksum covers. In the primary: the backup is used. In both: the table is refused. */
static void test_the_backup_replaces_a_damaged_primary(void **state) {
  (void)state;
  FOR_EACH_BLOCK_SIZE(bytes) {
    struct ram_block ram;
    open_with_table(&ram, *bytes);
    uint64_t backup_entries = last_lba(&ram) - gpt_entries_blocks(&ram.block);
    for (unsigned i = 0; i < GPT_HEADER_BYTES; i++) {
      block_at(&ram, 1)[i] ^= 0x10;
      expect_find(&ram, SPATE_OK, true);
      block_at(&ram, last_lba(&ram))[i] ^= 0x10;
      expect_find(&ram, SPATE_E_TABLE, false);
      block_at(&ram, 1)[i] ^= 0x10;
      expect_find(&ram, SPATE_OK, false);
      block_at(&ram, last_lba(&ram))[i] ^= 0x10;
    }
    for (unsigned i = 0; i < GPT_ENTRIES_BYTES; i += 61) {
      block_at(&ram, 2)[i] ^= 0x80;
      expect_find(&ram, SPATE_OK, true);
      block_at(&ram, backup_entries)[i] ^= 0x80;
      expect_find(&ram, SPATE_E_TABLE, false);
      block_at(&ram, 2)[i] ^= 0x80;
      block_at(&ram, backup_entries)[i] ^= 0x80;
    }
    expect_find(&ram, SPATE_OK, false);
    ram_block_close(&ram);
  }
}

static void test_the_backup_replaces_an_unreadable_primary(void **state) {
  (void)state;
  for (uint64_t lba = 1; lba <= 2; lba++) {
    struct ram_block ram;
    open_with_table(&ram, 512);
    ram_block_fault(&ram, (struct ram_fault){RAM_OP(SPATE_READ), lba, lba, 0, RAM_ALWAYS, SPATE_E_MEDIA, 0x281});
    expect_find(&ram, SPATE_OK, true);
    ram_block_fault(&ram, (struct ram_fault){RAM_OP(SPATE_READ), last_lba(&ram), last_lba(&ram), 0, RAM_ALWAYS,
                                             SPATE_E_MEDIA, 0x281});
    expect_find(&ram, SPATE_E_MEDIA, false);
    ram_block_close(&ram);
  }
}

/* When the drive itself fails, the backup is not read either. */
static void test_other_errors_pass_through(void **state) {
  (void)state;
  struct ram_block ram;
  struct spate_partition partition;
  open_with_table(&ram, 512);
  ram_block_fault(&ram, (struct ram_fault){RAM_ANY_OP, 0, UINT64_MAX, 1, RAM_ALWAYS, SPATE_E_GONE, 0});
  expect_find(&ram, SPATE_E_GONE, false);
  assert_int_equal(spate_partition_check_blank(&ram.block, scratch), SPATE_E_GONE);
  ram_block_clear_faults(&ram);
  ram_block_fault(&ram, (struct ram_fault){RAM_ANY_OP, 1, 1, 0, 1, SPATE_E_TIMEOUT, 0});
  expect_find(&ram, SPATE_E_TIMEOUT, false);
  ram_block_clear_faults(&ram);

  /* Each request of a write fails in turn, and is reported. */
  ram_block_clear_log(&ram);
  assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 1 << 20, true, &partition), SPATE_OK);
  uint32_t requests = (uint32_t)(ram.count[SPATE_WRITE] + ram.count[SPATE_FLUSH]);
  assert_int_equal(ram.count[SPATE_FLUSH], 3);
  for (uint32_t n = 0; n < requests; n++) {
    ram_block_clear_faults(&ram);
    ram_block_fault(&ram, (struct ram_fault){RAM_ANY_OP, 0, UINT64_MAX, n, 1, SPATE_E_MEDIA, 0});
    assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 1 << 20, true, &partition), SPATE_E_MEDIA);
  }
  ram_block_close(&ram);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_crc32),
      cmocka_unit_test(test_a_written_table_is_found),
      cmocka_unit_test(test_writing_refuses_bad_alignment_and_small_drives),
      cmocka_unit_test(test_the_backup_replaces_a_damaged_primary),
      cmocka_unit_test(test_the_backup_replaces_an_unreadable_primary),
      cmocka_unit_test(test_other_errors_pass_through),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
