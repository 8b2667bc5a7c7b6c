/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a profile from the results. A comment after each key names its source. */
#ifndef SPATE_COMMAND_CALIBRATE_WRITER_H
#define SPATE_COMMAND_CALIBRATE_WRITER_H

#include "../../../sim/profiles/profile_text.h"
#include "results.h"

#define CALIBRATE_KEYS       64u
#define CALIBRATE_NOTE_BYTES 192u

struct calibrate_profile {
  struct sim_profile profile;
  char source[CALIBRATE_KEYS][CALIBRATE_NOTE_BYTES]; /* by sim_profile_field()'s number: "measured: ..." */
};

/* `ambient_c`: the temperature of the air; CALIBRATE_NONE: not known, so a value is assumed. */
void calibrate_compose(struct calibrate_profile *out, const struct calibrate_drive *drive,
                       const struct calibrate_results *results, double ambient_c);

/* The profile as text, to be freed by the caller. The text is parsed first, so that every written profile can be read.
 */
char *calibrate_text(const struct calibrate_profile *profile, const char *path, const char *heading, size_t *bytes);

#endif
