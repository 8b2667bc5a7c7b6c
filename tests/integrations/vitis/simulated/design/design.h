/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of the virtual drive as a design: an XDMA (sim/bus/bridge.c), and the model of AXI DMA. */
#ifndef SPATE_PORTS_DESIGN_H
#define SPATE_PORTS_DESIGN_H

#include <stdint.h>

#define DESIGN_BRIDGE_CONTROL      0x400000000
#define DESIGN_BRIDGE_LAST_BUS     1
#define DESIGN_BRIDGE_WINDOW       0xB0000000
#define DESIGN_BRIDGE_WINDOW_BUS   0xB0000000
#define DESIGN_BRIDGE_WINDOW_BYTES 0x01000000

/* The program's own memory, which the test gives to the machine. */
#define DESIGN_QUEUE_BYTES 0x00400000
#define DESIGN_RING_BYTES  0x02000000
extern uint8_t design_queue[DESIGN_QUEUE_BYTES], design_ring[DESIGN_RING_BYTES];
#define DESIGN_QUEUE (uintptr_t) design_queue
#define DESIGN_RING  (uintptr_t) design_ring

#define DESIGN_DMA              0x04000000
#define DESIGN_DMA_LENGTH_BITS  26
#define DESIGN_DMA_ADDRESS_BITS 40

#endif
