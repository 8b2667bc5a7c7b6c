/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that goes round (--keep): the last parts of each stream are kept, and a trigger keeps a span as a file.
 */
#ifndef SPATE_COMMAND_LOOPS_H
#define SPATE_COMMAND_LOOPS_H

#include "control.h"
#include "triggers.h"

#include <spate/loop.h>

struct session;
struct recording;
struct recording_request;

#define LOOPS_WAITING_MAX 4u /* triggers that wait until an earlier span is a file */

/* Of a session. */
struct loops {
  uint64_t keep_bytes, part_bytes; /* of each stream; 0 part_bytes: the session does not go round */
  uint64_t keep_ms, before_ms, after_ms;
  const char *event; /* the name of a file that is kept, with fields of a time; NULL: made of the path */
  struct control control;
  double next_look_s;
  struct trigger waiting[LOOPS_WAITING_MAX]; /* oldest first */
  unsigned waiting_count;
  bool refused; /* a trigger, because the recording does not go round */
};

/* Of one recording. */
struct looping {
  struct spate_loop loop;
  struct spate_loop_part *parts;
  void *memory;
  uint32_t kept, folders, empty; /* what triggers left: files; spans that stayed folders; spans without data */
  uint64_t short_bytes;          /* deleted early, because the volume had no room */
  enum spate_error error;        /* the first of the loop itself; OK: there was none */
  bool cut_asked;                /* the source was asked where the open span ends */
  uint32_t unkept;               /* triggers that nobody was told of and that kept nothing */
  char event[SPATE_RECORDER_PATH_BYTES_MAX]; /* the last file that a trigger began, and the number in its name */
  uint32_t event_number;
  double tried_at_s; /* the trigger that was tried last, and the number that was free for it; 0: none */
  uint32_t tried_number;
};

bool loops_wanted(const struct session *session);
/* Ends the program if less can be kept than a loop needs. The volume is open. */
void loops_plan(struct session *session, const struct recording_request *request);
/* Makes the loop of one recording, and its first part. */
SPATE_MUST_CHECK enum spate_error loops_begin(struct session *session, struct recording *recording);
/* Listens for triggers. */
void loops_listen(struct session *session, const struct recording_request *request);
/* Says what is missing if the volume has not enough room. All loops are begun. */
void loops_compare_room(struct session *session, const struct recording_request *request);
/* Why a loop could not begin: the file that is meant, and what to do. The texts are valid until the next call. */
const char *loops_blamed(const struct recording *recording, enum spate_error error);
const char *loops_help(enum spate_error error);
/* May the next slot be pushed? Not while a span ends before it. */
bool loops_pass(struct recording *recording);
/* Has all that triggers asked for become files, without an error of the loop? */
bool loops_are_well(const struct recording *recording);
/* Once a turn, after spate_recorder_work(). */
void loops_work(struct session *session);
/* After spate_recorder_finish(): spans become files. Returns the first error. */
SPATE_MUST_CHECK enum spate_error loops_end(struct session *session);

#endif
