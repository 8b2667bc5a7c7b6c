/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include "../target/temperature.h"
#include "../text/failure.h"
#include "../text/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WAIT_MS 1

/* Pushes the full slots to the stream. False: this file accepts no more data. */
static bool push(struct session *session, struct recording *recording) {
  struct source *source = &recording->source;
  const uint64_t filled = source_filled(source);

  while (parts_pass(session, recording) && loops_pass(recording) && recording->taken < filled) {
    const uint64_t left_bytes = spate_stream_left_bytes(&recording->stream);
    const uint32_t slot = source_slot(source, recording->taken);
    const uint64_t offset_bytes = (uint64_t)slot * source->config.slot_bytes;
    const enum spate_error error = loops_wanted(session)
                                       ? spate_loop_push(&recording->looping.loop, offset_bytes, source->bytes[slot])
                                       : spate_stream_push(&recording->stream, offset_bytes, source->bytes[slot]);
    if (error == SPATE_E_FULL) return true;
    if (error != SPATE_OK) {
      recording->refused = error;
      return false;
    }
    recording->taken++;
    parts_pushed(session, recording, left_bytes);
  }
  return true;
}

#define TAIL_S 1.0 /* after a loss of power a tail is given again */

/* Has the recorder write what is not a page yet, when there is more of it, or when it has not been published for long.
 * An error of a tail is that of its stream, which push() reports. FULL, and no room in the reservation: the bytes wait
 * for their page. */
static void give_tail(struct recording *recording, double seconds) {
  const struct source *source = &recording->source;
  const uint32_t bytes = source_tail_bytes(source, recording->taken), slot = source_slot(source, recording->taken);
  const struct spate_clip_progress progress = spate_stream_progress(&recording->stream);
  const uint64_t end_bytes = progress.pushed_bytes + bytes;

  if (bytes == 0 || parts_waits(recording) || end_bytes <= progress.published_bytes) return;
  if (end_bytes == recording->tail_end_bytes && seconds < recording->tail_seconds + TAIL_S) return;
  if (spate_stream_tail(&recording->stream, (uint64_t)slot * source->config.slot_bytes, bytes) != SPATE_OK) return;
  recording->tail_end_bytes = end_bytes;
  recording->tail_seconds = seconds;
}

void recording_release(struct recording *recording) {
  struct source *source = &recording->source;
  const bool goes_round = recording->looping.parts != NULL;
  const uint32_t released =
      goes_round ? spate_loop_released(&recording->looping.loop) : spate_stream_released(&recording->stream);
  /* The library's counter has 32 bits, which is enough: the difference is at most the slots of the ring. */
  const uint32_t held = (uint32_t)recording->taken - released;
  const uint64_t lost_bytes = atomic_load(&source->lost_bytes);

  source_release(source, recording->taken - held);
  if (lost_bytes > recording->reported_lost_bytes)
    spate_stream_overrun(&recording->stream, lost_bytes - recording->reported_lost_bytes);
  recording->reported_lost_bytes = lost_bytes;
}

static bool is_over(const struct recording *recording) {
  return atomic_load(&recording->source.ended) && recording->taken == atomic_load(&recording->source.filled);
}

/* Names the error only. recording_end() adds the advice, because only then is it known whether the media failed or the
 * kernel has removed the device. */
static void warn(struct session *session, enum spate_error error) {
  if (session->warned) return;
  (void)fprintf(stderr, "spate: %s: a checkpoint failed: %s\n", session->volume.target.name,
                spate_error_name(failure_of(error)));
  session->warned = true;
}

/* One turn of the loop. False: every source has ended, or its file accepts no more data. */
static bool work(struct session *session) {
  bool going_on = false;

  parts_work(session);
  for (unsigned i = 0; i < session->count; i++) {
    struct recording *recording = &session->recordings[i];
    const bool room = push(session, recording);
    going_on |= room && !is_over(recording);
  }
  const enum spate_error error = spate_recorder_work(&session->recorder);
  if (error != SPATE_OK) warn(session, error);
  loops_work(session);
  for (unsigned i = 0; i < session->count; i++)
    recording_release(&session->recordings[i]);
  return going_on;
}

/* The check is a system call, so it is not made in every turn. */
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

/* ---- sleep between two turns ---- */

#define SLEEP_MS  16
#define NAP_BYTES (UINT64_C(16) << 20) /* a drive of 16 GB/s writes this in a millisecond */

static uint64_t waiting_bytes(const struct session *session) {
  uint64_t bytes = 0;

  for (unsigned i = 0; i < session->count; i++) {
    const struct spate_stream_counters *counters = &session->recordings[i].stream.counters;
    bytes += counters->pushed_bytes - counters->completed_bytes - counters->lost_bytes;
  }
  return bytes;
}

/* Counts since the beginning, modulo 2^32. */
static uint32_t pieces_done(const struct session *session) {
  uint32_t pieces = 0;

  for (unsigned i = 0; i < session->count; i++)
    pieces += spate_stream_released(&session->recordings[i].stream);
  return pieces;
}

