/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of QEMU's Boston board, and how this port divides its memory. See README.md. */
#ifndef SPATE_PORTS_MACHINE_H
#define SPATE_PORTS_MACHINE_H

/* The two windows of the low 512 MiB of physical addresses: cached (kseg0) and not (kseg1). */
#define KSEG0 0xffffffff80000000
#define KSEG1 0xffffffffa0000000
/* All physical addresses, uncached: xkphys with cache attribute 2. */
#define XKPHYS_NOT_CACHED 0x9000000000000000

#define MACHINE_UART (KSEG1 + 0x17ffe000)
/* No device is there. */
#define MACHINE_ABSENT_REGISTER (KSEG1 + 0x15000000)

/* The third of the board's Xilinx bridges: the only one whose link is up. */
#define MACHINE_BRIDGE_CONTROL      (KSEG1 + 0x14000000)
#define MACHINE_BRIDGE_LAST_BUS     31
#define MACHINE_BRIDGE_WINDOW       0x16000000 /* on the bus */
#define MACHINE_BRIDGE_WINDOW_BYTES 0x00100000

/* Physical addresses. The first 256 MiB of RAM appear at 0 and at 0x80000000. */
#define MACHINE_IMAGE        0x00100000 /* up to 2 MiB: see link.ld */
#define MACHINE_QUEUE        0x01000000
#define MACHINE_QUEUE_BYTES  0x01000000
#define MACHINE_MEMORY       0x02000000
#define MACHINE_MEMORY_BYTES 0x0e000000
#define MACHINE_RING         0x90000000
#define MACHINE_RING_BYTES   0x10000000

/* The stack is mapped by the TLB's first entry, a pair of 64 KiB pages in kseg3; nothing is mapped below it. */
#define MACHINE_GUARD       0xffffffffe0000000
#define MACHINE_STACK       0xffffffffe0020000
#define MACHINE_STACK_BYTES 0x20000

#endif
