/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a GPT, and decides whether a drive may get one.
 *
 * The library writes five kinds of block: the protective MBR, a header (primary or backup), the block with the one
 * entry (also twice), and blank blocks. Each kind can be made again from the fields on the drive, and compared block by
 * block. So a drive is recognised as written by this library even if the write was interrupted.
 */
#include "../core/fields.h"
#include "table.h"

#include <spate/bytes.h>
#include <string.h>

#define ALIGN_BYTES_MIN       (UINT32_C(1) << MIB_SHIFT)
#define EXFAT_BACKUP_BOOT_LBA 12u /* in a volume: the backup boot region, which replaces a damaged main one */

/* The ranges at both ends of a drive that are outside every partition made here. Superblocks of file systems, arrays
 * and volume managers are there. */
struct ends {
  uint64_t head_blocks; /* from block 0 */
  uint64_t tail_lba;    /* up to the last block */
};

static uint64_t last_usable(const struct spate_block *block) { return block->blocks - gpt_entries_blocks(block) - 2; }

static uint64_t backup_entries_lba(const struct spate_block *block) { return last_usable(block) + 1; }

static uint64_t round_down(uint64_t value, uint64_t power_of_two) { return value & ~(power_of_two - 1); }

/* A drive that is too small for two tables and a MiB between them is all head. */
static struct ends find_ends(const struct spate_block *block) {
  uint64_t mib_blocks = UINT64_C(1) << (MIB_SHIFT - block->block_shift);
  if (block->blocks < 2 * mib_blocks) return (struct ends){block->blocks, block->blocks};
  return (struct ends){mib_blocks, round_down(last_usable(block) + 1, mib_blocks)};
}

static void put_protective_mbr(const struct spate_block *block, uint8_t *at) {
  uint64_t blocks = block->blocks - 1;
  uint8_t *entry = at + MBR_ENTRIES_OFFSET;

  memset(at, 0, spate_block_bytes(block));
  entry[2] = 0x02; /* cylinder 0, head 0, sector 2: block 1 */
  entry[4] = MBR_TYPE_PROTECTIVE;
  memset(entry + 5, 0xff, 3); /* the end is beyond what cylinder, head and sector can express */
  spate_put32(entry + 8, GPT_PRIMARY_LBA);
  spate_put32(entry + 12, blocks > UINT32_MAX ? UINT32_MAX : (uint32_t)blocks);
  spate_put16(at + MBR_SIGNATURE_OFFSET, MBR_SIGNATURE);
}

static void put_header(const struct spate_block *block, uint8_t *at, bool backup, const uint8_t *disk_guid,
                       uint32_t entries_crc) {
  uint64_t backup_lba = block->blocks - 1;
  uint64_t primary_entries_lba = GPT_PRIMARY_LBA + 1;

  memset(at, 0, spate_block_bytes(block));
  memcpy(at + HEADER_SIGNATURE, GPT_SIGNATURE, 8);
  spate_put32(at + HEADER_REVISION, GPT_REVISION);
  spate_put32(at + HEADER_SIZE, GPT_HEADER_BYTES);
  spate_put64(at + HEADER_MY_LBA, backup ? backup_lba : GPT_PRIMARY_LBA);
  spate_put64(at + HEADER_ALTERNATE_LBA, backup ? GPT_PRIMARY_LBA : backup_lba);
  spate_put64(at + HEADER_FIRST_USABLE, primary_entries_lba + gpt_entries_blocks(block));
  spate_put64(at + HEADER_LAST_USABLE, last_usable(block));
  memcpy(at + HEADER_DISK_GUID, disk_guid, GPT_GUID_BYTES);
  spate_put64(at + HEADER_ENTRIES_LBA, backup ? backup_entries_lba(block) : primary_entries_lba);
  spate_put32(at + HEADER_ENTRY_COUNT, GPT_ENTRIES);
  spate_put32(at + HEADER_ENTRY_BYTES, GPT_ENTRY_BYTES);
  spate_put32(at + HEADER_ENTRIES_CRC, entries_crc);
  spate_put32(at + HEADER_CRC, spate_crc32(0, at, GPT_HEADER_BYTES));
}

/* The partition runs from the first multiple of the alignment, which is the alignment itself, to the last. */
static void put_entry(const struct spate_block *block, uint8_t *at, const uint8_t *guid, uint64_t align_blocks) {
  static const char name[] = "Spate";

  memset(at, 0, spate_block_bytes(block));
  memcpy(at + ENTRY_TYPE, GPT_BASIC_DATA, GPT_GUID_BYTES);
  memcpy(at + ENTRY_GUID, guid, GPT_GUID_BYTES);
  spate_put64(at + ENTRY_FIRST_LBA, align_blocks);
  spate_put64(at + ENTRY_LAST_LBA, round_down(last_usable(block) + 1, align_blocks) - 1);
  for (unsigned i = 0; name[i] != 0; i++)
    spate_put16(at + ENTRY_NAME + 2u * i, (uint8_t)name[i]);
}

