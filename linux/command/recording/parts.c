/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include "../text/json.h"
#include "../text/stamp.h"
#include "../text/units.h"
#include "recording.h"

#include <stdio.h>
#include <string.h>

#define LEAD_S       1.0 /* so long before a cut the next files are made */
#define SPARE        1.25
#define SLOTS_MIN    16u /* of a reservation: shorter ones would only be files without end */
#define FIRST_SHARES 4u  /* a first part by time gets this part of the longest free run */

bool parts_wanted(const struct session *session) { return session->parts.seconds > 0 || session->parts.bytes > 0; }

static double seconds_of(const struct session *session) {
  struct timespec now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - session->parts.begun.tv_sec) +
         (double)(now.tv_nsec - session->parts.begun.tv_nsec) / 1e9;
}

/* ---- how much to reserve ---- */

/* What a part needs at this rate, or what is left of a source of known size. */
static uint64_t needed_bytes(const struct session *session, const struct recording *recording, double rate) {
  const struct source *source = &recording->source;
  const uint64_t least_bytes = (uint64_t)SLOTS_MIN * source->config.slot_bytes;
  uint64_t bytes = session->parts.bytes + source->config.slot_bytes;

  if (session->parts.bytes == 0) bytes = (uint64_t)(rate * session->parts.seconds * SPARE) + least_bytes;
  if (source_size(source) > 0) {
    const uint64_t pushed_bytes = recording->stream.counters.pushed_bytes;
    const uint64_t rest_bytes = source_size(source) > pushed_bytes ? source_size(source) - pushed_bytes : least_bytes;
    if (rest_bytes < bytes) bytes = rest_bytes;
  }
  return bytes;
}

uint64_t parts_first_bytes(struct session *session, const struct recording *recording) {
  const double rate = recording->source.config.rate;
  uint64_t longest_bytes = 0;
  const uint64_t bytes = needed_bytes(session, recording, rate);

  if (spate_exfat_longest_free(&session->volume.exfat, session->count, &longest_bytes) != SPATE_OK) return bytes;
  if (session->parts.bytes == 0 && rate <= 0) return longest_bytes / FIRST_SHARES;
  return bytes < longest_bytes ? bytes : longest_bytes;
}

/* ---- names ---- */

/* Puts the number of the part in front of the extension. */
static void put_number(const char *plain, uint32_t part, char *path) {
  const char *slash = strrchr(plain, '/'), *name = slash == NULL ? plain : slash + 1, *dot = strrchr(name, '.');
  const size_t stem = dot == NULL ? strlen(plain) : (size_t)(dot - plain);

  /* A path that is too long is refused by the volume. */
  (void)snprintf(path, SPATE_RECORDER_PATH_BYTES_MAX, "%.*s_%04u%s", (int)stem, plain, (unsigned)part, plain + stem);
}

static double rate_of(const struct session *session, const struct recording *recording) {
  const double seconds = seconds_of(session) - recording->part.begun_s;
  const uint64_t bytes = recording->stream.counters.pushed_bytes - recording->part.begun_bytes;

  return seconds > 0 ? (double)bytes / seconds : 0;
}

/* When the part will begin whose file is made now: at the next cut, or when the reservation is used up. */
static time_t begin_of_next(const struct session *session, const struct recording *recording) {
  const double rate = rate_of(session, recording);
  double wait_s = rate > 0 ? (double)spate_stream_left_bytes(&recording->stream) / rate : 0;
  const double to_cut_s = session->parts.next_cut_s - seconds_of(session);

  if (session->parts.seconds > 0 && (to_cut_s < wait_s || rate <= 0)) wait_s = to_cut_s;
  return time(NULL) + (time_t)(wait_s > 0 ? wait_s + 0.5 : 0);
}

