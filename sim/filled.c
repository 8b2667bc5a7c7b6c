/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.filled: blocks at the end of the drive hold something that was written before. The store knows nothing of
 * it, the medium must: to write there is to write over something, and to trim it frees space. One flag for each MiB
 * that was not trimmed since; a trim of less than a MiB leaves its flag.
 */
#include "drive_internal.h"
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (UINT64_C(1) << 20)

void drive_filled_init(struct sim_drive *drive) {
  const uint64_t pieces = (drive->options.bytes + PIECE_BYTES - 1u) / PIECE_BYTES;
  const uint64_t filled = (uint64_t)(drive->options.filled * (double)pieces);

  drive->filled = calloc(pieces, 1);
  if (drive->filled == NULL) abort();
  memset(drive->filled + (pieces - filled), 1, filled);
}

/* Of `fresh` bytes that went where the store had nothing, those that went where there really was nothing. */
uint64_t drive_really_fresh(const struct sim_drive *drive, uint64_t at, uint64_t bytes, uint64_t fresh) {
  return drive->filled[at / PIECE_BYTES] && drive->filled[(at + bytes - 1u) / PIECE_BYTES] ? 0 : fresh;
}

/* The blocks hold nothing any more. Returns how many bytes of them held something. */
uint64_t drive_discard(struct sim_drive *drive, uint64_t at, uint64_t bytes) {
  uint64_t held = 0;

  for (const uint64_t end = at + bytes; at < end;) {
    const uint64_t piece = at / PIECE_BYTES;
    uint64_t here = PIECE_BYTES - at % PIECE_BYTES;
    if (here > end - at) here = end - at;
    const uint64_t in_store = sim_store_discard(drive->store, at, here);
    const bool whole = here == PIECE_BYTES;
    held += drive->filled[piece] && whole ? PIECE_BYTES : in_store;
    if (whole) drive->filled[piece] = 0;
    at += here;
  }
  return held;
}
