/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_PORTS_MACHINE_START_H
#define SPATE_PORTS_MACHINE_START_H

#include <stdbool.h>

/* What a machine has to do first, its clock for example: its folder may define it. False: the logic is not configured,
 * and an access to it would never end. */
bool machine_start(void);

#endif
