/* SPDX-License-Identifier: Apache-2.0 */
#include "triggers.h"

#include "../text/failure.h"
#include "../text/json.h"
#include "../text/stamp.h"
#include "recording.h"

#include <stdio.h>
#include <string.h>

#define LOOK_S 0.01
#define MS     1000.0

/* ---- the file's name ---- */

/* "cam/loop.raw" → "cam/loop_20261127T101500Z.raw", or what the user gave; several streams get their number. From the
 * second of a name on: "_2". Only --event is a pattern: a loop's path may have a percent sign. */
static enum spate_error name_event(const struct session *session, unsigned index, time_t time, uint32_t number,
                                   char *path) {
  const char *event = session->loops.event;
  char base[SPATE_RECORDER_PATH_BYTES_MAX], stamp[24] = "", stream[16] = "", again[16] = "";
  const char *problem = event != NULL ? stamp_name(event, time, base, sizeof base)
                                      : stamp_name("_%Y%m%dT%H%M%SZ", time, stamp, sizeof stamp);

  if (problem != NULL) return SPATE_E_NAME_LONG;
  if (event == NULL) memcpy(base, session->recordings[index].path, sizeof base);
  if (event != NULL && session->count > 1) (void)snprintf(stream, sizeof stream, "_%u", index + 1u);
  if (number > 1) (void)snprintf(again, sizeof again, "_%u", (unsigned)number);
  const char *slash = strrchr(base, '/'), *dot = strrchr(slash == NULL ? base : slash, '.');
  const char *end = dot == NULL ? base + strlen(base) : dot;
  const int bytes =
      snprintf(path, SPATE_RECORDER_PATH_BYTES_MAX, "%.*s%s%s%s%s", (int)(end - base), base, stamp, stream, again, end);
  return bytes < 0 || bytes >= (int)SPATE_RECORDER_PATH_BYTES_MAX ? SPATE_E_NAME_LONG : SPATE_OK;
}

static enum spate_error look(struct session *session, unsigned index, time_t time, uint32_t number, bool *taken) {
  char path[SPATE_RECORDER_PATH_BYTES_MAX];
  struct spate_exfat_entry entry;
  enum spate_error error = name_event(session, index, time, number, path);

  if (error != SPATE_OK) return error;
  error = spate_exfat_stat(&session->volume.exfat, path, &entry);
  /* Beside a damaged entry set the name may be there: then the trigger says so. */
  *taken = error == SPATE_OK || (error == SPATE_E_CORRUPT && entry.name[0] != '\0');
  return error == SPATE_E_NOT_FOUND || error == SPATE_E_CORRUPT ? SPATE_OK : error;
}

#define NUMBER_MAX (UINT32_C(1) << 30)

/* A number that is free, after one that is taken. A name without a time is used again and again, and so the search
 * begins with the last number. After a restart it takes as many looks as the number has bits, twice. */
static enum spate_error find_number(struct session *session, unsigned index, time_t time, uint32_t *number) {
  const char *event = session->loops.event;
  const bool again = event != NULL && !stamp_has_fields(event);
  uint32_t last = again ? session->recordings[index].looping.event_number : 0, next = last + 1u;
  bool taken = true;
  enum spate_error error = look(session, index, time, next, &taken);

  while (error == SPATE_OK && taken && next < NUMBER_MAX) {
    last = next;
    next *= 2u;
    error = look(session, index, time, next, &taken);
  }
  if (error == SPATE_OK && taken) return SPATE_E_NAMES;
  while (error == SPATE_OK && next - last > 1) {
    const uint32_t middle = last + (next - last) / 2u;
    error = look(session, index, time, middle, &taken);
    *(taken ? &last : &next) = middle;
  }
  *number = next;
  return error;
}

/* A trigger that waits is tried every few milliseconds: the number is searched for once. */
static enum spate_error number_for(struct session *session, const struct trigger *trigger, unsigned index,
                                   uint32_t *number) {
  struct looping *looping = &session->recordings[index].looping;
  bool taken = true;
  enum spate_error error = SPATE_OK;

  if (looping->tried_number > 0 && looping->tried_at_s == trigger->at_s)
    error = look(session, index, trigger->time, looping->tried_number, &taken);
  if (error == SPATE_OK && taken) error = find_number(session, index, trigger->time, &looping->tried_number);
  looping->tried_at_s = trigger->at_s;
  *number = looping->tried_number;
  return error;
}

/* ---- one stream ---- */

/* Keeps the span of one stream. The folders of the file are made only when it needs them: it may only extend a span. */
static enum spate_error keep(struct session *session, const struct trigger *trigger, unsigned index, bool *extended) {
  struct looping *looping = &session->recordings[index].looping;
  const struct loops *loops = &session->loops;
  const uint64_t late_ms = (uint64_t)((progress_seconds(&session->progress) - trigger->at_s) * MS);
  const uint64_t after_ms = loops->after_ms > late_ms ? loops->after_ms - late_ms : 0;
  char path[SPATE_RECORDER_PATH_BYTES_MAX];
  uint32_t number = 0;

  enum spate_error error = number_for(session, trigger, index, &number);
  if (error == SPATE_OK) error = name_event(session, index, trigger->time, number, path);
  if (error == SPATE_OK)
    error = spate_loop_trigger(&looping->loop, path, loops->before_ms + late_ms, after_ms, extended);
  if (error == SPATE_E_NOT_FOUND) {
    error = folders_make(&session->folders, &session->volume.exfat, path);
    if (error == SPATE_OK)
      error = spate_loop_trigger(&looping->loop, path, loops->before_ms + late_ms, after_ms, extended);
  }
  if (error != SPATE_OK || *extended) return error;
  memcpy(looping->event, path, sizeof path);
  looping->event_number = number;
  return SPATE_OK;
}

