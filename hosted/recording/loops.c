/* SPDX-License-Identifier: Apache-2.0 */
#include "loops.h"

#include "../memory.h"
#include "../text/failure.h"
#include "../text/json.h"
#include "../text/units.h"
#include "recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- work ---- */

static void warn(struct session *session, enum spate_error error) {
  if (error == SPATE_OK || session->loop_warned) return;
  progress_clear(&session->progress);
  fail_tell("%s: the loop: %s. %s", session->volume.target.name, spate_error_name(failure_of(error)),
            failure_help(error));
  session->loop_warned = true;
}

void loops_work(struct session *session) {
  if (!loops_wanted(session)) {
    triggers_refuse(session);
    return;
  }
  for (unsigned i = 0; i < session->count; i++)
    warn(session, spate_loop_work(&session->recordings[i].looping.loop));
  if (session->working) triggers_work(session);
}

#define END_TRIES 1000000u

/* Each of the loops waits while another one makes a file. */
enum spate_error loops_end(struct session *session) {
  enum spate_error first = SPATE_OK;
  bool busy = loops_wanted(session);

  if (!busy) return SPATE_OK;
  triggers_end(session);
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
