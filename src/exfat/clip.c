/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clip's life: arm, close, discard. In between its lengths are published: publish.c.
 *
 * Arm: write the record, set VolumeDirty, write the bitmap, and write the entry set of an empty file without
 * clusters. Each step is durable before the next one is written. After a power cut the next mount frees the run; if the
 * entry set was written, the empty file stays. If the entry came before the bitmap, a power cut could leave a file
 * whose clusters the bitmap calls free.
 *
 * Close: flush the data, write the final entry, free the tail in the bitmap, clear VolumeDirty, and clear the
 * record last: otherwise a power cut could leave the tail allocated or the volume dirty, and no record of why. TRIM
 * comes when all of this is durable, because a trimmed block may read as anything at once.
 *
 * Discard: the same, with the entry set erased. The record is cleared after that, so a power cut in between leaves a
 * reservation without an entry, which the next mount frees.
 */
#include "internal.h"

#define CLIP_ATTRIBUTES ((uint16_t)EXFAT_ARCHIVE)

bool spate_exfat_clip_open_at(const struct spate_exfat *volume, uint64_t lba, uint32_t offset_in_block) {
  for (const struct spate_exfat_clip *clip = volume->clips; clip != NULL; clip = clip->next)
    if (clip->block->lba == lba && clip->entry_offset == offset_in_block) return true;
  return false;
}

/* ---- arm ---- */

#define CLIP_SLOTS ((UINT32_C(1) << SPATE_EXFAT_CLIPS_MAX) - 1u)

static enum spate_error free_slot(const struct spate_exfat *volume, uint8_t *slot) {
  uint32_t taken = volume->record_used;

  /* If all slots are in use, one that mount could not recover is overwritten: its clusters stay allocated. One that
   * mount did not try to recover is kept for a mount that does. */
  if ((taken & CLIP_SLOTS) == CLIP_SLOTS && volume->repairs != NULL) taken &= ~volume->record_unresolved;
  *slot = 0;
  while ((taken >> *slot & 1u) != 0)
    ++*slot;
  return *slot < SPATE_EXFAT_CLIPS_MAX ? SPATE_OK : SPATE_E_FULL;
}

/* A run for `bytes`, or for 0 the longest run. */
static enum spate_error find_run(struct spate_exfat *volume, uint64_t bytes, struct spate_exfat_clip *clip) {
  uint64_t clusters = spate_exfat_clusters(volume, bytes);
  struct spate_exfat_free found;

  if (bytes > (uint64_t)volume->cluster_count << volume->cluster_shift) return SPATE_E_NO_SPACE;
  clip->clusters = (uint32_t)clusters;
  if (bytes > 0) return spate_exfat_bitmap_find(volume, clip->clusters, &clip->first_cluster);
  enum spate_error error = spate_exfat_bitmap_scan(volume, UINT32_MAX, &found);
  clip->first_cluster = found.run_first;
  clip->clusters = found.run_clusters;
  return error == SPATE_OK && found.run_clusters == 0 ? SPATE_E_NO_SPACE : error;
}

/* Record, bitmap. */
static enum spate_error reserve(struct spate_exfat *volume, const struct spate_exfat_clip *clip,
                                const struct exfat_place *place, const struct exfat_name *name,
                                const struct spate_exfat_chunks *chunks) {
  struct exfat_record record = {.clusters = {.first_cluster = clip->first_cluster,
                                             .bytes = (uint64_t)clip->clusters << volume->cluster_shift,
                                             .contiguous = true}};

  if (chunks != NULL) {
    memcpy(record.stream, chunks->stream, sizeof record.stream);
    record.first_number = chunks->first_number;
    record.chunk_bytes = chunks->chunk_bytes;
    record.to = *place;
    record.name_hash = name->hash;
  }
  enum spate_error error = spate_exfat_record_begin(volume, clip->record, &record);
  return error == SPATE_OK ? spate_exfat_bitmap_set(volume, clip->first_cluster, clip->clusters, true) : error;
}

