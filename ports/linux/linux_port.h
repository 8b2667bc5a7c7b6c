/* SPDX-License-Identifier: Apache-2.0 */
/* What a program on the Linux port can set. */
#ifndef SPATE_LINUX_PORT_H
#define SPATE_LINUX_PORT_H

#include <stdbool.h>

/*
 * How a loop that waits for a device passes the time: `wait` sleeps until the device may have completed something, for
 * a millisecond at most. NULL, as at the start: 50 microseconds of sleep.
 */
void linux_port_wait(void (*wait)(void *context), void *context);

/* Events of the library (a retry, a reset, a volume recovered) on standard error. Off at the start. */
void linux_port_verbose(bool on);

#endif
