/* SPDX-License-Identifier: Apache-2.0 */
#include "loops.h"

#include "../memory.h"
#include "../text/failure.h"
#include "../text/json.h"
#include "../text/stamp.h"
#include "../text/units.h"
#include "recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_S            0.01
#define PARTS_USUAL       2000u /* so many parts are kept, if they have a useful length */
#define PART_BYTES_MIN    (UINT64_C(16) << 20)
#define PARTS_LEAST       16u
#define SLOT_BYTES        (UINT64_C(1) << 20)
#define MS                1000.0
#define LIST_MEMORY_BYTES 4096u /* the largest logical block */

bool loops_wanted(const struct session *session) { return session->loops.part_bytes > 0; }

/* ---- plan ---- */

static uint64_t round_up(uint64_t bytes, uint64_t step) { return (bytes + step - 1u) / step * step; }

/* What all loops may take of the volume. */
static uint64_t total_bytes(const struct recording_request *request, const struct spate_exfat_info *info) {
  if (request->keep_percent > 0) return (uint64_t)((double)info->bytes * request->keep_percent / 100);
  return request->keep_bytes;
}

void loops_plan(struct session *session, const struct recording_request *request) {
  struct loops *loops = &session->loops;
  struct spate_exfat_info info;
  char keep[UNITS_TEXT_BYTES], part[UNITS_TEXT_BYTES], size[UNITS_TEXT_BYTES];

  *loops = (struct loops){.event = request->event,
                          .before_ms = (uint64_t)(request->before_seconds * MS),
                          .after_ms = (uint64_t)(request->after_seconds * MS),
                          .keep_ms = (uint64_t)(request->keep_seconds * MS)};
  if (!request->keeps) return;
  expect(spate_exfat_info(&session->volume.exfat, &info), request->target);
  const uint64_t bytes = total_bytes(request, &info) / request->count;
  const uint64_t basis = bytes > 0 ? bytes : info.bytes / request->count;
  const uint64_t step = info.cluster_bytes > SLOT_BYTES ? info.cluster_bytes : SLOT_BYTES;
  uint64_t part_bytes = request->split_bytes;

  if (bytes > info.bytes) fail(EXIT_REFUSED, "--keep: %s has %s in all", request->target, units_text(info.bytes, size));
  if (part_bytes == 0) {
    part_bytes = basis / PARTS_USUAL > PART_BYTES_MIN ? basis / PARTS_USUAL : PART_BYTES_MIN;
    if (part_bytes > basis / PARTS_LEAST) part_bytes = basis / PARTS_LEAST;
  }
  loops->keep_bytes = bytes;
  loops->part_bytes = round_up(part_bytes, step);
  if (basis / SPATE_LOOP_PARTS_MIN < loops->part_bytes)
    fail(EXIT_REFUSED,
         "--keep: %s for each stream are fewer than %u parts of %s. Keep more, or use --split with a smaller size",
         units_text(basis, keep), SPATE_LOOP_PARTS_MIN, units_text(loops->part_bytes, part));
  if (basis / loops->part_bytes > SPATE_LOOP_PARTS_MAX - PARTS_LEAST)
    fail(EXIT_REFUSED, "--split %s: more than %u parts would be kept. Use a larger size",
         units_text(loops->part_bytes, part), SPATE_LOOP_PARTS_MAX - PARTS_LEAST);
}

/* ---- begin ---- */

static void tell(struct session *session, const char *event, const char *path, const char *words, uint64_t bytes) {
  char text[UNITS_TEXT_BYTES];

  if (progress_style == PROGRESS_NONE) return;
  if (progress_style == PROGRESS_JSON) {
    struct json json = {.to = stderr, .line = true};
    json_open(&json, NULL, '{');
    json_string(&json, "event", event);
    json_string(&json, "what", path);
    json_real(&json, "seconds", progress_seconds(&session->progress));
    json_integer(&json, "bytes", bytes);
    json_close(&json, '}');
    return;
  }
  progress_clear(&session->progress);
  if (bytes > 0)
    (void)fprintf(stderr, "%s: %s, %s\n", path, units_decimal(bytes, text), words);
  else
    (void)fprintf(stderr, "spate: %s %s\n", path, words);
}

