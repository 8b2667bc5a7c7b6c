/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results so far, in a file beside the profile: FILE.state. The file is replaced as a whole after each step, so a
 * kill or a power cut loses only the step that was running.
 */
#ifndef SPATE_COMMAND_CALIBRATE_STATE_H
#define SPATE_COMMAND_CALIBRATE_STATE_H

#include "results.h"

/* Replaces the file at `path` by `text`: writes a new file, synchronises it, and renames it. Ends the program on an
 * error. */
void calibrate_replace_file(const char *path, const char *text, size_t bytes);

void calibrate_state_save(const char *path, const struct calibrate_drive *drive,
                          const struct calibrate_results *results);
/* False: there is no such file. Ends the program if it belongs to another drive, or is not a state file. */
bool calibrate_state_load(const char *path, const struct calibrate_drive *drive, struct calibrate_results *results);

#endif
