/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a GPT. A copy is used only if both CRCs are right and its fields agree with each other and with the drive (UEFI
 * 2.10, 5.3.2). The primary header is at block 1, the backup header in the last block. */
#include "../core/fields.h"
#include "table.h"

#include <string.h>

#define ENTRY_BYTES_MAX   4096u
#define ENTRIES_BYTES_MAX (UINT32_C(1) << 20) /* 64 times the minimum of the specification; limits the reading */

struct gpt {
  uint64_t first_usable, last_usable;
  uint64_t entries_lba;
  uint32_t entry_count, entry_bytes;
  uint32_t entries_crc;
};

static bool header_crc_is_right(uint8_t *header, uint32_t block_bytes) {
  uint32_t bytes = spate_field_get32(header + HEADER_SIZE);
  if (bytes < GPT_HEADER_BYTES || bytes > block_bytes) return false;
  uint32_t stored = spate_field_get32(header + HEADER_CRC);
  spate_field_put32(header + HEADER_CRC, 0);
  return spate_crc32(0, header, bytes) == stored;
}

static bool geometry_is_possible(const struct spate_block *block, const struct gpt *gpt) {
  bool power_of_two = (gpt->entry_bytes & (gpt->entry_bytes - 1)) == 0;
  if (!power_of_two || gpt->entry_bytes < GPT_ENTRY_BYTES || gpt->entry_bytes > ENTRY_BYTES_MAX) return false;
  uint64_t array_bytes = (uint64_t)gpt->entry_count * gpt->entry_bytes;
  if (array_bytes == 0 || array_bytes > ENTRIES_BYTES_MAX) return false;
  uint64_t array_blocks = (array_bytes + spate_block_bytes(block) - 1) >> block->block_shift;
  if (gpt->entries_lba <= GPT_PRIMARY_LBA || gpt->entries_lba >= block->blocks) return false;
  if (array_blocks > block->blocks - gpt->entries_lba) return false;

  /* Each end must have room for a header and the entries; at the start there is block 0, too. */
  uint64_t table_blocks = array_blocks + 1;
  if (gpt->first_usable <= table_blocks) return false;
  if (gpt->last_usable >= block->blocks - table_blocks) return false;
  return !ranges_overlap(gpt->entries_lba, gpt->entries_lba + array_blocks - 1, gpt->first_usable, gpt->last_usable);
}

static enum spate_error read_header(struct spate_block *block, uint8_t *scratch, uint64_t lba, struct gpt *gpt) {
  enum spate_error error = spate_block_read(block, lba, 1, scratch);
  if (error != SPATE_OK) return error;

  if (memcmp(scratch + HEADER_SIGNATURE, GPT_SIGNATURE, 8) != 0) return SPATE_E_TABLE;
  if (spate_field_get32(scratch + HEADER_REVISION) != GPT_REVISION) return SPATE_E_TABLE;
  if (!header_crc_is_right(scratch, spate_block_bytes(block))) return SPATE_E_TABLE;
  if (spate_field_get64(scratch + HEADER_MY_LBA) != lba) return SPATE_E_TABLE;

  *gpt = (struct gpt){
      .first_usable = spate_field_get64(scratch + HEADER_FIRST_USABLE),
      .last_usable = spate_field_get64(scratch + HEADER_LAST_USABLE),
      .entries_lba = spate_field_get64(scratch + HEADER_ENTRIES_LBA),
      .entry_count = spate_field_get32(scratch + HEADER_ENTRY_COUNT),
      .entry_bytes = spate_field_get32(scratch + HEADER_ENTRY_BYTES),
      .entries_crc = spate_field_get32(scratch + HEADER_ENTRIES_CRC),
  };
  return geometry_is_possible(block, gpt) ? SPATE_OK : SPATE_E_TABLE;
}

/* One pass over the entries: finds the first one in use from `from` on, or whether an entry overlaps the chosen
 * partition. */
struct pass {
  const struct spate_partition *chosen; /* NULL: look for an entry */
  uint32_t from;
  bool found, overlapped;
  enum table_type type;
  uint32_t index;
  uint64_t first_lba, last_lba;
};

static enum table_type type_of(const uint8_t *entry) {
  if (memcmp(entry + ENTRY_TYPE, GPT_BASIC_DATA, GPT_GUID_BYTES) == 0) return TABLE_EXFAT;
  return memcmp(entry + ENTRY_TYPE, GPT_LINUX_FILE_SYSTEM, GPT_GUID_BYTES) == 0 ? TABLE_POSSIBLE : TABLE_OTHER;
}

