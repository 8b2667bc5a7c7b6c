/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a table's partitions is the exFAT volume. Volumes of exFAT are in use under types of FAT and of Linux, too,
 * so the first block decides there. */
#include "../core/boot_sector.h"
#include "table.h"

/* A block of the device can be read. False, and *error is not OK: the device is gone. */
static bool read_block(struct spate_block *block, uint8_t *scratch, uint64_t lba, enum spate_error *error) {
  *error = spate_block_read(block, lba, 1, scratch);
  if (*error == SPATE_OK) return true;
  if (*error == SPATE_E_MEDIA) *error = SPATE_OK; /* that block is not what is looked for */
  return false;
}

/* The backup is so many sectors after the first, and states how large a sector is. */
static enum spate_error probe_backup(struct spate_block *block, uint8_t *scratch,
                                     const struct spate_partition *partition, bool *found) {
  enum spate_error error = SPATE_OK;

  *found = false;
  for (uint32_t shift = block->block_shift; shift <= BOOT_SECTOR_SHIFT_MAX && error == SPATE_OK && !*found; shift++) {
    const uint64_t offset_blocks = BOOT_SECTORS_OF_REGION << (shift - block->block_shift);
    if (offset_blocks >= partition->blocks) break;
    *found = read_block(block, scratch, partition->first_lba + offset_blocks, &error) &&
             boot_sector_is_exfat(scratch) && scratch[BOOT_SECTOR_SHIFT] == shift;
  }
  return error;
}

enum spate_error spate_partition_probe(struct spate_block *block, uint8_t *scratch,
                                       const struct spate_partition *partition, enum table_contents *contents) {
  enum spate_error error;
  bool backup = false;
  const bool read = read_block(block, scratch, partition->first_lba, &error);

  *contents = TABLE_UNKNOWN;
  if (error != SPATE_OK) return error;
  if (read && boot_sector_is_exfat(scratch)) {
    *contents = TABLE_BOOT;
    return SPATE_OK;
  }
  if (read && boot_sector_is_foreign(scratch)) return SPATE_OK;
  error = probe_backup(block, scratch, partition, &backup);
  if (backup) *contents = TABLE_BACKUP;
  return error;
}

/* A volume with a damaged boot sector under the type of exFAT is not passed over for another one. */
static unsigned rank_of(enum table_type type, enum table_contents contents) {
  if (type == TABLE_EXFAT) return contents == TABLE_UNKNOWN ? 1u : TABLE_RANK_BEST;
  return contents == TABLE_BOOT ? 3u : contents == TABLE_BACKUP ? 2u : 0;
}

enum spate_error spate_partition_offer(struct spate_block *block, uint8_t *scratch,
                                       const struct spate_partition *partition, enum table_type type,
                                       struct table_choice *choice) {
  enum table_contents contents = TABLE_UNKNOWN;

  if (type == TABLE_OTHER) return SPATE_OK;
  enum spate_error error = spate_partition_probe(block, scratch, partition, &contents);
  const unsigned rank = rank_of(type, contents);
  if (error != SPATE_OK || rank <= choice->rank) return error;
  choice->rank = rank;
  choice->partition = *partition;
  return SPATE_OK;
}
