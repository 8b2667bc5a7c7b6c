/* SPDX-License-Identifier: Apache-2.0 */
#include "losses.h"

#include "../text/failure.h"
#include "../text/json.h"
#include "../text/progress.h"
#include "../text/units.h"
#include "recording.h"

#include <stdio.h>
#include <unistd.h>

#define APART_S 1.0

/* What a drive did not keep of a file is still in the file. */
static uint64_t drive_bytes(const struct recording *recording) {
  return recording->source.kind == &source_file ? 0 : recording->stream.counters.lost_bytes;
}

uint64_t losses_bytes(const struct recording *recording) {
  return atomic_load(&recording->source.lost_bytes) + drive_bytes(recording);
}

uint64_t losses_datagrams(const struct recording *recording) { return atomic_load(&recording->source.lost_datagrams); }

/* A kind of loss, and how much more of it there is than was told. */
struct loss {
  const char *cause, *why; /* for programs; for people */
  uint64_t bytes, datagrams;
};

static void print_json(const struct progress *progress, const struct recording *recording, const struct loss *loss) {
  struct json json = {.to = stderr, .line = true};

  json_open(&json, NULL, '{');
  json_string(&json, "event", "lost");
  json_string(&json, "what", recording->path);
  json_real(&json, "seconds", progress_seconds(progress));
  json_integer(&json, loss->datagrams > 0 ? "datagrams" : "bytes", loss->datagrams + loss->bytes);
  json_string(&json, "cause", loss->cause);
  json_close(&json, '}');
}

static void print(const struct progress *progress, const struct recording *recording, const struct loss *loss) {
  char text[UNITS_TEXT_BYTES];

  if (loss->bytes == 0 && loss->datagrams == 0) return;
  if (progress_style == PROGRESS_JSON) {
    print_json(progress, recording, loss);
    return;
  }
  progress_clear(progress);
  if (loss->datagrams > 0)
    (void)snprintf(text, sizeof text, "%llu datagram%s", (unsigned long long)loss->datagrams,
                   loss->datagrams == 1 ? "" : "s");
  else
    (void)units_text(loss->bytes, text);
  (void)fprintf(stderr, "spate: %s: LOST %s at %.1f s: %s\n", recording->path, text, progress_seconds(progress),
                loss->why);
}

#define RING_FULL "the ring is full, because the target is slower than the source"

static void tell(struct recording *recording, const struct progress *progress) {
  const struct spate_stream *stream = &recording->stream;
  struct losses *told = &recording->losses;
  const bool full = !source_has_room(&recording->source);
  const struct losses now = {.source_bytes = atomic_load(&recording->source.lost_bytes),
                             .datagrams = losses_datagrams(recording),
                             .drive_bytes = drive_bytes(recording),
                             .unknown_bytes = stream->counters.unknown_bytes,
                             .gaps = told->gaps + 1u,
                             .told_seconds = progress_seconds(progress)};
  const enum spate_error error = failure_of(stream->error);
  const struct loss losses[] = {
      {.cause = "ring full", .why = RING_FULL, .bytes = now.source_bytes - told->source_bytes},
      {.cause = full ? "ring full" : "not read in time",
       .why = full ? RING_FULL : "spate did not read the socket in time",
       .datagrams = now.datagrams - told->datagrams},
      {.cause = spate_error_name(error), .why = failure_help(error), .bytes = now.drive_bytes - told->drive_bytes},
      {.cause = "power",
       .why = "perhaps: the drive was reset, and nothing shows whether it lost power",
       .bytes = now.unknown_bytes - told->unknown_bytes}};

  for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
    print(progress, recording, &losses[i]);
  *told = now;
}

static bool has_more(const struct recording *recording) {
  const struct losses *told = &recording->losses;

  return atomic_load(&recording->source.lost_bytes) != told->source_bytes ||
         losses_datagrams(recording) != told->datagrams || drive_bytes(recording) != told->drive_bytes ||
         recording->stream.counters.unknown_bytes != told->unknown_bytes;
}

void losses_tell(struct session *session, const struct progress *progress, bool rest) {
  for (unsigned i = 0; i < session->count; i++) {
    struct recording *recording = &session->recordings[i];
    const struct losses *told = &recording->losses;
    if (!has_more(recording)) continue;
    if (rest || told->gaps == 0 || progress_seconds(progress) - told->told_seconds >= APART_S)
      tell(recording, progress);
  }
}

bool losses_look_at_target(struct session *session, const struct progress *progress) {
  const enum target_trouble trouble = target_trouble(&session->volume.target);
  const char *name = session->volume.target.name;

  if (trouble == session->trouble) return trouble == TARGET_WELL || trouble == TARGET_REMOVED;
  session->trouble = trouble;
  progress_clear(progress);
  switch (trouble) {
  case TARGET_REMOVED:
    (void)fprintf(
        stderr,
        "spate: %s: another program has removed it, and all is LOST when spate ends. Until then this saves it: "
        "cp /proc/%ld/fd/%d FILE\n",
        name, (long)getpid(), session->volume.target.fd);
    return true;
  case TARGET_TRUNCATED:
    (void)fprintf(stderr, "spate: %s: another program has truncated it, and what was recorded past its end is LOST\n",
                  name);
    return false;
  case TARGET_GONE: (void)fprintf(stderr, "spate: %s: the kernel has removed the device\n", name); return false;
  default: return true;
  }
}
