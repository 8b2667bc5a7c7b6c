/* SPDX-License-Identifier: Apache-2.0 */
/* Block 0 decides which kind of table a drive has, as on a PC. */
#include "../core/fields.h"
#include "table.h"

#include <string.h>

#define BOOT_SECTOR_NAME_OFFSET 3u

static bool is_protective(const uint8_t *block0) {
  /* In any of the four entries: some systems also add entries for partitions of the GPT. */
  for (unsigned i = 0; i < MBR_ENTRIES; i++)
    if (block0[MBR_ENTRIES_OFFSET + i * MBR_ENTRY_BYTES + 4] == MBR_TYPE_PROTECTIVE) return true;
  return false;
}

enum spate_error spate_partition_find(struct spate_block *block, void *scratch, struct spate_partition *partition) {
  const uint8_t *block0 = scratch;

  enum spate_error error = spate_block_read(block, 0, 1, scratch);
  if (error != SPATE_OK) return error;
  if (spate_field_get16(block0 + MBR_SIGNATURE_OFFSET) != MBR_SIGNATURE) return SPATE_E_NO_TABLE;
  if (memcmp(block0 + BOOT_SECTOR_NAME_OFFSET, "EXFAT   ", 8) == 0) {
    *partition = (struct spate_partition){.blocks = block->blocks, .table = SPATE_TABLE_WHOLE_DISK};
    return SPATE_OK;
  }
  if (is_protective(block0)) return spate_gpt_find(block, scratch, partition);
  return spate_mbr_find(block, block0, partition);
}
