/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's port for the Cortex-A72 of a Versal. Queue memory and ring are not cached, and nothing relies
 * on a coherent port.
 */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#include <spate/port/aarch64.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The root port's AXI master sees all memory at the processor's addresses. */
static inline uint64_t spate_port_dma_address(const volatile void *memory) { return (uintptr_t)memory; }

void spate_port_log(const char *text, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif
