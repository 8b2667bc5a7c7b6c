/* SPDX-License-Identifier: Apache-2.0 */
/* The drives there are, by number and by name. */
#include "profile.h"

#include <stddef.h>
#include <string.h>

/* Made of profiles/ by profiles/compile.py. */
extern const struct sim_profile sim_profiles[];
extern const unsigned sim_profile_count;

const struct sim_profile *sim_profile_at(unsigned index) {
  return index < sim_profile_count ? &sim_profiles[index] : NULL;
}

const struct sim_profile *sim_profile_find(const char *name) {
  for (unsigned i = 0; i < sim_profile_count; i++)
    if (strcmp(sim_profiles[i].name, name) == 0) return &sim_profiles[i];
  return NULL;
}