static void check_entry(struct pass *pass, const uint8_t *entry, uint32_t index) {
  const uint64_t first_lba = spate_field_get64(entry + ENTRY_FIRST_LBA);
  const uint64_t last_lba = spate_field_get64(entry + ENTRY_LAST_LBA);

  if ((spate_field_get64(entry + ENTRY_TYPE) | spate_field_get64(entry + ENTRY_TYPE + 8)) == 0) return; /* unused */
  if (pass->chosen != NULL) {
    if (index != pass->chosen->index && ranges_overlap(first_lba, last_lba, pass->chosen->first_lba,
                                                       pass->chosen->first_lba + pass->chosen->blocks - 1u))
      pass->overlapped = true;
    return;
  }
  /* spate_partition.index has eight bits: entries after the first 256 are ignored. */
  if (pass->found || index < pass->from || index > UINT8_MAX) return;
  pass->found = true;
  pass->type = type_of(entry);
  pass->index = index;
  pass->first_lba = first_lba;
  pass->last_lba = last_lba;
}

static enum spate_error read_entries(struct spate_block *block, uint8_t *scratch, const struct gpt *gpt,
                                     struct pass *pass) {
  uint32_t array_bytes = gpt->entry_count * gpt->entry_bytes;
  uint32_t crc = 0;
  uint32_t index = 0;

  /* No entry straddles the end of the scratch memory: its size is a multiple of theirs. */
  for (uint32_t at = 0; at < array_bytes; at += SPATE_PARTITION_SCRATCH_BYTES) {
    uint32_t left_bytes = array_bytes - at;
    uint32_t bytes = left_bytes < SPATE_PARTITION_SCRATCH_BYTES ? left_bytes : SPATE_PARTITION_SCRATCH_BYTES;
    uint32_t blocks = (bytes + spate_block_bytes(block) - 1) >> block->block_shift;
    enum spate_error error = spate_block_read(block, gpt->entries_lba + (at >> block->block_shift), blocks, scratch);
    if (error != SPATE_OK) return error;
    crc = spate_crc32(crc, scratch, bytes);
    for (uint32_t offset = 0; offset < bytes; offset += gpt->entry_bytes)
      check_entry(pass, scratch + offset, index++);
  }
  return crc == gpt->entries_crc ? SPATE_OK : SPATE_E_TABLE;
}

/* The entries are read again for each partition, because looking at one takes the scratch memory. */
static enum spate_error choose(struct spate_block *block, uint8_t *scratch, const struct gpt *gpt,
                               struct table_choice *choice, bool *damaged) {
  struct pass pass = {.from = 0};

  while (choice->rank != TABLE_RANK_BEST) {
    pass.found = false;
    enum spate_error error = read_entries(block, scratch, gpt, &pass);
    if (error != SPATE_OK || !pass.found) return error;
    pass.from = pass.index + 1u;
    if (pass.first_lba < gpt->first_usable || pass.first_lba > pass.last_lba || pass.last_lba > gpt->last_usable) {
      if (pass.type == TABLE_EXFAT) *damaged = true;
      continue;
    }
    const struct spate_partition partition = {.first_lba = pass.first_lba,
                                              .blocks = pass.last_lba - pass.first_lba + 1u,
                                              .table = SPATE_TABLE_GPT,
                                              .index = (uint8_t)pass.index};
    error = spate_partition_offer(block, scratch, &partition, pass.type, choice);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

static enum spate_error find_in_copy(struct spate_block *block, uint8_t *scratch, uint64_t header_lba,
                                     struct spate_partition *partition) {
  struct gpt gpt;
  struct table_choice choice = {.rank = 0};
  bool damaged = false;

  enum spate_error error = read_header(block, scratch, header_lba, &gpt);
  if (error == SPATE_OK) error = choose(block, scratch, &gpt, &choice, &damaged);
  if (error != SPATE_OK) return error;
  if (choice.rank == 0) return damaged ? SPATE_E_TABLE : SPATE_E_NOT_FOUND;
  *partition = choice.partition;
  partition->from_backup = header_lba != GPT_PRIMARY_LBA;
  struct pass pass = {.chosen = partition};
  error = read_entries(block, scratch, &gpt, &pass);
  return error == SPATE_OK && pass.overlapped ? SPATE_E_TABLE : error;
}

enum spate_error spate_gpt_find(struct spate_block *block, void *scratch, struct spate_partition *partition) {
  if (block->blocks <= GPT_PRIMARY_LBA + 1) return SPATE_E_TABLE;

  enum spate_error error = find_in_copy(block, scratch, GPT_PRIMARY_LBA, partition);
  if (error != SPATE_E_TABLE && error != SPATE_E_MEDIA) return error;
  /* The backup replaces a primary with wrong contents, or one that cannot be read. */
  enum spate_error backup_error = find_in_copy(block, scratch, block->blocks - 1, partition);
  return backup_error;
}
