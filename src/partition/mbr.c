/* SPDX-License-Identifier: Apache-2.0 */
/* The MBR: four entries at the end of block 0, in units of the drive's logical blocks. One of them may be an extended
 * partition, which begins with a list of blocks (extended boot records). Each has an entry of one logical partition,
 * and one that leads to the next block. */
#include "../core/fields.h"
#include "table.h"

#define MBR_TYPE_EXTENDED       0x05u
#define MBR_TYPE_EXTENDED_LBA   0x0fu
#define MBR_TYPE_EXTENDED_LINUX 0x85u
#define RECORDS_MAX             128u  /* a list may be a loop */
#define RECORD_OFFSET           4096u /* in the scratch memory: block 0, a record, a block of a partition */
#define PROBE_OFFSET            8192u

enum { MBR_STATUS = 0, MBR_KIND = 4, MBR_START = 8, MBR_BLOCKS = 12 };

struct entry {
  uint64_t first_lba, blocks;
  uint8_t kind;  /* 0: none */
  uint8_t index; /* logical partitions are numbered from 4 on */
};

static const uint8_t *entry_at(const uint8_t *block0, unsigned index) {
  return block0 + MBR_ENTRIES_OFFSET + (size_t)index * MBR_ENTRY_BYTES;
}

/* The table begins at an odd multiple of 2, so its fields are aligned to 2 bytes only. */
static uint64_t get32(const uint8_t *at) { return spate_field_get16(at) | (uint32_t)spate_field_get16(at + 2) << 16; }

/* An entry's first block counts from `base_lba`. */
static struct entry read_entry(const uint8_t *block0, unsigned place, uint64_t base_lba, unsigned index) {
  const uint8_t *raw = entry_at(block0, place);

  return (struct entry){.first_lba = base_lba + get32(raw + MBR_START),
                        .blocks = get32(raw + MBR_BLOCKS),
                        .kind = raw[MBR_KIND],
                        .index = (uint8_t)index};
}

static bool is_extended(const struct entry *entry) {
  return entry->kind == MBR_TYPE_EXTENDED || entry->kind == MBR_TYPE_EXTENDED_LBA ||
         entry->kind == MBR_TYPE_EXTENDED_LINUX;
}

/* Cameras and Android leave the types of FAT, Linux its own. */
static enum table_type type_of(const struct entry *entry) {
  static const uint8_t possible[] = {0x06, 0x0b, 0x0c, 0x0e, 0x83};

  if (entry->kind == MBR_TYPE_EXFAT) return TABLE_EXFAT;
  for (unsigned i = 0; i < sizeof possible; i++)
    if (entry->kind == possible[i]) return TABLE_POSSIBLE;
  return TABLE_OTHER;
}

static bool is_inside(const struct spate_block *block, const struct entry *entry) {
  return entry->first_lba != 0 && entry->blocks != 0 && entry->first_lba + entry->blocks <= block->blocks;
}

/* ---- all partitions, one after the other ---- */

struct walk {
  struct spate_block *block;
  uint8_t *scratch;
  unsigned index, records;
  uint64_t extended_lba, record_lba; /* 0: there is none, or no other */
};

/* The primary partitions, and the extended one. */
static bool next_primary(struct walk *walk, struct entry *entry) {
  while (walk->index < MBR_ENTRIES) {
    *entry = read_entry(walk->scratch, walk->index, 0, walk->index);
    walk->index++;
    if (is_extended(entry) && walk->extended_lba == 0) walk->extended_lba = walk->record_lba = entry->first_lba;
    if (entry->kind != 0) return true;
  }
  return false;
}

/* A record that cannot be read, or is none, ends the list. */
static enum spate_error next_logical(struct walk *walk, struct entry *entry) {
  uint8_t *record = walk->scratch + RECORD_OFFSET;

  for (*entry = (struct entry){0}; entry->kind == 0 && walk->record_lba != 0; walk->records++) {
    const uint64_t lba = walk->record_lba;
    walk->record_lba = 0;
    if (lba >= walk->block->blocks || walk->records == RECORDS_MAX) break;
    const enum spate_error error = spate_block_read(walk->block, lba, 1, record);
    if (error == SPATE_E_MEDIA) break;
    if (error != SPATE_OK) return error;
    if (spate_field_get16(record + MBR_SIGNATURE_OFFSET) != MBR_SIGNATURE) break;
    *entry = read_entry(record, 0, lba, walk->index);
    if (entry->kind != 0) walk->index++;
    const struct entry next = read_entry(record, 1, walk->extended_lba, 0);
    if (is_extended(&next) && next.first_lba != walk->extended_lba) walk->record_lba = next.first_lba;
  }
  return SPATE_OK;
}

/* Kind 0: there is no other. */
static enum spate_error next_entry(struct walk *walk, struct entry *entry) {
  return next_primary(walk, entry) ? SPATE_OK : next_logical(walk, entry);
}

/* The boot sector of a file system has the same signature, but code, text or zeros in the place of the table. */
static bool is_table(const uint8_t *block0) {
  bool used = false;

  for (unsigned i = 0; i < MBR_ENTRIES; i++) {
    if ((entry_at(block0, i)[MBR_STATUS] & 0x7fu) != 0) return false;
    used = used || entry_at(block0, i)[MBR_KIND] != 0;
  }
  return used;
}

/* ---- public functions ---- */

static enum spate_error choose(struct walk *walk, struct table_choice *choice, bool *damaged) {
  struct entry entry;

  for (;;) {
    enum spate_error error = next_entry(walk, &entry);
    if (error != SPATE_OK || entry.kind == 0 || choice->rank == TABLE_RANK_BEST) return error;
    const enum table_type type = type_of(&entry);
    if (type == TABLE_EXFAT && !is_inside(walk->block, &entry)) *damaged = true;
    if (!is_inside(walk->block, &entry)) continue;
    const struct spate_partition partition = {
        .first_lba = entry.first_lba, .blocks = entry.blocks, .table = SPATE_TABLE_MBR, .index = entry.index};
    error = spate_partition_offer(walk->block, walk->scratch + PROBE_OFFSET, &partition, type, choice);
    if (error != SPATE_OK) return error;
  }
}

/* A logical partition lies within the extended one. */
static enum spate_error check_overlaps(struct walk *walk, const struct spate_partition *chosen) {
  struct entry entry;

  for (;;) {
    enum spate_error error = next_entry(walk, &entry);
    if (error != SPATE_OK || entry.kind == 0) return error;
    if (entry.blocks == 0) continue;
    if (entry.first_lba == chosen->first_lba && entry.blocks == chosen->blocks) continue; /* itself */
    if (is_extended(&entry) && chosen->index >= MBR_ENTRIES) continue;
    if (ranges_overlap(entry.first_lba, entry.first_lba + entry.blocks - 1u, chosen->first_lba,
                       chosen->first_lba + chosen->blocks - 1u))
      return SPATE_E_TABLE;
  }
}

enum spate_error spate_mbr_find(struct spate_block *block, void *scratch, struct spate_partition *partition) {
  const struct walk start = {.block = block, .scratch = scratch};
  struct table_choice choice = {.rank = 0};
  bool damaged = false;

  if (!is_table(scratch)) return SPATE_E_NO_TABLE;
  struct walk walk = start;
  enum spate_error error = choose(&walk, &choice, &damaged);
  if (error != SPATE_OK) return error;
  if (choice.rank == 0) return damaged ? SPATE_E_TABLE : SPATE_E_NOT_FOUND;
  *partition = choice.partition;
  walk = start;
  return check_overlaps(&walk, partition);
}