static bool is_filled_with(const uint8_t *at, uint32_t bytes, uint8_t byte) {
  for (uint32_t i = 0; i < bytes; i++)
    if (at[i] != byte) return false;
  return true;
}

/* Makes the block that the library would write at `lba`, with the identifiers in `found`, and compares the two. */
static bool is_ours(const struct spate_block *block, uint64_t lba, const uint8_t *found, uint8_t *expected) {
  bool backup = lba == block->blocks - 1;

  if (lba == 0) {
    put_protective_mbr(block, expected);
  } else if (lba == GPT_PRIMARY_LBA || backup) {
    put_header(block, expected, backup, found + HEADER_DISK_GUID, spate_get32(found + HEADER_ENTRIES_CRC));
  } else if (lba == GPT_PRIMARY_LBA + 1 || lba == backup_entries_lba(block)) {
    uint64_t align_blocks = spate_get64(found + ENTRY_FIRST_LBA);
    if (align_blocks == 0 || (align_blocks & (align_blocks - 1)) != 0) return false;
    put_entry(block, expected, found + ENTRY_GUID, align_blocks);
  } else {
    return false;
  }
  return memcmp(found, expected, spate_block_bytes(block)) == 0;
}

static enum spate_error check_range(struct spate_block *block, uint8_t *scratch, uint64_t lba, uint64_t end_lba) {
  uint32_t block_bytes = spate_block_bytes(block);
  uint8_t *expected = scratch + SPATE_PARTITION_SCRATCH_BYTES / 2;
  uint32_t step_blocks = (SPATE_PARTITION_SCRATCH_BYTES / 2) >> block->block_shift;

  for (; lba < end_lba; lba += step_blocks) {
    uint32_t blocks = end_lba - lba < step_blocks ? (uint32_t)(end_lba - lba) : step_blocks;
    enum spate_error error = spate_block_read(block, lba, blocks, scratch);
    if (error != SPATE_OK) return error;
    for (uint32_t i = 0; i < blocks; i++) {
      const uint8_t *found = scratch + ((size_t)i << block->block_shift);
      bool blank = is_filled_with(found, block_bytes, 0) || is_filled_with(found, block_bytes, 0xff);
      if (!blank && !is_ours(block, lba + i, found, expected)) return SPATE_E_FOREIGN;
    }
  }
  return SPATE_OK;
}

/* Whether the partition in this block of entries, which is blank or made here, has a boot sector. */
static enum spate_error check_volume(struct spate_block *block, uint8_t *scratch, uint64_t entries_lba) {
  enum spate_error error = spate_block_read(block, entries_lba, 1, scratch);
  if (error != SPATE_OK) return error;
  uint64_t first_lba = spate_field_get64(scratch + ENTRY_FIRST_LBA);
  if (first_lba == 0 || first_lba >= block->blocks - EXFAT_BACKUP_BOOT_LBA) return SPATE_OK; /* blank */

  for (unsigned offset = 0; offset <= EXFAT_BACKUP_BOOT_LBA; offset += EXFAT_BACKUP_BOOT_LBA) {
    error = spate_block_read(block, first_lba + offset, 1, scratch);
    if (error != SPATE_OK) return error;
    if (spate_field_get16(scratch + MBR_SIGNATURE_OFFSET) == MBR_SIGNATURE) return SPATE_E_FOREIGN;
  }
  return SPATE_OK;
}

enum spate_error spate_partition_check_blank(struct spate_block *block, void *scratch) {
  struct ends ends = find_ends(block);
  enum spate_error error = check_range(block, scratch, 0, ends.head_blocks);
  if (error == SPATE_OK) error = check_range(block, scratch, ends.tail_lba, block->blocks);
  if (error != SPATE_OK || ends.tail_lba == block->blocks) return error; /* the head was the whole drive */

  /* On a drive in use only one copy of the table may be left. */
  error = check_volume(block, scratch, GPT_PRIMARY_LBA + 1);
  return error != SPATE_OK ? error : check_volume(block, scratch, backup_entries_lba(block));
}

/* Sets the version to 4, random, and the variant to 1 (RFC 4122). The version is in the high byte of a little-endian
 * field. */
static void make_guid(uint8_t *guid, const uint8_t *random) {
  memcpy(guid, random, GPT_GUID_BYTES);
  guid[7] = (uint8_t)((guid[7] & 0x0fu) | 0x40u);
  guid[8] = (uint8_t)((guid[8] & 0x3fu) | 0x80u);
}

/* Fills the scratch memory with the primary header, the entries and the backup header. The first two are written as the
 * primary, the last two as the backup. */
static void make_tables(const struct spate_block *block, uint8_t *scratch, const struct spate_partition_ids *ids,
                        uint64_t align_blocks) {
  uint8_t disk_guid[GPT_GUID_BYTES];
  uint8_t partition_guid[GPT_GUID_BYTES];
  uint8_t *entries = scratch + spate_block_bytes(block);

  make_guid(disk_guid, ids->disk);
  make_guid(partition_guid, ids->partition);
  memset(entries, 0, GPT_ENTRIES_BYTES);
  put_entry(block, entries, partition_guid, align_blocks);
  uint32_t entries_crc = spate_crc32(0, entries, GPT_ENTRIES_BYTES);
  put_header(block, scratch, false, disk_guid, entries_crc);
  put_header(block, entries + GPT_ENTRIES_BYTES, true, disk_guid, entries_crc);
}

