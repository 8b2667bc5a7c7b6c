/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Little-endian fields that are aligned to their size, as all fields of exFAT and GPT are. Each access is one load or
 * store, even on a CPU without unaligned accesses. The memory must be aligned to 8 bytes. For fields at any alignment
 * see spate/bytes.h.
 */
#ifndef SPATE_CORE_FIELDS_H
#define SPATE_CORE_FIELDS_H

#include <stdint.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SPATE_FIELD_SWAP(bits, value) (value)
#else
#define SPATE_FIELD_SWAP(bits, value) __builtin_bswap##bits(value)
#endif
#define SPATE_FIELD(bits)                                                                                              \
  static inline uint##bits##_t spate_field_get##bits(const uint8_t *at) {                                              \
    uint##bits##_t value;                                                                                              \
    __builtin_memcpy(&value, __builtin_assume_aligned(at, sizeof value), sizeof value);                                \
    return SPATE_FIELD_SWAP(bits, value);                                                                              \
  }                                                                                                                    \
  static inline void spate_field_put##bits(uint8_t *at, uint##bits##_t value) {                                        \
    value = SPATE_FIELD_SWAP(bits, value);                                                                             \
    __builtin_memcpy(__builtin_assume_aligned(at, sizeof value), &value, sizeof value);                                \
  }
SPATE_FIELD(16)
SPATE_FIELD(32)
SPATE_FIELD(64)

#endif
