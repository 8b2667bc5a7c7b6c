/* SPDX-License-Identifier: Apache-2.0 */
/* Partition tables on drives of both block sizes: a written table is found, the backup replaces a damaged primary,
 * and nothing foreign is overwritten. tests/partition/test_partition.py compares with other implementations. */
#include "partition/table.h"
#include "ram_block.h"

#include <setjmp.h>
#include <spate/bytes.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB         (UINT64_C(1) << 20)
#define DRIVE_BYTES (64 * MIB + 24 * 4096) /* not a round number */

static _Alignas(SPATE_DMA_ALIGN) uint8_t scratch[SPATE_PARTITION_SCRATCH_BYTES];
static const struct spate_partition_ids ids = {.disk = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
                                               .partition = "0123456789abcde"};

static const uint32_t block_sizes[] = {512, 4096};
#define FOR_EACH_BLOCK_SIZE(bytes) for (const uint32_t *bytes = block_sizes; bytes < block_sizes + 2; bytes++)

static void open_drive(struct ram_block *ram, uint32_t block_bytes) {
  ram_block_open(ram, DRIVE_BYTES / block_bytes, block_bytes);
  memset(scratch, 0x5a, sizeof scratch);
}

static void open_with_table(struct ram_block *ram, uint32_t block_bytes) {
  struct spate_partition partition;
  open_drive(ram, block_bytes);
  assert_int_equal(spate_partition_write(&ram->block, scratch, &ids, 1 << 20, false, &partition), SPATE_OK);
}

static enum spate_error find(struct ram_block *ram, struct spate_partition *partition) {
  memset(partition, 0xee, sizeof *partition);
  return spate_partition_find(&ram->block, scratch, partition);
}

static uint8_t *block_at(struct ram_block *ram, uint64_t lba) { return ram->memory + (lba << ram->block.block_shift); }

static uint64_t last_lba(const struct ram_block *ram) { return ram->block.blocks - 1; }

/* Change a field of a header or of its entries, and correct the checksums: damage that only sanity checks detect. */
static void reseal(struct ram_block *ram, uint64_t header_lba) {
  uint8_t *header = block_at(ram, header_lba);
  uint64_t bytes = (uint64_t)spate_get32(header + HEADER_ENTRY_COUNT) * spate_get32(header + HEADER_ENTRY_BYTES);
  uint64_t lba = spate_get64(header + HEADER_ENTRIES_LBA);
  uint32_t header_bytes = spate_get32(header + HEADER_SIZE);
  if (header_bytes > spate_block_bytes(&ram->block)) return;
  if (lba < ram->block.blocks && bytes <= ram->bytes - (lba << ram->block.block_shift))
    spate_put32(header + HEADER_ENTRIES_CRC, spate_crc32(0, block_at(ram, lba), bytes));
  spate_put32(header + HEADER_CRC, 0);
  spate_put32(header + HEADER_CRC, spate_crc32(0, header, header_bytes));
}

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

static void expect_find(struct ram_block *ram, enum spate_error error, bool from_backup) {
  struct spate_partition partition;
  assert_int_equal(find(ram, &partition), error);
  if (error == SPATE_OK) assert_int_equal(partition.from_backup, from_backup);
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

static void put_partition(struct ram_block *ram, unsigned index, const char *type, uint64_t first, uint64_t last) {
  const uint64_t headers[] = {1, last_lba(ram)};
  for (unsigned copy = 0; copy < 2; copy++) {
    uint64_t entries_lba = spate_get64(block_at(ram, headers[copy]) + HEADER_ENTRIES_LBA);
    uint8_t *entry = block_at(ram, entries_lba) + (size_t)index * GPT_ENTRY_BYTES;
    memcpy(entry + ENTRY_TYPE, type, GPT_GUID_BYTES);
    spate_put64(entry + ENTRY_FIRST_LBA, first);
    spate_put64(entry + ENTRY_LAST_LBA, last);
    reseal(ram, headers[copy]);
  }
}

struct lie {
  const char *what;
  unsigned field, bytes;
  uint64_t value;
};

/* Headers with correct checksums that contradict themselves or the drive; the same in both copies. */
static void test_contradictions_are_refused(void **state) {
  (void)state;
  static const struct lie lies[] = {
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
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
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
      uint8_t *field = block_at(&ram, copies[copy]) + lies[i].field;
      if (lies[i].bytes == 8) spate_put64(field, lies[i].value);
      if (lies[i].bytes == 4) spate_put32(field, (uint32_t)lies[i].value);
      reseal(&ram, copies[copy]);
    }
    struct spate_partition partition;
    if (find(&ram, &partition) != SPATE_E_TABLE) fail_msg("accepted: %s", lies[i].what);
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

/* More entries than fit the scratch memory, and larger ones, are read in pieces. */
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

/*
 * The power fails at every instant of a write. Each block written since the last completed flush holds independently
 * its old or its new version. The result must be the old table, the new one (perhaps from its backup), or none on a
 * blank drive. A blank drive, or one with our table, must accept another write without the erase option.
 */
static void apply_block(struct ram_block *to, const struct ram_log_entry *entry, uint32_t i) {
  memcpy(block_at(to, entry->lba + i), entry->data + ((size_t)i << to->block.block_shift),
         spate_block_bytes(&to->block));
}

static void cut_power(const struct ram_block *from, uint64_t event, uint64_t *random, struct ram_block *to) {
  uint64_t durable_before = 0;
  for (size_t i = 0; i < from->log_count; i++)
    if (from->log[i].op == SPATE_FLUSH && from->log[i].completed_at <= event)
      durable_before = from->log[i].submitted_at;
  for (size_t i = 0; i < from->log_count; i++) {
    const struct ram_log_entry *entry = &from->log[i];
    if (entry->op != SPATE_WRITE || entry->submitted_at > event) continue;
    bool durable = entry->completed_at < durable_before;
    for (uint32_t block = 0; block < entry->blocks; block++)
      if (durable || (ram_random(random) & 1)) apply_block(to, entry, block);
  }
}

enum before { BLANK, OWN, OWN_DAMAGED, OTHER };

static void prepare(struct ram_block *ram, enum before before) {
  struct spate_partition partition;
  static const struct spate_partition_ids old_ids = {.disk = "an older disk", .partition = "an older part"};
  ram_block_open(ram, 4 * MIB / 512 + 77, 512);
  if (before == BLANK) return;
  assert_int_equal(spate_partition_write(&ram->block, scratch, &old_ids, 1 << 20, false, &partition), SPATE_OK);
  if (before == OWN_DAMAGED) memset(block_at(ram, 1), 0, 512);
  if (before == OTHER) put_partition(ram, 5, GPT_BASIC_DATA, 40, 50);
}

static void test_power_cuts(void **state) {
  (void)state;
  uint64_t random = 1;
  for (enum before before = BLANK; before <= OTHER; before++) {
    struct ram_block ram;
    struct spate_partition partition;
    prepare(&ram, before);
    ram.keep_log = ram.keep_data = true;
    ram.events = 0;
    bool erase = before == OTHER;
    assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 1 << 20, erase, &partition), SPATE_OK);
    for (unsigned cut = 0; cut < 100; cut++) {
      struct ram_block after;
      prepare(&after, before);
      cut_power(&ram, ram_random(&random) % (ram.events + 1), &random, &after);
      enum spate_error error = find(&after, &partition);
      /* A table whose primary was already broken depends on its backup, and the backup is written first: a cut may lose
       * both. */
      bool allowed = error == SPATE_OK || (before == BLANK && error == SPATE_E_NO_TABLE) ||
                     (before == OWN_DAMAGED && error == SPATE_E_TABLE);
      if (!allowed) fail_msg("case %d, cut %u: %s", (int)before, cut, spate_error_name(error));
      if (!erase) assert_int_equal(spate_partition_check_blank(&after.block, scratch), SPATE_OK);
      ram_block_close(&after);
    }
    ram_block_close(&ram);
  }
}

