/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far long work is, on standard error. For people one line that changes on a terminal, a line every ten seconds
 * elsewhere; for programs a line of JSON each second; or nothing.
 */
#ifndef SPATE_HOSTED_PROGRESS_H
#define SPATE_HOSTED_PROGRESS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum progress_style { PROGRESS_PEOPLE, PROGRESS_JSON, PROGRESS_NONE };
extern enum progress_style progress_style; /* what --progress asked for */

struct progress {
  const char *what;
  uint64_t total_bytes; /* 0: not known */
  uint64_t shown_bytes;
  struct timespec begun, shown;
  bool terminal, any;
};

#define PROGRESS_NO_TEMPERATURE INT_MIN

/* What a recording has to say beside its bytes. */
struct progress_recording {
  uint64_t durable_bytes; /* that a power cut does not take: the last checkpoint */
  uint64_t room_bytes;    /* that still fit into the files */
  double ring_percent;    /* of the fullest ring */
  const char *pressure;   /* its level: calm, watch, slow, critical */
  const char *heat;       /* the drive's, the same words */
  int celsius;            /* PROGRESS_NO_TEMPERATURE: not known */
};

void progress_begin(struct progress *progress, const char *what, uint64_t total_bytes);
/* Shown four times a second at most. `recording` may be NULL. */
void progress_show(struct progress *progress, uint64_t bytes, const struct progress_recording *recording);
void progress_end(struct progress *progress);

/* Since the beginning. */
double progress_seconds(const struct progress *progress);

#endif