/* An earlier span is not a file yet, or the oldest part has to make room first. */
static bool is_early(enum spate_error error) { return error == SPATE_E_BUSY || error == SPATE_E_NO_SPACE; }

/* Tries a stream that the trigger has still to keep. What has to wait stays in trigger->streams. */
static struct reply try_stream(struct session *session, struct trigger *trigger, unsigned index, bool may_wait) {
  const struct recording *recording = &session->recordings[index];
  struct reply reply = {.state = REPLY_WAITING, .stream = recording->path, .path = "", .error = "", .help = ""};
  bool extended = false;
  const enum spate_error error = keep(session, trigger, index, &extended);

  trigger->why = error;
  if (is_early(error) && may_wait) return reply;
  trigger->streams &= ~(UINT32_C(1) << index);
  if (error == SPATE_OK) {
    reply.state = extended ? REPLY_EXTENDED : REPLY_KEPT;
    reply.path = recording->looping.event;
  } else {
    reply.state = REPLY_FAILED;
    reply.error = spate_error_name(failure_of(error));
    reply.help = failure_help(error);
  }
  return reply;
}

static bool wants(const struct trigger *trigger, unsigned index) { return (trigger->streams >> index & 1u) != 0; }

/* Nobody waits for a reply any more, or nobody ever did. */
static void tell_failed(struct session *session, unsigned index, const char *error, const char *help) {
  struct recording *recording = &session->recordings[index];

  recording->looping.unkept++;
  if (progress_style == PROGRESS_JSON) {
    struct json json = {.to = stderr, .line = true};
    json_open(&json, NULL, '{');
    json_string(&json, "event", "not_kept");
    json_string(&json, "what", recording->path);
    json_real(&json, "seconds", progress_seconds(&session->progress));
    json_string(&json, "error", error);
    json_close(&json, '}');
  }
  progress_clear(&session->progress);
  fail_tell("%s: the trigger keeps nothing: %s. %s", recording->path, error, help);
}

/* ---- requests ---- */

static void take_trigger(struct session *session, const struct control_request *request) {
  struct loops *loops = &session->loops;
  struct trigger trigger = {.at_s = progress_seconds(&session->progress),
                            .time = time(NULL),
                            .streams = (UINT32_C(1) << session->count) - 1u};
  char text[CONTROL_TEXT_BYTES] = "";
  bool failed = false;

  for (unsigned i = 0; i < session->count; i++) {
    const struct reply reply = try_stream(session, &trigger, i, loops->waiting_count < LOOPS_WAITING_MAX);
    failed |= reply.state == REPLY_FAILED;
    if (request->client >= 0)
      reply_put(text, &reply);
    else if (reply.state == REPLY_FAILED)
      tell_failed(session, i, reply.error, reply.help);
  }
  if (trigger.streams != 0) loops->waiting[loops->waiting_count++] = trigger;
  control_reply(request, !failed, text);
}

static void take_protection(struct session *session, const struct control_request *request) {
  const enum spate_error error =
      spate_exfat_protect(&session->volume.exfat, request->path, request->kind == CONTROL_PROTECT);
  char text[CONTROL_TEXT_BYTES];

  (void)snprintf(text, sizeof text, "%s. %s", spate_error_name(failure_of(error)), failure_help(error));
  control_reply(request, error == SPATE_OK, error == SPATE_OK ? "" : text);
}

/* False: there is no request. */
static bool take_request(struct session *session) {
  struct control_request request;

  if (!control_next(&session->loops.control, progress_seconds(&session->progress), &request)) return false;
  if (request.kind == CONTROL_TRIGGER)
    take_trigger(session, &request);
  else
    take_protection(session, &request);
  return true;
}

/* The oldest trigger that waits: those after it would wait for it. */
static void take_waiting(struct session *session) {
  struct loops *loops = &session->loops;
  struct trigger *oldest = &loops->waiting[0];

  if (loops->waiting_count == 0) return;
  for (unsigned i = 0; i < session->count; i++) {
    if (!wants(oldest, i)) continue;
    const struct reply reply = try_stream(session, oldest, i, true);
    if (reply.state == REPLY_FAILED) tell_failed(session, i, reply.error, reply.help);
  }
  if (oldest->streams != 0) return;
  loops->waiting_count--;
  memmove(loops->waiting, loops->waiting + 1, loops->waiting_count * sizeof loops->waiting[0]);
}

void triggers_work(struct session *session) {
  const double now_s = progress_seconds(&session->progress);

  if (now_s < session->loops.next_look_s) return;
  session->loops.next_look_s = now_s + LOOK_S;
  take_waiting(session);
  (void)take_request(session);
}

void triggers_refuse(struct session *session) {
  if (!control_signalled(&session->loops.control) || session->loops.refused) return;
  session->loops.refused = true;
  progress_clear(&session->progress);
  fail_tell("SIGUSR1: no trigger is possible without --keep. The recording continues");
}

/* ---- the end ---- */

#define LAST_REQUESTS 64u /* whoever asks without end must not hold the end up */

void triggers_end(struct session *session) {
  struct loops *loops = &session->loops;
  bool more = true;

  for (unsigned i = 0; more && i < LAST_REQUESTS; i++)
    more = take_request(session);
  for (unsigned before = loops->waiting_count + 1u; loops->waiting_count > 0 && loops->waiting_count < before;) {
    before = loops->waiting_count;
    take_waiting(session);
  }
  for (unsigned w = 0; w < loops->waiting_count; w++)
    for (unsigned i = 0; i < session->count; i++)
      if (wants(&loops->waiting[w], i))
        tell_failed(session, i, spate_error_name(failure_of(loops->waiting[w].why)),
                    "The recording ended while it waited");
  loops->waiting_count = 0;
}
