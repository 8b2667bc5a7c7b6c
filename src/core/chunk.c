/* SPDX-License-Identifier: Apache-2.0 */
#include <spate/bytes.h>
#include <spate/chunk.h>
#include <string.h>
#ifdef __ARM_FEATURE_CRC32
#include <arm_acle.h>
#endif

#define MAGIC "SPATECHK"

enum { AT_STREAM = 8, AT_NUMBER = 24, AT_BYTES = 32, AT_DATA_CRC = 36, AT_LOST = 40, AT_TIME = 48, AT_CRC = 60 };

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

/* Eight bytes at a time, where the processor has an instruction for that. Returns how many bytes it took. */
#if defined(__ARM_FEATURE_CRC32)
static size_t add_words(uint32_t *crc, const uint8_t *data, size_t bytes) {
  size_t at = 0;

  if (((uintptr_t)data & 7u) != 0) return 0;
  for (; bytes - at >= 8; at += 8)
    *crc = __crc32cd(*crc, *(const uint64_t *)(const void *)(data + at));
  return at;
}
#elif defined(__x86_64__)
__attribute__((target("sse4.2"))) static size_t add_words(uint32_t *crc, const uint8_t *data, size_t bytes) {
  uint64_t sum = *crc;
  size_t at = 0;

  if (!__builtin_cpu_supports("sse4.2")) return 0;
  for (; bytes - at >= 8; at += 8)
    sum = __builtin_ia32_crc32di(sum, spate_get64(data + at));
  *crc = (uint32_t)sum;
  return at;
}
#else
static size_t add_words(uint32_t *crc, const uint8_t *data, size_t bytes) {
  (void)crc;
  (void)data;
  (void)bytes;
  return 0;
}
#endif

uint32_t spate_crc32c(uint32_t crc, const void *data, size_t bytes) {
  const uint8_t *at = data;

  crc = ~crc;
  const size_t taken = add_words(&crc, at, bytes);
  at += taken;
  bytes -= taken;
  for (; bytes > 0; at++, bytes--)
    crc = add_byte(crc, *at);
  return ~crc;
}

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
