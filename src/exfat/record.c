/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reservation record: a hidden file of EXFAT_RECORD_SLOTS blocks in one run of clusters. A slot is one block, so
 * that it is written in one piece, and says which clusters are allocated before any entry owns them (a clip's
 * reservation, a directory being made, a file being deleted), and which entry sets are being moved. A slot of other
 * content, of another volume or with a wrong CRC is empty.
 */
#include "internal.h"

#define RECORD_VERSION  1u
#define RECORD_MAGIC    "SPATE\x1a\r\n"
#define CRC32_REFLECTED UINT32_C(0xedb88320)

enum { FLAG_CONTIGUOUS = 1, FLAG_FOREIGN_DIRTY = 2 };

/* The layout of a slot. 64 … 95 are for telling a clip's chunks from what the clusters held before: its UUID, the bytes
 * of a chunk; zeros so far. */
enum {
  AT_MAGIC = 0,
  AT_VERSION = 8,
  AT_SERIAL = 12,
  AT_FLAGS = 16,
  AT_PREVIOUS = 20,
  AT_FIRST_CLUSTER = 24,
  AT_BYTES = 32,
  AT_FROM_CHECKSUM = 40,
  AT_TO_CHECKSUM = 42,
  AT_UUID = 64,
  AT_CHUNK_BYTES = 80,
  AT_FROM = 96,
  AT_TO = 120,
  AT_CRC = 156,
};

enum {
  PLACE_FIRST_CLUSTER = 0,
  PLACE_OFFSET = 4,
  PLACE_BYTES = 8,
  PLACE_CONTIGUOUS = 16,
  PLACE_ENTRIES = 17,
};

static uint32_t crc32(const uint8_t *data, uint32_t bytes) {
  uint32_t crc = UINT32_MAX;

  for (uint32_t i = 0; i < bytes * 8u; i++) {
    if ((i & 7u) == 0) crc ^= data[i / 8u];
    crc = crc >> 1 ^ ((crc & 1u) != 0 ? CRC32_REFLECTED : 0);
  }
  return ~crc;
}

static void put_place(uint8_t *to, const struct exfat_place *place) {
  exfat_put32(to + PLACE_FIRST_CLUSTER, place->directory.first_cluster);
  exfat_put32(to + PLACE_OFFSET, place->offset_bytes);
  exfat_put64(to + PLACE_BYTES, place->directory.bytes);
  to[PLACE_CONTIGUOUS] = place->directory.contiguous;
  to[PLACE_ENTRIES] = place->entries;
}

static void get_place(const uint8_t *from, struct exfat_place *place) {
  *place = (struct exfat_place){
      .directory = {.first_cluster = exfat_get32(from + PLACE_FIRST_CLUSTER),
                    .bytes = exfat_get64(from + PLACE_BYTES),
                    .contiguous = from[PLACE_CONTIGUOUS] != 0},
      .offset_bytes = exfat_get32(from + PLACE_OFFSET),
      .entries = from[PLACE_ENTRIES],
  };
}

static void encode(const struct spate_exfat *volume, const struct exfat_record *record, uint8_t *raw) {
  memset(raw, 0, exfat_block_bytes(volume));
  memcpy(raw + AT_MAGIC, RECORD_MAGIC, sizeof RECORD_MAGIC - 1u);
  exfat_put32(raw + AT_VERSION, RECORD_VERSION);
  exfat_put32(raw + AT_SERIAL, volume->serial);
  exfat_put32(raw + AT_FLAGS,
              (record->clusters.contiguous ? FLAG_CONTIGUOUS : 0u) | (volume->foreign_dirty ? FLAG_FOREIGN_DIRTY : 0u));
  exfat_put32(raw + AT_PREVIOUS, record->previous_cluster);
  exfat_put32(raw + AT_FIRST_CLUSTER, record->clusters.first_cluster);
  exfat_put64(raw + AT_BYTES, record->clusters.bytes);
  exfat_put16(raw + AT_FROM_CHECKSUM, record->from_checksum);
  exfat_put16(raw + AT_TO_CHECKSUM, record->to_checksum);
  put_place(raw + AT_FROM, &record->from);
  put_place(raw + AT_TO, &record->to);
  exfat_put32(raw + AT_CRC, crc32(raw, AT_CRC));
}

static bool decode(struct spate_exfat *volume, const uint8_t *raw, struct exfat_record *record) {
  if (memcmp(raw + AT_MAGIC, RECORD_MAGIC, sizeof RECORD_MAGIC - 1u) != 0) return false;
  if (exfat_get32(raw + AT_VERSION) != RECORD_VERSION || exfat_get32(raw + AT_SERIAL) != volume->serial) return false;
  if (exfat_get32(raw + AT_CRC) != crc32(raw, AT_CRC)) return false;
  uint32_t flags = exfat_get32(raw + AT_FLAGS);
  *record = (struct exfat_record){
      .clusters = {.first_cluster = exfat_get32(raw + AT_FIRST_CLUSTER),
                   .bytes = exfat_get64(raw + AT_BYTES),
                   .contiguous = (flags & FLAG_CONTIGUOUS) != 0},
      .previous_cluster = exfat_get32(raw + AT_PREVIOUS),
      .foreign_dirty = (flags & FLAG_FOREIGN_DIRTY) != 0,
      .from_checksum = exfat_get16(raw + AT_FROM_CHECKSUM),
      .to_checksum = exfat_get16(raw + AT_TO_CHECKSUM),
  };
  get_place(raw + AT_FROM, &record->from);
  get_place(raw + AT_TO, &record->to);
  return exfat_chain_check(volume, &record->clusters) == SPATE_OK &&
         exfat_chain_check(volume, &record->from.directory) == SPATE_OK &&
         exfat_chain_check(volume, &record->to.directory) == SPATE_OK &&
         (record->previous_cluster == 0 || exfat_cluster_valid(volume, record->previous_cluster));
}

enum spate_error exfat_record_read(struct spate_exfat *volume, uint32_t slot, struct exfat_record *record,
                                   bool *valid) {
  struct spate_exfat_block *block;
  enum spate_error error = exfat_block_get(volume, volume->record_lba + slot, &block);

  *valid = error == SPATE_OK && decode(volume, block->data, record);
  return error;
}

enum spate_error exfat_record_write(struct spate_exfat *volume, uint32_t slot, const struct exfat_record *record) {
  struct spate_exfat_block *block;
  enum spate_error error = exfat_block_edit(volume, volume->record_lba + slot, &block);

  if (error != SPATE_OK) return error;
  encode(volume, record, block->data);
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

enum spate_error exfat_journal_begin(struct spate_exfat *volume, const struct exfat_record *record) {
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
