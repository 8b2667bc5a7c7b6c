/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include "../text/progress.h"

#include <stdio.h>

#define WAIT_MS 1

/* Hands over the slots that are full. False: nothing more can go into this file. */
static bool push(struct recording *recording) {
  struct source *source = &recording->source;
  const uint64_t filled = atomic_load(&source->filled);
  const uint32_t mask = source->config.slots - 1u;

  while (recording->taken < filled) {
    const uint64_t offset_bytes = (recording->taken & mask) * (uint64_t)source->config.slot_bytes;
    const enum spate_error error =
        spate_stream_push(&recording->stream, offset_bytes, source->bytes[recording->taken & mask]);
    if (error == SPATE_E_FULL) return true;
    if (error != SPATE_OK) {
      recording->refused = error;
      return false;
    }
    recording->taken++;
  }
  return true;
}

static void release(struct recording *recording) {
  struct source *source = &recording->source;
  /* The library counts in 32 bits; what is in the ring is less. */
  const uint32_t held = (uint32_t)recording->taken - spate_stream_released(&recording->stream);
  const uint64_t lost_bytes = atomic_load(&source->lost_bytes);

  source_release(source, recording->taken - held);
  if (lost_bytes > recording->reported_lost_bytes)
    spate_stream_overrun(&recording->stream, lost_bytes - recording->reported_lost_bytes);
  recording->reported_lost_bytes = lost_bytes;
}

static bool is_over(const struct recording *recording) {
  return atomic_load(&recording->source.ended) && recording->taken == atomic_load(&recording->source.filled);
}

/* One turn; false: every source has ended, or can go on no longer. */
static bool work(struct session *session) {
  bool going_on = false;

  for (unsigned i = 0; i < session->count; i++) {
    struct recording *recording = &session->recordings[i];
    const bool room = push(recording);
    going_on |= room && !is_over(recording);
  }
  const enum spate_error error = spate_recorder_work(&session->recorder);
  if (error != SPATE_OK && !session->warned) {
    (void)fprintf(stderr, "spate: %s: %s. %s\n", session->volume.target.name, spate_error_name(error),
                  spate_error_help(error));
    session->warned = true;
  }
  for (unsigned i = 0; i < session->count; i++)
    release(&session->recordings[i]);
  return going_on;
}

/* A system call, so not in every turn. */
#define REMOVAL_TURNS 64u

static bool removed(struct session *session) {
  if (session->turns++ % REMOVAL_TURNS == 0) session->removed = target_removal_asked(&session->volume.target);
  return session->removed;
}

static uint64_t pushed_bytes(const struct session *session) {
  uint64_t bytes = 0;

  for (unsigned i = 0; i < session->count; i++)
    bytes += session->recordings[i].stream.counters.pushed_bytes;
  return bytes;
}

static void show(struct session *session, struct progress *progress) {
  static const char *const levels[] = {"", ", filling", ", SLOW DOWN", ", OVERRUN NEAR"};
  const struct recording *first = &session->recordings[0];
  const uint64_t held = atomic_load(&first->source.filled) - atomic_load(&first->source.released);
  char more[64];

  (void)snprintf(more, sizeof more, "ring %3.0f %%%s", 100.0 * (double)held / first->source.config.slots,
                 levels[first->stream.pressure.level]);
  progress_show(progress, pushed_bytes(session), more);
}

/* Sensors with a rate end by their bytes, and not a moment earlier. */
static double seconds_left(const struct session *session, const struct recording_request *request,
                           const struct progress *progress) {
  bool by_time = request->seconds > 0;

  for (unsigned i = 0; by_time && i < session->count; i++)
    by_time = session->recordings[i].source.config.rate <= 0 || session->count > 1;
  return by_time ? request->seconds - progress_seconds(progress) : 1;
}

void recording_work(struct session *session, const struct recording_request *request) {
  struct progress progress;
  uint64_t total_bytes = 0;

  for (unsigned i = 0; i < session->count; i++)
    total_bytes += source_size(&session->recordings[i].source);
  progress_begin(&progress, session->count == 1 ? session->recordings[0].path : "all", total_bytes);
  while (work(session) && !recording_interrupted() && !removed(session)) {
    if (seconds_left(session, request, &progress) <= 0) break;
    show(session, &progress);
    source_wait(&session->recordings[0].source, session->volume.target.wait_fd, WAIT_MS);
  }
  /* What is filled when the end comes is part of the recording. */
  for (unsigned i = 0; i < session->count; i++)
    atomic_store(&session->recordings[i].source.stop, true);
  while (work(session))
    source_wait(&session->recordings[0].source, session->volume.target.wait_fd, WAIT_MS);
  for (unsigned i = 0; i < session->count; i++)
    source_join(&session->recordings[i].source);
  progress_end(&progress);
}
