/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found so far, in a file beside the profile: FILE.state. It is replaced as a whole after each step, so that a
 * kill or a power cut loses the step it falls into and nothing else.
 */
#ifndef SPATE_HOSTED_CALIBRATE_STATE_H
#define SPATE_HOSTED_CALIBRATE_STATE_H

#include "results.h"

/* Replace the file at `path` by `text`: a new file, synchronised, and renamed. Ends the program if it cannot. */
void calibrate_replace_file(const char *path, const char *text, size_t bytes);

void calibrate_state_save(const char *path, const struct calibrate_drive *drive,
                          const struct calibrate_results *results);
/* False: there is none. Ends the program if it is of another drive, or not such a file. */
bool calibrate_state_load(const char *path, const struct calibrate_drive *drive, struct calibrate_results *results);

#endif
