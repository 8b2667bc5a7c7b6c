/* SPDX-License-Identifier: Apache-2.0 */
/* What a program on the Linux port can set. */
#ifndef SPATE_LINUX_PORT_H
#define SPATE_LINUX_PORT_H

#include <spate_board.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How a loop that waits for a device passes the time: `wait` sleeps until the device may have completed something, for
 * a millisecond at most. NULL, as at the start: 50 microseconds of sleep.
 */
void linux_port_wait(void (*wait)(void *context), void *context);

/* Where devices see the program's memory: this much beyond the program's address, modulo 2^64. */
void linux_port_dma_offset(uint64_t offset_bytes);

/* Registers, device addresses and time are those of a simulated machine, whose ticks are nanoseconds and whose memory
 * is coherent; NULL, as at the start: the system's. */
void linux_port_machine(const struct linux_machine *machine);

/* Events of the library (a retry, a reset, a volume recovered) on standard error. Off at the start. */
void linux_port_verbose(bool on);

#ifdef __cplusplus
}
#endif
#endif
