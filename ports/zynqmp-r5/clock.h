/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_PORTS_CLOCK_H
#define SPATE_PORTS_CLOCK_H

/* Starts what spate_port_ticks() reads. */
void clock_start(void);

#endif
