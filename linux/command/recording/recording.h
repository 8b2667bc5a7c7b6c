/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording session: sources, one file of the volume for each, and the recorder between them. begin.c opens it,
 * loop.c runs until the sources have ended, end.c closes it and reports the result.
 */
#ifndef SPATE_COMMAND_RECORDING_H
#define SPATE_COMMAND_RECORDING_H

#include "../monitor/monitor.h"
#include "../source/source.h"
#include "../text/fail.h"
#include "../text/progress.h"
#include "../volume.h"
#include "folders.h"
#include "loops.h"
#include "losses.h"
#include "notify.h"
#include "parts.h"

#include <spate/recorder.h>

/* The command line. */
struct recording_request {
  const char *target;
  const char *paths[SPATE_STREAMS_MAX], *sources[SPATE_STREAMS_MAX];
  unsigned count; /* of paths */
  unsigned source_count;
  double rate, seconds; /* 0: not given */
  double split_seconds; /* of a part, and */
  uint64_t split_bytes; /* its size; one of them at most. 0: not given */
  bool keeps;           /* --keep: one of the three */
  uint64_t keep_bytes;
  double keep_percent, keep_seconds;
  double before_seconds, after_seconds;
  const char *event, *trigger; /* NULL: not given */
  uint64_t size_bytes, ring_bytes;
  uint32_t checkpoint_ms;
  const char *monitor; /* an address; NULL: none */
};

/* One stream, and its file or files. */
struct recording {
  const char *pattern;                      /* the path as the user gave it: with fields of a time */
  char path[SPATE_RECORDER_PATH_BYTES_MAX]; /* of the first file */
  struct source source;
  struct spate_stream stream;
  struct spate_piece *pieces;
  struct spate_region region;
  void *table;
  uint64_t taken; /* slots handed to the stream */
  uint64_t reported_lost_bytes;
  struct losses losses;
  struct part part;
  struct looping looping;
  uint64_t tail_end_bytes; /* of the clip, with the last tail that was given; and when */
  double tail_seconds;
  enum spate_error refused; /* why the stream accepts no more data; OK: it does */
};

/* The last sleep of nap(). */
struct nap {
  long ms;                  /* 0: the last wait was not a nap */
  uint32_t done, in_flight; /* pieces, when the nap began */
};

struct session {
  struct volume volume;
  struct spate_recorder recorder;
  struct recording recordings[SPATE_STREAMS_MAX];
  unsigned count;
  struct folders folders;
  bool warned;
  bool discarded; /* a clip that had no data: folders that were made for it may be empty */
  bool removed;   /* the kernel wants the drive back */
  enum target_trouble trouble;
  unsigned turns;
  struct nap nap;
  struct notify notify;
  double next_look_s;
  struct parts parts;
  struct loops loops;
  struct progress progress; /* from recording_work() on */
  bool working;
  struct monitor *monitor; /* NULL: none */
  double next_report_s;
};

/* True if the source is the synthetic sensor. */
bool recording_is_synthetic(const char *source);

/* Opens the sources and the target, checks every path, and makes the files. On an error it removes the files and
 * folders that it has made, and ends the program. From here on, SIGINT, SIGTERM and SIGHUP end the recording.
 */
void recording_begin(struct session *session, const struct recording_request *request);

/* Returns when the sources have ended, the time is over, a signal came, or no file accepts more data. */
void recording_work(struct session *session, const struct recording_request *request);
bool recording_interrupted(void);
/* Releases the slots that are written to the source, and reports the source's losses to the recorder. */
void recording_release(struct recording *recording);

/* Closes the files and the volume, and reports on standard error; with `json`, also as JSON on standard output. */
enum exit_status recording_end(struct session *session, double seconds, bool json);

#endif
