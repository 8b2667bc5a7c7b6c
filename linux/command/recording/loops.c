/* SPDX-License-Identifier: Apache-2.0 */
#include "loops.h"

#include "../text/failure.h"
#include "../text/json.h"
#include "../text/units.h"
#include "recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MEMORY_BYTES 4096u /* the largest logical block */

bool loops_wanted(const struct session *session) { return session->loops.part_bytes > 0; }

/* ---- begin ---- */

/* For programs. */
static void tell_json(const struct session *session, const char *event, const char *path, uint64_t bytes,
                      enum spate_error error) {
  struct json json = {.to = stderr, .line = true};

  if (progress_style != PROGRESS_JSON) return;
  json_open(&json, NULL, '{');
  json_string(&json, "event", event);
  json_string(&json, "what", path);
  json_real(&json, "seconds", progress_seconds(&session->progress));
  json_integer(&json, "bytes", bytes);
  if (error != SPATE_OK) json_string(&json, "error", spate_error_name(failure_of(error)));
  json_close(&json, '}');
}

/* For people. */
static void tell(struct session *session, const char *path, const char *words, uint64_t bytes) {
  char text[UNITS_TEXT_BYTES];

  if (progress_style == PROGRESS_NONE || progress_style == PROGRESS_JSON) return;
  progress_clear(&session->progress);
  if (bytes > 0)
    (void)fprintf(stderr, "%s: %s, %s\n", path, units_decimal(bytes, text), words);
  else
    (void)fprintf(stderr, "spate: %s %s\n", path, words);
}

static struct recording *recording_of(struct session *session, const struct spate_loop *loop) {
  unsigned i = 0;

  while (&session->recordings[i].looping.loop != loop)
    i++;
  return &session->recordings[i];
}

static void take_folder(struct session *session, struct looping *looping, const char *path, enum spate_error why) {
  looping->folders++;
  tell_json(session, "folder", path, 0, why);
  progress_clear(&session->progress);
  fail_tell("%s stays a folder of parts: %s. spate join makes a file of it, unless data are missing in it", path,
            spate_error_name(why));
}

/* Nothing that a trigger asked for is lost: it is told once, and counted. */
static void take_short(struct session *session, struct looping *looping, const char *path, uint64_t bytes) {
  tell_json(session, "short", path, bytes, SPATE_OK);
  if (looping->short_bytes == 0) {
    progress_clear(&session->progress);
    fail_tell("%s was deleted early: the volume has no room for what --keep asks for", path);
  }
  looping->short_bytes += bytes;
}

static void take_event(void *context, struct spate_loop *loop, enum spate_loop_event event, const char *path,
                       uint64_t value) {
  struct session *session = context;
  struct looping *looping = &recording_of(session, loop)->looping;

  switch (event) {
  case SPATE_LOOP_KEPT:
    looping->kept++;
    tell_json(session, "kept", path, value, SPATE_OK);
    tell(session, path, "kept", value);
    break;
  case SPATE_LOOP_FOLDER: take_folder(session, looping, path, (enum spate_error)value); break;
  case SPATE_LOOP_SHORT: take_short(session, looping, path, value); break;
  case SPATE_LOOP_LEFT:
    tell_json(session, "left", path, 0, SPATE_OK);
    tell(session, path, "no longer belongs to the loop, and stays", 0);
    break;
  case SPATE_LOOP_NOTHING:
    looping->empty++;
    tell_json(session, "nothing", path, 0, (enum spate_error)value);
    progress_clear(&session->progress);
    fail_tell("%s was not made: %s", path,
              value == SPATE_OK ? "the source sent no data from its beginning to its end" : "its data were lost");
    break;
  }
}

/* What the source's thread holds in a slot that is not full belongs to the span that ends. */
static bool may_end(void *context, struct spate_loop *loop) {
  struct recording *recording = recording_of(context, loop);
  struct looping *looping = &recording->looping;
  uint64_t slot;

  if (!looping->cut_asked) source_cut(&recording->source);
  looping->cut_asked = true;
  if (!source_cut_slot(&recording->source, &slot) || recording->taken < slot) return false;
  looping->cut_asked = false;
  return true;
}

bool loops_pass(struct recording *recording) {
  struct looping *looping = &recording->looping;
  uint64_t slot;

  if (!looping->cut_asked) return true;
  /* There is no part to continue in, and the push says why. A span that has no byte is not due either. */
  const bool empty = spate_stream_progress(&recording->stream).pushed_bytes == 0;
  if (!empty && !spate_loop_is_due(&looping->loop)) looping->cut_asked = false;
  return !looping->cut_asked || !source_cut_slot(&recording->source, &slot) || recording->taken < slot;
}

bool loops_are_well(const struct recording *recording) {
  const struct looping *looping = &recording->looping;

  return looping->folders == 0 && looping->empty == 0 && looping->unkept == 0 && looping->error == SPATE_OK;
}

