/* SPDX-License-Identifier: Apache-2.0 */
/* The MBR: four entries at the end of block 0, in units of the drive's logical blocks. */
#include "../core/fields.h"
#include "table.h"

enum { MBR_STATUS = 0, MBR_KIND = 4, MBR_START = 8, MBR_BLOCKS = 12 };

static const uint8_t *entry_at(const uint8_t *block0, unsigned index) {
  return block0 + MBR_ENTRIES_OFFSET + (size_t)index * MBR_ENTRY_BYTES;
}

/* The table begins at an odd multiple of 2, so its fields are aligned to 2 bytes only. */
static uint64_t get32(const uint8_t *at) { return spate_field_get16(at) | (uint32_t)spate_field_get16(at + 2) << 16; }

static bool overlaps(const uint8_t *a, const uint8_t *b) {
  uint64_t blocks_a = get32(a + MBR_BLOCKS);
  uint64_t blocks_b = get32(b + MBR_BLOCKS);

  if (b[MBR_KIND] == 0 || blocks_b == 0) return false;
  return ranges_overlap(get32(a + MBR_START), get32(a + MBR_START) + blocks_a - 1, get32(b + MBR_START),
                        get32(b + MBR_START) + blocks_b - 1);
}

enum spate_error spate_mbr_find(const struct spate_block *block, const uint8_t *block0,
                                struct spate_partition *partition) {
  unsigned found = MBR_ENTRIES;

  for (unsigned i = MBR_ENTRIES; i-- > 0;) {
    const uint8_t *entry = entry_at(block0, i);
    /* The boot sector of a file system has the same signature, but code or text in the place of the table. */
    if ((entry[MBR_STATUS] & 0x7fu) != 0) return SPATE_E_NO_TABLE;
    if (entry[MBR_KIND] == MBR_TYPE_EXFAT) found = i;
  }
  if (found == MBR_ENTRIES) return SPATE_E_NOT_FOUND;

  const uint8_t *entry = entry_at(block0, found);
  uint64_t first_lba = get32(entry + MBR_START);
  uint64_t blocks = get32(entry + MBR_BLOCKS);
  if (first_lba == 0 || blocks == 0 || first_lba + blocks > block->blocks) return SPATE_E_TABLE;
  for (unsigned i = 0; i < MBR_ENTRIES; i++)
    if (i != found && overlaps(entry, entry_at(block0, i))) return SPATE_E_TABLE;

  *partition = (struct spate_partition){
      .first_lba = first_lba, .blocks = blocks, .table = SPATE_TABLE_MBR, .index = (uint8_t)found};
  return SPATE_OK;
}
