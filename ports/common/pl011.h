/* SPDX-License-Identifier: Apache-2.0 */
/* The PL011 UART (Arm DDI 0183), as QEMU's `virt` and a Versal have it. */
#ifndef SPATE_PORTS_PL011_H
#define SPATE_PORTS_PL011_H

#include <stddef.h>
#include <stdint.h>

/* Turns the transmitter on, with 8 bits and FIFOs, unless a loader has. The rate stays as it is. */
void pl011_open(uintptr_t base);
void pl011_write(uintptr_t base, const char *text, size_t bytes);

#endif
