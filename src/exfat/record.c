/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reservation record: a hidden file of EXFAT_RECORD_SLOTS blocks in one run of clusters. A slot is one block, so
 * that it is written in one piece, and says which clusters are allocated before any entry owns them (a clip's
 * reservation, a directory being made, a file being deleted), and which entry sets are being moved. A slot of other
 * content, of another volume or with a wrong CRC is empty.
 *
 * The record outlives VolumeDirty at both ends: record, dirty, the change, clean, record cleared. So a volume that is
 * dirty because of us has a record that says so, at whatever instant it was cut, and mount can mark it clean again. A
 * volume that is dirty without a record was left so by others.
 */
#include "../core/crc32.h"
#include "internal.h"

#define RECORD_VERSION 1u

static const uint8_t record_magic[8] = {'S', 'P', 'A', 'T', 'E', 0x1a, '\r', '\n'};

static uint32_t crc_of(const struct exfat_record *record) {
  return spate_crc32(0, record, offsetof(struct exfat_record, crc));
}

/* Clusters that can be, looked up from their start. */
static bool usable(struct spate_exfat *volume, struct spate_exfat_chain *chain) {
  chain->cluster = 0;
  return exfat_chain_check(volume, chain) == SPATE_OK;
}

enum spate_error exfat_record_read(struct spate_exfat *volume, uint32_t slot, struct exfat_record *record,
                                   bool *valid) {
  struct spate_exfat_block *block;
  enum spate_error error = exfat_block_get(volume, volume->record_lba + slot, &block);

  if (error != SPATE_OK) return error;
  memcpy(record, block->data, sizeof *record);
  *valid = memcmp(record->magic, record_magic, sizeof record_magic) == 0 && record->version == RECORD_VERSION &&
           record->serial == volume->serial && record->crc == crc_of(record) && usable(volume, &record->clusters) &&
           usable(volume, &record->from.directory) && usable(volume, &record->to.directory) &&
           (record->previous_cluster == 0 || exfat_cluster_valid(volume, record->previous_cluster));
  return SPATE_OK;
}

/* The slot's block: a record, or with NULL nothing. */
static enum spate_error put_slot(struct spate_exfat *volume, uint32_t slot, const struct exfat_record *record) {
  struct spate_exfat_block *block;
  enum spate_error error = exfat_block_edit(volume, volume->record_lba + slot, &block);

  if (error != SPATE_OK) return error;
  memset(block->data, 0, exfat_block_bytes(volume));
  if (record != NULL) memcpy(block->data, record, sizeof *record);
  volume->record_slots |= UINT32_C(1) << slot; /* also when the write fails: it may have happened */
  volume->record_unresolved &= ~(UINT32_C(1) << slot);
  error = exfat_block_commit(block);
  if (error == SPATE_OK && record == NULL) volume->record_slots &= ~(UINT32_C(1) << slot);
  return error;
}

static enum spate_error write_record(struct spate_exfat *volume, uint32_t slot, struct exfat_record *record) {
  memcpy(record->magic, record_magic, sizeof record_magic);
  record->version = RECORD_VERSION;
  record->serial = volume->serial;
  record->foreign_dirty = volume->foreign_dirty;
  record->crc = crc_of(record);
  return put_slot(volume, slot, record);
}

enum spate_error exfat_record_begin(struct spate_exfat *volume, uint32_t slot, struct exfat_record *record) {
  enum spate_error error = write_record(volume, slot, record);

  return error == SPATE_OK ? exfat_boot_dirty(volume, true) : error;
}

enum spate_error exfat_record_end(struct spate_exfat *volume, uint32_t slot) {
  enum spate_error error = exfat_clean(volume, ~(UINT32_C(1) << slot));

  return error == SPATE_OK ? put_slot(volume, slot, NULL) : error;
}

enum spate_error exfat_journal_begin(struct spate_exfat *volume, struct exfat_record *record) {
  if (exfat_journal_held(volume)) return SPATE_E_CORRUPT;
  /* Without the file: while it is being made, and where there is no room for it. A cut then leaves clusters allocated
   * that nobody owns, on a volume that says it is dirty. */
  if (volume->record_lba == 0) return exfat_boot_dirty(volume, true);
  return exfat_record_begin(volume, EXFAT_RECORD_JOURNAL, record);
}

enum spate_error exfat_journal_end(struct spate_exfat *volume, enum spate_error error) {
  if (error == SPATE_OK) error = exfat_barrier(volume);
  if (error == SPATE_OK && volume->record_lba != 0) error = exfat_record_end(volume, EXFAT_RECORD_JOURNAL);
  if (error != SPATE_OK && !exfat_journal_held(volume)) volume->failed = error;
  return error;
}
