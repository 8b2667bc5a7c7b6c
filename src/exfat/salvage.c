/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extend a clip that a power cut ended past its last checkpoint. Data reach the media between checkpoints as well, and
 * each chunk has a header with which it can be recognised (spate/chunk.h).
 *
 * Only if the volume is still marked dirty, as it was at the power cut: a PC that has checked it in between may have
 * given the clusters to another file. That mark proves nothing, because some systems leave it set while they change the
 * volume. So the tree must have the clip's entry set, and nobody may own the clusters that it would get.
 */
#include "internal.h"
#include <spate/chunk.h>

/* Reads the clip's chunks into the memory of the bitmap's section; recovery loads the section again afterwards. */
struct reader {
  struct spate_exfat *volume;
  const struct exfat_record *record;
  uint64_t first_lba;
};

static uint32_t section_bytes(const struct spate_exfat *volume) {
  uint64_t bytes = (uint64_t)volume->config.block->request_blocks_max << volume->block_shift;

  if (bytes > volume->config.bitmap_bytes) bytes = volume->config.bitmap_bytes;
  if (bytes > UINT32_MAX) bytes = UINT32_MAX;
  return (uint32_t)bytes & ~volume->block_mask;
}

/* Read up to `bytes` of the clip from `offset_bytes` (whole blocks), as many as fit into the section. */
static enum spate_error read_part(const struct reader *reader, uint64_t offset_bytes, uint32_t bytes, uint32_t *got) {
  struct spate_exfat *volume = reader->volume;
  uint32_t room = section_bytes(volume);
  uint32_t blocks = ((bytes < room ? bytes : room) + volume->block_mask) >> volume->block_shift;
  uint64_t lba = reader->first_lba + (offset_bytes >> volume->block_shift);

  *got = bytes < room ? bytes : room;
  return spate_block_read(volume->config.block, lba, blocks, volume->config.bitmap);
}

