/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reservation record: a hidden file of EXFAT_RECORD_SLOTS blocks in one run of clusters. A slot is one block, which
 * is written atomically. It names clusters that are allocated and have no entry (a clip's reservation, a directory that
 * is being made, a file that is being deleted), and entry sets that are being moved. A slot with other content, of
 * another volume or with a wrong CRC counts as empty.
 *
 * Each write of a slot has a number, also the write that clears it. Copying files may leave several files that can be
 * the record, with old contents: the one with the highest number is the record. A slot may keep its number for years,
 * so numbers must not begin again: they stay at 2^32 − 1, which four writes a second reach after 34 years. From then on
 * a new copy of the file has the number of the record, and the first of both in the directory is the record.
 *
 * The order is: write the record, set VolumeDirty, change, clear VolumeDirty, clear the record. So a volume that this
 * library left dirty has a record, whenever the power was cut, and mount can mark it clean. A volume that is dirty
 * without a record was left so by another system.
 */
#include "../core/crc32.h"
#include "internal.h"

#define VERSION 1u

static const uint8_t record_magic[8] = {'S', 'P', 'A', 'T', 'E', 0x1a, '\r', '\n'};

static uint32_t crc_of(const uint8_t *raw) { return spate_crc32(0, raw, RECORD_CRC); }

/* ---- a slot's bytes ---- */

static void put_chain(uint8_t *raw, const struct spate_exfat_chain *chain) {
  spate_field_put32(raw + RECORD_CHAIN_FIRST_CLUSTER, chain->first_cluster);
  spate_field_put64(raw + RECORD_CHAIN_BYTES, chain->bytes);
  raw[RECORD_CHAIN_CONTIGUOUS] = chain->contiguous;
}

static void get_chain(const uint8_t *raw, struct spate_exfat_chain *chain) {
  *chain = (struct spate_exfat_chain){.first_cluster = spate_field_get32(raw + RECORD_CHAIN_FIRST_CLUSTER),
                                      .bytes = spate_field_get64(raw + RECORD_CHAIN_BYTES),
                                      .contiguous = raw[RECORD_CHAIN_CONTIGUOUS]};
}

static void put_place(uint8_t *raw, const struct exfat_place *place) {
  put_chain(raw, &place->directory);
  spate_field_put32(raw + RECORD_PLACE_OFFSET, place->offset_bytes);
  raw[RECORD_PLACE_ENTRIES] = place->entries;
}

static void get_place(const uint8_t *raw, struct exfat_place *place) {
  get_chain(raw, &place->directory);
  place->offset_bytes = spate_field_get32(raw + RECORD_PLACE_OFFSET);
  place->entries = raw[RECORD_PLACE_ENTRIES];
}

static void encode(const struct exfat_record *record, uint32_t serial, uint8_t *raw) {
  memset(raw, 0, RECORD_BYTES);
  memcpy(raw + RECORD_MAGIC, record_magic, sizeof record_magic);
  spate_field_put32(raw + RECORD_VERSION, VERSION);
  spate_field_put32(raw + RECORD_SERIAL, serial);
  spate_field_put32(raw + RECORD_PREVIOUS_CLUSTER, record->previous_cluster);
  spate_field_put16(raw + RECORD_FROM_CHECKSUM, record->from_checksum);
  spate_field_put16(raw + RECORD_TO_CHECKSUM, record->to_checksum);
  raw[RECORD_FOREIGN_DIRTY] = record->foreign_dirty;
  raw[RECORD_CLEARED] = record->cleared;
  spate_field_put16(raw + RECORD_NAME_HASH, record->name_hash);
  spate_field_put32(raw + RECORD_NUMBER, record->number);
  put_chain(raw + RECORD_CLUSTERS, &record->clusters);
  put_place(raw + RECORD_FROM, &record->from);
  put_place(raw + RECORD_TO, &record->to);
  memcpy(raw + RECORD_STREAM, record->stream, sizeof record->stream);
  spate_field_put64(raw + RECORD_FIRST_NUMBER, record->first_number);
  spate_field_put32(raw + RECORD_CHUNK_BYTES, record->chunk_bytes);
  spate_field_put32(raw + RECORD_CRC, crc_of(raw));
}

static void decode(const uint8_t *raw, struct exfat_record *record) {
  record->number = spate_field_get32(raw + RECORD_NUMBER);
  record->cleared = raw[RECORD_CLEARED] != 0;
  record->foreign_dirty = raw[RECORD_FOREIGN_DIRTY] != 0;
  record->previous_cluster = spate_field_get32(raw + RECORD_PREVIOUS_CLUSTER);
  get_chain(raw + RECORD_CLUSTERS, &record->clusters);
  get_place(raw + RECORD_FROM, &record->from);
  get_place(raw + RECORD_TO, &record->to);
  record->from_checksum = spate_field_get16(raw + RECORD_FROM_CHECKSUM);
  record->to_checksum = spate_field_get16(raw + RECORD_TO_CHECKSUM);
  memcpy(record->stream, raw + RECORD_STREAM, sizeof record->stream);
  record->first_number = spate_field_get64(raw + RECORD_FIRST_NUMBER);
  record->chunk_bytes = spate_field_get32(raw + RECORD_CHUNK_BYTES);
  record->name_hash = spate_field_get16(raw + RECORD_NAME_HASH);
}

static bool is_record(const struct spate_exfat *volume, const uint8_t *raw) {
  return memcmp(raw + RECORD_MAGIC, record_magic, sizeof record_magic) == 0 &&
         spate_field_get32(raw + RECORD_VERSION) == VERSION &&
         spate_field_get32(raw + RECORD_SERIAL) == volume->serial && spate_field_get32(raw + RECORD_CRC) == crc_of(raw);
}

