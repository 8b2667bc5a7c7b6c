/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a profile, and its only set of rules. One function parses both the compiled-in profiles and those in
 * files. A program that writes a profile takes the keys, their order and their units from the same table.
 *
 * A profile has one line for each key: KEY VALUE [UNIT]  # KIND: where the number comes from. Blank lines and lines
 * that begin with '#' are ignored. Anything else is an error, which names its line.
 */
#ifndef SPATE_SIM_PROFILE_TEXT_H
#define SPATE_SIM_PROFILE_TEXT_H

#include "profile.h"

#include <stddef.h>

#define SIM_PROFILE_WHY_BYTES  512u
#define SIM_PROFILE_FILE_BYTES 65536u /* a profile has about 4000; a longer file is no profile */

enum sim_profile_type {
  SIM_PROFILE_TEXT,
  SIM_PROFILE_BOOL,
  SIM_PROFILE_U8,
  SIM_PROFILE_U16,
  SIM_PROFILE_U32,
  SIM_PROFILE_U64,
  SIM_PROFILE_REAL,
};

struct sim_profile_unit {
  const char *name; /* "": a number without a unit */
  double worth;     /* in the field's own unit */
};

struct sim_profile_field {
  const char *key;
  size_t offset; /* in struct sim_profile */
  enum sim_profile_type type;
  const struct sim_profile_unit *units; /* NULL: text, yes or no. Ends with a NULL name */
  double least, most;                   /* of text: characters */
};

/* The fields in the order in which a profile is written. NULL after the last. */
const struct sim_profile_field *sim_profile_field(unsigned index);

/*
 * Parses `bytes` of `text` into `profile`. `file` is the file's name in errors; without folder and ending it becomes
 * the profile's name. False: `why` says FILE:LINE: what is wrong, and `profile` is not valid.
 */
bool sim_profile_parse(struct sim_profile *profile, const char *file, const char *text, size_t bytes, char *why);

/* The same for the file at `path`, which must exist. */
bool sim_profile_load(struct sim_profile *profile, const char *path, char *why);

#endif