static void take_event(void *context, struct spate_loop *loop, enum spate_loop_event event, const char *path,
                       uint64_t value) {
  struct session *session = context;
  unsigned i = 0;

  while (&session->recordings[i].looping.loop != loop)
    i++;
  switch (event) {
  case SPATE_LOOP_KEPT:
    session->recordings[i].looping.kept++;
    tell(session, "kept", path, "kept", value);
    break;
  case SPATE_LOOP_FOLDER:
    progress_clear(&session->progress);
    fail_tell("%s stays a folder of parts: %s. spate join makes it a file when the cause is gone", path,
              spate_error_name((enum spate_error)value));
    break;
  case SPATE_LOOP_SHORT:
    if (!session->loop_is_short)
      fail_tell("%s was deleted early: the volume has no room for what --keep asks for", path);
    session->loop_is_short = true;
    break;
  case SPATE_LOOP_LEFT: tell(session, "left", path, "is not the loop's any more, and stays", 0); break;
  }
}

enum spate_error loops_begin(struct session *session, struct recording *recording) {
  const struct loops *loops = &session->loops;
  struct looping *looping = &recording->looping;

  if (recording->source.config.slot_bytes > loops->part_bytes) return SPATE_E_INVALID; /* of a ring */
  looping->parts = calloc(SPATE_LOOP_PARTS_MAX, sizeof *looping->parts);
  if (looping->parts == NULL) fail(EXIT_FAILED, "no memory");
  looping->memory = memory_take(LIST_MEMORY_BYTES);
  const struct spate_loop_config config = {.stream = &recording->stream,
                                           .path = recording->path,
                                           .part_bytes = loops->part_bytes,
                                           .keep_bytes = loops->keep_bytes,
                                           .keep_ms = loops->keep_ms,
                                           .parts = looping->parts,
                                           .part_count = SPATE_LOOP_PARTS_MAX,
                                           .memory = looping->memory,
                                           .event = take_event,
                                           .context = session};
  return spate_loop_open(&looping->loop, &config);
}

void loops_listen(struct session *session, const struct recording_request *request) {
  control_open(&session->loops.control, request->target, request->trigger);
}

/* ---- triggers ---- */

/* "cam/loop.raw" → "cam/loop_20261127T101500Z.raw", or what the user gave; several streams get their number. */
static const char *name_event(const struct session *session, unsigned index, unsigned try, char *path) {
  const char *base = session->loops.event != NULL ? session->loops.event : session->recordings[index].path;
  const char *slash = strrchr(base, '/'), *dot = strrchr(slash == NULL ? base : slash, '.');
  const int stem = dot == NULL ? (int)strlen(base) : (int)(dot - base);
  const bool numbered = session->loops.event != NULL && session->count > 1;
  char pattern[SPATE_RECORDER_PATH_BYTES_MAX], number[16] = "", again[16] = "";

  if (numbered) (void)snprintf(number, sizeof number, "_%u", index + 1u);
  if (try > 0) (void)snprintf(again, sizeof again, "_%u", try + 1u);
  const int bytes = snprintf(pattern, sizeof pattern, "%.*s%s%s%s%s", stem, base,
                             session->loops.event == NULL ? "_%Y%m%dT%H%M%SZ" : "", number, again, base + stem);
  if (bytes < 0 || bytes >= (int)sizeof pattern) return "is too long";
  return stamp_name(pattern, time(NULL), path, SPATE_RECORDER_PATH_BYTES_MAX);
}

#define NAME_TRIES 8u

/* Keeps the span of one stream. */
static enum spate_error keep(struct session *session, unsigned index, double late_s, char *path, bool *extended) {
  struct recording *recording = &session->recordings[index];
  const uint64_t late_ms = (uint64_t)(late_s * MS);
  const uint64_t after_ms = session->loops.after_ms > late_ms ? session->loops.after_ms - late_ms : 0;
  enum spate_error error = SPATE_E_EXISTS;

  for (unsigned try = 0; error == SPATE_E_EXISTS && try < NAME_TRIES; try++) {
    if (name_event(session, index, try, path) != NULL) return SPATE_E_NAME_LONG;
    error = folders_make(&session->folders, &session->volume.exfat, path);
    if (error != SPATE_OK) return error;
    error = spate_loop_trigger(&recording->looping.loop, path, session->loops.before_ms + late_ms, after_ms, extended);
  }
  return error;
}

