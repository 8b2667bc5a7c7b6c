/* SPDX-License-Identifier: Apache-2.0 */
#include "results.h"

#include <math.h>
#include <string.h>

const unsigned calibrate_depths[CALIBRATE_DEPTHS] = {1, 4, 16, 64, 128, 255};

const char *calibrate_step_name(unsigned step) {
  static const char *const names[] = {"latency", "cache", "full", "heat"};

  return step < CALIBRATE_STEPS ? names[step] : NULL;
}

#define FIELD(member)                                                                                                  \
  { #member, offsetof(struct calibrate_results, member) }
#define DEPTH(member, index, depth)                                                                                    \
  { #member "_depth_" #depth, offsetof(struct calibrate_results, member) + (index) * sizeof(double) }

static const struct calibrate_field fields[] = {FIELD(command_ns),
                                                FIELD(write_latency_ns),
                                                FIELD(read_latency_ns),
                                                FIELD(flush_ns),
                                                FIELD(fua_ns),
                                                FIELD(read_rate),
                                                FIELD(read_qd1_ns),
                                                FIELD(write_qd1_ns),
                                                DEPTH(read_iops, 0, 1),
                                                DEPTH(read_iops, 1, 4),
                                                DEPTH(read_iops, 2, 16),
                                                DEPTH(read_iops, 3, 64),
                                                DEPTH(read_iops, 4, 128),
                                                DEPTH(read_iops, 5, 255),
                                                DEPTH(write_iops, 0, 1),
                                                DEPTH(write_iops, 1, 4),
                                                DEPTH(write_iops, 2, 16),
                                                DEPTH(write_iops, 3, 64),
                                                DEPTH(write_iops, 4, 128),
                                                DEPTH(write_iops, 5, 255),
                                                FIELD(stretches),
                                                FIELD(slc_bytes),
                                                FIELD(slc_rate),
                                                FIELD(fold_bytes),
                                                FIELD(fold_rate),
                                                FIELD(direct_rate),
                                                FIELD(pause_bytes),
                                                FIELD(pause_ms),
                                                FIELD(buffer_bytes),
                                                FIELD(slc_refill_rate),
                                                FIELD(slc_rest_ms),
                                                FIELD(full_rate),
                                                FIELD(slc_full_bytes),
                                                FIELD(idle_c),
                                                FIELD(rise_per_rate),
                                                FIELD(heat_constant_s)};

const struct calibrate_field *calibrate_field(unsigned index) {
  return index < sizeof fields / sizeof fields[0] ? &fields[index] : NULL;
}

double calibrate_get(const struct calibrate_results *results, const struct calibrate_field *field) {
  double value;

  memcpy(&value, (const uint8_t *)results + field->offset, sizeof value);
  return value;
}

void calibrate_set(struct calibrate_results *results, const struct calibrate_field *field, double value) {
  memcpy((uint8_t *)results + field->offset, &value, sizeof value);
}

void calibrate_results_init(struct calibrate_results *results) {
  *results = (struct calibrate_results){.done = {false}};
  for (unsigned i = 0; calibrate_field(i) != NULL; i++)
    calibrate_set(results, calibrate_field(i), CALIBRATE_NONE);
}
