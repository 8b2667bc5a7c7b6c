/* SPDX-License-Identifier: Apache-2.0 */
#include <spate/bytes.h>
#include <spate/chunk.h>
#include <string.h>
#ifdef __ARM_FEATURE_CRC32
#include <arm_acle.h>
#endif

#define MAGIC "SPATECHK"

enum { AT_STREAM = 8, AT_NUMBER = 24, AT_BYTES = 32, AT_DATA_CRC = 36, AT_ZEROS = 40, AT_CRC = 60 };

static uint32_t add_byte(uint32_t crc, uint8_t byte) {
#ifdef __ARM_FEATURE_CRC32
  return __crc32cb(crc, byte);
#else
  /* The remainders of the sixteen nibbles. */
  static const uint32_t nibbles[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
                                       0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                       0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
  crc ^= byte;
  crc = crc >> 4 ^ nibbles[crc & 15u];
  return crc >> 4 ^ nibbles[crc & 15u];
#endif
}

uint32_t spate_crc32c(uint32_t crc, const void *data, size_t bytes) {
  const uint8_t *at = data;

  crc = ~crc;
#ifdef __ARM_FEATURE_CRC32
  for (; bytes >= 8 && ((uintptr_t)at & 7u) == 0; at += 8, bytes -= 8)
    crc = __crc32cd(crc, *(const uint64_t *)(const void *)at);
#endif
  for (; bytes > 0; at++, bytes--)
    crc = add_byte(crc, *at);
  return ~crc;
}

void spate_chunk_seal(void *piece, const uint8_t stream[16], uint64_t number, uint32_t bytes) {
  uint8_t *header = piece;

  memset(header, 0, SPATE_CHUNK_HEADER_BYTES);
  memcpy(header, MAGIC, sizeof MAGIC - 1u);
  memcpy(header + AT_STREAM, stream, 16);
  spate_put64(header + AT_NUMBER, number);
  spate_put32(header + AT_BYTES, bytes);
  spate_put32(header + AT_DATA_CRC,
              spate_crc32c(0, header + SPATE_CHUNK_HEADER_BYTES, bytes - SPATE_CHUNK_HEADER_BYTES));
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
  return header->bytes >= SPATE_CHUNK_HEADER_BYTES;
}
