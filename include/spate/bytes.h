/* SPDX-License-Identifier: Apache-2.0 */
/* Little-endian fields at any alignment, for structures on disk and on the wire. Compilers make one load or store of
 * each, if the processor allows unaligned ones. Always inline: at -Os compilers count four byte loads instead, and make
 * functions of them. */
#ifndef SPATE_BYTES_H
#define SPATE_BYTES_H

#include <stdint.h>

/* Read a field of two bytes. */
__attribute__((always_inline)) static inline uint16_t spate_get16(const void *at) {
  const uint8_t *b = (const uint8_t *)at;
  return (uint16_t)(b[0] | (b[1] << 8));
}

/* Read a field of four bytes. */
__attribute__((always_inline)) static inline uint32_t spate_get32(const void *at) {
  const uint8_t *b = (const uint8_t *)at;
  return (uint32_t)b[0] | ((uint32_t)b[1] << 8) | ((uint32_t)b[2] << 16) | ((uint32_t)b[3] << 24);
}

/* Read a field of eight bytes. */
__attribute__((always_inline)) static inline uint64_t spate_get64(const void *at) {
  const uint8_t *b = (const uint8_t *)at;
  return (uint64_t)spate_get32(b) | ((uint64_t)spate_get32(b + 4) << 32);
}

/* Write a field of two bytes. */
__attribute__((always_inline)) static inline void spate_put16(void *at, uint16_t value) {
  uint8_t *b = (uint8_t *)at;
  b[0] = (uint8_t)value;
  b[1] = (uint8_t)(value >> 8);
}

/* Write a field of four bytes. */
__attribute__((always_inline)) static inline void spate_put32(void *at, uint32_t value) {
  uint8_t *b = (uint8_t *)at;
  spate_put16(b, (uint16_t)value);
  spate_put16(b + 2, (uint16_t)(value >> 16));
}

/* Write a field of eight bytes. */
__attribute__((always_inline)) static inline void spate_put64(void *at, uint64_t value) {
  uint8_t *b = (uint8_t *)at;
  spate_put32(b, (uint32_t)value);
  spate_put32(b + 4, (uint32_t)(value >> 32));
}

#endif
