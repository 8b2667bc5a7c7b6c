/* SPDX-License-Identifier: Apache-2.0 */
/* The processor's program in test_recording_loop.cpp. It does not depend on the simulation. */
#ifndef SPATE_RTL_RECORDING_LOOP_H
#define SPATE_RTL_RECORDING_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The files of its triggers. */
#define RECORDING_LOOP_FIRST  "ONE.RAW"
#define RECORDING_LOOP_SECOND "TWO.RAW"

/* An empty volume for it. `image` is zeros. */
void recording_loop_volume(uint8_t *image, uint64_t bytes);

/* Records the core's write stream in a loop, on the volume that is on the drive, with two triggers. False: a step
 * failed, and was printed. *sent_bytes: what the core has taken from the stream. */
bool recording_loop(uintptr_t registers, uint64_t *sent_bytes);

#ifdef __cplusplus
}
#endif

#endif
