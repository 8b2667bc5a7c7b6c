/* SPDX-License-Identifier: Apache-2.0 */
/* Images of volumes that an earlier version left open. tests/library/exfat/images/README.md describes their format. */
#ifndef SPATE_TESTS_EARLIER_IMAGE_H
#define SPATE_TESTS_EARLIER_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#define EARLIER_ROW_BYTES   32u
#define EARLIER_PIECE_BYTES (64u * 1024u)
#define EARLIER_FILES_MAX   64u

struct earlier_file {
  char path[64];
  uint64_t bytes;
  char letter;           /* in its contents; 0: a directory */
  uint32_t first_number; /* of its first piece */
};

struct earlier_image {
  uint32_t block_bytes;
  uint64_t bytes;
  uint8_t *memory;         /* the volume */
  uint32_t reservations;   /* that mount must find */
  uint64_t salvaged_bytes; /* that mount must add to the clip of chunks */
  uint32_t record_number;  /* of the last write of the reservation record */
  bool dirty_before;       /* the volume was marked dirty before anything was recorded */
  struct earlier_file files[EARLIER_FILES_MAX];
  uint32_t file_count;
};

/* Reads FOLDER/NAME.txt. If the file is not an image, a message says why, and the program ends. */
void earlier_image_open(struct earlier_image *image, const char *folder, const char *name);
void earlier_image_close(struct earlier_image *image);
/* The contents of `file` at `offset_bytes`, a multiple of EARLIER_ROW_BYTES. */
void earlier_image_row(const struct earlier_file *file, uint64_t offset_bytes, uint8_t row[EARLIER_ROW_BYTES]);

#endif
