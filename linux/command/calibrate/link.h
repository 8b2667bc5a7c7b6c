/* SPDX-License-Identifier: Apache-2.0 */
/* What the drive's link carries, as the lab and spate plan compute it. */
#ifndef SPATE_COMMAND_CALIBRATE_LINK_H
#define SPATE_COMMAND_CALIBRATE_LINK_H

#include <stdint.h>

/* The most in each direction, in bytes per second. */
double calibrate_link_down(uint8_t generation, uint8_t lanes);
double calibrate_link_up(uint8_t generation, uint8_t lanes);

#endif
