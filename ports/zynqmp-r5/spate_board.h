/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's port for the Cortex-R5F of a Zynq UltraScale+. Queue memory and ring are not cached: the processors of
 * the low-power domain are not coherent with the logic.
 */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#define SPATE_PORT_READS_ABORT_AT_ONCE /* and there is no ISR */
#define SPATE_PORT_OWN_CLOCK           /* board.c: there is no generic timer */
#include <spate/port/armv7.h>

/* The root port's AXI master sees all memory at the processor's addresses, except the tightly coupled memories. */
#include <spate/port/same_address.h>
#endif
