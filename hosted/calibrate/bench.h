/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a step of the calibration does to the drive: streams, single requests, idle time; each gives times of the port's
 * clock. An error of the drive ends the program: what earlier steps found is kept.
 */
#ifndef SPATE_HOSTED_CALIBRATE_BENCH_H
#define SPATE_HOSTED_CALIBRATE_BENCH_H

#include "../target/target.h"
#include "../text/progress.h"
#include "fit.h"

#define BENCH_CURVE_POINTS 4096u
#define BENCH_GAPS         2048u
#define BENCH_DEPTH_MAX    255u
#define BENCH_SAMPLES      2048u

struct bench {
  struct target *target;
  struct spate_block *block;
  struct spate_region region;
  void *ring, *table;
  uint64_t bytes; /* of the drive */
  double ns_per_tick;
  struct progress progress;
  uint64_t moved_bytes; /* of the step, for its progress */
};

/* The target is open, with BENCH_DEPTH_MAX asked for in target_depth. */
void bench_open(struct bench *bench, struct target *target);
void bench_close(struct bench *bench);

/* What the next lines of progress are about. */
void bench_begin(struct bench *bench, const char *what, uint64_t total_bytes);
void bench_end(struct bench *bench);

struct bench_stream {
  enum spate_op op;
  uint64_t at, bytes;   /* the range, multiples of io_bytes; it begins again when it is over */
  uint64_t total_bytes; /* 0: the range once */
  double seconds;       /* instead of total_bytes */
  uint32_t io_bytes, depth;
  bool random;
};

struct bench_curve {
  struct fit_point points[BENCH_CURVE_POINTS];
  size_t count;
  struct fit_gap gaps[BENCH_GAPS]; /* no request was completed for longer than 2 ms */
  size_t gap_count;
  bool gaps_lost; /* there were more than BENCH_GAPS: `gaps` is empty, because a part of them tells nothing */
  double bytes, seconds, ios; /* in all */
  double latency_s;           /* mean of a request */
};

/* `curve` is filled in. */
void bench_run(struct bench *bench, const struct bench_stream *stream, struct bench_curve *curve);

/* One request after the other, of `io_bytes` (0: a flush after each write of a block, of which only the flush is
 * timed): the median in nanoseconds. `submit_ns`: the host's part of it, until the drive was told. */
double bench_single(struct bench *bench, enum spate_op op, uint8_t flags, uint32_t io_bytes, uint64_t range_bytes,
                    unsigned count, double *submit_ns);

void bench_flush(struct bench *bench);
void bench_trim(struct bench *bench, uint64_t at, uint64_t bytes);
void bench_idle(struct bench *bench, double seconds);

double bench_now_s(const struct bench *bench);
/* Asked for now, answered at a later call. False: not known, or not yet. */
bool bench_celsius(struct bench *bench, double *celsius);

#endif
