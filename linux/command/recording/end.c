/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include "../text/failure.h"
#include "../text/json.h"
#include "../text/progress.h"
#include "../text/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The result of one file. */
struct outcome {
  uint64_t bytes;         /* in the file */
  uint64_t lost_bytes;    /* received from the source, and not in the file */
  uint64_t unknown_bytes; /* in the file, and perhaps not what was received: SPATE_EVENT_POWER_UNKNOWN */
  uint64_t lost_datagrams;
  bool nothing; /* no file was made, because no data came */
};

static struct outcome outcome_of(struct session *session, const struct recording *recording) {
  const struct spate_stream_counters *counters = &recording->stream.counters;
  const struct source *source = &recording->source;
  struct outcome outcome = {.lost_bytes = counters->lost_bytes + counters->overrun_bytes,
                            .unknown_bytes = counters->unknown_bytes,
                            .lost_datagrams = atomic_load(&source->lost_datagrams)};
  struct spate_exfat_entry entry;

  for (uint64_t slot = recording->taken; slot < atomic_load(&source->filled); slot++)
    outcome.lost_bytes += source->bytes[source_slot(source, slot)];
  outcome.nothing = counters->pushed_bytes == 0 && outcome.lost_bytes == 0;
  if (source->kind == &source_file) outcome.lost_bytes = 0; /* the file still has them */
  if (loops_wanted(session))
    outcome.bytes = counters->completed_bytes;
  else if (parts_wanted(session))
    outcome.bytes = recording->part.closed_bytes;
  else if (spate_exfat_stat(&session->volume.exfat, recording->path, &entry) == SPATE_OK)
    outcome.bytes = entry.bytes;
  return outcome;
}

static enum exit_status status_of(const struct recording *recording, const struct outcome *outcome) {
  if (outcome->lost_bytes > 0 || outcome->unknown_bytes > 0 || outcome->lost_datagrams > 0) return EXIT_LOST;
  return recording->source.error != 0 || recording->refused != SPATE_OK || recording->stream.error != SPATE_OK ||
                 outcome->nothing || !loops_are_well(recording)
             ? EXIT_FAILED
             : EXIT_DONE;
}

/* The kernel reports the same error for media that fails and for a device that it has removed: tells them apart.
 * failure_of() tells a refused write from a lack of space. */
static enum spate_error cause_of(const struct session *session, enum spate_error error) {
  return error == SPATE_E_MEDIA && session->trouble == TARGET_GONE ? SPATE_E_GONE : failure_of(error);
}

/* The reason why a file ended before its source. */
static enum spate_error error_of(const struct session *session, const struct recording *recording) {
  return cause_of(session, recording->stream.error != SPATE_OK ? recording->stream.error : recording->refused);
}

static const char *help_of(const struct session *session, enum spate_error error) {
  if (error == SPATE_E_GONE && session->trouble == TARGET_GONE)
    return "The kernel has removed the device: check the drive, or the network to it";
  if (error == SPATE_E_NO_SPACE && loops_wanted(session))
    return "What is kept has filled the volume: copy it, and remove it with spate rm. The next start continues";
  return failure_help(error);
}

#define INSTANT_S 0.1 /* a shorter recording is only in the cache: its rate would mean nothing */

static void print_loop(const struct recording *recording, const struct outcome *outcome, double seconds) {
  const unsigned parts = recording->looping.loop.count, files = recording->looping.kept;
  char size[UNITS_TEXT_BYTES], rate[UNITS_TEXT_BYTES];

  (void)fprintf(stderr, "%s: %s in %.1f s, %s/s; kept %u part%s and %u file%s\n", recording->path,
                units_decimal(outcome->bytes, size), seconds,
                units_decimal((uint64_t)((double)outcome->bytes / seconds), rate), parts, parts == 1 ? "" : "s", files,
                files == 1 ? "" : "s");
}

