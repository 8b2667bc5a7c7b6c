/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's port for QEMU's `virt` machine with a Cortex-A15, which is as wide as a Zynq-7000. As in
 * ports/qemu-virt, nothing relies on QEMU's devices being coherent.
 */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#include <spate/port/armv7.h>

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
