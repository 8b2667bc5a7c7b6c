/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's port for the Cortex-A9 of a Zynq-7000. Queue memory and ring are not cached, and nothing relies on the
 * accelerator coherency port.
 */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#define SPATE_PORT_PL310   0xF8F02000u
#define SPATE_PORT_COUNTER 0xF8F00200u /* the global timer */
#include <spate/port/armv7.h>

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
