/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A design whose firmware is in on-chip memory with everything that it uses: queues, the ring's page table, the file
 * system's blocks. Only the ring is in DDR. -DSPATE_DESIGN_DIR=ports/zynqmp/ocm; ../design.h explains each line.
 */
#ifndef SPATE_PORTS_DESIGN_H
#define SPATE_PORTS_DESIGN_H

#define DESIGN_BRIDGE_CONTROL      0xA0000000
#define DESIGN_BRIDGE_LAST_BUS     1
#define DESIGN_BRIDGE_WINDOW       0xB0000000
#define DESIGN_BRIDGE_WINDOW_BUS   0xB0000000
#define DESIGN_BRIDGE_WINDOW_BYTES 0x01000000

#define DESIGN_PERST             PERST_BY_NOTHING
#define DESIGN_PERST_PIN         0
#define DESIGN_PERST_ACTIVE_HIGH false

#define DESIGN_UART 0xFF000000

/* The controller's 12 KiB, 16 KiB for a queue of 32 commands (spate/nvme.h), and 2 KiB for each MiB of the ring. A
 * larger ring needs its queue memory in DDR. */
#define DESIGN_RING        0x10000000
#define DESIGN_RING_BYTES  0x00800000
#define DESIGN_QUEUE_BYTES (28u * 1024u + DESIGN_RING_BYTES / 512u)

#define DESIGN_PAGE_TABLES 5

#endif
