/* SPDX-License-Identifier: Apache-2.0 */
/* The port's clock by itself: it has a rate, advances, and never runs backwards. */
#include "checkup.h"

#include <spate/clock.h>

#define READS    65536u
#define RATE_MIN 1000u /* deadlines are in milliseconds */

static const char *fault(void) {
  const uint64_t rate = spate_port_ticks_per_second();

  if (rate == 0) return "its rate is 0";
  if (rate < RATE_MIN) return "its rate is below 1 kHz";
  uint64_t last = spate_port_ticks();
  for (uint32_t i = 0; i < READS; i++) {
    const uint64_t now = spate_port_ticks();
    if (now < last) return "it runs backwards";
    last = now;
  }
  return spate_clock_check() == SPATE_OK ? NULL : "it is stopped";
}

bool spate_checkup_clock(struct spate_checkup *checkup) {
  const char *name = fault();

  spate_checkup_fact(checkup, "clock", NULL, "{0} ticks/s",
                     (struct checkup_values){.numbers = {spate_port_ticks_per_second()}});
  if (name != NULL) spate_checkup_found(checkup, SPATE_DOCTOR_CLOCK_WRONG, (struct checkup_values){.name = name});
  return name == NULL;
}
