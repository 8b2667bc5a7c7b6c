/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.filled: blocks at the end of the drive were written before. The store does not hold them, but the media has
 * to know about them: a write there replaces data, and a trim frees space. There is one flag for each MiB, set until
 * that MiB is trimmed. A trim of less than a MiB leaves the flag set.
 */
#include "drive_internal.h"
#include <stdlib.h>
#include <string.h>

#define FLAG_BYTES (UINT64_C(1) << 20)

void drive_filled_init(struct sim_drive *drive) {
  const uint64_t flags = (drive->options.bytes + FLAG_BYTES - 1u) / FLAG_BYTES;
  const uint64_t filled = (uint64_t)(drive->options.filled * (double)flags);

  drive->filled = calloc(flags, 1);
  if (drive->filled == NULL) abort();
  memset(drive->filled + (flags - filled), 1, filled);
}

/* `fresh` bytes went where the store has nothing. Returns how many of them went where the media has nothing either. */
uint64_t drive_really_fresh(const struct sim_drive *drive, uint64_t at, uint64_t bytes, uint64_t fresh) {
  return drive->filled[at / FLAG_BYTES] && drive->filled[(at + bytes - 1u) / FLAG_BYTES] ? 0 : fresh;
}

/* Empties the blocks. Returns how many bytes of them were in use. */
uint64_t drive_discard(struct sim_drive *drive, uint64_t at, uint64_t bytes) {
  uint64_t held = 0;

  for (const uint64_t end = at + bytes; at < end;) {
    const uint64_t flag = at / FLAG_BYTES;
    uint64_t here = FLAG_BYTES - at % FLAG_BYTES;
    if (here > end - at) here = end - at;
    const uint64_t in_store = sim_store_discard(drive->store, at, here);
    const bool whole = here == FLAG_BYTES;
    held += drive->filled[flag] && whole ? FLAG_BYTES : in_store;
    if (whole) drive->filled[flag] = 0;
    at += here;
  }
  return held;
}
