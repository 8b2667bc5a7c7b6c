/* SPDX-License-Identifier: Apache-2.0 */
/* The classic table: four entries at the end of block 0, in logical blocks of whatever size the drive has. */
#include "table.h"

#include <spate/bytes.h>

struct mbr_entry {
  uint8_t status, type;
  uint32_t first_lba, blocks;
};

static struct mbr_entry read_entry(const uint8_t *block0, unsigned index) {
  const uint8_t *at = block0 + MBR_ENTRIES_OFFSET + (size_t)index * MBR_ENTRY_BYTES;
  return (struct mbr_entry){
      .status = at[0], .type = at[4], .first_lba = spate_get32(at + 8), .blocks = spate_get32(at + 12)};
}

static bool overlaps(const struct mbr_entry *a, const struct mbr_entry *b) {
  if (a->type == 0 || a->blocks == 0 || b->type == 0 || b->blocks == 0) return false;
  return ranges_overlap(a->first_lba, (uint64_t)a->first_lba + a->blocks - 1, b->first_lba,
                        (uint64_t)b->first_lba + b->blocks - 1);
}

enum spate_error spate_mbr_find(const struct spate_block *block, const uint8_t *block0,
                                struct spate_partition *partition) {
  unsigned found = MBR_ENTRIES;

  /* A boot sector of a file system carries the same signature, but code or text where the table would be. */
  for (unsigned i = 0; i < MBR_ENTRIES; i++)
    if ((read_entry(block0, i).status & 0x7fu) != 0) return SPATE_E_NO_TABLE;

  for (unsigned i = MBR_ENTRIES; i-- > 0;)
    if (read_entry(block0, i).type == MBR_TYPE_EXFAT) found = i;
  if (found == MBR_ENTRIES) return SPATE_E_NOT_FOUND;

  struct mbr_entry entry = read_entry(block0, found);
  if (entry.first_lba == 0 || entry.blocks == 0) return SPATE_E_TABLE;
  if ((uint64_t)entry.first_lba + entry.blocks > block->blocks) return SPATE_E_TABLE;
  for (unsigned i = 0; i < MBR_ENTRIES; i++) {
    struct mbr_entry other = read_entry(block0, i);
    if (i != found && overlaps(&entry, &other)) return SPATE_E_TABLE;
  }

  *partition = (struct spate_partition){
      .first_lba = entry.first_lba, .blocks = entry.blocks, .table = SPATE_TABLE_MBR, .index = (uint8_t)found};
  return SPATE_OK;
}
