/* SPDX-License-Identifier: Apache-2.0 */
/* Two implementations of CRC-32C, for spate_crc32c() and for the test that compares them. Both take and return the
 * register itself, which is the complement of the argument and result of spate_crc32c(). */
#ifndef SPATE_CRC32C_H
#define SPATE_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With a table of sixteen remainders, on any processor. */
uint32_t spate_crc32c_by_table(uint32_t crc, const uint8_t *data, size_t bytes);

/* With the processor's instruction, eight bytes at a time, if spate_crc32c_has_instruction(). */
uint32_t spate_crc32c_by_instruction(uint32_t crc, const uint8_t *data, size_t bytes);
bool spate_crc32c_has_instruction(void);

#endif
