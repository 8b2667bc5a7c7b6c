/* SPDX-License-Identifier: Apache-2.0 */
/* The streams that all steps write, and what they read from their curves. */
#ifndef SPATE_COMMAND_CALIBRATE_STREAMS_H
#define SPATE_COMMAND_CALIBRATE_STREAMS_H

#include "load.h"
#include "results.h"

#define CALIBRATE_IO_BYTES (UINT32_C(128) << 10)
#define CALIBRATE_DEPTH    16u
#define CALIBRATE_PAGE     4096u

/* `share` of the drive, rounded down to whole requests. */
uint64_t calibrate_share(const struct load *load, double share);
/* A long stream of writes. */
struct load_stream calibrate_write(uint64_t at, uint64_t bytes);
/* The curve's segments, without the pauses that the step cache has found. */
bool calibrate_segments(struct load_curve *curve, const struct calibrate_results *results, unsigned most,
                        double skip_bytes, struct fit_segments *segments);

#endif
