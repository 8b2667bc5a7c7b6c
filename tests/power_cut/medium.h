/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drives' contents as a cut may have left them: one image, changed block by block and taken back again, because
 * copying it for each of a hundred thousand states would be most of the work.
 */
#ifndef SPATE_TESTS_MEDIUM_H
#define SPATE_TESTS_MEDIUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct medium {
  uint32_t block_bytes;
  unsigned drives;
  uint64_t drive_blocks;
  uint8_t *memory; /* drive after drive */
  uint8_t *view;   /* as whoever uses all drives as one sees them; for one drive the memory itself */
  uint64_t view_bytes;
  uint64_t
      hash; /* of the contents: images.h. Not of what others than medium_write() have written since the last mark */
  /* private */
  int fd;
  uint8_t *undo; /* the number of a block and what it held, again and again */
  size_t undo_bytes, undo_capacity;
};

void medium_open(struct medium *medium, unsigned drives, uint64_t drive_blocks, uint32_t block_bytes);
void medium_close(struct medium *medium);
/* The view: RAID 0 in chunks over the drives' data areas (which begin at `data_bytes`), in this order. Nothing is
 * copied: it is the same pages. */
void medium_stripe(struct medium *medium, uint64_t data_bytes, uint32_t chunk_bytes, const uint8_t *order);
/* Take a drive's contents over. */
void medium_load(struct medium *medium, unsigned drive, const uint8_t *memory);

static inline uint8_t *medium_at(const struct medium *medium, uint64_t block) {
  return medium->memory + block * medium->block_bytes;
}

/* What a block holds from now on; `data` NULL: bytes of `fill`. */
void medium_write(struct medium *medium, uint64_t block, const uint8_t *data, uint8_t fill);

/* Remember what these blocks hold, in order to undo what is about to be done to them. */
void medium_keep(struct medium *medium, uint64_t block, uint64_t blocks);
struct medium_mark {
  size_t undo_bytes;
  uint64_t hash;
};
struct medium_mark medium_mark(const struct medium *medium);
void medium_undo(struct medium *medium, struct medium_mark mark);

#endif