static void print_result(const struct session *session, const struct recording *recording,
                         const struct outcome *outcome, double seconds) {
  const enum spate_error error = error_of(session, recording);
  char size[UNITS_TEXT_BYTES], rate[UNITS_TEXT_BYTES];

  if (outcome->nothing)
    (void)fprintf(stderr, "spate: %s: %s sent no data, and no file was made\n", recording->path,
                  recording->source.name);
  else if (seconds < INSTANT_S)
    (void)fprintf(stderr, "%s: %s\n", recording->path, units_decimal(outcome->bytes, size));
  else if (loops_wanted(session))
    print_loop(recording, outcome, seconds);
  else if (!parts_wanted(session))
    (void)fprintf(stderr, "%s: %s in %.1f s, %s/s\n", recording->path, units_decimal(outcome->bytes, size), seconds,
                  units_decimal((uint64_t)((double)outcome->bytes / seconds), rate));
  else
    (void)fprintf(stderr, "%s: %s in %.1f s, %s/s, in %u file%s\n", recording->pattern,
                  units_decimal(outcome->bytes, size), seconds,
                  units_decimal((uint64_t)((double)outcome->bytes / seconds), rate), (unsigned)recording->part.count,
                  recording->part.count == 1 ? "" : "s");
  if (error != SPATE_OK)
    (void)fprintf(stderr, "spate: %s: the recording ended before its source: %s. %s\n", recording->path,
                  spate_error_name(error), help_of(session, error));
  if (recording->source.error != 0)
    (void)fprintf(stderr, "spate: %s: reading %s: %s\n", recording->path, recording->source.name,
                  recording->source.why != NULL ? recording->source.why : strerror(recording->source.error));
  if (outcome->lost_datagrams > 0)
    (void)fprintf(stderr, "spate: %s: %llu datagrams were LOST before spate could read them\n", recording->path,
                  (unsigned long long)outcome->lost_datagrams);
  if (outcome->unknown_bytes > 0)
    (void)fprintf(
        stderr,
        "spate: %s: %s may be WRONG: the drive was reset, and nothing shows whether it lost power. Compare the "
        "file with its source\n",
        recording->path, units_text(outcome->unknown_bytes, size));
  if (outcome->lost_bytes > 0)
    (void)fprintf(stderr, "spate: %s: %s were LOST%s\n", recording->path, units_text(outcome->lost_bytes, size),
                  error == SPATE_OK ? ": the target is slower than the source. Try a larger --ring" : "");
}

static void write_loop(struct json *json, const struct looping *looping) {
  json_integer(json, "parts", looping->loop.count);
  json_integer(json, "kept", looping->kept);
  json_integer(json, "folders", looping->folders);
  json_integer(json, "empty", looping->empty);
  json_integer(json, "unkept", looping->unkept);
  json_integer(json, "short_bytes", looping->short_bytes);
  json_string(json, "loop_error", spate_error_name(failure_of(looping->error)));
}

static void write_json(struct json *json, const struct session *session, const struct recording *recording,
                       const struct outcome *outcome, double seconds) {
  json_open(json, NULL, '{');
  json_string(json, "path", parts_wanted(session) ? recording->pattern : recording->path);
  if (parts_wanted(session)) json_integer(json, "parts", recording->part.count);
  if (loops_wanted(session)) write_loop(json, &recording->looping);
  json_integer(json, "bytes", outcome->bytes);
  json_integer(json, "lost_bytes", outcome->lost_bytes);
  json_integer(json, "unknown_bytes", outcome->unknown_bytes);
  if (recording->source.kind == &source_udp) {
    json_integer(json, "lost_datagrams", outcome->lost_datagrams);
    json_integer(json, "first_datagram_ns", recording->source.first_ns);
    json_integer(json, "last_datagram_ns", recording->source.last_ns);
  }
  json_integer(json, "gaps", recording->losses.gaps);
  json_real(json, "seconds", seconds);
  json_string(json, "error", spate_error_name(error_of(session, recording)));
  json_close(json, '}');
}

