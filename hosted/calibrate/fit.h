/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From curves to numbers: pure functions, without a drive. docs/use/calibrate.md argues why each finds what it looks
 * for.
 */
#ifndef SPATE_HOSTED_CALIBRATE_FIT_H
#define SPATE_HOSTED_CALIBRATE_FIT_H

#include <stdbool.h>
#include <stddef.h>

/* When so many bytes were done, and a time in which nothing was. */
struct fit_point {
  double bytes, seconds;
};
struct fit_gap {
  double at_bytes, seconds;
};

/* Stretches of a curve at one rate each. The first begins at 0, the others at first_bytes. */
#define FIT_SEGMENTS_MAX 4u
struct fit_segment {
  double first_bytes, rate; /* rate: bytes per second, the drive's pauses taken out */
  double offset_s;          /* its line at no bytes: seconds = offset_s + bytes / rate */
};
struct fit_segments {
  struct fit_segment segment[FIT_SEGMENTS_MAX];
  unsigned count;
  double pause_s; /* a pause, as long as the curve says; 0: there were none */
};

/* The middle one; 0 of none. Sorts `values`. */
double fit_median(double *values, size_t count);

/* value = slope * x + offset. False: fewer than two points, or all at one x. */
bool fit_line(const double *x, const double *y, size_t count, double *slope, double *offset);

/*
 * Regular pauses: gaps of one length at one distance. False: there are none, or they come at random, and then `gaps`
 * are no pauses. `gaps` becomes those that are.
 */
bool fit_pauses(struct fit_gap *gaps, size_t *count, double *every_bytes);
/* In a curve that is too short for that: the gaps that are like pauses of `pause_s` known before. */
void fit_known_pauses(struct fit_gap *gaps, size_t *count, double pause_s);

/*
 * The curve as at most `most` segments whose rates differ by a twentieth or more. `gaps` are the pauses in it, each of
 * `pause_s`; 0: the curve tells how long. The first `skip_bytes` are not looked at. False: too few points.
 */
bool fit_segments(const struct fit_point *points, size_t count, const struct fit_gap *gaps, size_t gap_count,
                  double pause_s, double skip_bytes, unsigned most, struct fit_segments *out);

/*
 * The bytes that a medium took at `before` before it went on at `after.rate`. What the host sees of it is delayed by a
 * buffer of `buffer_bytes`, which is full once the medium is the slower one: so the line behind the edge tells, and it
 * does so whatever the link carried before.
 */
double fit_edge(const struct fit_segment *after, double before, double buffer_bytes);

/* The first stretch that is the medium's: one in which the buffer filled at the link's rate is none. */
unsigned fit_medium(const struct fit_segments *segments, double buffer_bytes);

/* A temperature at a time. */
struct fit_heat_point {
  double seconds, celsius;
};

/* A sensor tells whole degrees: the curve is known exactly only where the reading changes, half-way between two. The
 * points become those; returns how many. */
size_t fit_crossings(struct fit_heat_point *points, size_t count);

/*
 * Two curves of one drive that approach two temperatures with the same time constant: while it works, and while it
 * cools. False: fewer than four points in one, or no such constant.
 */
bool fit_heat(const struct fit_heat_point *warming, size_t warming_count, const struct fit_heat_point *cooling,
              size_t cooling_count, double *constant_s, double *load_c, double *idle_c);

#endif
