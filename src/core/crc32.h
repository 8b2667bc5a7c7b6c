/* SPDX-License-Identifier: Apache-2.0 */
/* The sum over a GPT's tables and over the reservation record. */
#ifndef SPATE_CORE_CRC32_H
#define SPATE_CORE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 as in ISO 3309 and UEFI: start with 0, pass the result on to continue. */
uint32_t spate_crc32(uint32_t crc, const void *data, size_t bytes);

#endif
