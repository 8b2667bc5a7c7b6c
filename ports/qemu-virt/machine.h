/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of QEMU's `virt` machine, and how this board divides its memory. See README.md. */
#ifndef SPATE_PORTS_MACHINE_H
#define SPATE_PORTS_MACHINE_H

#define MACHINE_NAME "QEMU virt, Cortex-A53"

#define MACHINE_UART_ADDRESS 0x09000000u
#define MACHINE_RTC_ADDRESS  0x09010000u
/* Mapped like registers, but no device is there. */
#define MACHINE_ABSENT_REGISTER 0x090f0000u

#define MACHINE_ECAM_ADDRESS 0x4010000000u
#define MACHINE_LAST_BUS     255u
/* Bus and CPU addresses are the same here. */
#define MACHINE_PCIE_MEMORY_ADDRESS       0x10000000u
#define MACHINE_PCIE_MEMORY_BYTES         0x2eff0000u
#define MACHINE_PCIE_PREFETCHABLE_ADDRESS 0x8000000000u
#define MACHINE_PCIE_PREFETCHABLE_BYTES   0x40000000u

#define MACHINE_RAM_ADDRESS 0x40000000u

/* The image takes the first 2 MiB from 0x40200000 on: see link.ld. All boundaries are multiples of 2 MiB. */
#define MACHINE_IMAGE_ADDRESS  0x40200000u
#define MACHINE_QUEUE_ADDRESS  0x41000000u
#define MACHINE_QUEUE_BYTES    0x01000000u
#define MACHINE_MEMORY_ADDRESS 0x42000000u
#define MACHINE_MEMORY_BYTES   0x0e000000u
#define MACHINE_RING_ADDRESS   0x50000000u
#define MACHINE_RING_BYTES     0x10000000u

#endif
