/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partition tables: reads GPT (UEFI specification 2.10, chapter 5) and MBR, writes GPT.
 *
 * A drive for recordings gets one Basic Data partition, which Windows, macOS and Linux mount by themselves. A drive
 * with other contents is refused unless `erase` is true. All functions wait (spate_block_do).
 */
#ifndef SPATE_PARTITION_H
#define SPATE_PARTITION_H

#include <spate/block.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The scratch memory that each function needs: DMA memory aligned to SPATE_DMA_ALIGN. */
#define SPATE_PARTITION_SCRATCH_BYTES (32u * 1024u)

/* Where a volume was found. */
enum spate_table { SPATE_TABLE_NONE, SPATE_TABLE_MBR, SPATE_TABLE_GPT, SPATE_TABLE_WHOLE_DISK };

/* A partition, or the whole drive. */
struct spate_partition {
  uint64_t first_lba;
  uint64_t blocks;
  uint8_t table;    /* enum spate_table */
  uint8_t index;    /* of the entry in the table, from 0; entries above 255 are ignored. MBR: logical ones from 4 on */
  bool from_backup; /* the primary GPT was damaged, and the backup was used */
};

/*
 * Find the exFAT volume of a drive, in a GPT, in an MBR (logical partitions, too), or on the whole drive. The first of
 * these counts: a partition of exFAT's type (GPT Basic Data, MBR type 07h) with a boot sector of exFAT or its backup;
 * one of another type under which exFAT is in use (Linux filesystem; 06h, 0Bh, 0Ch, 0Eh, 83h) with a boot sector; the
 * same with a backup; one of exFAT's type with anything. Checks both CRCs of a GPT, and uses the backup in the last
 * block if the primary is damaged. Entries outside the drive are refused. `scratch`: SPATE_PARTITION_SCRATCH_BYTES.
 * Errors: NO_TABLE (also for a table without any partition), TABLE, NOT_FOUND, MEDIA (block 0 cannot be read, and the
 * whole drive is no volume), and those of the device.
 */
SPATE_MUST_CHECK enum spate_error spate_partition_find(struct spate_block *block, void *scratch,
                                                       struct spate_partition *partition);

/*
 * Check whether a new table would destroy data. OK: the first MiB, and everything after the last whole MiB, are blank
 * (zeros, or ones, which a trimmed drive may return), or are what spate_partition_write() writes, complete or
 * interrupted. FOREIGN: otherwise. FOREIGN also if a partition in either copy of such a table begins with a boot sector
 * (of exFAT, main or backup, or of another file system), even if block 0 and the other copy are damaged. The rest of
 * the partition is not checked, so call spate_partition_find() as well before formatting. Errors: FOREIGN, and those of
 * the device.
 */
SPATE_MUST_CHECK enum spate_error spate_partition_check_blank(struct spate_block *block, void *scratch);

/* 128 random bits each, from the board or a test. They must differ each time: they become GUIDs. */
struct spate_partition_ids {
  uint8_t disk[16];
  uint8_t partition[16];
};

/*
 * Write a protective MBR, a GPT and its backup, with one Basic Data partition from `align_bytes` (a power of two ≥ 1
 * MiB) to the last multiple of it. The backup is written and flushed before the primary. A power cut leaves the old
 * contents or a valid table. It may leave neither only if the old primary was already damaged. With `erase` false the
 * drive must pass spate_partition_check_blank(). After OK `partition` is set.
 * Errors: FOREIGN, TOO_SMALL, INVALID, and those of the device.
 */
SPATE_MUST_CHECK enum spate_error spate_partition_write(struct spate_block *block, void *scratch,
                                                        const struct spate_partition_ids *ids, uint32_t align_bytes,
                                                        bool erase, struct spate_partition *partition);

/*
 * Use the whole drive as the volume, without a table, as some embedded readers need it. Both ends are zeroed, so that
 * no old table is found there. Errors: FOREIGN, and those of the device.
 */
SPATE_MUST_CHECK enum spate_error spate_partition_whole_disk(struct spate_block *block, void *scratch, bool erase,
                                                             struct spate_partition *partition);

#ifdef __cplusplus
}
#endif
#endif
