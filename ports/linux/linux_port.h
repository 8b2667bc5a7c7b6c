/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of a program on the Linux port. */
#ifndef SPATE_LINUX_PORT_H
#define SPATE_LINUX_PORT_H

#include <spate_board.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a loop that waits for a device waits: `wait` sleeps until the device may have completed something, at most a
 * millisecond. NULL, the default: sleep for 50 microseconds. */
void linux_port_wait(void (*wait)(void *context), void *context);

/* Device addresses of the program's memory: the program's address plus this offset, modulo 2^64. */
void linux_port_dma_offset(uint64_t offset_bytes);

/* Takes registers, device addresses and time from a simulated machine, whose ticks are nanoseconds and whose memory is
 * coherent. NULL, the default: from the system. */
void linux_port_machine(const struct linux_machine *machine);

/* Prints the library's events (a retry, a reset, a volume recovered) on standard error. Off by default. */
void linux_port_verbose(bool on);

#ifdef __cplusplus
}
#endif
#endif
