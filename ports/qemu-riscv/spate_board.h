/* SPDX-License-Identifier: Apache-2.0 */
/* The library's port for QEMU's RISC-V `virt` machine. */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#define SPATE_PORT_COHERENT         1
#define SPATE_PORT_TICKS_PER_SECOND 10000000
#include <spate/port/riscv64.h>

/* Physical and virtual addresses are the same, and there is no IOMMU. */
#include <spate/port/same_address.h>
#endif
