/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All implementations of CRC-32C give the result of the bit-by-bit definition: every length up to a few turns of their
 * loops, at every alignment, in one call and in two. A plain program, because it also runs in an emulated AArch64
 * machine. It prints which implementation spate_crc32c() uses there.
 */
#include "../../../src/core/crc32c.h"

#include <spate/chunk.h>
#include <stdio.h>
#include <stdlib.h>

#define POLYNOMIAL  UINT32_C(0x82f63b78) /* Castagnoli's polynomial, bit-reversed */
#define BYTES_MAX   200u
#define ALIGNMENTS  16u
#define LARGE_BYTES ((size_t)1 << 20)

typedef uint32_t add(uint32_t crc, const uint8_t *data, size_t bytes);

static uint32_t by_definition(uint32_t crc, const uint8_t *data, size_t bytes) {
  for (size_t at = 0; at < bytes; at++) {
    crc ^= data[at];
    for (unsigned bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ ((crc & 1u) != 0 ? POLYNOMIAL : 0);
  }
  return crc;
}

static uint32_t by_call(uint32_t crc, const uint8_t *data, size_t bytes) { return ~spate_crc32c(~crc, data, bytes); }

static void expect(uint32_t got, uint32_t wanted, const char *way, size_t bytes, size_t alignment) {
  if (got == wanted) return;
  (void)fprintf(stderr, "crc32c: %s of %zu bytes at alignment %zu is %08x and not %08x\n", way, bytes, alignment, got,
                wanted);
  exit(1);
}

static void check(const char *way, add *function, const uint8_t *memory) {
  for (size_t alignment = 0; alignment < ALIGNMENTS; alignment++)
    for (size_t bytes = 0; bytes <= BYTES_MAX; bytes++) {
      const uint8_t *data = memory + alignment;
      const uint32_t begin = (uint32_t)(bytes * UINT32_C(0x9e3779b1)), wanted = by_definition(begin, data, bytes);
      const size_t first = bytes / 3u;
      expect(function(begin, data, bytes), wanted, way, bytes, alignment);
      expect(function(function(begin, data, first), data + first, bytes - first), wanted, way, bytes, alignment);
    }
  expect(function(0, memory, LARGE_BYTES), by_definition(0, memory, LARGE_BYTES), way, LARGE_BYTES, 0);
}

int main(void) {
  static _Alignas(16) uint8_t memory[LARGE_BYTES + ALIGNMENTS + BYTES_MAX];
  uint32_t state = 1;

  for (size_t at = 0; at < sizeof memory; at++) {
    state = state * UINT32_C(1664525) + UINT32_C(1013904223);
    memory[at] = (uint8_t)(state >> 24);
  }
  check("by table", spate_crc32c_by_table, memory);
  if (spate_crc32c_has_instruction()) check("by instruction", spate_crc32c_by_instruction, memory);
  check("spate_crc32c()", by_call, memory);
  (void)printf("crc32c: all ways agree, taken %s\n", spate_crc32c_has_instruction() ? "by instruction" : "by table");
  return 0;
}
