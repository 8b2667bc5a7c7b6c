/* SPDX-License-Identifier: Apache-2.0 */
#include <spate/bytes.h>
#include <spate/chunk.h>
#include <string.h>

#define MAGIC "SPATECHK"

enum {
  AT_STREAM = 8,
  AT_NUMBER = 24,
  AT_BYTES = 32,
  AT_DATA_CRC = 36,
  AT_LOST = 40,
  AT_TIME = 48,
  AT_CRC = 60,
};

void spate_chunk_seal(void *piece, const uint8_t stream[16], uint64_t number, uint32_t bytes) {
  spate_chunk_seal_counted(piece, stream, number, bytes, 0);
}

void spate_chunk_seal_counted(void *piece, const uint8_t stream[16], uint64_t number, uint32_t bytes,
                              uint64_t lost_pieces) {
  uint8_t *header = piece;

  memset(header, 0, SPATE_CHUNK_HEADER_BYTES);
  memcpy(header, MAGIC, sizeof MAGIC - 1u);
  memcpy(header + AT_STREAM, stream, 16);
  spate_put64(header + AT_NUMBER, number);
  spate_put32(header + AT_BYTES, bytes);
  spate_put32(header + AT_DATA_CRC,
              spate_crc32c(0, header + SPATE_CHUNK_HEADER_BYTES, bytes - SPATE_CHUNK_HEADER_BYTES));
  spate_put64(header + AT_LOST, lost_pieces);
  spate_put32(header + AT_CRC, spate_crc32c(0, header, AT_CRC));
}

void spate_chunk_stamp(void *piece, uint64_t time_ns) {
  uint8_t *header = piece;

  spate_put64(header + AT_TIME, time_ns);
  spate_put32(header + AT_CRC, spate_crc32c(0, header, AT_CRC));
}

bool spate_chunk_header_get(const void *from, struct spate_chunk_header *header) {
  const uint8_t *raw = from;

  if (memcmp(raw, MAGIC, sizeof MAGIC - 1u) != 0) return false;
  if (spate_get32(raw + AT_CRC) != spate_crc32c(0, raw, AT_CRC)) return false;
  memcpy(header->stream, raw + AT_STREAM, sizeof header->stream);
  header->number = spate_get64(raw + AT_NUMBER);
  header->bytes = spate_get32(raw + AT_BYTES);
  header->data_crc = spate_get32(raw + AT_DATA_CRC);
  header->lost_pieces = spate_get64(raw + AT_LOST);
  header->time_ns = spate_get64(raw + AT_TIME);
  return header->bytes >= SPATE_CHUNK_HEADER_BYTES;
}