/* What another program has done to the target: the message is printed already. */
static enum exit_status status_of_target(const struct session *session) {
  switch (session->trouble) {
  case TARGET_REMOVED:
  case TARGET_TRUNCATED: return EXIT_LOST;
  case TARGET_GONE: return EXIT_FAILED;
  default: return EXIT_DONE;
  }
}

static const char *trouble_name(enum target_trouble trouble) {
  static const char *const names[] = {"well", "removed", "truncated", "gone"};

  return names[trouble];
}

static enum exit_status worst(enum exit_status a, enum exit_status b) { return a > b ? a : b; }

static enum exit_status report(struct session *session, double seconds, bool as_json) {
  enum exit_status status = status_of_target(session);
  struct json json = {.to = stdout};

  if (as_json) json_open(&json, NULL, '{');
  if (as_json) json_open(&json, "files", '[');
  for (unsigned i = 0; i < session->count; i++) {
    const struct recording *recording = &session->recordings[i];
    const struct outcome outcome = outcome_of(session, recording);
    print_result(session, recording, &outcome, seconds);
    if (as_json) write_json(&json, session, recording, &outcome, seconds);
    status = worst(status, status_of(recording, &outcome));
  }
  if (!as_json) return status;
  json_close(&json, ']');
  json_string(&json, "target", trouble_name(session->trouble));
  json_close(&json, '}');
  (void)fflush(stdout); /* closing the target may end the program, or take long */
  return status;
}

static void close_recording(struct recording *recording, const struct memory_supply *memory) {
  source_close(&recording->source);
  memory_give(memory, recording->table);
  free(recording->pieces);
}

/* A source that sent nothing, or nothing after a cut, leaves no file, and so no folder. */
static void remove_folders(struct session *session) {
  bool missing = session->discarded;
  struct spate_exfat_entry entry;

  for (unsigned i = 0; i < session->count && !loops_wanted(session); i++)
    missing |= spate_exfat_stat(&session->volume.exfat, session->recordings[i].path, &entry) == SPATE_E_NOT_FOUND;
  if (missing) folders_remove_empty(&session->folders, &session->volume.exfat);
  folders_free(&session->folders);
}

/* Closes clips, then the recorder, then the volume. After a failure the next mount repairs the volume. */
enum exit_status recording_end(struct session *session, double seconds, bool json) {
  if (loops_wanted(session)) triggers_end(session); /* a span needs a part that is not closed */
  enum spate_error finished = spate_recorder_finish(&session->recorder);
  const enum spate_error looped = loops_end(session);

  if (finished == SPATE_OK) finished = looped;
  (void)losses_look_at_target(session, &(struct progress){0});
  for (unsigned i = 0; i < session->count; i++)
    recording_release(&session->recordings[i]);
  enum exit_status status = report(session, seconds, json);
  const enum spate_error closed = spate_recorder_close(&session->recorder);

  /* Before the unmount, which closes the target: the memory may belong to the target. */
  for (unsigned i = 0; i < session->count; i++)
    close_recording(&session->recordings[i], session->volume.target.memory);
  remove_folders(session);
  const enum spate_error unmounted = volume_unmount(&session->volume);
  if (session->removed) {
    (void)fprintf(stderr, "spate: %s: the kernel asked for the drive back, and the recording ended before its source\n",
                  session->volume.target.name);
    status = worst(status, EXIT_FAILED);
  }
  if (closed == SPATE_OK && unmounted == SPATE_OK && finished == SPATE_OK) return status;
  const enum spate_error error = finished != SPATE_OK ? finished : unmounted != SPATE_OK ? unmounted : closed;
  (void)fprintf(stderr, "spate: %s: closing failed: %s. spate recover repairs the volume\n",
                session->volume.target.name, spate_error_name(cause_of(session, error)));
  return worst(status, EXIT_FAILED);
}
