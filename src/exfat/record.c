/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reservation record: a hidden file of EXFAT_RECORD_SLOTS blocks in one run of clusters. A slot is one block, so
 * that it is written in one piece, and says which clusters are allocated before any entry owns them (a clip's
 * reservation, a directory being made, a file being deleted), and which entry sets are being moved. A slot of other
 * content, of another volume or with a wrong CRC is empty.
 */
#include "internal.h"

#define RECORD_VERSION  1u
#define CRC32_REFLECTED UINT32_C(0xedb88320)

static const uint8_t record_magic[8] = {'S', 'P', 'A', 'T', 'E', 0x1a, '\r', '\n'};

static uint32_t crc32(const uint8_t *data, uint32_t bytes) {
  uint32_t crc = UINT32_MAX;

  for (uint32_t i = 0; i < bytes * 8u; i++) {
    if ((i & 7u) == 0) crc ^= data[i / 8u];
    crc = crc >> 1 ^ ((crc & 1u) != 0 ? CRC32_REFLECTED : 0);
  }
  return ~crc;
}

static uint32_t crc_of(const struct exfat_record *record) {
  return crc32((const uint8_t *)record, offsetof(struct exfat_record, crc));
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

enum spate_error exfat_record_write(struct spate_exfat *volume, uint32_t slot, struct exfat_record *record) {
  struct spate_exfat_block *block;
  enum spate_error error = exfat_block_edit(volume, volume->record_lba + slot, &block);

  if (error != SPATE_OK) return error;
  memcpy(record->magic, record_magic, sizeof record_magic);
  record->version = RECORD_VERSION;
  record->serial = volume->serial;
  record->foreign_dirty = volume->foreign_dirty;
  record->crc = crc_of(record);
  memset(block->data, 0, exfat_block_bytes(volume));
  memcpy(block->data, record, sizeof *record);
  volume->record_slots |= UINT32_C(1) << slot; /* also when the write fails: it may have happened */
  return exfat_block_commit(block);
}

enum spate_error exfat_record_clear(struct spate_exfat *volume, uint32_t slot) {
  struct spate_exfat_block *block;
  enum spate_error error = exfat_block_edit(volume, volume->record_lba + slot, &block);

  if (error != SPATE_OK) return error;
  memset(block->data, 0, exfat_block_bytes(volume));
  error = exfat_block_commit(block);
  if (error == SPATE_OK) volume->record_slots &= ~(UINT32_C(1) << slot);
  return error;
}

enum spate_error exfat_journal_begin(struct spate_exfat *volume, struct exfat_record *record) {
  enum spate_error error = exfat_boot_dirty(volume, true);

  /* Without the file: while it is being made. A cut then costs what is being allocated, and no more. */
  if (error != SPATE_OK || volume->record_lba == 0) return error;
  return exfat_record_write(volume, EXFAT_RECORD_JOURNAL, record);
}

enum spate_error exfat_journal_end(struct spate_exfat *volume, enum spate_error error) {
  if (error == SPATE_OK) error = exfat_barrier(volume);
  if (error == SPATE_OK && volume->record_lba != 0) error = exfat_record_clear(volume, EXFAT_RECORD_JOURNAL);
  if (error != SPATE_OK) volume->failed = error;
  return error;
}
