/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C. The processor's instruction is used if the compiler may assume it (-mcpu of a firmware), if an x86-64
 * processor reports it at run time, or if the port of an AArch64 system reports it: there only the operating system can
 * tell.
 */
#include "crc32c.h"

#include <spate/bytes.h>
#include <spate/chunk.h>
#include <spate/port.h>

uint32_t spate_crc32c_by_table(uint32_t crc, const uint8_t *data, size_t bytes) {
  /* The remainders of the sixteen nibbles. */
  static const uint32_t nibbles[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
                                       0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                       0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};

  for (size_t at = 0; at < bytes; at++) {
    crc ^= data[at];
    crc = crc >> 4 ^ nibbles[crc & 15u];
    crc = crc >> 4 ^ nibbles[crc & 15u];
  }
  return crc;
}

#if defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define TARGET
#define HAS_INSTRUCTION() true
static inline uint32_t add_byte(uint32_t crc, uint8_t byte) { return __crc32cb(crc, byte); }
static inline uint32_t add_word(uint32_t crc, uint64_t word) { return __crc32cd(crc, word); }
#elif defined(__aarch64__) && defined(SPATE_PORT_HAS_CRC32C)
#define TARGET
#define HAS_INSTRUCTION() SPATE_PORT_HAS_CRC32C()
/* The compiler has no intrinsics for these instructions unless it may assume them. */
static inline uint32_t add_byte(uint32_t crc, uint8_t byte) {
  __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(byte));
  return crc;
}
static inline uint32_t add_word(uint32_t crc, uint64_t word) {
  __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
  return crc;
}
#elif defined(__x86_64__)
#define TARGET            __attribute__((target("sse4.2")))
#define HAS_INSTRUCTION() (__builtin_cpu_supports("sse4.2") != 0)
TARGET static inline uint32_t add_byte(uint32_t crc, uint8_t byte) { return __builtin_ia32_crc32qi(crc, byte); }
TARGET static inline uint32_t add_word(uint32_t crc, uint64_t word) {
  return (uint32_t)__builtin_ia32_crc32di(crc, word);
}
#endif

#ifdef HAS_INSTRUCTION

#define WORD 8u

typedef uint64_t __attribute__((may_alias)) any_word;

/* One load instruction, even with -mstrict-align. UBSan checks the alignment. */
static inline uint64_t load_aligned(const uint8_t *at) {
  const uint64_t word = *(const any_word *)(const void *)at;
  return spate_get64(&word);
}

TARGET uint32_t spate_crc32c_by_instruction(uint32_t crc, const uint8_t *data, size_t bytes) {
  const uint8_t *at = data, *const end = data + bytes;

  for (; at < end && ((uintptr_t)at & (WORD - 1u)) != 0; at++)
    crc = add_byte(crc, *at);
  /* Four words in each turn: with one word, a third of the time is spent on the loop itself. */
  for (; (size_t)(end - at) >= 4u * WORD; at += 4u * WORD) {
    crc = add_word(crc, load_aligned(at));
    crc = add_word(crc, load_aligned(at + WORD));
    crc = add_word(crc, load_aligned(at + 2u * WORD));
    crc = add_word(crc, load_aligned(at + 3u * WORD));
  }
  for (; at < end; at++)
    crc = add_byte(crc, *at);
  return crc;
}

bool spate_crc32c_has_instruction(void) { return HAS_INSTRUCTION(); }

#else

uint32_t spate_crc32c_by_instruction(uint32_t crc, const uint8_t *data, size_t bytes) {
  return spate_crc32c_by_table(crc, data, bytes);
}

bool spate_crc32c_has_instruction(void) { return false; }

#endif

uint32_t spate_crc32c(uint32_t crc, const void *data, size_t bytes) {
  return ~(spate_crc32c_has_instruction() ? spate_crc32c_by_instruction(~crc, data, bytes)
                                          : spate_crc32c_by_table(~crc, data, bytes));
}