/* Adds the reply's words for one stream. */
static void add_words(char *text, const char *path, enum spate_error error, bool extended) {
  const size_t used = strlen(text);

  (void)snprintf(text + used, CONTROL_TEXT_BYTES - used, "%s%s%s", used > 0 ? "\n" : "",
                 error == SPATE_OK ? (extended ? "the file that is being kept becomes longer" : path)
                                   : spate_error_name(error),
                 "");
}

/* An earlier span is not a file yet, or the oldest part has to make room first. */
static bool is_early(enum spate_error error) { return error == SPATE_E_BUSY || error == SPATE_E_NO_SPACE; }

static enum spate_error trigger(struct session *session, double late_s, char *text) {
  enum spate_error first = SPATE_OK;

  text[0] = '\0';
  for (unsigned i = 0; i < session->count; i++) {
    char path[SPATE_RECORDER_PATH_BYTES_MAX] = "";
    bool extended = false;
    const enum spate_error error = keep(session, i, late_s, path, &extended);
    if (first == SPATE_OK) first = error;
    add_words(text, path, error, extended);
    if (is_early(error)) break;
  }
  return first;
}

static void take_trigger(struct session *session, const struct control_request *request) {
  struct loops *loops = &session->loops;
  char text[CONTROL_TEXT_BYTES];
  const enum spate_error error = trigger(session, 0, text);

  if (is_early(error) && loops->waiting < LOOPS_WAITING_MAX) {
    loops->waiting_s[loops->waiting++] = progress_seconds(&session->progress);
    control_reply(request, true, "kept as soon as there is room for it");
    return;
  }
  control_reply(request, error == SPATE_OK, text);
  if (error == SPATE_OK || request->client >= 0) return;
  progress_clear(&session->progress);
  fail_tell("the trigger keeps nothing: %s. %s", spate_error_name(failure_of(error)), failure_help(error));
}

static void take_protection(struct session *session, const struct control_request *request) {
  const enum spate_error error =
      spate_exfat_protect(&session->volume.exfat, request->path, request->kind == CONTROL_PROTECT);
  char text[CONTROL_TEXT_BYTES];

  (void)snprintf(text, sizeof text, "%s. %s", spate_error_name(failure_of(error)), failure_help(error));
  control_reply(request, error == SPATE_OK, error == SPATE_OK ? "" : text);
}

/* Triggers that came while all spans were in use. */
static void take_waiting(struct session *session, double now_s) {
  struct loops *loops = &session->loops;
  char text[CONTROL_TEXT_BYTES];

  if (loops->waiting == 0 || is_early(trigger(session, now_s - loops->waiting_s[0], text))) return;
  loops->waiting--;
  memmove(loops->waiting_s, loops->waiting_s + 1, loops->waiting * sizeof loops->waiting_s[0]);
}

static void listen_now(struct session *session) {
  const double now_s = progress_seconds(&session->progress);
  struct control_request request;

  if (now_s < session->loops.next_look_s) return;
  session->loops.next_look_s = now_s + LOOK_S;
  take_waiting(session, now_s);
  if (!control_next(&session->loops.control, &request)) return;
  if (request.kind == CONTROL_TRIGGER)
    take_trigger(session, &request);
  else
    take_protection(session, &request);
}

/* ---- work ---- */

static void warn(struct session *session, enum spate_error error) {
  if (error == SPATE_OK || session->loop_warned) return;
  progress_clear(&session->progress);
  fail_tell("%s: the loop: %s. %s", session->volume.target.name, spate_error_name(failure_of(error)),
            failure_help(error));
  session->loop_warned = true;
}

void loops_work(struct session *session) {
  if (!loops_wanted(session)) return;
  for (unsigned i = 0; i < session->count; i++)
    warn(session, spate_loop_work(&session->recordings[i].looping.loop));
  if (session->working) listen_now(session);
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
    memory_give(session->recordings[i].looping.memory);
  }
  return busy ? SPATE_E_BUSY : first;
}
