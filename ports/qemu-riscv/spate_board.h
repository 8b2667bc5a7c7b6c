/* SPDX-License-Identifier: Apache-2.0 */
/* The library's port for QEMU's RISC-V `virt` machine. */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#define SPATE_PORT_COHERENT         1
#define SPATE_PORT_TICKS_PER_SECOND 10000000
#include <spate/port/riscv64.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Physical and virtual addresses are the same, and there is no IOMMU. */
static inline uint64_t spate_port_dma_address(const volatile void *memory) { return (uintptr_t)memory; }

void spate_port_log(const char *text, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif
