/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board's clock, proved. All deadlines and checkpoints hang on it: with a clock that stands still nothing would
 * ever be late, and no checkpoint due.
 */
#ifndef SPATE_CLOCK_H
#define SPATE_CLOCK_H

#include <spate/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whoever opens a controller or a recorder asks this; a new board asks it first. Costs a few reads of a clock that
 * works. CLOCK: its rate is 0, it goes back, or it does not change in 2^20 reads. */
SPATE_MUST_CHECK enum spate_error spate_clock_check(void);

#ifdef __cplusplus
}
#endif
#endif
