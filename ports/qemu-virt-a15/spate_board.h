/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's port for QEMU's `virt` machine with a Cortex-A15, which is as wide as a Zynq-7000. As in
 * ports/qemu-virt, nothing relies on QEMU's devices being coherent.
 */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#include <spate/port/armv7.h>

/* Physical and virtual addresses are the same, and there is no IOMMU. */
#include <spate/port/same_address.h>
#endif
