/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a recording of chunks (spate/chunk.h) by their headers and CRCs. The caller feeds it from the first byte to
 * the last, in parts of any size. After a damaged header it searches the next valid one of the same stream, so one bad
 * block costs one chunk.
 */
#ifndef SPATE_COMMAND_CHUNK_CHECK_H
#define SPATE_COMMAND_CHUNK_CHECK_H

#include <spate/chunk.h>

struct chunk_check {
  bool found;               /* a valid header was found: the recording is made of chunks */
  bool cut;                 /* after chunk_check_end(): the last chunk is incomplete */
  uint64_t good, wrong;     /* chunks with a valid header: the CRC of their data is right, or wrong */
  uint64_t damaged_headers; /* chunks that should be there, without a valid header */
  uint64_t missing;         /* numbers that are left out, not counting damaged headers */
  uint64_t strange;         /* chunks of another stream, or with a number that came before */
  uint64_t lost;            /* pieces that the source lost before they were recorded, by its own count */

  /* private */
  uint64_t at_bytes;   /* fed so far */
  uint64_t from_bytes; /* where the current chunk begins, or the gap in front of the next one */
  uint8_t head[SPATE_CHUNK_HEADER_BYTES];
  uint32_t head_bytes, skip_bytes; /* bytes of a header collected so far; bytes to skip in front of it */
  bool seeking;                    /* the header that should be at from_bytes is damaged */
  struct spate_chunk_header header, first;
  uint64_t left_bytes; /* of the current chunk's data */
  uint64_t next_number;
  uint32_t crc;
};

void chunk_check_feed(struct chunk_check *check, const uint8_t *data, uint64_t bytes);
void chunk_check_end(struct chunk_check *check);
/* Nothing is lost, damaged or wrong. Also true of a file that is not made of chunks. */
bool chunk_check_is_whole(const struct chunk_check *check);

#endif
