/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What your Vivado design and your board decide: copy this file, put your numbers in, and name its folder to CMake
 * (-DSPATE_DESIGN_DIR=…). Addresses are those of the address editor. These ones are an example.
 */
#ifndef SPATE_PORTS_DESIGN_H
#define SPATE_PORTS_DESIGN_H

/* AXI Memory Mapped to PCI Express (PG055). Control interface (S_AXI_CTL): a multiple of 1 MiB. */
#define DESIGN_BRIDGE_CONTROL  0x50000000
#define DESIGN_BRIDGE_LAST_BUS 1
/* The AXI BAR through which the processor reaches the drive's registers: its address, the address on the bus that the
 * bridge translates it to (the same one unless you set a translation), and its size. */
#define DESIGN_BRIDGE_WINDOW       0x60000000
#define DESIGN_BRIDGE_WINDOW_BUS   0x60000000
#define DESIGN_BRIDGE_WINDOW_BYTES 0x01000000

/* PERST# of the slot: PERST_BY_NOTHING if something else releases it, PERST_BY_MIO, PERST_BY_EMIO or PERST_BY_AXI_GPIO;
 * ports/zynqmp/design.h explains these lines. */
#define DESIGN_PERST             PERST_BY_NOTHING
#define DESIGN_PERST_PIN         0
#define DESIGN_PERST_ACTIVE_HIGH false

/* Console: the UART of the processing system that your board connects (0xE0000000: UART0, 0xE0001000: UART1). The
 * first-stage loader, or ps7_init, has set its rate. */
#define DESIGN_UART 0xE0001000

/* The oscillator at PS_CLK. All rates are made of it. */
#define DESIGN_PS_CLOCK_HZ 33333333

/* DDR for queues, ordinary memory and the ring: multiples of 1 MiB, from 3 MiB on. */
#define DESIGN_QUEUE        0x01000000
#define DESIGN_QUEUE_BYTES  0x01000000
#define DESIGN_MEMORY       0x02000000
#define DESIGN_MEMORY_BYTES 0x0e000000
#define DESIGN_RING         0x10000000
#define DESIGN_RING_BYTES   0x10000000

#endif
