/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_PORTS_AARCH64_START_H
#define SPATE_PORTS_AARCH64_START_H

#include <stdint.h>

/* The exception level in which the firmware was started: 1, 2 or 3. It runs in EL1. */
extern const uint32_t start_level;

#endif
