/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's port for a standalone application of Vitis, on the processor that the compiler says: Cortex-A53 or A72
 * (AArch64), Cortex-A9 of a Zynq-7000, Cortex-R5F of a Zynq UltraScale+. Queue memory and ring are not cached
 * (spate_vitis_not_cached()), and nothing relies on a coherent port.
 *
 * The BSP's own functions are not used here: those for caches work on whole caches or treat the ends of a range
 * differently from its middle, and none of the library's ranges has such ends (SPATE_DMA_ALIGN).
 */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#if defined __aarch64__
/* The BSP's handler of exceptions saves some registers, at a place that only it knows. */
#define SPATE_PORT_OWN_LOADS
#include <spate/port/aarch64.h>
#elif __ARM_ARCH_PROFILE == 'R'
#define SPATE_PORT_READS_ABORT_AT_ONCE
#define SPATE_PORT_COUNTER 0xFF250000u /* the system counter (UG1087, IOU_SCNTR) */
#include <spate/port/armv7.h>
#else
#define SPATE_PORT_PL310   0xF8F02000u
#define SPATE_PORT_COUNTER 0xF8F00200u /* the global timer (UG585, appendix B.24) */
#include <spate/port/armv7.h>
#endif

/* The root port's AXI master sees all memory at the processor's addresses, except tightly coupled memories. */
#include <spate/port/same_address.h>
#endif