/* Two parts may begin in the same second, or the name may exist: then the part's number follows. */
static bool next_path(void *context, struct spate_stream *stream, uint32_t number, char *path) {
  struct session *session = context;
  unsigned i = 0;

  while (&session->recordings[i].stream != stream)
    i++;
  struct recording *recording = &session->recordings[i];
  struct part *part = &recording->part;
  if (number != part->named) {
    char plain[SPATE_RECORDER_PATH_BYTES_MAX] = "";
    if (stamp_name(recording->pattern, begin_of_next(session, recording), plain, sizeof plain) != NULL) return false;
    if (strcmp(plain, part->plain) == 0)
      put_number(plain, number, part->path);
    else
      memcpy(part->path, plain, sizeof part->path);
    memcpy(part->plain, plain, sizeof part->plain);
    part->named = number;
  }
  memcpy(path, part->path, sizeof part->path);
  return folders_make(&session->folders, &session->volume.exfat, path) == SPATE_OK;
}

/* The next part's length by the rate so far. This also makes the recorder look for room again. */
static void plan_next(struct session *session, struct recording *recording) {
  const double seconds = seconds_of(session);
  const double rate = seconds > 0 ? (double)recording->stream.counters.pushed_bytes / seconds : 0;
  const uint64_t bytes = needed_bytes(session, recording, rate > 0 ? rate : recording->source.config.rate);

  spate_stream_roll_over(&recording->stream, bytes, stamp_has_fields(recording->pattern) ? next_path : NULL);
}

void parts_begin(struct session *session, const struct recording_request *request) {
  session->parts = (struct parts){
      .seconds = request->split_seconds, .bytes = request->split_bytes, .next_cut_s = request->split_seconds};
  (void)clock_gettime(CLOCK_MONOTONIC, &session->parts.begun);
  if (!parts_wanted(session)) return;
  for (unsigned i = 0; i < session->count; i++) {
    struct recording *recording = &session->recordings[i];
    memcpy(recording->part.plain, recording->path, sizeof recording->path);
    plan_next(session, recording);
  }
}

/* ---- cuts ---- */

/* True: each stream has its next file, or will never have one. */
static bool prepare(struct session *session) {
  bool ready = true;

  for (unsigned i = 0; i < session->count; i++)
    ready &= spate_stream_prepare_cut(&session->recordings[i].stream) != SPATE_E_BUSY;
  return ready;
}

static void begin_part(const struct session *session, struct recording *recording) {
  recording->part.begun_bytes = recording->stream.counters.pushed_bytes;
  recording->part.begun_s = seconds_of(session);
  recording->tail_end_bytes = 0; /* it counts from the start of a file */
}

/* A part for which there is no next file continues. */
static void ask_sources(struct session *session) {
  for (unsigned i = 0; i < session->count; i++) {
    struct recording *recording = &session->recordings[i];
    if (recording->part.cut != PART_DUE) continue;
    recording->part.cut = PART_WHOLE;
    if (spate_stream_prepare_cut(&recording->stream) != SPATE_OK) continue;
    source_cut(&recording->source);
    recording->part.cut = PART_ASKED;
  }
}

static bool any_due(const struct session *session) {
  for (unsigned i = 0; i < session->count; i++)
    if (session->recordings[i].part.cut == PART_DUE) return true;
  return false;
}

/* The parts that began before this moment are to be cut. */
static void make_due(struct session *session, double before_s) {
  for (unsigned i = 0; i < session->count; i++) {
    struct part *part = &session->recordings[i].part;
    if (part->cut == PART_WHOLE && part->begun_s < before_s) part->cut = PART_DUE;
  }
}

/* Seven eighths of a part by size are recorded: the next files are made. */
static bool ends_soon(const struct session *session) {
  const uint64_t bytes = session->parts.bytes;
  bool soon = false;

  for (unsigned i = 0; i < session->count; i++)
    soon |= spate_stream_progress(&session->recordings[i].stream).pushed_bytes >= bytes - bytes / 8u;
  return soon;
}