/* The part of the scratch memory that the tables leave free, with any block size. */
#define ZEROS_BYTES (8u * 1024u)
_Static_assert(2 * 4096 + GPT_ENTRIES_BYTES + ZEROS_BYTES <= SPATE_PARTITION_SCRATCH_BYTES, "scratch memory");

static enum spate_error zero_range(struct spate_block *block, uint8_t *zeros, uint64_t lba, uint64_t end_lba) {
  uint32_t step_blocks = ZEROS_BYTES >> block->block_shift;

  for (; lba < end_lba; lba += step_blocks) {
    uint32_t blocks = end_lba - lba < step_blocks ? (uint32_t)(end_lba - lba) : step_blocks;
    enum spate_error error = spate_block_write(block, lba, blocks, zeros, 0);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

/* Zeroes the blocks around the new table: with an old signature there, a PC would recognise the old contents. */
static enum spate_error wipe_around_tables(struct spate_block *block, uint8_t *scratch) {
  struct ends ends = find_ends(block);
  uint64_t head_lba = GPT_PRIMARY_LBA + 1 + gpt_entries_blocks(block);
  uint8_t *zeros = scratch + SPATE_PARTITION_SCRATCH_BYTES - ZEROS_BYTES;

  memset(zeros, 0, ZEROS_BYTES);
  enum spate_error error = zero_range(block, zeros, head_lba, ends.head_blocks);
  if (error != SPATE_OK) return error;
  return zero_range(block, zeros, ends.tail_lba, backup_entries_lba(block));
}

/*
 * A power cut at any time leaves the old contents, or the new table with at least one intact copy. Readers look for a
 * GPT only if block 0 has a protective MBR, and block 0 is written last. If the drive had a protective MBR before, the
 * old primary stays intact until the new backup is durable. After that the backup replaces a primary that is half old
 * and half new. The flush before block 0 is for readers that do not use the backup.
 */
static enum spate_error write_tables(struct spate_block *block, uint8_t *scratch, bool erase) {
  uint8_t *entries = scratch + spate_block_bytes(block);
  uint32_t copy_blocks = gpt_entries_blocks(block) + 1;

  enum spate_error error = spate_block_write(block, backup_entries_lba(block), copy_blocks, entries, 0);
  if (error == SPATE_OK) error = spate_block_flush(block);
  if (error == SPATE_OK && erase) error = wipe_around_tables(block, scratch);
  if (error == SPATE_OK) error = spate_block_write(block, GPT_PRIMARY_LBA, copy_blocks, scratch, 0);
  if (error == SPATE_OK) error = spate_block_flush(block);
  if (error != SPATE_OK) return error;

  put_protective_mbr(block, scratch);
  error = spate_block_write(block, 0, 1, scratch, 0);
  if (error != SPATE_OK) return error;
  return spate_block_flush(block);
}

enum spate_error spate_partition_write(struct spate_block *block, void *scratch, const struct spate_partition_ids *ids,
                                       uint32_t align_bytes, bool erase, struct spate_partition *partition) {
  if (align_bytes < ALIGN_BYTES_MIN || (align_bytes & (align_bytes - 1)) != 0) return SPATE_E_INVALID;
  uint64_t align_blocks = align_bytes >> block->block_shift;
  if (block->blocks < 2 * align_blocks + gpt_entries_blocks(block) + 1) return SPATE_E_TOO_SMALL;

  enum spate_error error = erase ? SPATE_OK : spate_partition_check_blank(block, scratch);
  if (error != SPATE_OK) return error;
  make_tables(block, scratch, ids, align_blocks);
  error = write_tables(block, scratch, erase);
  if (error != SPATE_OK) return error;

  *partition = (struct spate_partition){.first_lba = align_blocks,
                                        .blocks = round_down(last_usable(block) + 1, align_blocks) - align_blocks,
                                        .table = SPATE_TABLE_GPT};
  return SPATE_OK;
}

enum spate_error spate_partition_whole_disk(struct spate_block *block, void *scratch, bool erase,
                                            struct spate_partition *partition) {
  struct ends ends = find_ends(block);
  enum spate_error error = erase ? SPATE_OK : spate_partition_check_blank(block, scratch);
  if (error != SPATE_OK) return error;

  /* A reader uses a table even if it finds only the backup. So the backup is zeroed first: a power cut then leaves the
   * old contents or a part of them. */
  memset(scratch, 0, ZEROS_BYTES);
  error = zero_range(block, scratch, ends.tail_lba, block->blocks);
  if (error == SPATE_OK) error = zero_range(block, scratch, 0, ends.head_blocks);
  if (error == SPATE_OK) error = spate_block_flush(block);
  if (error != SPATE_OK) return error;
  *partition = (struct spate_partition){.blocks = block->blocks, .table = SPATE_TABLE_WHOLE_DISK};
  return SPATE_OK;
}
