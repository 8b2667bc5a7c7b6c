/* SPDX-License-Identifier: Apache-2.0 */
/* How warm a target's drive is, as far as it says. */
#ifndef SPATE_HOSTED_TEMPERATURE_H
#define SPATE_HOSTED_TEMPERATURE_H

#include "target.h"

struct temperature {
  int16_t celsius;
  int16_t warning_celsius, critical_celsius; /* 0: not stated */
};

/*
 * Of a stripe the warmest member's. A drive under the library's own driver is asked, and answers at a later call; the
 * kernel's driver is asked through hwmon. False: it is not known, or not yet. Call it once a second or so.
 */
bool temperature_read(struct target *target, struct temperature *temperature);

#endif
