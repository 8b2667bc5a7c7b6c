/* SPDX-License-Identifier: Apache-2.0 */
/* The outer cache PL310 (L2C-310, Arm DDI 0246) of a board whose machine.h defines MACHINE_PL310. */
#ifndef SPATE_PORTS_PL310_H
#define SPATE_PORTS_PL310_H

#include <stdint.h>

/* For start.S: turns the outer cache on, which is off. The processor's own data caches are off and empty. */
void pl310_start(uintptr_t base);

/* What the board must do while the outer cache is off, if anything: a board may define it. */
__attribute__((weak)) void pl310_board(void);

#endif