/* Two paths that differ only in capitals of other letters than ASCII's have one list. */
static bool is_of_another(const struct session *session, const struct recording *recording) {
  for (const struct recording *other = session->recordings; other < recording; other++)
    if (other->looping.loop.list_lba == recording->looping.loop.list_lba) return true;
  return false;
}

enum spate_error loops_begin(struct session *session, struct recording *recording) {
  const struct loops *loops = &session->loops;
  struct looping *looping = &recording->looping;

  if (recording->source.config.slot_bytes > loops->part_bytes) return SPATE_E_INVALID; /* of a ring */
  looping->parts = calloc(SPATE_LOOP_PARTS_MAX, sizeof *looping->parts);
  if (looping->parts == NULL) fail(EXIT_FAILED, "no memory");
  looping->memory = memory_take(session->volume.target.memory, LIST_MEMORY_BYTES);
  const struct spate_loop_config config = {.stream = &recording->stream,
                                           .path = recording->path,
                                           .part_bytes = loops->part_bytes,
                                           .keep_bytes = loops->keep_bytes,
                                           .keep_ms = loops->keep_ms,
                                           .parts = looping->parts,
                                           .part_count = SPATE_LOOP_PARTS_MAX,
                                           .memory = looping->memory,
                                           .event = take_event,
                                           .may_end = may_end,
                                           .context = session};
  const enum spate_error error = spate_loop_open(&looping->loop, &config);
  return error == SPATE_OK && is_of_another(session, recording) ? SPATE_E_IN_USE : error;
}

/* "cam/loop.raw" → "cam/.loop.raw.list" */
static const char *list_path(const struct recording *recording) {
  static char path[SPATE_RECORDER_PATH_BYTES_MAX + sizeof "..list"];
  const char *slash = strrchr(recording->path, '/');
  const int folder = slash == NULL ? 0 : (int)(slash + 1 - recording->path);

  (void)snprintf(path, sizeof path, "%.*s.%s.list", folder, recording->path, recording->path + folder);
  return path;
}

/* EXISTS: the loop finds another name for its parts itself. STALE: only the list is held open for long. */
const char *loops_blamed(const struct recording *recording, enum spate_error error) {
  return error == SPATE_E_EXISTS || error == SPATE_E_STALE ? list_path(recording) : recording->path;
}

const char *loops_help(enum spate_error error) {
  switch (error) {
  case SPATE_E_EXISTS:
    return "This file is not the list of a loop, but has its name. Rename or remove it, or choose another PATH.";
  case SPATE_E_STALE:
    return "The list was removed. Start the recorder again: the parts so far stay on the volume as ordinary files.";
  case SPATE_E_MEDIA:
    return "The drive could not read or write a block. If it is one of the list, remove .NAME.list beside the parts: "
           "these stay on the volume as ordinary files, and a new loop begins.";
  default: return failure_help(error);
  }
}

void loops_listen(struct session *session, const struct recording_request *request) {
  control_open(&session->loops.control, request->target, request->trigger);
}

/* ---- work ---- */

static void warn(struct session *session, struct recording *recording, enum spate_error error) {
  if (error == SPATE_OK || recording->looping.error != SPATE_OK) return;
  recording->looping.error = error;
  tell_json(session, "loop", recording->path, 0, error);
  progress_clear(&session->progress);
  fail_tell("%s: its loop: %s. %s", loops_blamed(recording, error), spate_error_name(failure_of(error)),
            loops_help(error));
}

void loops_work(struct session *session) {
  if (!loops_wanted(session)) {
    triggers_refuse(session);
    return;
  }
  for (unsigned i = 0; i < session->count; i++)
    warn(session, &session->recordings[i], spate_loop_work(&session->recordings[i].looping.loop));
  if (session->working) triggers_work(session);
}

#define END_TRIES 1000000u

/* Each of the loops waits while another one makes a file. */
enum spate_error loops_end(struct session *session) {
  enum spate_error first = SPATE_OK;
  bool busy = loops_wanted(session);

  if (!busy) return SPATE_OK;
  control_close(&session->loops.control);
  for (unsigned tries = 0; busy && tries < END_TRIES; tries++) {
    busy = false;
    for (unsigned i = 0; i < session->count; i++) {
      const enum spate_error error = spate_loop_close(&session->recordings[i].looping.loop);
      busy |= error == SPATE_E_BUSY;
      if (first == SPATE_OK && error != SPATE_E_BUSY) first = error;
    }
  }
  for (unsigned i = 0; i < session->count; i++) {
    free(session->recordings[i].looping.parts);
    memory_give(session->volume.target.memory, session->recordings[i].looping.memory);
  }
  return busy ? SPATE_E_BUSY : first;
}
