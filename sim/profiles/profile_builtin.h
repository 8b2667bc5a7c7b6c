/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of the *.profile files in the order of their names, compiled in by embed.py. */
#ifndef SPATE_SIM_PROFILE_BUILTIN_H
#define SPATE_SIM_PROFILE_BUILTIN_H

#include <stddef.h>

struct sim_profile_builtin {
  const char *file;
  const char *text;
  size_t bytes;
};

extern const struct sim_profile_builtin sim_profile_builtin[];
extern const unsigned sim_profile_builtin_count;

#endif