/* ---- slots ---- */

/* Read a block of the record. `ours`: it was written as such, on this volume; else *record is not set. */
static enum spate_error read_slot(struct spate_exfat *volume, uint64_t lba, struct exfat_record *record, bool *ours) {
  struct spate_exfat_block *block;
  enum spate_error error = spate_exfat_block_get(volume, lba, &block);

  *ours = error == SPATE_OK && is_record(volume, block->data);
  if (*ours) decode(block->data, record);
  return error;
}

static bool usable(struct spate_exfat *volume, const struct spate_exfat_chain *chain) {
  return spate_exfat_chain_check(volume, chain) == SPATE_OK;
}

enum spate_error spate_exfat_record_read(struct spate_exfat *volume, uint32_t slot, struct exfat_record *record,
                                         bool *valid) {
  enum spate_error error = read_slot(volume, volume->record_lba + slot, record, valid);

  if (error != SPATE_OK) return error;
  *valid = *valid && !record->cleared && (slot != EXFAT_RECORD_JOURNAL || record->chunk_bytes == 0) &&
           usable(volume, &record->clusters) && usable(volume, &record->from.directory) &&
           usable(volume, &record->to.directory) &&
           (record->previous_cluster == 0 || spate_exfat_cluster_valid(volume, record->previous_cluster));
  return SPATE_OK;
}

enum spate_error spate_exfat_record_newest(struct spate_exfat *volume, uint64_t lba, uint32_t *number) {
  enum spate_error unread = SPATE_OK;

  *number = 0;
  for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
    struct exfat_record record;
    bool ours;
    enum spate_error error = read_slot(volume, lba + slot, &record, &ours);
    if (error == SPATE_E_MEDIA)
      unread = error;
    else if (error != SPATE_OK)
      return error;
    if (ours && record.number > *number) *number = record.number;
  }
  return unread;
}

/* The slot's block, to be written. A block that cannot be read is written all the same: a drive then gives it a sound
 * place on its media. */
static enum spate_error edit_slot(struct spate_exfat *volume, uint32_t slot, struct spate_exfat_block **block) {
  uint64_t lba = volume->record_lba + slot;
  enum spate_error error = spate_exfat_block_edit(volume, lba, block);

  if (error != SPATE_E_MEDIA) return error;
  *block = spate_exfat_block_scratch(volume);
  memset((*block)->data, 0, spate_exfat_block_bytes(volume));
  (*block)->lba = lba;
  return SPATE_OK;
}

/* Write a slot. */
static enum spate_error put_slot(struct spate_exfat *volume, uint32_t slot, struct exfat_record *record) {
  struct spate_exfat_block *block;
  enum spate_error error = edit_slot(volume, slot, &block);

  if (error != SPATE_OK) return error;
  if (volume->record_number < UINT32_MAX) volume->record_number++;
  record->number = volume->record_number;
  encode(record, volume->serial, block->data);
  volume->record_used |= UINT32_C(1) << slot; /* also when the write fails: it may have reached the media */
  volume->record_unresolved &= ~(UINT32_C(1) << slot);
  error = spate_exfat_block_commit(block);
  if (error == SPATE_OK && record->cleared) volume->record_used &= ~(UINT32_C(1) << slot);
  return error;
}

enum spate_error spate_exfat_record_begin(struct spate_exfat *volume, uint32_t slot, struct exfat_record *record) {
  record->foreign_dirty = volume->foreign_dirty;
  enum spate_error error = put_slot(volume, slot, record);

  return error == SPATE_OK ? spate_exfat_boot_dirty(volume, true) : error;
}

enum spate_error spate_exfat_clean(struct spate_exfat *volume, uint32_t slots) {
  /* A slot in use means an open clip, or something to recover: the volume stays dirty. */
  if (!volume->dirty || (volume->record_used & slots) != 0 || volume->failed != SPATE_OK || volume->corrupt)
    return SPATE_OK;
  return spate_exfat_boot_dirty(volume, false);
}

enum spate_error spate_exfat_record_end(struct spate_exfat *volume, uint32_t slot) {
  struct exfat_record cleared = {.cleared = true};
  enum spate_error error = spate_exfat_clean(volume, ~(UINT32_C(1) << slot));

  return error == SPATE_OK ? put_slot(volume, slot, &cleared) : error;
}

enum spate_error spate_exfat_record_forget_chunks(struct spate_exfat *volume) {
  for (uint32_t slot = 0; slot < SPATE_EXFAT_CLIPS_MAX; slot++) {
    struct exfat_record record;
    bool valid;
    if ((volume->record_used >> slot & 1u) == 0) continue;
    enum spate_error error = spate_exfat_record_read(volume, slot, &record, &valid);
    if (error == SPATE_OK && valid && record.chunk_bytes > 0) {
      record.chunk_bytes = 0;
      error = put_slot(volume, slot, &record);
    }
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

enum spate_error spate_exfat_journal_begin(struct spate_exfat *volume, struct exfat_record *record) {
  if (spate_exfat_journal_held(volume)) return SPATE_E_CORRUPT;
  /* There is no file while it is being made, and where there is no room for it. A power cut may then leave clusters
   * without an owner, on a volume that is marked dirty. */
  if (volume->record_lba == 0) return spate_exfat_boot_dirty(volume, true);
  return spate_exfat_record_begin(volume, EXFAT_RECORD_JOURNAL, record);
}

enum spate_error spate_exfat_journal_end(struct spate_exfat *volume, enum spate_error error) {
  if (error == SPATE_OK && volume->record_lba != 0) error = spate_exfat_record_end(volume, EXFAT_RECORD_JOURNAL);
  if (error != SPATE_OK && !spate_exfat_journal_held(volume)) volume->failed = error;
  return error;
}
