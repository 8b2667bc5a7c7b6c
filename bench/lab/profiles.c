/* SPDX-License-Identifier: Apache-2.0 */
#include "experiments.h"

void lab_profiles(const struct lab_options *options, struct json *json) {
  (void)options;
  json_open(json, "profiles", '[');
  for (unsigned i = 0; sim_profile_at(i) != NULL; i++) {
    const struct sim_profile *profile = sim_profile_at(i);
    json_open(json, NULL, '{');
    json_string(json, "name", profile->name);
    json_string(json, "model", profile->model);
    json_integer(json, "capacity_bytes", profile->capacity_bytes);
    json_integer(json, "generation", profile->generation);
    json_integer(json, "lanes", profile->lanes);
    json_integer(json, "slc_bytes", profile->slc_bytes);
    json_real(json, "slc_rate", profile->slc_rate);
    json_real(json, "fold_rate", profile->fold_rate);
    json_real(json, "direct_rate", profile->direct_rate);
    json_real(json, "full_rate", profile->full_rate);
    json_real(json, "read_rate", profile->read_rate);
    json_real(json, "warning_c", profile->warning_c);
    json_real(json, "throttle_c", profile->throttle_c);
    json_real(json, "throttle_factor", profile->throttle_factor);
    json_close(json, '}');
  }
  json_close(json, ']');
}
