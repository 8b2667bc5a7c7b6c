/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_PORTS_CLOCK_H
#define SPATE_PORTS_CLOCK_H

#define CLOCK_CYCLES 64u /* of the processor, a tick */

/* Starts what spate_port_ticks() reads. */
void clock_start(void);

#endif
