/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks that prove themselves: with them, a power cut costs only data that the drive had not written yet, and not
 * everything after the last checkpoint.
 *
 * The first 64 bytes of each piece of a stream are a header with the stream's identity, the piece's number and a CRC of
 * the data after the header. The source writes the header. Logic that fills the ring can compute the CRC while data
 * pass, and write the header last. Software sources use spate_chunk_seal(). The recorder does not access the data. The
 * headers stay in the file, one every chunk_bytes.
 *
 * After a power cut spate_exfat_salvage() continues to read at the last published length, and extends the file up to
 * the first chunk that does not prove itself. A header without a CRC of the data would prove only its own block: a
 * drive may have written that block and lost the next.
 *
 *    0  8  "SPATECHK"
 *    8 16  identity of the stream
 *   24  8  number of the piece
 *   32  4  bytes of the piece, header included
 *   36  4  CRC-32C of the bytes after the header
 *   40  8  pieces that the source made before this one and lost; 0: none, or the source does not count. Lost pieces
 *          have no number: the numbers have no gap there
 *   48  8  time of the piece's first byte: nanoseconds since 1970 on the source's clock; 0: the source has no clock
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

/* A decoded header. */
struct spate_chunk_header {
  uint8_t stream[16];
  uint64_t number;
  uint32_t bytes;
  uint32_t data_crc;
  uint64_t lost_pieces;
  uint64_t time_ns;
};

/* Write the header of a piece of `bytes` (≥ SPATE_CHUNK_HEADER_BYTES). The data after the header are complete. */
void spate_chunk_seal(void *piece, const uint8_t stream[16], uint64_t number, uint32_t bytes);
/* The same for a source that has lost pieces before this one, and counts them. */
void spate_chunk_seal_counted(void *piece, const uint8_t stream[16], uint64_t number, uint32_t bytes,
                              uint64_t lost_pieces);

/* Set the time of a sealed piece. Clips of recorders with synchronised clocks (PTP: TAI) can be joined by this time. */
void spate_chunk_stamp(void *piece, uint64_t time_ns);

/* Decode a header and check its CRC. False: this is not a header. */
bool spate_chunk_header_get(const void *from, struct spate_chunk_header *header);

/* CRC-32C (Castagnoli) of `bytes`, continuing from `crc` (0 to begin with). Uses the processor's instruction if there
 * is one. */
uint32_t spate_crc32c(uint32_t crc, const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
