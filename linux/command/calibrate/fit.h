/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fits parameters to measured curves: pure functions, without a drive. docs/use/calibrate.md explains each of them.
 */
#ifndef SPATE_COMMAND_CALIBRATE_FIT_H
#define SPATE_COMMAND_CALIBRATE_FIT_H

#include <stdbool.h>
#include <stddef.h>

/* A point: `bytes` had completed after `seconds`. A gap: nothing completed for `seconds`, after `at_bytes`. */
struct fit_point {
  double bytes, seconds;
};
struct fit_gap {
  double at_bytes, seconds;
};

/* Segments of a curve, each at one rate. The first begins at 0, the others at first_bytes. */
#define FIT_SEGMENTS_MAX 4u
struct fit_segment {
  double first_bytes, rate; /* rate: bytes per second, without the drive's pauses */
  double offset_s;          /* the line is seconds = offset_s + bytes / rate */
};
struct fit_segments {
  struct fit_segment segment[FIT_SEGMENTS_MAX];
  unsigned count;
  double pause_s; /* the length of a pause as found in the curve; 0: there were none */
};

/* The median; 0 if there are no values. Sorts `values`. */
double fit_median(double *values, size_t count);

/* value = slope * x + offset. False: fewer than two points, or all at one x. */
bool fit_line(const double *x, const double *y, size_t count, double *slope, double *offset);

/*
 * Finds regular pauses: gaps of one length at one distance. Removes all other gaps from `gaps`. False: there are no
 * pauses, or they come at random; then `gaps` becomes empty.
 */
bool fit_pauses(struct fit_gap *gaps, size_t *count, double *every_bytes);
/* For a curve that is too short for fit_pauses(): keeps the gaps that are about as long as the known `pause_s`. */
void fit_known_pauses(struct fit_gap *gaps, size_t *count, double pause_s);

/*
 * Divides the curve into at most `most` segments whose rates differ by a twentieth or more. `gaps` are the pauses in
 * it, each of length `pause_s`; 0: the length is found from the curve. The first `skip_bytes` are ignored. False: too
 * few points.
 */
bool fit_segments(const struct fit_point *points, size_t count, const struct fit_gap *gaps, size_t gap_count,
                  double pause_s, double skip_bytes, unsigned most, struct fit_segments *out);

/*
 * The bytes that the media accepted at the rate `before`, until it continued at `after.rate`. A buffer of
 * `buffer_bytes` hides the edge from the host at first; it is full once the media is slower than the link. So the
 * result is computed from the line after the edge, and does not depend on the link's rate before it.
 */
double fit_edge(const struct fit_segment *after, double before, double buffer_bytes);

/* The first segment at the media's rate: skips one in which the buffer filled at the link's rate. */
unsigned fit_medium(const struct fit_segments *segments, double buffer_bytes);

/* A temperature at a time. */
struct fit_heat_point {
  double seconds, celsius;
};

/* A sensor reports whole degrees, so the temperature is known exactly only when the reading changes: it is then
 * half-way between the two readings. Replaces the points by these, and returns how many there are. */
size_t fit_crossings(struct fit_heat_point *points, size_t count);

/*
 * Fits two curves of one drive, while it works and while it cools, that approach two temperatures with the same time
 * constant. False: one has fewer than four points, or there is no such constant.
 */
bool fit_heat(const struct fit_heat_point *warming, size_t warming_count, const struct fit_heat_point *cooling,
              size_t cooling_count, double *constant_s, double *load_c, double *idle_c);

#endif
