/* SPDX-License-Identifier: Apache-2.0 */
/* Milliseconds as ticks of the port's clock. */
#ifndef SPATE_CORE_TICKS_H
#define SPATE_CORE_TICKS_H

#include <spate/port.h>

static inline uint64_t spate_ticks_of_ms(uint32_t ms) { return spate_port_ticks_per_second() / 1000u * ms; }

#endif