/* The CRC of a chunk's data. Its first `have` bytes, with the header, are in the section. */
static enum spate_error data_crc(const struct reader *reader, uint64_t offset_bytes, uint32_t bytes, uint32_t have,
                                 uint32_t *crc) {
  const uint8_t *section = reader->volume->config.bitmap;
  uint32_t done = have < bytes ? have : bytes;

  *crc = spate_crc32c(0, section + SPATE_CHUNK_HEADER_BYTES, done - SPATE_CHUNK_HEADER_BYTES);
  while (done < bytes) {
    enum spate_error error = read_part(reader, offset_bytes + done, bytes - done, &have);
    if (error != SPATE_OK) return error;
    *crc = spate_crc32c(*crc, section, have);
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

  return spate_exfat_bitmap_marked(volume, at, end, allocated);
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

/* What a clip can be extended by. */
struct gain {
  uint64_t published_bytes, bytes; /* from this length to that one; equal: by nothing */
  uint32_t first, end;             /* its clusters, counted from the heap's start */
};

/* The gain of a clip, if everything is as it was at the power cut. Nothing is proved yet: the recorded place, and the
 * clusters, may be somebody else's by now. */
static enum spate_error find_gain(struct spate_exfat *volume, const struct exfat_record *record, struct gain *gain) {
  struct reader reader = {
      .volume = volume, .record = record, .first_lba = spate_exfat_cluster_lba(volume, record->clusters.first_cluster)};
  struct exfat_set set;
  enum spate_error error = spate_exfat_set_read(volume, &record->to.directory, record->to.offset_bytes, &set);

  if (error == SPATE_E_CORRUPT) return SPATE_OK; /* it or its directory was deleted */
  if (error != SPATE_OK) return error;
  uint64_t bytes = spate_field_get64(set.raw + STREAM_BYTES);
  if (!is_clips(record, &set, bytes)) return SPATE_OK;
  uint32_t at = record->clusters.first_cluster - EXFAT_FIRST_CLUSTER;
  *gain = (struct gain){.published_bytes = bytes, .first = at + (uint32_t)spate_exfat_clusters(volume, bytes)};
  error = measure(&reader, &bytes);
  gain->bytes = bytes;
  gain->end = at + (uint32_t)spate_exfat_clusters(volume, bytes);
  return error;
}

static bool is_some(const struct gain *gain) { return gain->bytes > gain->published_bytes; }

/* Nobody may own a cluster of the gain, and no other gain may get it. */
static void claim(struct exfat_owners *owners, struct gain *gain) {
  uint32_t section_end = owners->first + owners->clusters;

  for (uint32_t at = gain->first > owners->first ? gain->first : owners->first; at < gain->end && at < section_end;
       at++) {
    if (!spate_exfat_ownerless(owners, at)) {
      gain->bytes = gain->published_bytes;
      return;
    }
    *spate_exfat_owner_byte(owners, at) |= (uint8_t)(1u << (at & 7u));
  }
}

/* The first cluster of a gain from `at` on; UINT32_MAX: none. */
static uint32_t next_gain(const struct gain *gains, uint32_t at) {
  uint32_t next = UINT32_MAX;

  for (uint32_t slot = 0; slot < SPATE_EXFAT_CLIPS_MAX; slot++) {
    const struct gain *gain = &gains[slot];
    uint32_t first = gain->first > at ? gain->first : at;
    if (is_some(gain) && first < gain->end && first < next) next = first;
  }
  return next;
}

/* Walk through the tree, once for each section that has clusters of a gain, and keep the gains without an owner. They
 * are kept only if the whole tree was read. */
static enum spate_error prove(struct exfat_owners *owners, struct gain *gains) {
  uint32_t at = next_gain(gains, 0);

  if (at == UINT32_MAX) at = 0; /* all gains are in clusters that the clips have already */
  while (at != UINT32_MAX) {
    enum spate_error error = spate_exfat_owners_mark(owners, at);
    if (error != SPATE_OK) return error;
    for (uint32_t slot = 0; slot < SPATE_EXFAT_CLIPS_MAX; slot++) {
      if (owners->incomplete) gains[slot].bytes = gains[slot].published_bytes;
      if (is_some(&gains[slot])) claim(owners, &gains[slot]);
    }
    at = next_gain(gains, owners->first + owners->clusters);
  }
  return SPATE_OK;
}

/* Write the new length, into the set that the walk has met. */
static enum spate_error extend(struct spate_exfat *volume, const struct exfat_record *record,
                               const struct exfat_met *met, const struct gain *gain, bool *extended) {
  struct spate_exfat_chain directory;
  struct exfat_set set;

  if (!met->whole) return SPATE_OK;
  spate_exfat_met_chain(met, &directory);
  enum spate_error error = spate_exfat_set_read(volume, &directory, met->offset_bytes, &set);
  if (error != SPATE_OK) return error;
  uint64_t published_bytes = spate_field_get64(set.raw + STREAM_BYTES);
  if (published_bytes != gain->published_bytes || !is_clips(record, &set, published_bytes)) return SPATE_OK;
  /* If the drive had power all the time, the chunks may have been read from its cache, and not be on the media. */
  error = spate_exfat_flush_data(volume);
  if (error != SPATE_OK) return error;
  spate_exfat_set_lengths(set.raw, record->clusters.first_cluster, gain->bytes, true);
  spate_exfat_set_seal(set.raw, set.place.entries);
  *extended = true;
  return spate_exfat_entries_write(volume, &set.place, set.raw);
}

static enum spate_error read_clip(struct spate_exfat *volume, uint32_t slot, struct exfat_record *record, bool *valid) {
  enum spate_error error = spate_exfat_record_read(volume, slot, record, valid);

  *valid = error == SPATE_OK && *valid && record->chunk_bytes > 0 && record->clusters.contiguous;
  return error;
}

static enum spate_error find_gains(struct spate_exfat *volume, struct gain *gains, bool *any) {
  for (uint32_t slot = 0; slot < SPATE_EXFAT_CLIPS_MAX; slot++) {
    struct exfat_record record;
    bool valid;
    enum spate_error error = read_clip(volume, slot, &record, &valid);
    if (error == SPATE_OK && valid) error = find_gain(volume, &record, &gains[slot]);
    if (error != SPATE_OK) return error;
    *any |= is_some(&gains[slot]);
  }
  return SPATE_OK;
}

static enum spate_error extend_all(struct spate_exfat *volume, const struct exfat_recorded *recorded,
                                   const struct gain *gains, struct spate_exfat_mounted *found) {
  for (uint32_t slot = 0; slot < SPATE_EXFAT_CLIPS_MAX; slot++) {
    struct exfat_record record;
    const struct gain *gain = &gains[slot];
    bool valid;
    bool extended = false;
    if (!is_some(gain)) continue;
    enum spate_error error = read_clip(volume, slot, &record, &valid);
    if (error == SPATE_OK && valid) error = extend(volume, &record, &recorded->places[slot], gain, &extended);
    if (error != SPATE_OK) return error;
    if (!extended) continue;
    spate_port_log("exfat: bytes salvaged past the last checkpoint", gain->bytes - gain->published_bytes);
    found->salvaged_bytes += gain->bytes - gain->published_bytes;
  }
  return SPATE_OK;
}

enum spate_error spate_exfat_salvage(struct spate_exfat *volume, struct spate_exfat_mounted *found) {
  struct gain gains[SPATE_EXFAT_CLIPS_MAX] = {{.bytes = 0}};
  struct exfat_recorded recorded;
  struct exfat_owners owners = {.volume = volume, .recorded = &recorded};
  bool any = false;

  if (!found->dirty) return SPATE_OK;
  volume->loaded_bytes = 0;
  enum spate_error error = find_gains(volume, gains, &any);
  if (error != SPATE_OK || !any) return error;
  error = spate_exfat_recorded_read(volume, &recorded);
  if (error == SPATE_OK) error = prove(&owners, gains);
  return error == SPATE_OK ? extend_all(volume, &recorded, gains, found) : error;
}
