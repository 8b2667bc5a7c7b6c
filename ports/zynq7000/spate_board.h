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

/* The root port's AXI master sees all memory at the processor's addresses. */
#include <spate/port/same_address.h>
#endif
