/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a processor beside the core does in the demo: format the drive, arm clips whose data the core takes from its own
 * stream, checkpoint while it streams, close, shut down. Nothing in it knows that the core is simulated.
 */
#ifndef SPATE_DEMO_RECORDING_H
#define SPATE_DEMO_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct recording_clip {
  const char *path; /* on the volume */
  uint64_t bytes;
};

/* Prints what it does. False: it has said where it failed. */
bool record_clips(uintptr_t registers, const struct recording_clip *clips, unsigned count);

#ifdef __cplusplus
}
#endif
#endif
