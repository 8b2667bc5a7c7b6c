/* SPDX-License-Identifier: Apache-2.0 */
#include "chunk_check.h"

#include <string.h>

/* A header is searched at multiples of this: every writer of chunks aligns them so. */
#define STEP_BYTES 512u

/* ---- headers ---- */

/* The distance between two places where a header may be. It is smaller if the chunks' length is not a multiple of
 * STEP_BYTES. */
static uint32_t step_bytes(const struct chunk_check *check) {
  const uint32_t bytes = check->first.bytes;
  const uint32_t aligned = bytes & ~(bytes - 1u); /* the lowest bit that is set */

  return check->found && aligned < STEP_BYTES ? aligned : STEP_BYTES;
}

/* How many chunks of the stream's usual length lie between two places. */
static uint64_t chunks_between(uint64_t from_bytes, uint64_t to_bytes, uint32_t chunk_bytes) {
  return (to_bytes - from_bytes + chunk_bytes - 1u) / chunk_bytes;
}

static bool same_stream(const struct spate_chunk_header *a, const struct spate_chunk_header *b) {
  return memcmp(a->stream, b->stream, sizeof a->stream) == 0;
}

/* Accepts the first valid header. If it is not at the start of the file, its number and length must say that the
 * missing chunks fit in front of it. Otherwise it is a chunk inside some other file, and the file is not a recording of
 * chunks. */
static bool is_first(const struct spate_chunk_header *header, uint64_t begin_bytes) {
  return begin_bytes == 0 || (begin_bytes % header->bytes == 0 && header->number >= begin_bytes / header->bytes);
}

static void take_first(struct chunk_check *check, const struct spate_chunk_header *header, uint64_t begin_bytes) {
  check->found = true;
  check->first = *header;
  check->damaged_headers = begin_bytes / header->bytes;
  check->lost = header->number == check->damaged_headers ? header->lost_pieces : 0;
}

/* A header that is not the first: counts what is missing between the expected number and this one. */
static void take_next(struct chunk_check *check, const struct spate_chunk_header *header, uint64_t begin_bytes) {
  uint64_t due = check->next_number;

  if (check->seeking) {
    const uint64_t damaged = chunks_between(check->from_bytes, begin_bytes, check->first.bytes);
    check->damaged_headers += damaged;
    due += damaged;
  }
  if (!same_stream(header, &check->first) || header->number < due)
    check->strange++;
  else
    check->missing += header->number - due;
  if (header->lost_pieces > check->header.lost_pieces) check->lost += header->lost_pieces - check->header.lost_pieces;
}

/* False: `head` is not a valid header, or it cannot belong to this recording at this place. */
static bool take_header(struct chunk_check *check) {
  const uint64_t begin_bytes = check->at_bytes - SPATE_CHUNK_HEADER_BYTES;
  struct spate_chunk_header header;

  if (!spate_chunk_header_get(check->head, &header) || header.bytes <= SPATE_CHUNK_HEADER_BYTES) return false;
  if (!check->found && !is_first(&header, begin_bytes)) return false;
  if (check->seeking && check->found && !same_stream(&header, &check->first)) return false;
  if (check->found)
    take_next(check, &header, begin_bytes);
  else
    take_first(check, &header, begin_bytes);
  check->seeking = false;
  check->header = header;
  check->next_number = header.number + 1u;
  check->left_bytes = header.bytes - SPATE_CHUNK_HEADER_BYTES;
  check->crc = 0;
  return true;
}

/* There is no header here: moves on to the next place where one can be. */
static void seek(struct chunk_check *check) {
  const uint32_t step = step_bytes(check);

  if (!check->seeking) check->from_bytes = check->at_bytes - SPATE_CHUNK_HEADER_BYTES;
  check->seeking = true;
  check->head_bytes = step < SPATE_CHUNK_HEADER_BYTES ? SPATE_CHUNK_HEADER_BYTES - step : 0;
  check->skip_bytes = step > SPATE_CHUNK_HEADER_BYTES ? step - SPATE_CHUNK_HEADER_BYTES : 0;
  memmove(check->head, check->head + SPATE_CHUNK_HEADER_BYTES - check->head_bytes, check->head_bytes);
}

/* ---- bytes ---- */

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void feed_data(struct chunk_check *check, const uint8_t *data, uint64_t bytes) {
  check->crc = spate_crc32c(check->crc, data, (size_t)bytes);
  check->left_bytes -= bytes;
  if (check->left_bytes > 0) return;
  if (check->crc == check->header.data_crc)
    check->good++;
  else
    check->wrong++;
}

static void feed_head(struct chunk_check *check, const uint8_t *data, uint64_t bytes) {
  memcpy(check->head + check->head_bytes, data, (size_t)bytes);
  check->head_bytes += (uint32_t)bytes;
  if (check->head_bytes < SPATE_CHUNK_HEADER_BYTES) return;
  check->head_bytes = 0;
  if (!take_header(check)) seek(check);
}

void chunk_check_feed(struct chunk_check *check, const uint8_t *data, uint64_t bytes) {
  while (bytes > 0) {
    const uint64_t wanted = check->left_bytes > 0   ? check->left_bytes
                            : check->skip_bytes > 0 ? check->skip_bytes
                                                    : SPATE_CHUNK_HEADER_BYTES - check->head_bytes;
    const uint64_t now = least(wanted, bytes);
    check->at_bytes += now;
    if (check->left_bytes > 0)
      feed_data(check, data, now);
    else if (check->skip_bytes > 0)
      check->skip_bytes -= (uint32_t)now;
    else
      feed_head(check, data, now);
    data += now;
    bytes -= now;
  }
}

void chunk_check_end(struct chunk_check *check) {
  if (!check->found) return;
  check->cut = check->left_bytes > 0 || (!check->seeking && check->head_bytes > 0);
  if (check->seeking) check->damaged_headers += chunks_between(check->from_bytes, check->at_bytes, check->first.bytes);
  check->seeking = false;
}

bool chunk_check_is_whole(const struct chunk_check *check) {
  return !check->cut && check->wrong == 0 && check->damaged_headers == 0 && check->missing == 0 &&
         check->strange == 0 && check->lost == 0;
}
