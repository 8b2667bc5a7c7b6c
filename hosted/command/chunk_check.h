/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a recording of chunks (spate/chunk.h) prove itself? It is fed from its first byte to its last, in parts of any
 * size. Where a header is damaged, the next whole one of the same stream is looked for, so that one bad block costs one
 * chunk.
 */
#ifndef SPATE_HOSTED_CHUNK_CHECK_H
#define SPATE_HOSTED_CHUNK_CHECK_H

#include <spate/chunk.h>

struct chunk_check {
  bool found;               /* a whole header: it is made of chunks */
  bool cut;                 /* after chunk_check_end(): the last chunk is not all there */
  uint64_t good, wrong;     /* chunks with a whole header, by their data's CRC */
  uint64_t damaged_headers; /* chunks that should have been there, and had no whole header */
  uint64_t missing;         /* numbers that are left out, beyond those of damaged headers */
  uint64_t strange;         /* chunks of another stream, or with a number that was there before */
  uint64_t lost;            /* pieces that the source lost before they were recorded, by its own count */

  /* private */
  uint64_t at_bytes;   /* fed so far */
  uint64_t from_bytes; /* where the present chunk, or the gap in front of the next one, begins */
  uint8_t head[SPATE_CHUNK_HEADER_BYTES];
  uint32_t head_bytes, skip_bytes; /* gathered of a header; to be left out in front of it */
  bool seeking;                    /* the header that should be at from_bytes is damaged */
  struct spate_chunk_header header, first;
  uint64_t left_bytes; /* of the present chunk's data */
  uint64_t next_number;
  uint32_t crc;
};

void chunk_check_feed(struct chunk_check *check, const uint8_t *data, uint64_t bytes);
void chunk_check_end(struct chunk_check *check);
/* Nothing is lost, damaged or wrong. True, too, of what is not made of chunks. */
bool chunk_check_is_whole(const struct chunk_check *check);

#endif