void parts_work(struct session *session) {
  struct parts *parts = &session->parts;

  if (!parts_wanted(session)) return;
  const double now_s = seconds_of(session);
  const double lead_s = parts->seconds / 2 < LEAD_S ? parts->seconds / 2 : LEAD_S;
  if (parts->seconds > 0 && now_s >= parts->next_cut_s) {
    make_due(session, now_s);
    while (parts->next_cut_s <= now_s)
      parts->next_cut_s += parts->seconds;
  }
  const bool soon = parts->seconds > 0 ? now_s >= parts->next_cut_s - lead_s : ends_soon(session);
  const bool due = any_due(session);
  if ((soon || due) && prepare(session) && due) ask_sources(session);
}

/* The next slot does not fit in the part: the part ends here, and those of the other streams end now. A stream of the
 * same rate has just ended its part by itself, or is about to do so. */
static void end_full_part(struct session *session, struct recording *recording, uint32_t slot_bytes) {
  struct part *part = &recording->part;
  const uint64_t pushed_bytes = spate_stream_progress(&recording->stream).pushed_bytes;

  if (part->cut == PART_ASKED || pushed_bytes == 0 || pushed_bytes + slot_bytes <= session->parts.bytes) return;
  if (recording->tail_end_bytes > pushed_bytes) return; /* the file has the slot's first bytes already */
  make_due(session, (part->begun_s + seconds_of(session)) / 2);
  source_cut_at(&recording->source, recording->taken);
  part->cut = PART_ASKED;
}

bool parts_pass(struct session *session, struct recording *recording) {
  struct source *source = &recording->source;
  uint64_t slot;

  if (session->parts.bytes > 0 && recording->taken < atomic_load(&source->filled))
    end_full_part(session, recording, source->bytes[source_slot(source, recording->taken)]);
  if (recording->part.cut != PART_ASKED || !source_cut_slot(source, &slot) || recording->taken < slot) return true;
  /* The reservation may have ended meanwhile, so that the next file is in use and there has to be another one. */
  const enum spate_error error = spate_stream_prepare_cut(&recording->stream);
  if (error == SPATE_E_BUSY) return false;
  recording->part.cut = PART_WHOLE;
  if (spate_stream_progress(&recording->stream).pushed_bytes == 0) return true; /* no data came: the part continues */
  if (error != SPATE_OK || spate_stream_cut(&recording->stream) != SPATE_OK) return true;
  begin_part(session, recording);
  plan_next(session, recording);
  return true;
}

bool parts_waits(const struct recording *recording) {
  uint64_t slot;

  return recording->part.cut == PART_ASKED && source_cut_slot(&recording->source, &slot) && recording->taken >= slot;
}

void parts_pushed(struct session *session, struct recording *recording, uint64_t left_bytes) {
  if (!parts_wanted(session) || spate_stream_left_bytes(&recording->stream) <= left_bytes) return;
  begin_part(session, recording); /* with the slot that was just pushed */
  plan_next(session, recording);
}

/* ---- what is told ---- */

void parts_closed(struct session *session, struct recording *recording, uint64_t bytes) {
  const char *path = spate_stream_closed_path(&recording->stream);
  char text[UNITS_TEXT_BYTES];

  recording->part.count++;
  recording->part.closed_bytes += bytes;
  if (!parts_wanted(session) || progress_style == PROGRESS_NONE || !session->working) return;
  if (progress_style == PROGRESS_JSON) {
    struct json json = {.to = stderr, .line = true};
    json_open(&json, NULL, '{');
    json_string(&json, "event", "part");
    json_string(&json, "what", path);
    json_real(&json, "seconds", progress_seconds(&session->progress));
    json_integer(&json, "bytes", bytes);
    json_close(&json, '}');
    return;
  }
  progress_clear(&session->progress);
  (void)fprintf(stderr, "%s: %s\n", path, units_decimal(bytes, text));
}
