/* SPDX-License-Identifier: Apache-2.0 */
/* What the port asks of the system-level control registers. */
#ifndef SPATE_PORTS_SLCR_H
#define SPATE_PORTS_SLCR_H

#include <stdbool.h>
#include <stdint.h>

/* Ticks of the global timer per second, from the clock registers: whoever started the processor has set them. */
uint64_t slcr_timer_hz(uint32_t ps_clock_hz);

/* Opens the way from the processor to the logic. False: the logic is not configured, and an access to it would never
 * end. */
bool slcr_open_logic(void);

#endif