/* Random damage, half of the time with correct checksums: every answer is allowed except a crash or an extent outside
 * the drive. */
static void test_random_damage(void **state) {
  (void)state;
  static uint8_t primary[34 * 512];
  struct ram_block ram;
  uint64_t random = 7;
  open_with_table(&ram, 512);
  memcpy(primary, ram.memory, sizeof primary);
  for (unsigned round = 0; round < 4000; round++) {
    struct spate_partition partition;
    memcpy(ram.memory, primary, sizeof primary);
    for (unsigned i = 0; i < 4; i++) {
      /* The MBR's table, the header, and the first two entries. */
      static const uint32_t starts[] = {MBR_ENTRIES_OFFSET, 512, 1024};
      static const uint32_t lengths[] = {64, GPT_HEADER_BYTES, 2 * GPT_ENTRY_BYTES};
      unsigned area = (unsigned)(ram_random(&random) % 3);
      ram.memory[starts[area] + ram_random(&random) % lengths[area]] = (uint8_t)ram_random(&random);
    }
    if (ram_random(&random) & 1) reseal(&ram, 1);
    if (spate_partition_find(&ram.block, scratch, &partition) == SPATE_OK) {
      assert_true(partition.blocks > 0 && partition.first_lba < ram.block.blocks);
      assert_true(partition.blocks <= ram.block.blocks - partition.first_lba);
    }
  }
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
    assert_int_equal(spate_partition_whole_disk(&ram.block, scratch, true, &partition), SPATE_OK);
    assert_int_equal(partition.table, SPATE_TABLE_WHOLE_DISK);
    assert_true(partition.first_lba == 0 && partition.blocks == ram.block.blocks);
    for (uint64_t i = 0; i < ram.bytes; i++)
      if (i != 2 * MIB && ram.memory[i] != 0) fail_msg("byte %llu is not zero", (unsigned long long)i);
    assert_int_equal(ram.memory[2 * MIB], 0x77);
    ram_block_close(&ram);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clearing_for_a_whole_disk_volume),
      cmocka_unit_test(test_crc32),
      cmocka_unit_test(test_a_written_table_is_found),
      cmocka_unit_test(test_writing_refuses_bad_alignment_and_small_drives),
      cmocka_unit_test(test_the_backup_replaces_a_damaged_primary),
      cmocka_unit_test(test_the_backup_replaces_an_unreadable_primary),
      cmocka_unit_test(test_other_errors_pass_through),
      cmocka_unit_test(test_contradictions_are_refused),
      cmocka_unit_test(test_header_size_is_bounded),
      cmocka_unit_test(test_entries_of_a_gpt),
      cmocka_unit_test(test_large_arrays),
      cmocka_unit_test(test_index_beyond_eight_bits),
      cmocka_unit_test(test_tiny_drives),
      cmocka_unit_test(test_mbr),
      cmocka_unit_test(test_whole_disk),
      cmocka_unit_test(test_foreign_bytes_are_kept),
      cmocka_unit_test(test_own_table_is_not_foreign),
      cmocka_unit_test(test_a_volume_in_our_partition_is_foreign),
      cmocka_unit_test(test_erase_leaves_no_signature),
      cmocka_unit_test(test_power_cuts),
      cmocka_unit_test(test_random_damage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
