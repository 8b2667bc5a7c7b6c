/* SPDX-License-Identifier: Apache-2.0 */
#include <spate/clock.h>
#include <spate/port.h>

/* A counter of 1 kHz changes during these reads, unless a read takes less than 1 ns. */
#define READS_MAX (UINT32_C(1) << 20)

enum spate_error spate_clock_check(void) {
  const uint64_t start = spate_port_ticks();

  if (spate_port_ticks_per_second() == 0) return SPATE_E_CLOCK;
  for (uint32_t i = 0; i < READS_MAX; i++) {
    const uint64_t now = spate_port_ticks();
    if (now != start) return now > start ? SPATE_OK : SPATE_E_CLOCK;
  }
  return SPATE_E_CLOCK;
}
