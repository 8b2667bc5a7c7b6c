/* SPDX-License-Identifier: Apache-2.0 */
/* Measures single requests, requests by queue depth, and sequential reads, on a gigabyte of a trimmed drive. */
#include "link.h"
#include "steps.h"
#include "streams.h"

#include <math.h>

#define FIRST_BYTES (UINT64_C(1) << 30)
#define SINGLES     1000u
#define REST_S      2.0
#define DEPTH_S     0.25
#define READ_S      0.5
#define NS_PER_S    1e9

/* The latency of the link in one direction. The lab and spate plan add the same number again. */
#define CROSSING_NS 250.0

/*
 * A profile's write latency begins when the data are in the drive. The host measures more: the doorbell (one crossing
 * of the link), the fetch of the submission entry (two), the front end, the fetch of the data (two), the completion
 * (one).
 */
static double of_write(double seen_ns, double submit_ns, double command_ns, double link_rate) {
  return seen_ns - submit_ns - 6 * CROSSING_NS - command_ns - CALIBRATE_PAGE / link_rate * NS_PER_S;
}

/* Four crossings: the data travel in the same direction as the completion, ahead of it. */
static double of_read(double seen_ns, double submit_ns, double command_ns, double link_rate, double read_rate) {
  return seen_ns - submit_ns - 4 * CROSSING_NS - command_ns - CALIBRATE_PAGE / link_rate * NS_PER_S -
         CALIBRATE_PAGE / read_rate * NS_PER_S;
}

static double of_flush(double seen_ns, double submit_ns, double command_ns) {
  return seen_ns - submit_ns - 4 * CROSSING_NS - command_ns;
}

static struct load_curve curve;

/* CALIBRATE_NONE: the queue of the drive or of the kernel is not that deep. */
static double iops(struct load *load, enum spate_op op, unsigned depth, uint64_t range_bytes) {
  const struct load_stream stream = {
      .op = op, .bytes = range_bytes, .seconds = DEPTH_S, .io_bytes = CALIBRATE_PAGE, .depth = depth, .random = true};

  if (depth > load->block->depth) return CALIBRATE_NONE;
  load_run(load, &stream, &curve);
  return curve.ios / curve.seconds;
}

/* The drive's time for one command: with enough requests in flight, its front end limits their rate. */
static double by_depth(struct load *load, uint64_t range_bytes, struct calibrate_results *results) {
  double most = 0;

  for (unsigned i = 0; i < CALIBRATE_DEPTHS; i++) {
    results->read_iops[i] = iops(load, SPATE_READ, calibrate_depths[i], range_bytes);
    most = fmax(most, results->read_iops[i]);
  }
  for (unsigned i = 0; i < CALIBRATE_DEPTHS; i++) {
    results->write_iops[i] = iops(load, SPATE_WRITE, calibrate_depths[i], range_bytes);
    most = fmax(most, results->write_iops[i]);
  }
  load_flush(load);
  return NS_PER_S / most;
}

static double read_rate(struct load *load, uint64_t range_bytes) {
  const struct load_stream stream = {
      .op = SPATE_READ, .bytes = range_bytes, .seconds = READ_S, .io_bytes = CALIBRATE_IO_BYTES, .depth = 32};
  struct fit_segments segments;

  load_run(load, &stream, &curve);
  if (fit_segments(curve.points, curve.count, NULL, 0, 0, curve.bytes / 10, 1, &segments))
    return segments.segment[0].rate;
  return curve.bytes / curve.seconds;
}

void calibrate_latency(struct load *load, const struct calibrate_drive *drive, struct calibrate_results *results) {
  const uint64_t eighth = calibrate_share(load, 0.125), range = eighth < FIRST_BYTES ? eighth : FIRST_BYTES;
  const double down = calibrate_link_down(drive->generation_now, drive->lanes_now);
  const double up = calibrate_link_up(drive->generation_now, drive->lanes_now);
  struct load_stream first = calibrate_write(0, range);
  double submit_ns, seen_ns;

  load_trim(load, 0, load->bytes);
  load_run(load, &first, &curve);
  load_flush(load);
  load_idle(load, REST_S);
  results->write_qd1_ns = load_single(load, SPATE_WRITE, 0, CALIBRATE_PAGE, range, SINGLES, &submit_ns);
  const double write_submit_ns = submit_ns;
  seen_ns = load_single(load, SPATE_WRITE, SPATE_IO_FUA, CALIBRATE_PAGE, range, SINGLES, &submit_ns);
  results->fua_ns = fmax(0, seen_ns - results->write_qd1_ns);
  const double flush_ns = load_single(load, SPATE_FLUSH, 0, 0, range, SINGLES / 10, &submit_ns);
  const double flush_submit_ns = submit_ns;
  results->read_qd1_ns = load_single(load, SPATE_READ, 0, CALIBRATE_PAGE, range, SINGLES, &submit_ns);
  results->read_rate = read_rate(load, range);
  results->command_ns = by_depth(load, range, results);
  results->write_latency_ns = fmax(0, of_write(results->write_qd1_ns, write_submit_ns, results->command_ns, down));
  results->flush_ns = fmax(0, of_flush(flush_ns, flush_submit_ns, results->command_ns));
  results->read_latency_ns =
      fmax(0, of_read(results->read_qd1_ns, submit_ns, results->command_ns, up, results->read_rate));
}
