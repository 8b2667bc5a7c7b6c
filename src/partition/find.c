/* SPDX-License-Identifier: Apache-2.0 */
/* Block 0 decides which kind of table a drive has, as on a PC. */
#include "../core/boot_sector.h"
#include "table.h"

static bool is_protective(const uint8_t *block0) {
  /* In any of the four entries: some systems also add entries for partitions of the GPT. */
  for (unsigned i = 0; i < MBR_ENTRIES; i++)
    if (block0[MBR_ENTRIES_OFFSET + i * MBR_ENTRY_BYTES + 4] == MBR_TYPE_PROTECTIVE) return true;
  return false;
}

/* Without a table the volume may be the whole drive, also where only the backup of its boot sector is left. */
static enum spate_error find_whole(struct spate_block *block, uint8_t *scratch, struct spate_partition *partition) {
  const struct spate_partition whole = {.blocks = block->blocks, .table = SPATE_TABLE_WHOLE_DISK};
  enum table_contents contents;
  enum spate_error error = spate_partition_probe(block, scratch, &whole, &contents);

  if (error != SPATE_OK) return error;
  if (contents == TABLE_UNKNOWN) return SPATE_E_NO_TABLE;
  *partition = whole;
  return SPATE_OK;
}

enum spate_error spate_partition_find(struct spate_block *block, void *scratch, struct spate_partition *partition) {
  const enum spate_error read_error = spate_block_read(block, 0, 1, scratch);
  enum spate_error error = SPATE_E_NO_TABLE;

  if (read_error != SPATE_OK && read_error != SPATE_E_MEDIA) return read_error;
  if (read_error == SPATE_OK && boot_sector_is_signed(scratch) && !boot_sector_is_exfat(scratch))
    error =
        is_protective(scratch) ? spate_gpt_find(block, scratch, partition) : spate_mbr_find(block, scratch, partition);
  if (error == SPATE_E_NO_TABLE) error = find_whole(block, scratch, partition);
  return error == SPATE_E_NO_TABLE && read_error != SPATE_OK ? read_error : error;
}