static uint32_t pieces_in_flight(const struct session *session) {
  const uint16_t depth = session->volume.target.block->depth;
  uint64_t pieces = 0;

  for (unsigned i = 0; i < session->count; i++) {
    const struct spate_stream *stream = &session->recordings[i].stream;
    pieces += (uint32_t)stream->counters.pushed_pieces - spate_stream_released(stream);
  }
  return pieces < depth ? (uint32_t)pieces : depth;
}

static bool all_can_wait(const struct session *session) {
  bool all = true;

  for (unsigned i = 0; i < session->count; i++)
    all &= source_can_wait(&session->recordings[i].source);
  return all;
}

/* Adapts the sleep so that the drive completes between a quarter and half of the pieces in flight: doubles or halves
 * the last sleep. It starts again at WAIT_MS when the drive has completed nothing, so that the end of a pause is seen
 * soon, and when a source cannot wait, because it needs the ring's last free slots at once. */
static void nap(struct session *session) {
  struct nap *last = &session->nap;
  const uint32_t done = pieces_done(session), meanwhile = done - last->done;

  if (last->ms == 0 || meanwhile == 0 || !all_can_wait(session))
    last->ms = WAIT_MS;
  else if (meanwhile < last->in_flight / 4u && last->ms < SLEEP_MS)
    last->ms *= 2;
  else if (meanwhile > last->in_flight / 2u && last->ms > WAIT_MS)
    last->ms /= 2;
  last->done = done;
  last->in_flight = pieces_in_flight(session);
  const struct timespec time = {.tv_nsec = (long)last->ms * 1000000L};
  (void)nanosleep(&time, NULL); /* a signal ends the sleep, so that the caller sees the signal at once */
}

/*
 * The kernel needs ten thousand instructions to put a thread to sleep and wake it; the library needs hundreds for a
 * slot. So each turn should handle many slots. If the source is the slower side, its thread wakes this one; completions
 * can wait while the ring has room. If the drive is the slower side, nap() lasts until it has completed several pieces.
 */
static void wait_for_work(struct session *session) {
  bool room = true;

  for (unsigned i = 0; i < session->count; i++)
    room &= source_has_room(&session->recordings[i].source);
  if (!room && waiting_bytes(session) >= NAP_BYTES) {
    nap(session);
    return;
  }
  session->nap.ms = 0;
  if (room && session->count == 1)
    source_wait(&session->recordings[0].source, -1, SLEEP_MS);
  else
    source_wait(&session->recordings[0].source, session->volume.target.wait_fd, WAIT_MS);
}

/* ---- progress ---- */

static const char *level_name(enum spate_level level) {
  static const char *const names[] = {"calm", "watch", "slow", "critical"};

  return names[level];
}

static double ring_percent(const struct recording *recording) {
  const struct source *source = &recording->source;
  const uint64_t held = atomic_load(&source->filled) - atomic_load(&source->released);

  return 100.0 * (double)held / source->config.slots;
}

/* Gives the drive's temperature to the recorder, which extrapolates from it. */
static void ask_temperature(struct session *session, struct progress_recording *seen) {
  struct temperature temperature;

  if (!temperature_read(&session->volume.target, &temperature)) return;
  spate_recorder_temperature(&session->recorder, temperature.celsius, temperature.warning_celsius,
                             temperature.critical_celsius);
  seen->celsius = temperature.celsius;
}

static void look(struct session *session, struct progress_recording *seen) {
  enum spate_level pressure = SPATE_LEVEL_CALM;

  seen->durable_bytes = 0;
  seen->room_bytes = 0;
  seen->ring_percent = 0;
  seen->lost_bytes = seen->lost_datagrams = seen->gaps = 0;
  for (unsigned i = 0; i < session->count; i++) {
    const struct recording *recording = &session->recordings[i];
    const double percent = ring_percent(recording);
    seen->durable_bytes += recording->part.closed_bytes + spate_stream_published_bytes(&recording->stream);
    seen->room_bytes += spate_stream_left_bytes(&recording->stream);
    seen->lost_bytes += losses_bytes(recording);
    seen->lost_datagrams += losses_datagrams(recording);
    seen->gaps += recording->losses.gaps;
    if (percent > seen->ring_percent) seen->ring_percent = percent;
    if (recording->stream.pressure.level > pressure) pressure = recording->stream.pressure.level;
  }
  seen->pressure = level_name(pressure);
  seen->heat = level_name(session->recorder.heat.level);
}

/* ---- monitor ---- */

#define REPORT_S 0.25

static char *put_escaped(char *to, const char *path) {
  static const char hex[] = "0123456789ABCDEF";

  for (; *path != '\0'; path++) {
    const unsigned char byte = (unsigned char)*path;
    if (byte > ' ' && byte != '%' && byte != 0x7f) {
      *to++ = *path;
    } else {
      *to++ = '%';
      *to++ = hex[byte >> 4];
      *to++ = hex[byte & 15u];
    }
  }
  *to = '\0';
  return to;
}

