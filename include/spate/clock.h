/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A check of the board's clock. All deadlines and checkpoints depend on it: if the clock is stopped, no deadline passes
 * and no checkpoint is made.
 */
#ifndef SPATE_CLOCK_H
#define SPATE_CLOCK_H

#include <spate/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Check the clock. The functions that open a controller or a recorder call this; on a new board call it first. It needs
 * only a few reads of a clock that works. CLOCK: the rate is 0, the clock runs backwards, or it does not change in 2^20
 * reads. */
SPATE_MUST_CHECK enum spate_error spate_clock_check(void);

#ifdef __cplusplus
}
#endif
#endif
