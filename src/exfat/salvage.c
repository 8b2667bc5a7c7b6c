/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extend a clip that a power cut ended past its last checkpoint. Data reach the medium between checkpoints as well, and
 * each chunk has a header with which it can be recognised (spate/chunk.h).
 *
 * Only if the volume is still marked dirty, as it was at the power cut: a PC that has checked it in between may have
 * given the clusters to another file.
 */
#include "internal.h"
#include <spate/chunk.h>

/* Reads the clip's chunks into the memory of the bitmap's window; recovery loads the window again afterwards. */
struct reader {
  struct spate_exfat *volume;
  const struct exfat_record *record;
  uint64_t first_lba;
};

static uint32_t window_bytes(const struct spate_exfat *volume) {
  uint64_t bytes = (uint64_t)volume->config.block->request_blocks_max << volume->block_shift;

  if (bytes > volume->config.bitmap_bytes) bytes = volume->config.bitmap_bytes;
  if (bytes > UINT32_MAX) bytes = UINT32_MAX;
  return (uint32_t)bytes & ~volume->block_mask;
}

/* Read up to `bytes` of the clip from `offset_bytes` (whole blocks), as many as fit into the window. */
static enum spate_error read_part(const struct reader *reader, uint64_t offset_bytes, uint32_t bytes, uint32_t *got) {
  struct spate_exfat *volume = reader->volume;
  uint32_t room = window_bytes(volume);
  uint32_t blocks = ((bytes < room ? bytes : room) + volume->block_mask) >> volume->block_shift;
  uint64_t lba = reader->first_lba + (offset_bytes >> volume->block_shift);

  *got = bytes < room ? bytes : room;
  return spate_block_read(volume->config.block, lba, blocks, volume->config.bitmap);
}

/* The CRC of a chunk's data. Its first `have` bytes, with the header, are in the window. */
static enum spate_error data_crc(const struct reader *reader, uint64_t offset_bytes, uint32_t bytes, uint32_t have,
                                 uint32_t *crc) {
  const uint8_t *window = reader->volume->config.bitmap;
  uint32_t done = have < bytes ? have : bytes;

  *crc = spate_crc32c(0, window + SPATE_CHUNK_HEADER_BYTES, done - SPATE_CHUNK_HEADER_BYTES);
  while (done < bytes) {
    enum spate_error error = read_part(reader, offset_bytes + done, bytes - done, &have);
    if (error != SPATE_OK) return error;
    *crc = spate_crc32c(*crc, window, have);
    done += have;
  }
  return SPATE_OK;
}

static bool is_ours(const struct exfat_record *record, const struct spate_chunk_header *header) {
  return memcmp(header->stream, record->stream, sizeof header->stream) == 0 && header->bytes <= record->chunk_bytes;
}

/* Read the header of the chunk at `offset_bytes`. header->bytes is 0 if the chunk is not whole, or if a block cannot be
 * read: the power cut may have interrupted its write. */
static enum spate_error read_chunk(const struct reader *reader, uint64_t offset_bytes,
                                   struct spate_chunk_header *header) {
  const struct exfat_record *record = reader->record;
  uint64_t left_bytes = record->clusters.bytes - offset_bytes;
  uint32_t have = 0;
  uint32_t crc = 0;
  uint32_t chunk_bytes = record->chunk_bytes;
  enum spate_error error =
      read_part(reader, offset_bytes, left_bytes < chunk_bytes ? (uint32_t)left_bytes : chunk_bytes, &have);

  if (error == SPATE_OK && spate_chunk_header_get(reader->volume->config.bitmap, header) && is_ours(record, header) &&
      header->bytes <= left_bytes) {
    error = data_crc(reader, offset_bytes, header->bytes, have, &crc);
    if (error == SPATE_OK && crc == header->data_crc) return SPATE_OK;
  }
  header->bytes = 0;
  return error == SPATE_E_MEDIA ? SPATE_OK : error;
}

/* Are the clusters of these bytes still allocated? If not, another file may have used them. */
static enum spate_error check_allocated(const struct reader *reader, uint64_t offset_bytes, uint32_t bytes,
                                        bool *allocated) {
  struct spate_exfat *volume = reader->volume;
  uint32_t first = reader->record->clusters.first_cluster - EXFAT_FIRST_CLUSTER;
  uint32_t at = first + (uint32_t)(offset_bytes >> volume->cluster_shift);
  uint32_t end = first + (uint32_t)spate_exfat_clusters(volume, offset_bytes + bytes);

  for (*allocated = true; at < end && *allocated; at++) {
    struct spate_exfat_block *block;
    uint64_t lba;
    enum spate_error error = spate_exfat_chain_lba(volume, &volume->bitmap, at / 8u, &lba);
    if (error == SPATE_OK) error = spate_exfat_block_get(volume, lba, &block);
    if (error != SPATE_OK) return error;
    *allocated = spate_exfat_bit(block->data[at / 8u & volume->block_mask], at);
    spate_exfat_cache_forget(volume, lba, 1); /* the bitmap is cached in the window only */
  }
  return SPATE_OK;
}

