/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock: the processor's cycle counter, one step each 64 cycles, extended to 64 bits here. It wraps after 550 s at
 * 500 MHz. The library asks often while a stream is open; an application that does something else for so long must ask
 * meanwhile. The counter stops in WFI, which nothing here uses.
 */
#include "cycles.h"

#include "clock.h"
#include <spate/port.h>

static uint32_t last, wraps;

void clock_start(void) { cycles_start(); }

/* One processor and no interrupts: nothing comes between. */
uint64_t spate_port_ticks(void) {
  const uint32_t now = cycles_read();
  if (now < last) wraps++;
  last = now;
  return (uint64_t)wraps << 32 | now;
}
