/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free the clusters of a chain that no entry owns: after a power cut, and in a deletion where two files own the same
 * clusters.
 */
#include "internal.h"

/* Clear the bits of ownerless clusters within the section, in the bitmap's blocks. */
static enum spate_error free_run(struct exfat_owners *owners, uint32_t at, uint32_t clusters) {
  struct spate_exfat *volume = owners->volume;
  uint32_t end = at + clusters;
  uint32_t section_end = owners->first + owners->clusters;

  if (at < owners->first) at = owners->first;
  if (end > section_end) end = section_end;
  while (at < end) {
    struct spate_exfat_block *block;
    uint8_t *start;
    uint32_t start_byte = at / 8u;
    bool changed = false;
    enum spate_error error = spate_exfat_chain_get(volume, &volume->bitmap, start_byte, true, &block, &start);
    if (error != SPATE_OK) return error;
    uint64_t lba = block->lba;
    do {
      uint8_t *byte = start + (at / 8u - start_byte);
      uint8_t bit = (uint8_t)(1u << (at & 7u));
      if ((*byte & bit) == 0) continue;
      if (!spate_exfat_ownerless(owners, at)) {
        owners->kept++;
        continue;
      }
      *byte &= (uint8_t)~bit;
      changed = true;
      owners->freed++;
    } while (++at < end && (at & (spate_exfat_block_bytes(volume) * 8u - 1u)) != 0);
    if (changed) error = spate_exfat_block_commit(block);
    spate_exfat_cache_forget(volume, lba, 1); /* the bitmap is cached in the section only */
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

/* The next run of a chain, counted from the heap's start; `clusters` 0: there is none. The chain ends where the FAT is
 * broken: a PC has given clusters of the deleted file to other files. */
static enum spate_error next_run(struct spate_exfat *volume, struct spate_exfat_chain *chain, uint32_t index,
                                 uint32_t *at, uint32_t *clusters) {
  uint32_t first = EXFAT_FIRST_CLUSTER;
  enum spate_error error = SPATE_OK;

  *clusters = 0;
  if (index < spate_exfat_clusters(volume, chain->bytes))
    error = spate_exfat_chain_run(volume, chain, index, &first, clusters);
  *at = first - EXFAT_FIRST_CLUSTER;
  return error == SPATE_E_CORRUPT ? SPATE_OK : error;
}

enum spate_error spate_exfat_reclaim_next(struct spate_exfat *volume, struct spate_exfat_chain *chain, uint32_t at,
                                          uint32_t *next) {
  uint32_t run = 1;

  for (uint32_t index = 0; run > 0; index += run) {
    uint32_t first;
    enum spate_error error = next_run(volume, chain, index, &first, &run);
    if (error != SPATE_OK) return error;
    if (run == 0 || first + run <= at) continue;
    if (first < at) first = at;
    if (first < *next) *next = first;
  }
  return SPATE_OK;
}

enum spate_error spate_exfat_reclaim_chain(struct exfat_owners *owners, struct spate_exfat_chain *chain) {
  struct spate_exfat *volume = owners->volume;
  uint32_t run = 1;

  for (uint32_t index = 0; run > 0; index += run) {
    uint32_t at;
    enum spate_error error = next_run(volume, chain, index, &at, &run);
    if (error != SPATE_OK) return error;
    error = free_run(owners, at, run);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}
