/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor's program in the demo: it formats the drive, arms clips whose data the core takes from its own stream,
 * writes checkpoints during the stream, closes the clips and shuts the drive down. It does not depend on the
 * simulation.
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

/* Prints its progress. Returns false after printing which step failed. */
bool record_clips(uintptr_t registers, const struct recording_clip *clips, unsigned count);

#ifdef __cplusplus
}
#endif
#endif
