/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording session: sources, a file of the volume for each, and the recorder between them. begin.c makes it, loop.c
 * works until the sources have ended, end.c closes it and says what came of it.
 */
#ifndef SPATE_HOSTED_RECORDING_H
#define SPATE_HOSTED_RECORDING_H

#include "../source/source.h"
#include "../text/fail.h"
#include "../volume.h"

#include <spate/recorder.h>

/* What the user asked for. */
struct recording_request {
  const char *target;
  const char *paths[SPATE_STREAMS_MAX], *sources[SPATE_STREAMS_MAX];
  unsigned count; /* of paths */
  unsigned source_count;
  double rate, seconds; /* 0: not given */
  uint64_t size_bytes, ring_bytes;
  uint32_t checkpoint_ms;
};

/* One file. */
struct recording {
  const char *path;
  struct source source;
  struct spate_stream stream;
  struct spate_piece *pieces;
  struct spate_region region;
  void *table;
  uint64_t taken; /* slots handed to the stream */
  uint64_t reported_lost_bytes;
  enum spate_error refused; /* why the stream takes no more; OK: it does */
};

/* The last one between two turns. */
struct nap {
  long ms;                  /* 0: the last wait was another */
  uint32_t done, in_flight; /* pieces, when it began */
};

struct session {
  struct volume volume;
  struct spate_recorder recorder;
  struct recording recordings[SPATE_STREAMS_MAX];
  unsigned count;
  bool warned;
  bool removed; /* the kernel wants the drive back */
  unsigned turns;
  struct nap nap;
  double next_temperature_s;
};

/* Is it the sensor, and not a path? */
bool recording_is_synthetic(const char *source);

/* Opens the sources and the target, checks every path, and makes the files. Ends the program if that is impossible;
 * the files that it had made by then are gone again, new directories stay. Signals that end a program end the recording
 * from here on. */
void recording_begin(struct session *session, const struct recording_request *request);

/* Until the sources have ended, the time is over, a signal came, or no file takes any more. */
void recording_work(struct session *session, const struct recording_request *request);
bool recording_interrupted(void);
/* Gives the slots that are written back to the source, and tells the recorder what the source has lost. */
void recording_release(struct recording *recording);

/* Closes the files and the volume, and reports: for people on standard error, with `json` for programs on standard
 * output. */
enum exit_status recording_end(struct session *session, double seconds, bool json);

#endif
