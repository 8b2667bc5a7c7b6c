/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load that a calibration step puts on the drive: streams, single requests, idle time. All times are those of the
 * port's clock. An error of the drive ends the program; the results of earlier steps are kept.
 */
#ifndef SPATE_COMMAND_CALIBRATE_LOAD_H
#define SPATE_COMMAND_CALIBRATE_LOAD_H

#include "../target/target.h"
#include "../text/progress.h"
#include "fit.h"

#define LOAD_CURVE_POINTS 4096u
#define LOAD_GAPS         2048u
#define LOAD_DEPTH_MAX    255u
#define LOAD_SAMPLES      2048u

struct load {
  struct target *target;
  struct spate_block *block;
  struct spate_region region;
  void *ring, *table;
  uint64_t bytes; /* of the drive */
  double ns_per_tick;
  struct progress progress;
  uint64_t moved_bytes; /* in this step, for its progress */
};

/* The target is open, and target_depth was LOAD_DEPTH_MAX. */
void load_open(struct load *load, struct target *target);
void load_close(struct load *load);

/* Starts the progress display of a step. */
void load_begin(struct load *load, const char *what, uint64_t total_bytes);
void load_end(struct load *load);

struct load_stream {
  enum spate_op op;
  uint64_t at, bytes;   /* the range, multiples of io_bytes; the stream starts over at its end */
  uint64_t total_bytes; /* 0: the range once */
  double seconds;       /* instead of total_bytes */
  uint32_t io_bytes, depth;
  bool random;
};

struct load_curve {
  struct fit_point points[LOAD_CURVE_POINTS];
  size_t count;
  struct fit_gap gaps[LOAD_GAPS]; /* times of 2 ms or more in which no request completed */
  size_t gap_count;
  bool gaps_lost; /* there were more than LOAD_GAPS: `gaps` is empty, because some of them alone prove nothing */
  double bytes, seconds, ios; /* totals */
  double latency_s;           /* mean of a request */
};

/* `curve` is filled in. */
void load_run(struct load *load, const struct load_stream *stream, struct load_curve *curve);

/* Issues one request after the other, each of `io_bytes`, and returns the median time in nanoseconds. SPATE_FLUSH
 * writes a page before each flush, and only the flush is timed. `submit_ns`: the host's part of the time, up to the
 * doorbell. */
double load_single(struct load *load, enum spate_op op, uint8_t flags, uint32_t io_bytes, uint64_t range_bytes,
                   unsigned count, double *submit_ns);

void load_flush(struct load *load);
void load_trim(struct load *load, uint64_t at, uint64_t bytes);
void load_idle(struct load *load, double seconds);

double load_now_s(const struct load *load);
/* Requests a reading; a later call returns it. False: the drive reports none, or not yet. */
bool load_celsius(struct load *load, double *celsius);

#endif
