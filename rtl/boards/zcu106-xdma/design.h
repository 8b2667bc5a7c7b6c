/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the design of this folder decides, for the firmware: design.tcl has the same addresses. ports/zynqmp/design.h
 * explains the names. Never on a board.
 */
#ifndef SPATE_PORTS_DESIGN_H
#define SPATE_PORTS_DESIGN_H

#define DESIGN_BRIDGE_CONTROL      0x400000000 /* through M_AXI_HPM0_FPD */
#define DESIGN_BRIDGE_LAST_BUS     1
#define DESIGN_BRIDGE_WINDOW       0xB0000000 /* through M_AXI_HPM1_FPD */
#define DESIGN_BRIDGE_WINDOW_BUS   0xB0000000
#define DESIGN_BRIDGE_WINDOW_BYTES 0x01000000

/* The first EMIO pin. The FMC card inverts it. */
#define DESIGN_PERST             PERST_BY_EMIO
#define DESIGN_PERST_PIN         0
#define DESIGN_PERST_ACTIVE_HIGH true

/* UART0, the first serial port of the board's USB connector. */
#define DESIGN_UART 0xFF000000

/* All of it in DDR below 2 GiB, which the drive reaches. */
#define DESIGN_QUEUE        0x01000000
#define DESIGN_QUEUE_BYTES  0x01000000
#define DESIGN_MEMORY       0x02000000
#define DESIGN_MEMORY_BYTES 0x0e000000
#define DESIGN_RING         0x10000000
#define DESIGN_RING_BYTES   0x10000000

#define DESIGN_PAGE_TABLES 6

#endif
