/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's port for QEMU's `virt` machine with a Cortex-A53.
 *
 * QEMU's devices are coherent with its CPUs, but nothing here relies on that: every barrier and all cache maintenance
 * are what a Zynq UltraScale+ without coherent ports needs.
 */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#include <spate/port/aarch64.h>

/* Physical and virtual addresses are the same, and there is no IOMMU. */
#include <spate/port/same_address.h>
#endif
