/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rest of a spate_board.h where the drive sees all memory at the processor's addresses: no translation, no IOMMU,
 * no offset on the way to the bus. The board supplies spate_port_log(), in a source file, or `static inline` before it
 * includes this header.
 */
#ifndef SPATE_PORT_SAME_ADDRESS_H
#define SPATE_PORT_SAME_ADDRESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The address of memory as the drive sees it. */
static inline uint64_t spate_port_dma_address(const volatile void *memory) { return (uintptr_t)memory; }

/* Prints a line: the text and a number. Reports of the library, never in the data path. */
void spate_port_log(const char *text, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif
