/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What your Vivado design decides: copy this file, put your numbers in, and name its folder to CMake
 * (-DSPATE_DESIGN_DIR=…). Addresses are those of the address editor, as the Cortex-R5F sees them: all below 4 GiB.
 * These ones are an example.
 */
#ifndef SPATE_PORTS_DESIGN_H
#define SPATE_PORTS_DESIGN_H

/* XDMA in bridge mode (PG194). Control interface (S_AXI_LITE or CTL0): a multiple of 1 MiB. M_AXI_HPM0_FPD reaches
 * 0xA0000000, M_AXI_HPM0_LPD 0x80000000. What the tool suggests for M_AXI_HPM0_FPD, 0x400000000, is out of reach. */
#define DESIGN_BRIDGE_CONTROL  0xA0000000
#define DESIGN_BRIDGE_LAST_BUS 1
/* The AXI BAR through which the processor reaches the drive's registers: its address, the address on the bus that the
 * bridge translates it to (the same one unless you set a translation), and its size. */
#define DESIGN_BRIDGE_WINDOW       0xB0000000
#define DESIGN_BRIDGE_WINDOW_BUS   0xB0000000
#define DESIGN_BRIDGE_WINDOW_BYTES 0x01000000

/* PERST# of the slot: PERST_BY_NOTHING if something else releases it, PERST_BY_MIO, PERST_BY_EMIO or PERST_BY_AXI_GPIO;
 * ports/zynqmp/design.h explains these lines. */
#define DESIGN_PERST             PERST_BY_NOTHING
#define DESIGN_PERST_PIN         0
#define DESIGN_PERST_ACTIVE_HIGH false

/* Console: the UART of the processing system that your board connects (0xFF000000: UART0, 0xFF010000: UART1). The
 * first-stage loader has set its rate. */
#define DESIGN_UART 0xFF000000

/* The processor's clock: CPU_R5 in the tool's clock configuration. */
#define DESIGN_CPU_HZ 500000000

/* DDR for queues, ordinary memory and the ring. The memory protection unit has 16 regions, of which the image and the
 * registers need up to 9: let each range be a power of two, or some eighths of one. */
#define DESIGN_QUEUE        0x01000000
#define DESIGN_QUEUE_BYTES  0x01000000
#define DESIGN_MEMORY       0x02000000
#define DESIGN_MEMORY_BYTES 0x0e000000
#define DESIGN_RING         0x10000000
#define DESIGN_RING_BYTES   0x10000000

#endif
