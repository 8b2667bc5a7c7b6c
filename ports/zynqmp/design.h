/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What your Vivado design decides: copy this file, put your numbers in, and name its folder to CMake
 * (-DSPATE_DESIGN_DIR=…). Addresses are those of the address editor. These ones are an example.
 */
#ifndef SPATE_PORTS_DESIGN_H
#define SPATE_PORTS_DESIGN_H

/* XDMA in bridge mode (PG194). Control interface (S_AXI_LITE or CTL0): a multiple of 1 MiB. */
#define DESIGN_BRIDGE_CONTROL  0x400000000
#define DESIGN_BRIDGE_LAST_BUS 1
/* The AXI BAR through which the processor reaches the drive's registers: its address, the address on the bus that the
 * bridge translates it to (the same one unless you set a translation), and its size. */
#define DESIGN_BRIDGE_WINDOW       0xB0000000
#define DESIGN_BRIDGE_WINDOW_BUS   0xB0000000
#define DESIGN_BRIDGE_WINDOW_BYTES 0x01000000

/* PERST# of the slot: PERST_BY_NOTHING if something else releases it, PERST_BY_MIO, PERST_BY_EMIO or PERST_BY_AXI_GPIO;
 * the pin (AXI GPIO: from 32 on in the second channel); true if an inverter is between the pin and the slot. With AXI
 * GPIO also its address, and the levels of the other outputs of that channel:
 *   #define DESIGN_PERST_AXI_GPIO      0xA0000000
 *   #define DESIGN_PERST_OTHER_OUTPUTS 0 */
#define DESIGN_PERST             PERST_BY_NOTHING
#define DESIGN_PERST_PIN         0
#define DESIGN_PERST_ACTIVE_HIGH false

/* Console: the UART of the processing system that your board connects (0xFF000000: UART0, 0xFF010000: UART1). The
 * first-stage loader has set its rate. */
#define DESIGN_UART 0xFF000000

/* DDR for queues, ordinary memory and the ring: multiples of 2 MiB. Logic may fill a ring in DDR of the PL as well. */
#define DESIGN_QUEUE        0x01000000
#define DESIGN_QUEUE_BYTES  0x01000000
#define DESIGN_MEMORY       0x02000000
#define DESIGN_MEMORY_BYTES 0x0e000000
#define DESIGN_RING         0x10000000
#define DESIGN_RING_BYTES   0x10000000

#endif
