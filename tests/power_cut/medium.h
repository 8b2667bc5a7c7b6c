/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drives' contents after a cut: one image, in which blocks are changed and restored. Copying the image for each of
 * a hundred thousand states would take most of the time.
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
  /* the contents as seen by a user of all drives as one array; the memory itself if there is one drive */
  uint8_t *view;
  uint64_t view_bytes;
  uint64_t hash; /* of the contents: images.h. Since the last mark only changes by medium_write() are included */
  /* private */
  int fd;
  uint8_t *undo; /* a list of block numbers with their old contents */
  size_t undo_bytes, undo_capacity;
};

void medium_open(struct medium *medium, unsigned drives, uint64_t drive_blocks, uint32_t block_bytes);
void medium_close(struct medium *medium);
/* The view: RAID 0 in chunks over the drives' data areas (which begin at `data_bytes`), in this order. Nothing is
 * copied: the view maps the same pages. */
void medium_stripe(struct medium *medium, uint64_t data_bytes, uint32_t chunk_bytes, const uint8_t *order);
/* Copy a drive's contents. */
void medium_load(struct medium *medium, unsigned drive, const uint8_t *memory);

static inline uint8_t *medium_at(const struct medium *medium, uint64_t block) {
  return medium->memory + block * medium->block_bytes;
}

/* Set the contents of a block; `data` NULL: bytes of `fill`. */
void medium_write(struct medium *medium, uint64_t block, const uint8_t *data, uint8_t fill);

/* Save the contents of these blocks, so that the next changes can be undone. */
void medium_keep(struct medium *medium, uint64_t block, uint64_t blocks);
struct medium_mark {
  size_t undo_bytes;
  uint64_t hash;
};
struct medium_mark medium_mark(const struct medium *medium);
void medium_undo(struct medium *medium, struct medium_mark mark);

#endif
