/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_PORTS_ARMV7_START_H
#define SPATE_PORTS_ARMV7_START_H

#include <stdint.h>

#define START_HYPERVISOR 0x1a

/* The mode in which the firmware was started (Arm ARM v7, table B1-1). It runs in supervisor mode. */
extern const uint32_t start_mode;

#endif
