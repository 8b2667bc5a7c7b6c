/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a profile, and the one set of rules for it. Those that are compiled in and those that are files are
 * parsed by the same function; who writes a profile takes the keys, their order and their units from the same table.
 *
 * A profile has one line for each key: KEY VALUE [UNIT]  # KIND: where the number comes from. Blank lines and lines
 * that begin with '#' are for people. Anything else is an error, with its line.
 */
#ifndef SPATE_SIM_PROFILE_TEXT_H
#define SPATE_SIM_PROFILE_TEXT_H

#include "profile.h"

#include <stddef.h>

#define SIM_PROFILE_WHY_BYTES  512u
#define SIM_PROFILE_FILE_BYTES 65536u /* a profile has four thousand; more than this is another file */

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
  const struct sim_profile_unit *units; /* NULL: text, yes or no. The end has no name (NULL) */
  double least, most;                   /* of text: characters */
};

/* In the order in which a profile is written; NULL behind the last. */
const struct sim_profile_field *sim_profile_field(unsigned index);

/*
 * `text` of `bytes`, from a file that `file` names in errors, into `profile`, whose name becomes `file` without folder
 * and ending. False: `why` says FILE:LINE: what is wrong, and `profile` holds nothing of use.
 */
bool sim_profile_parse(struct sim_profile *profile, const char *file, const char *text, size_t bytes, char *why);

/* The same of the file at `path`, which must be there. */
bool sim_profile_load(struct sim_profile *profile, const char *path, char *why);

#endif
