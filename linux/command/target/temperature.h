/* SPDX-License-Identifier: Apache-2.0 */
/* The temperature of a target's drive, if it reports one. */
#ifndef SPATE_COMMAND_TEMPERATURE_H
#define SPATE_COMMAND_TEMPERATURE_H

#include "target.h"

struct temperature {
  int16_t celsius;
  int16_t warning_celsius, critical_celsius; /* 0: not stated */
};

/*
 * For a stripe, the temperature of the warmest member. A drive under the library's own driver is asked by one call, and
 * a later call returns the answer; the kernel's driver is asked through hwmon. False: not known, or not yet. Call it
 * about once a second.
 */
bool temperature_read(struct target *target, struct temperature *temperature);

#endif
