/* SPDX-License-Identifier: Apache-2.0 */
/* The results of the steps, in the profile's units; CALIBRATE_NONE: not found, or not measured. */
#ifndef SPATE_COMMAND_CALIBRATE_RESULTS_H
#define SPATE_COMMAND_CALIBRATE_RESULTS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALIBRATE_NONE ((double)NAN)

enum calibrate_step { CALIBRATE_LATENCY, CALIBRATE_CACHE, CALIBRATE_FULL, CALIBRATE_HEAT, CALIBRATE_STEPS };

/* "latency", "cache", "full", "heat". */
const char *calibrate_step_name(unsigned step);

#define CALIBRATE_DEPTHS 6u
extern const unsigned calibrate_depths[CALIBRATE_DEPTHS];

/* The drive, as described by Identify and the block device. */
struct calibrate_drive {
  char model[41], serial[21];
  uint64_t capacity_bytes;
  uint32_t transfer_bytes_max, queue_entries, atomic_bytes;
  uint32_t warning_c, critical_c; /* 0: not stated */
  uint8_t generation, lanes;      /* the best that the drive can do; 0: not known */
  uint8_t generation_now, lanes_now;
  bool volatile_cache;
};

struct calibrate_results {
  bool done[CALIBRATE_STEPS];

  /* latency */
  double command_ns, write_latency_ns, read_latency_ns, flush_ns, fua_ns, read_rate;
  double read_iops[CALIBRATE_DEPTHS], write_iops[CALIBRATE_DEPTHS];
  double read_qd1_ns, write_qd1_ns; /* as the host sees them */

  /* cache */
  double stretches; /* how many segments of one rate the stream had past the volatile cache */
  double slc_bytes, slc_rate, fold_bytes, fold_rate, direct_rate;
  double pause_bytes, pause_ms, buffer_bytes, slc_refill_rate, slc_rest_ms;

  /* full */
  double full_rate, slc_full_bytes;

  /* heat: what follows from temperatures alone */
  double idle_c, rise_per_rate; /* K per byte/s */
  double heat_constant_s;
};

/* The numbers by name, for the state file and JSON. calibrate_field() returns NULL past the last. */
struct calibrate_field {
  const char *name;
  size_t offset;
};
const struct calibrate_field *calibrate_field(unsigned index);

double calibrate_get(const struct calibrate_results *results, const struct calibrate_field *field);
void calibrate_set(struct calibrate_results *results, const struct calibrate_field *field, double value);
void calibrate_results_init(struct calibrate_results *results);

#endif
