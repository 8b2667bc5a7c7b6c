/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this folder. */
#ifndef SPATE_PARTITION_TABLE_H
#define SPATE_PARTITION_TABLE_H

#include "../core/crc32.h"
#include <spate/partition.h>

#define MIB_SHIFT 20u

#define MBR_SIGNATURE_OFFSET 510u
#define MBR_SIGNATURE        0xaa55u
#define MBR_ENTRIES_OFFSET   446u
#define MBR_ENTRY_BYTES      16u
#define MBR_ENTRIES          4u
#define MBR_TYPE_EXFAT       0x07u
#define MBR_TYPE_PROTECTIVE  0xeeu

/* The array of entries as the library writes it. Every reader supports it: it is the minimum (UEFI 2.10, 5.3.1). */
#define GPT_ENTRIES       128u
#define GPT_ENTRY_BYTES   128u
#define GPT_ENTRIES_BYTES (GPT_ENTRIES * GPT_ENTRY_BYTES)
#define GPT_HEADER_BYTES  92u
#define GPT_GUID_BYTES    16u
#define GPT_PRIMARY_LBA   1u

/* Offsets in the header (UEFI 2.10, table 5.5) and in an entry (table 5.6). */
enum {
  HEADER_SIGNATURE = 0,
  HEADER_REVISION = 8,
  HEADER_SIZE = 12,
  HEADER_CRC = 16,
  HEADER_MY_LBA = 24,
  HEADER_ALTERNATE_LBA = 32,
  HEADER_FIRST_USABLE = 40,
  HEADER_LAST_USABLE = 48,
  HEADER_DISK_GUID = 56,
  HEADER_ENTRIES_LBA = 72,
  HEADER_ENTRY_COUNT = 80,
  HEADER_ENTRY_BYTES = 84,
  HEADER_ENTRIES_CRC = 88,

  ENTRY_TYPE = 0,
  ENTRY_GUID = 16,
  ENTRY_FIRST_LBA = 32,
  ENTRY_LAST_LBA = 40, /* inclusive */
  ENTRY_NAME = 56,
};

#define GPT_SIGNATURE "EFI PART"
#define GPT_REVISION  UINT32_C(0x00010000)

/* EBD0A0A2-B9E5-4433-87C0-68B6B72699C7, its first three groups little endian. */
#define GPT_BASIC_DATA "\xa2\xa0\xd0\xeb\xe5\xb9\x33\x44\x87\xc0\x68\xb6\xb7\x26\x99\xc7"

/* 0FC63DAF-8483-4772-8E79-3D69D8477DE4 */
#define GPT_LINUX_FILE_SYSTEM "\xaf\x3d\xc6\x0f\x83\x84\x72\x47\x8e\x79\x3d\x69\xd8\x47\x7d\xe4"

static inline uint32_t gpt_entries_blocks(const struct spate_block *block) {
  return GPT_ENTRIES_BYTES >> block->block_shift;
}

/* As spate_partition_find(), for a drive whose block 0, which is at the start of `scratch`, has this kind of table. */
SPATE_MUST_CHECK enum spate_error spate_gpt_find(struct spate_block *block, void *scratch,
                                                 struct spate_partition *partition);
SPATE_MUST_CHECK enum spate_error spate_mbr_find(struct spate_block *block, void *scratch,
                                                 struct spate_partition *partition);

/* What the type of an entry says. Partitions of other types may hold swap, arrays or volumes of ZFS, whose formatters
 * leave an old boot sector where it was. */
enum table_type {
  TABLE_OTHER,
  TABLE_POSSIBLE, /* exFAT is in use under this type */
  TABLE_EXFAT,    /* the type of exFAT, and of NTFS */
};

/* What the first blocks say. */
enum table_contents {
  TABLE_UNKNOWN,
  TABLE_BACKUP, /* a damaged boot sector, and the backup of one of exFAT */
  TABLE_BOOT,   /* a boot sector of exFAT */
};

/* The best partition so far; of equal ones the first. */
struct table_choice {
  unsigned rank; /* 0: none */
  struct spate_partition partition;
};

#define TABLE_RANK_BEST 4u /* no other partition can be better */

/* `scratch`: one block. UNKNOWN, if the partition cannot be read. Errors: those of the device but MEDIA. */
SPATE_MUST_CHECK enum spate_error spate_partition_probe(struct spate_block *block, uint8_t *scratch,
                                                        const struct spate_partition *partition,
                                                        enum table_contents *contents);
/* Choose this partition, if it is better than the one so far. */
SPATE_MUST_CHECK enum spate_error spate_partition_offer(struct spate_block *block, uint8_t *scratch,
                                                        const struct spate_partition *partition, enum table_type type,
                                                        struct table_choice *choice);

/* Whether two ranges of blocks have a block in common. */
static inline bool ranges_overlap(uint64_t first_a, uint64_t last_a, uint64_t first_b, uint64_t last_b) {
  return first_a <= last_b && first_b <= last_a;
}

#endif