/* Write the entry set, and keep its block in memory. */
static enum spate_error pin_entry(struct spate_exfat *volume, struct spate_exfat_clip *clip, struct exfat_place *place,
                                  const struct exfat_name *name) {
  uint8_t *set;
  enum spate_error error =
      spate_exfat_chain_get(volume, &place->directory, place->offset_bytes, true, &clip->block, &set);

  if (error != SPATE_OK) return error;
  clip->entry_offset = (uint16_t)(set - clip->block->data);
  clip->entries =
      spate_exfat_set_build(spate_exfat_clip_set(clip), name->units, name->count, name->hash, CLIP_ATTRIBUTES);
  spate_exfat_time_stamp(&volume->config, spate_exfat_clip_set(clip), true);
  spate_exfat_set_seal(spate_exfat_clip_set(clip), clip->entries);
  error = spate_exfat_block_commit(clip->block);
  if (error == SPATE_OK) {
    spate_exfat_clip_pin(clip);
    spate_exfat_search_add(volume, place, name);
    return SPATE_OK;
  }
  /* The set may be on the media, and is in the image if another clip keeps that in memory. If it cannot be erased, an
   * empty file may stay. */
  enum spate_error undone = spate_exfat_entries_erase(volume, place);
  if (undone != SPATE_OK) spate_port_log("exfat: an empty file may stay", (uint64_t)undone);
  return error;
}

/* Arming failed: free the run while the record still names it. If that fails as well, the next mount does it, and
 * nothing else is changed before. */
static enum spate_error unreserve(struct spate_exfat *volume, const struct spate_exfat_clip *clip,
                                  enum spate_error error) {
  enum spate_error undone = spate_exfat_bitmap_set(volume, clip->first_cluster, clip->clusters, false);

  if (undone == SPATE_OK) undone = spate_exfat_record_end(volume, clip->record);
  if (undone != SPATE_OK) volume->failed = undone;
  return error;
}

static enum spate_error arm(struct spate_exfat *volume, struct spate_exfat_clip *clip, const char *path_text,
                            uint64_t bytes, const struct spate_exfat_chunks *chunks) {
  struct exfat_path path;
  struct exfat_place place;
  enum spate_error error = free_slot(volume, &clip->record);

  if (error == SPATE_OK && spate_exfat_cache_room(volume) == 0) error = SPATE_E_FULL;
  if (error == SPATE_OK) error = spate_exfat_path_new(volume, path_text, &path);
  if (error != SPATE_OK) return error;
  uint32_t entries = spate_exfat_set_entries(path.name.count);
  if (entries * EXFAT_ENTRY_BYTES > spate_exfat_block_bytes(volume)) return SPATE_E_NAME_LONG;
  error = spate_exfat_slots_take(volume, &path, (uint8_t)entries, &place);
  if (error == SPATE_OK) error = find_run(volume, bytes, clip);
  if (error != SPATE_OK) return error;
  error = reserve(volume, clip, &place, &path.name, chunks);
  if (error == SPATE_OK) error = pin_entry(volume, clip, &place, &path.name);
  if (error != SPATE_OK) return unreserve(volume, clip, error);
  clip->first_lba = spate_exfat_cluster_lba(volume, clip->first_cluster);
  clip->reserved_bytes = (uint64_t)clip->clusters << volume->cluster_shift;
  clip->next = volume->clips;
  volume->clips = clip;
  return SPATE_OK;
}

enum spate_error spate_exfat_arm_chunks(struct spate_exfat *volume, struct spate_exfat_clip *clip, const char *path,
                                        uint64_t bytes, const struct spate_exfat_chunks *chunks) {
  if (chunks != NULL && (chunks->chunk_bytes == 0 || (chunks->chunk_bytes & volume->block_mask) != 0))
    return SPATE_E_INVALID;
  enum spate_error error = spate_exfat_begin_change(volume);
  if (error != SPATE_OK) return error;
  *clip = (struct spate_exfat_clip){.volume = volume};
  error = arm(volume, clip, path, bytes, chunks);
  if (error != SPATE_OK) clip->volume = NULL; /* a call with it is refused */
  return spate_exfat_end_change(volume, error);
}

enum spate_error spate_exfat_arm(struct spate_exfat *volume, struct spate_exfat_clip *clip, const char *path,
                                 uint64_t bytes) {
  return spate_exfat_arm_chunks(volume, clip, path, bytes, NULL);
}

/* ---- close ---- */

static void forget(struct spate_exfat *volume, struct spate_exfat_clip *clip) {
  struct spate_exfat_clip **link = &volume->clips;

  while (*link != clip)
    link = &(*link)->next;
  *link = clip->next;
  spate_exfat_clip_unpin(clip);
  clip->volume = NULL;
}

/* Flush the data, then write the final length. */
static enum spate_error put_final(struct spate_exfat *volume, struct spate_exfat_clip *clip, uint64_t bytes) {
  enum spate_error error = spate_exfat_flush_data(volume);

