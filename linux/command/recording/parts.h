/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording in parts (--split): by time or by size, all streams at the same instant, and without a gap. The files of
 * the next parts exist before a cut. A source that has filled a slot in part hands it over for the part that ends.
 */
#ifndef SPATE_COMMAND_PARTS_H
#define SPATE_COMMAND_PARTS_H

#include <spate/recorder.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct session;
struct recording;
struct recording_request;

/* Of a session. */
struct parts {
  double seconds;        /* of a part; 0: parts are not split by time */
  uint64_t bytes;        /* of a part; 0: parts are not split by size */
  struct timespec begun; /* the clock of cuts */
  double next_cut_s;
};

enum part_cut { PART_WHOLE, PART_DUE, PART_ASKED }; /* to be cut; the source was asked where */

/* Of one recording. */
struct part {
  uint32_t count;        /* of files that are closed and have data */
  uint64_t closed_bytes; /* in them */
  uint64_t begun_bytes;  /* pushed before the present part; and when that was */
  double begun_s;
  enum part_cut cut;
  uint32_t named;
  char path[SPATE_RECORDER_PATH_BYTES_MAX];  /* of part `named` */
  char plain[SPATE_RECORDER_PATH_BYTES_MAX]; /* the same, without a number */
};

/* Is the recording made in parts? */
bool parts_wanted(const struct session *session);

/* Before the first file is made. The streams are open. */
void parts_begin(struct session *session, const struct recording_request *request);
/* How much to reserve for the first file. 0: the longest free run. */
uint64_t parts_first_bytes(struct session *session, const struct recording *recording);
/* Once a turn, before slots are pushed: prepares and begins cuts. */
void parts_work(struct session *session);
/* Before each slot is pushed: cuts if the part ends here. False: no slot can be pushed yet. */
bool parts_pass(struct session *session, struct recording *recording);
/* The part has ended, and the next file is not ready: no tail may be given to the present one. */
bool parts_waits(const struct recording *recording);
/* A slot was pushed to the stream, which had `left_bytes` of its reservation left before. */
void parts_pushed(struct session *session, struct recording *recording, uint64_t left_bytes);
/* A file of the recording was closed with so many bytes. */
void parts_closed(struct session *session, struct recording *recording, uint64_t bytes);

#endif