/* How long it continues: the room of all parts to come, or without end. */
static size_t put_parts(struct session *session, const struct recording *recording, char *to, size_t bytes) {
  struct spate_exfat_info info;
  int length = 0;

  *to = '\0';
  if (loops_wanted(session)) {
    const uint64_t kept_bytes = recording->looping.loop.count * session->loops.part_bytes;
    length =
        snprintf(to, bytes, " part=%u kept=%" PRIu64, (unsigned)recording->looping.loop.counters.parts, kept_bytes);
  } else if (parts_wanted(session) && spate_exfat_info(&session->volume.exfat, &info) == SPATE_OK) {
    const uint64_t left_bytes = spate_stream_left_bytes(&recording->stream) + info.free_bytes / session->count;
    length = snprintf(to, bytes, " part=%u left=%" PRIu64, (unsigned)recording->part.count + 2u, left_bytes);
  }
  return (size_t)length;
}

/* The library's line, and what only the command knows. */
static void report(struct session *session, const struct recording *recording) {
  char line[SPATE_REPORT_BYTES_MAX + 3u * SPATE_RECORDER_PATH_BYTES_MAX + 256u];
  const size_t length = spate_stream_report(&recording->stream, line, SPATE_REPORT_BYTES_MAX);

  if (length == 0) return;
  char *end = line + length - 1; /* the newline is overwritten */
  end += snprintf(end, 128,
                  " datagrams=%llu gaps=%llu source_held=%u name=", (unsigned long long)losses_datagrams(recording),
                  (unsigned long long)recording->losses.gaps, (unsigned)ring_percent(recording));
  if (strlen(recording->pattern) < SPATE_RECORDER_PATH_BYTES_MAX)
    end = put_escaped(end, recording->pattern); /* it stays the same: Prometheus keeps a series for each name */
  end += put_parts(session, recording, end, 128);
  monitor_line(session->monitor, line, (size_t)(end - line));
}

static void report_all(struct session *session, double seconds) {
  if (session->monitor == NULL) return;
  if (seconds >= session->next_report_s) {
    session->next_report_s = seconds + REPORT_S;
    for (unsigned i = 0; i < session->count; i++)
      report(session, &session->recordings[i]);
  }
  monitor_turn(session->monitor);
}

#define LOOK_S 1.0

/* False: it is useless to continue. */
static bool show(struct session *session, struct progress *progress, struct progress_recording *seen) {
  const double seconds = progress_seconds(progress);
  bool going_on = true;

  if (seconds >= session->next_look_s) {
    session->next_look_s = seconds + LOOK_S;
    ask_temperature(session, seen);
    going_on = losses_look_at_target(session, progress);
  }
  /* A loop cuts where a trigger says, and not where a tail was given. */
  for (unsigned i = 0; i < session->count && !loops_wanted(session); i++)
    give_tail(&session->recordings[i], seconds);
  losses_tell(session, progress, false);
  report_all(session, seconds);
  look(session, seen);
  progress_show(progress, pushed_bytes(session), seen);
  notify_turn(&session->notify, pushed_bytes(session), seen);
  return going_on;
}

/* A single sensor with a rate ends after its bytes, so the time limit does not apply to it. */
static double seconds_left(const struct session *session, const struct recording_request *request,
                           const struct progress *progress) {
  bool by_time = request->seconds > 0;

  for (unsigned i = 0; by_time && i < session->count; i++)
    by_time = session->recordings[i].source.config.rate <= 0 || session->count > 1;
  return by_time ? request->seconds - progress_seconds(progress) : 1;
}

void recording_work(struct session *session, const struct recording_request *request) {
  struct progress_recording seen = {.celsius = PROGRESS_NO_TEMPERATURE};
  struct progress *progress = &session->progress;
  uint64_t total_bytes = 0;

  for (unsigned i = 0; i < session->count; i++)
    total_bytes += source_size(&session->recordings[i].source);
  progress_begin(progress, session->count == 1 ? session->recordings[0].pattern : "all", total_bytes);
  session->working = true;
  notify_ready(&session->notify, total_bytes);
  while (work(session) && !recording_interrupted() && !removed(session)) {
    if (seconds_left(session, request, progress) <= 0) break;
    if (!show(session, progress, &seen)) break;
    wait_for_work(session);
  }
  notify_stopping(&session->notify);
  /* Slots that are filled by now still belong to the recording. */
  for (unsigned i = 0; i < session->count; i++)
    atomic_store(&session->recordings[i].source.stop, true);
  while (work(session))
    wait_for_work(session);
  for (unsigned i = 0; i < session->count; i++)
    source_join(&session->recordings[i].source);
  losses_tell(session, progress, true);
  (void)losses_look_at_target(session, progress);
  progress_end(progress);
}
