/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's port for the Cortex-A53 of a Zynq UltraScale+. Queue memory and ring are not cached, and nothing relies
 * on a coherent port. README.md says what a coherent one needs.
 */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#include <spate/port/aarch64.h>

/* The root port's AXI master sees all memory at the processor's addresses. */
#include <spate/port/same_address.h>
#endif
