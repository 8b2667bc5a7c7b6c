/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partition tables: GPT (UEFI specification 2.10, chapter 5) and classic MBR read, GPT written.
 *
 * A recording drive gets one Basic Data partition, because that is what Windows, macOS and Linux mount by themselves.
 * A drive that holds anything else is refused unless the caller says erase. All functions wait (spate_block_do).
 */
#ifndef SPATE_PARTITION_H
#define SPATE_PARTITION_H

#include <spate/block.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of scratch memory each function here needs: DMA memory aligned to SPATE_DMA_ALIGN. */
#define SPATE_PARTITION_SCRATCH_BYTES (32u * 1024u)

enum spate_table { SPATE_TABLE_NONE, SPATE_TABLE_MBR, SPATE_TABLE_GPT, SPATE_TABLE_WHOLE_DISK };

struct spate_partition {
  uint64_t first_lba;
  uint64_t blocks;
  uint8_t table;    /* enum spate_table it came from */
  uint8_t index;    /* its place in that table, from 0; those past 255 are not looked at */
  bool from_backup; /* the primary GPT was damaged and the backup was used */
};

/*
 * The first partition that can hold exFAT: GPT Basic Data, or MBR type 07h (primary partitions; a table with logical
 * ones only is NOT_FOUND), or the whole disk where block 0 is itself an exFAT boot sector. Checks both CRCs of a GPT
 * and falls back to the backup at the last block. Entries outside the drive are refused. `scratch`:
 * SPATE_PARTITION_SCRATCH_BYTES. Errors: NO_TABLE, TABLE, NOT_FOUND, and those of the device.
 */
SPATE_MUST_CHECK enum spate_error spate_partition_find(struct spate_block *block, void *scratch,
                                                       struct spate_partition *partition);

/*
 * Is there anything on the drive that a new table would lose? OK when the first MiB, and what follows the last whole
 * MiB, are blank (zeros, or ones as a trimmed drive may read) or hold exactly what spate_partition_write() makes, whole
 * or cut short; FOREIGN otherwise. FOREIGN also when a partition that either copy of such a table tells of begins with
 * a boot sector (exFAT's, its backup's, or another's), whatever became of block 0 and the other copy. No more than that
 * is looked at inside it: whoever formats asks spate_partition_find() as well.
 */
SPATE_MUST_CHECK enum spate_error spate_partition_check_blank(struct spate_block *block, void *scratch);

/* 128 random bits twice, from the board (or a test): a GUID must not repeat. */
struct spate_partition_ids {
  uint8_t disk[16];
  uint8_t partition[16];
};

/*
 * Write a protective MBR, a GPT and its backup, with one Basic Data partition from `align_bytes` (a power of two ≥ 1
 * MiB) to the last multiple of it. Backup first, flushed, then the primary. A cut in between leaves what was there, or
 * a valid table; only where the old primary was already broken may it leave neither. With `erase` false the drive must
 * pass spate_partition_check_blank(). On success `partition` says where it is.
 * Errors: FOREIGN, TOO_SMALL, INVALID, and those of the device.
 */
SPATE_MUST_CHECK enum spate_error spate_partition_write(struct spate_block *block, void *scratch,
                                                        const struct spate_partition_ids *ids, uint32_t align_bytes,
                                                        bool erase, struct spate_partition *partition);

/*
 * No table: the whole drive is to be the volume, as some embedded readers want it. Both ends are zeroed, so that no old
 * table is found there. The rest as spate_partition_write().
 */
SPATE_MUST_CHECK enum spate_error spate_partition_whole_disk(struct spate_block *block, void *scratch, bool erase,
                                                             struct spate_partition *partition);

#ifdef __cplusplus
}
#endif
#endif
