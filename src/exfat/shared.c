/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clusters that two files own, as a PC that crashed may have left them. The next clip is written over clusters that a
 * deletion frees, so a deletion must not free clusters of another file.
 *
 * The first deletion after a mount searches for them: a walk through the tree marks the clusters of all owners, and the
 * range in which clusters have two owners is remembered. A deletion outside of that range needs nothing more. A
 * deletion inside first erases its entry set, and then frees the clusters without an owner by a second walk, as
 * recovery does after a power cut.
 *
 * A file may also own clusters that the bitmap calls free. The next clip may get them, and then they have two owners,
 * so the walk counts them as shared.
 *
 * One search is enough: later clips get clusters that no file owns, and clusters with two owners are never free.
 *
 * If the section is smaller than the bitmap, a walk sees only a part of the volume. Then each area in which something
 * is deleted is searched once. spate_exfat_prepare_deletions() searches all areas ahead.
 */
#include "internal.h"

#define AREAS_MAX 64u /* as many as volume->areas_known has bits */

/* log2 of the clusters of an area: at least those of a section, so that a section of the bitmap's size has one area. */
static uint32_t area_shift(const struct spate_exfat *volume) {
  uint64_t section_clusters = (uint64_t)volume->config.bitmap_bytes * 8u;
  uint32_t shift = 0;

  while (shift < 31u && (UINT64_C(1) << shift) < section_clusters)
    shift++;
  while ((volume->cluster_count - 1u) >> shift >= AREAS_MAX)
    shift++;
  return shift;
}

static void note_shared(struct spate_exfat *volume, const struct exfat_owners *owners) {
  if (owners->shared_end == 0) return;
  (void)spate_exfat_corrupt(volume);
  if (volume->shared_end == 0 || owners->shared_first < volume->shared_first)
    volume->shared_first = owners->shared_first;
  if (owners->shared_end > volume->shared_end) volume->shared_end = owners->shared_end;
}

static enum spate_error look(struct spate_exfat *volume, uint32_t area, uint32_t shift) {
  struct exfat_owners owners = {.volume = volume};
  uint64_t end = ((uint64_t)area + 1u) << shift;

  if (end > volume->cluster_count) end = volume->cluster_count;
  for (uint64_t at = (uint64_t)area << shift; at < end; at = (uint64_t)owners.first + owners.clusters) {
    enum spate_error error = spate_exfat_owners_mark(&owners, (uint32_t)at);
    if (error == SPATE_OK) error = spate_exfat_owners_note_free(&owners);
    if (error != SPATE_OK) return error;
  }
  note_shared(volume, &owners);
  if (!owners.clips_grew) volume->areas_known |= UINT64_C(1) << area;
  return SPATE_OK;
}

/* Search the areas of these clusters, if that was not done yet. */
static enum spate_error know_run(struct spate_exfat *volume, uint32_t at, uint32_t clusters) {
  uint32_t shift = area_shift(volume);

  for (uint32_t area = at >> shift; area <= (at + clusters - 1u) >> shift; area++) {
    enum spate_error error = (volume->areas_known >> area & 1u) != 0 ? SPATE_OK : look(volume, area, shift);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

enum spate_error spate_exfat_shared_find(struct spate_exfat *volume, struct spate_exfat_chain *chain, bool *shared) {
  uint32_t count = (uint32_t)spate_exfat_clusters(volume, chain->bytes);
  uint32_t run;

  *shared = false;
  for (uint32_t index = 0; index < count; index += run) {
    uint32_t first;
    enum spate_error error = spate_exfat_chain_run(volume, chain, index, &first, &run);
    uint32_t at = first - EXFAT_FIRST_CLUSTER;
    if (error == SPATE_OK) error = know_run(volume, at, run);
    if (error != SPATE_OK) return error;
    *shared |= at < volume->shared_end && volume->shared_first < at + run;
  }
  return SPATE_OK;
}

enum spate_error spate_exfat_shared_prepare(struct spate_exfat *volume) {
  return know_run(volume, 0, volume->cluster_count);
}

enum spate_error spate_exfat_shared_free(struct spate_exfat *volume, struct spate_exfat_chain *chain) {
  struct exfat_owners owners = {.volume = volume};
  uint32_t at = 0;
  enum spate_error error = SPATE_OK;

  volume->free_known = false; /* free space is counted again */
  while (error == SPATE_OK) {
    uint32_t next = UINT32_MAX;
    error = spate_exfat_reclaim_next(volume, chain, at, &next);
    if (error != SPATE_OK || next == UINT32_MAX) break;
    error = spate_exfat_owners_mark(&owners, next);
    if (error == SPATE_OK) error = spate_exfat_reclaim_chain(&owners, chain);
    at = owners.first + owners.clusters;
  }
  spate_exfat_cache_forget(volume, 0, UINT64_MAX); /* clusters that are free now may be trimmed, or become a clip's */
  if (owners.kept > 0) (void)spate_exfat_corrupt(volume);
  return error;
}