/* How long the clip is. *bytes: its published length on entry. */
static enum spate_error measure(const struct reader *reader, uint64_t *bytes) {
  const struct exfat_record *record = reader->record;
  struct spate_chunk_header header = {.bytes = 0};
  uint64_t index = *bytes / record->chunk_bytes;
  uint64_t number = record->first_number;

  if (*bytes % record->chunk_bytes != 0) return SPATE_OK; /* the last piece is already in it */
  if (index > 0) {
    enum spate_error error = read_chunk(reader, 0, &header);
    if (error != SPATE_OK || header.bytes == 0) return error;
    number = header.number + index;
  }
  while (*bytes < record->clusters.bytes) {
    enum spate_error error = read_chunk(reader, *bytes, &header);
    if (error != SPATE_OK) return error;
    if (header.bytes == 0 || (index == 0 ? header.number < number : header.number != number)) return SPATE_OK;
    bool allocated = false;
    error = check_allocated(reader, *bytes, header.bytes, &allocated);
    if (error != SPATE_OK || !allocated) return error;
    *bytes += header.bytes;
    if (header.bytes < record->chunk_bytes) return SPATE_OK;
    number = header.number + 1u;
    index++;
  }
  return SPATE_OK;
}

/* Is this the clip's entry set: the name, and the first cluster (none for a length of 0)? */
static bool is_clips(const struct exfat_record *record, const struct exfat_set *set, uint64_t bytes) {
  uint32_t first = spate_field_get32(set->raw + STREAM_FIRST_CLUSTER);
  bool contiguous = (set->raw[STREAM_FLAGS] & EXFAT_NO_FAT_CHAIN) != 0;

  if (set->place.entries != record->to.entries || spate_field_get16(set->raw + STREAM_NAME_HASH) != record->name_hash)
    return false;
  if ((spate_field_get16(set->raw + FILE_ATTRIBUTES) & EXFAT_DIRECTORY) != 0) return false;
  if (bytes == 0) return first == 0;
  return first == record->clusters.first_cluster && contiguous && bytes <= record->clusters.bytes;
}

static enum spate_error extend(struct spate_exfat *volume, const struct exfat_record *record, uint64_t *gained_bytes) {
  struct reader reader = {
      .volume = volume, .record = record, .first_lba = spate_exfat_cluster_lba(volume, record->clusters.first_cluster)};
  struct exfat_set set;
  enum spate_error error = spate_exfat_set_read(volume, &record->to.directory, record->to.offset_bytes, &set);

  if (error == SPATE_E_CORRUPT) return SPATE_OK; /* it or its directory was deleted */
  if (error != SPATE_OK) return error;
  uint64_t published_bytes = spate_field_get64(set.raw + STREAM_BYTES);
  uint64_t bytes = published_bytes;
  if (!is_clips(record, &set, published_bytes)) return SPATE_OK;
  error = measure(&reader, &bytes);
  if (error != SPATE_OK || bytes == published_bytes) return error;
  *gained_bytes = bytes - published_bytes;
  /* If the drive had power all the time, the chunks may have been read from its cache, and not be on the medium. */
  error = spate_exfat_flush_data(volume);
  if (error != SPATE_OK) return error;
  spate_exfat_set_lengths(set.raw, record->clusters.first_cluster, bytes, true);
  spate_exfat_set_seal(set.raw, set.place.entries);
  return spate_exfat_entries_write(volume, &set.place, set.raw);
}

enum spate_error spate_exfat_salvage(struct spate_exfat *volume, struct spate_exfat_mounted *found) {
  if (!found->dirty) return SPATE_OK;
  volume->window_bytes = 0;
  for (uint32_t slot = 0; slot < SPATE_EXFAT_CLIPS_MAX; slot++) {
    struct exfat_record record;
    uint64_t gained_bytes = 0;
    bool valid;
    enum spate_error error = spate_exfat_record_read(volume, slot, &record, &valid);
    if (error == SPATE_OK && valid && record.chunk_bytes > 0 && record.clusters.contiguous)
      error = extend(volume, &record, &gained_bytes);
    if (error != SPATE_OK) return error;
    if (gained_bytes > 0) spate_port_log("exfat: bytes salvaged past the last checkpoint", gained_bytes);
    found->salvaged_bytes += gained_bytes;
  }
  return SPATE_OK;
}