  if (error != SPATE_OK) return error;
  spate_exfat_block_settle(clip->block);
  clip->waiting = false; /* this write takes the place of a length that waited */
  clip->wanted_bytes = bytes;
  spate_exfat_clip_put_length(clip, bytes);
  error = spate_exfat_block_commit(clip->block);
  if (error == SPATE_OK) clip->published_bytes = bytes;
  spate_exfat_clip_end_publish(clip, error);
  return error;
}

/* Erase the entry set. As soon as the image is changed, another file may use the entries, so a repeated call does not
 * erase them again. */
static enum spate_error erase_entry(struct spate_exfat_clip *clip) {
  spate_exfat_block_settle(clip->block);
  spate_exfat_search_forget(clip->volume);
  for (; clip->entries > 0; clip->entries--)
    spate_exfat_clip_set(clip)[(clip->entries - 1u) * EXFAT_ENTRY_BYTES] &= (uint8_t)~EXFAT_TYPE_IN_USE;
  return spate_exfat_block_commit(clip->block);
}

/* Free the tail durably. On an error it is allocated again, so that no other clip gets it before the close is repeated.
 * If that fails as well, nothing is changed until the next mount. */
static enum spate_error free_tail(struct spate_exfat *volume, uint32_t first, uint32_t clusters) {
  if (clusters == 0) return SPATE_OK; /* what was written before is durable */
  enum spate_error error = spate_exfat_bitmap_set(volume, first, clusters, false);
  if (error == SPATE_OK) return SPATE_OK;
  enum spate_error kept = spate_exfat_bitmap_set(volume, first, clusters, true);
  if (kept != SPATE_OK) volume->failed = kept;
  return error;
}

/* Free the clusters past `bytes`, then clear the record. */
static enum spate_error release(struct spate_exfat *volume, struct spate_exfat_clip *clip, uint64_t bytes) {
  uint32_t used = (uint32_t)spate_exfat_clusters(volume, bytes);
  uint32_t tail_first = clip->first_cluster + used;
  uint32_t tail = clip->clusters - used;
  enum spate_error error = free_tail(volume, tail_first, tail);

  if (error != SPATE_OK) return error;
  clip->clusters = used; /* if this is repeated, the tail is not freed twice */
  clip->reserved_bytes = (uint64_t)used << volume->cluster_shift;
  error = spate_exfat_record_end(volume, clip->record);
  if (error != SPATE_OK) return error;
  forget(volume, clip);
  enum spate_error trim_error = spate_exfat_trim(volume, tail_first, tail);
  /* Everything is durable, and TRIM is only advice to the drive: not an error. */
  if (trim_error != SPATE_OK) spate_port_log("exfat: trim failed", (uint64_t)trim_error);
  return SPATE_OK;
}

void spate_exfat_take_back(struct spate_exfat_clip *clip, uint64_t bytes) {
  if (clip->wanted_bytes > bytes) clip->wanted_bytes = bytes;
  if (clip->published_bytes > bytes) clip->published_bytes = bytes;
}

enum spate_error spate_exfat_close(struct spate_exfat_clip *clip, uint64_t bytes) {
  struct spate_exfat *volume = clip->volume;

  if (volume == NULL || bytes > clip->reserved_bytes || bytes < clip->published_bytes) return SPATE_E_INVALID;
  if (clip->done != NULL && bytes < clip->wanted_bytes) return SPATE_E_INVALID; /* a longer length is under way */
  if (clip->entries == 0) return SPATE_E_INVALID;                               /* a discard has erased the file */
  enum spate_error error = spate_exfat_begin(volume);
  if (error != SPATE_OK) return error;
  clip->ending = true;
  error = put_final(volume, clip, bytes);
  if (error == SPATE_OK) error = release(volume, clip, bytes);
  clip->ending = false;
  spate_exfat_end(volume);
  return error;
}

enum spate_error spate_exfat_discard(struct spate_exfat_clip *clip) {
  struct spate_exfat *volume = clip->volume;

  if (volume == NULL || clip->wanted_bytes > 0) return SPATE_E_INVALID;
  enum spate_error error = spate_exfat_begin(volume);
  if (error != SPATE_OK) return error;
  clip->ending = true;
  error = erase_entry(clip);
  if (error == SPATE_OK) error = release(volume, clip, 0);
  clip->ending = false;
  spate_exfat_end(volume);
  return error;
}
