/* SPDX-License-Identifier: Apache-2.0 */
/* The CRC of GPT tables and of the reservation record. */
#ifndef SPATE_CORE_CRC32_H
#define SPATE_CORE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 as in ISO 3309 and UEFI. Start with 0, and pass the result to continue. */
uint32_t spate_crc32(uint32_t crc, const void *data, size_t bytes);

#endif
