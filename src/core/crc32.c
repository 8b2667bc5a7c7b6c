/* SPDX-License-Identifier: Apache-2.0 */
#include "crc32.h"

#define REFLECTED UINT32_C(0xedb88320)

/* Bit by bit, without a table: it is used for 16 KiB at mount, and for a part of a block when a clip is armed or
 * closed.
 */
uint32_t spate_crc32(uint32_t crc, const void *data, size_t bytes) {
  const uint8_t *at = data;

  crc = ~crc;
  for (; bytes > 0; bytes--) {
    crc ^= *at++;
    for (unsigned bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ ((crc & 1u) != 0 ? REFLECTED : 0);
  }
  return ~crc;
}
