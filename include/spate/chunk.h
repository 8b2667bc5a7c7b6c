/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks that prove themselves: a recording that loses nothing between its last checkpoint and a power cut but what the
 * drive had not yet written.
 *
 * The first 64 bytes of each piece of a stream are a header with the stream's identity, the piece's number and a CRC of
 * all that follows. The source writes it (logic that fills the ring can compute the CRC as data pass, and write the
 * header last); spate_chunk_seal() is for sources that are software. The library itself never touches the data. The
 * headers stay in the file, every chunk_bytes.
 *
 * After a cut, spate_exfat_salvage() reads on from the last published length and extends the file up to the first chunk
 * that does not prove itself. A header without a CRC of the data would prove its own block only: a drive may have
 * written that block and lost the next.
 *
 *    0  8  "SPATECHK"
 *    8 16  identity of the stream
 *   24  8  number of the piece
 *   32  4  bytes of the piece, header included
 *   36  4  CRC-32C of the bytes behind the header
 *   40  8  pieces that the source has made and lost so far, of all that it made before this one; 0: none, or it does
 *          not count. Numbers go on without a gap over what was lost
 *   48  8  time of the piece's first byte: nanoseconds since 1970 on the source's clock; 0: it has none
 *   56  4  zeros
 *   60  4  CRC-32C of the 60 bytes before
 */
#ifndef SPATE_CHUNK_H
#define SPATE_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPATE_CHUNK_HEADER_BYTES 64u

struct spate_chunk_header {
  uint8_t stream[16];
  uint64_t number;
  uint32_t bytes;
  uint32_t data_crc;
  uint64_t lost_pieces;
  uint64_t time_ns;
};

/* Write the header of a piece of `bytes` (≥ SPATE_CHUNK_HEADER_BYTES) whose data lie behind it. */
void spate_chunk_seal(void *piece, const uint8_t stream[16], uint64_t number, uint32_t bytes);
/* The same for a source that has lost pieces before this one, and counts them. */
void spate_chunk_seal_counted(void *piece, const uint8_t stream[16], uint64_t number, uint32_t bytes,
                              uint64_t lost_pieces);

/* Give a sealed piece its time. Recorders whose clocks agree (PTP: TAI) make clips that can be joined by it. */
void spate_chunk_stamp(void *piece, uint64_t time_ns);

/* Decode and check a header by itself. False: this is none. */
bool spate_chunk_header_get(const void *from, struct spate_chunk_header *header);

/* CRC-32C (Castagnoli) of `bytes`, continuing from `crc` (0 to begin with). Uses the processor's instruction if there
 * is one. */
uint32_t spate_crc32c(uint32_t crc, const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
