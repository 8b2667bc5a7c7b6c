/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What your Vivado design decides: copy this file, put your numbers in, and name its folder to CMake
 * (-DSPATE_DESIGN_DIR=…). Addresses are those of the address editor. These ones are an example of a QDMA in the logic.
 */
#ifndef SPATE_PORTS_DESIGN_H
#define SPATE_PORTS_DESIGN_H

/*
 * The bridge. Configuration space: a multiple of 1 MiB. The bridge's own registers are in a second region: name its
 * base address, and its size unless it is among the registers of the processing system, which are mapped anyway.
 *
 *                                 configuration space   registers                                 size
 *   QDMA in logic (PG302, PG344)  S_AXI_LITE            S_AXI_LITE_CSR                            2 MiB
 *   CPM4 (PG347)                  0x600000000           0x600000000                               leave it out
 *   CPM5 (AM012, CPM5_DMA_CSR)    0x600000000           0xFCE20000, second controller 0xFCEA0000  leave it out
 */
#define DESIGN_BRIDGE_CONTROL         0x400000000
#define DESIGN_BRIDGE_LAST_BUS        1
#define DESIGN_BRIDGE_REGISTERS       0x420000000
#define DESIGN_BRIDGE_REGISTERS_BYTES 0x00200000
/* The window through which the processor reaches the drive's registers. Its addresses on the bus must be the same ones,
 * because the bridge does not translate them. CPM: within what the design gives it, such as 0xE1000000. */
#define DESIGN_BRIDGE_WINDOW       0xA8000000
#define DESIGN_BRIDGE_WINDOW_BUS   0xA8000000
#define DESIGN_BRIDGE_WINDOW_BYTES 0x01000000

/* PERST# of the slot: PERST_BY_NOTHING if something else releases it, PERST_BY_MIO (of the PMC), PERST_BY_EMIO or
 * PERST_BY_AXI_GPIO; ports/zynqmp/design.h explains these lines. */
#define DESIGN_PERST             PERST_BY_NOTHING
#define DESIGN_PERST_PIN         0
#define DESIGN_PERST_ACTIVE_HIGH false

/* Console: UART0 of the processing system; UART1 is at 0xFF010000. The loader has set its rate. */
#define DESIGN_UART 0xFF000000

/* As in ports/zynqmp/design.h. */
#define DESIGN_QUEUE        0x01000000
#define DESIGN_QUEUE_BYTES  0x01000000
#define DESIGN_MEMORY       0x02000000
#define DESIGN_MEMORY_BYTES 0x0e000000
#define DESIGN_RING         0x10000000
#define DESIGN_RING_BYTES   0x10000000

/* As there, and one more: addresses have 40 bits. */
#define DESIGN_PAGE_TABLES 7

#endif
