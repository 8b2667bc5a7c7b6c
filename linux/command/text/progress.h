/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows the progress of long work on standard error: on a terminal one line that is rewritten, elsewhere a line every
 * ten seconds, with --progress json a line of JSON each second, with --progress none nothing.
 */
#ifndef SPATE_COMMAND_PROGRESS_H
#define SPATE_COMMAND_PROGRESS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum progress_style { PROGRESS_PEOPLE, PROGRESS_JSON, PROGRESS_NONE };
extern enum progress_style progress_style; /* set by --progress */

struct progress {
  const char *what;
  uint64_t total_bytes; /* 0: not known */
  uint64_t shown_bytes;
  struct timespec begun, shown;
  bool terminal, any;
};

#define PROGRESS_NO_TEMPERATURE INT_MIN

/* What a recording shows in addition to its bytes. */
struct progress_recording {
  uint64_t durable_bytes;                    /* published by the last checkpoint: they survive a power cut */
  uint64_t room_bytes;                       /* that still fit in the files' reservations */
  uint64_t lost_bytes, lost_datagrams, gaps; /* so far; seconds in which something was lost */
  double ring_percent;                       /* how full the fullest ring is */
  const char *pressure;                      /* the highest level of all streams: calm, watch, slow, critical */
  const char *heat;                          /* the level of the drive's heat, with the same words */
  int celsius;                               /* PROGRESS_NO_TEMPERATURE: not known */
};

void progress_begin(struct progress *progress, const char *what, uint64_t total_bytes);
/* Shows the progress four times a second at most. `recording` may be NULL. */
void progress_show(struct progress *progress, uint64_t bytes, const struct progress_recording *recording);
/* For a reader who is not at the terminal: what progress_show() shows, without the name. Returns false, and leaves
 * `text`, if the last text is less than `interval_s` old. Not for a progress that progress_show() shows. */
#define PROGRESS_TEXT_BYTES 512
bool progress_text(struct progress *progress, uint64_t bytes, const struct progress_recording *recording,
                   double interval_s, char text[PROGRESS_TEXT_BYTES]);
/* Removes the line from a terminal, so that a message can take its place. */
void progress_clear(const struct progress *progress);
void progress_end(struct progress *progress);

/* Seconds since progress_begin(). */
double progress_seconds(const struct progress *progress);

#endif
