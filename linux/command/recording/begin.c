/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include "../target/place.h"
#include "../target/requests.h"
#include "../text/failure.h"
#include "../text/stamp.h"
#include "../text/units.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#define SLOT_BYTES (UINT32_C(1) << 20)

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  (void)number;
  interrupted = 1;
}

/* A terminal that closes (SIGHUP) ends the recording as Ctrl-C does. SIGPIPE and SIGXFSZ are ignored: the write then
 * fails, and its caller handles the error. */
static void catch_signals(void) {
  const struct sigaction end = {.sa_handler = interrupt}, ignore = {.sa_handler = SIG_IGN};

  if (sigaction(SIGINT, &end, NULL) != 0 || sigaction(SIGTERM, &end, NULL) != 0 || sigaction(SIGHUP, &end, NULL) != 0 ||
      sigaction(SIGPIPE, &ignore, NULL) != 0 || sigaction(SIGXFSZ, &ignore, NULL) != 0)
    fail(EXIT_FAILED, "signals: %s", strerror(errno));
}

bool recording_interrupted(void) { return interrupted != 0; }

bool recording_is_synthetic(const char *source) { return strcmp(source, "synthetic") == 0; }

/* The largest power of two of slots that fits in `ring_bytes`; at least 2. */
static uint32_t slots_of(uint64_t ring_bytes) {
  uint32_t slots = 2;

  while ((uint64_t)slots * 2u * SLOT_BYTES <= ring_bytes)
    slots *= 2;
  return slots;
}

static struct source_config source_config(const struct recording_request *request, const char *source) {
  static const char kind[8] = "SYNTHETC";
  struct source_config config = {
      .slot_bytes = SLOT_BYTES,
      .slots = slots_of(request->ring_bytes),
      .bytes = request->size_bytes,
      .interrupted = recording_interrupted,
  };

  if (recording_is_synthetic(source)) config.rate = request->rate;
  if (config.rate > 0 && request->seconds > 0) {
    const uint64_t bytes = (uint64_t)(config.rate * request->seconds);
    if (config.bytes == 0 || bytes < config.bytes) config.bytes = bytes;
  }
  memcpy(config.stream, kind, sizeof kind);
  if (getrandom(config.stream + sizeof kind, sizeof config.stream - sizeof kind, 0) < 0)
    fail(EXIT_FAILED, "getrandom: %s", strerror(errno));
  return config;
}

static void open_recording(struct session *session, struct recording *recording) {
  const struct source_config *config = &recording->source.config;
  const struct spate_block *block = session->volume.target.block;
  const struct memory_supply *memory = session->volume.target.memory;

  source_memory(&recording->source, memory);
  const uint64_t ring_bytes = (uint64_t)config->slots * config->slot_bytes;
  const size_t table_bytes = (size_t)SPATE_REGION_TABLE_BYTES(ring_bytes); /* RING_BYTES_MAX fits */
  if (config->slot_bytes >> block->block_shift > block->request_blocks_max)
    fail(EXIT_REFUSED, "%s has slots of %u bytes, but %s takes at most %llu bytes in a request", recording->source.name,
         (unsigned)config->slot_bytes, session->volume.target.name,
         (unsigned long long)block->request_blocks_max << block->block_shift);
  recording->table = memory_take(memory, table_bytes);
  recording->pieces = calloc(config->slots, sizeof *recording->pieces);
  if (recording->pieces == NULL) fail(EXIT_FAILED, "no memory");
  memory_region(memory, &recording->region, recording->source.memory, ring_bytes, recording->table);

  /* Without cpu_filled: DMA memory is coherent here, so requests need no cache maintenance. */
  struct spate_stream_config stream = {
      .region = &recording->region, .pieces = recording->pieces, .piece_count = config->slots};
  if (recording_is_synthetic(recording->source.name)) {
    stream.chunk_bytes = config->slot_bytes;
    memcpy(stream.chunk_stream, config->stream, sizeof stream.chunk_stream);
  }
  expect(spate_stream_open(&session->recorder, &recording->stream, &stream), recording->path);
}

/* Refuses paths that exist, before any file is made. */
static void check_paths(struct session *session) {
  struct spate_exfat_entry entry;

  for (unsigned i = 0; i < session->count; i++) {
    const char *path = session->recordings[i].path;
    const enum spate_error error = spate_exfat_stat(&session->volume.exfat, path, &entry);
    if (error == SPATE_OK || (error == SPATE_E_CORRUPT && entry.name[0] != '\0'))
      fail(EXIT_REFUSED,
           "%s exists on the volume, and nothing was changed. Choose another name, or remove it: spate rm %s %s", path,
           session->volume.target.name, path);
    /* Beside a damaged entry set the name may be there, for us and for any other system: nobody can open it. */
    if (error == SPATE_E_CORRUPT)
      (void)fprintf(stderr, "spate: the folder of %s has damaged entries: spate check names them\n", path);
    else if (error != SPATE_E_NOT_FOUND)
      expect(error, path);
  }
}

/* What the recording needs, and what there is. */
static void say_space(struct session *session, const char *path) {
  char need[UNITS_TEXT_BYTES], free_text[UNITS_TEXT_BYTES], longest[UNITS_TEXT_BYTES];
  struct spate_exfat_info info;

  for (unsigned i = 0; i < session->count; i++) {
    const uint64_t bytes = source_size(&session->recordings[i].source);
    if (session->recordings[i].path != path || bytes == 0) continue;
    if (spate_exfat_info(&session->volume.exfat, &info) != SPATE_OK) return;
    (void)fprintf(stderr, "spate: %s needs %s in one piece; the volume has %s free, %s of it in one piece\n", path,
                  units_text(bytes, need), units_text(info.free_bytes, free_text),
                  units_text(info.longest_free_bytes, longest));
  }
}

/* Removes the files that were made so far, which are still empty, with their folders, and ends the program. */
__attribute__((noreturn)) static void give_up(struct session *session, const char *path, enum spate_error error,
                                              const char *help) {
  if (error == SPATE_E_NO_SPACE || error == SPATE_E_FRAGMENTED) say_space(session, path);
  const enum spate_error finished = spate_recorder_finish(&session->recorder);
  const enum spate_error closed = spate_recorder_close(&session->recorder);

  /* Threads that are running fill memory that the target frees: they end first. */
  for (unsigned i = 0; i < session->count; i++)
    source_join(&session->recordings[i].source);
  folders_remove_empty(&session->folders, &session->volume.exfat);
  const enum spate_error unmounted = volume_unmount(&session->volume);
  if (finished != SPATE_OK || closed != SPATE_OK || unmounted != SPATE_OK)
    (void)fprintf(stderr, "spate: the volume was not closed properly; spate recover repairs it\n");
  fail(EXIT_FAILED, "%s: %s. %s", path, spate_error_name(failure_of(error)), help);
}

static void arm(struct session *session, struct recording *recording) {
  enum spate_error error = folders_make(&session->folders, &session->volume.exfat, recording->path);

  if (error != SPATE_OK) give_up(session, recording->path, error, failure_help(error));
  if (loops_wanted(session)) {
    error = loops_begin(session, recording);
    if (error != SPATE_OK) give_up(session, loops_blamed(recording, error), error, loops_help(error));
    return;
  }
  const uint64_t bytes =
      parts_wanted(session) ? parts_first_bytes(session, recording) : source_size(&recording->source);

  error = spate_stream_arm(&recording->stream, recording->path, bytes);
  if (error != SPATE_OK) give_up(session, recording->path, error, failure_help(error));
}

/* Other commands do not say it: only a recorder has a rate to lose. */
static void tell_if_forbidden(const struct target *target) {
  if ((target->kind == TARGET_IMAGE || target->kind == TARGET_DEVICE) && target->wait_fd < 0 && requests_forbidden())
    (void)fprintf(stderr,
                  "spate: io_uring is not allowed here, as in many containers: requests are carried out one by one, "
                  "which needs more processor time\n");
}

/* Refuses to record the target onto itself: reading it would never end. */
static void check_source(const struct source *source, const char *target) {
  struct stat from, to;
  char path[PATH_MAX];
  unsigned number;

  place_of_image(target, path, &number);
  if (source->fd >= 0 && fstat(source->fd, &from) == 0 && stat(path, &to) == 0 && from.st_dev == to.st_dev &&
      from.st_ino == to.st_ino)
    fail(EXIT_USAGE, "%s cannot be recorded onto itself", target);
}

static void take_event(void *context, struct spate_stream *stream, enum spate_event event, uint64_t value) {
  struct session *session = context;
  unsigned i = 0;

  while (&session->recordings[i].stream != stream)
    i++;
  if (event == SPATE_EVENT_CLIP_CLOSED) parts_closed(session, &session->recordings[i], value);
  if (event == SPATE_EVENT_CLIP_DISCARDED) session->discarded = true;
}

/* The command line was checked for names that stamp_name() refuses. */
static void name_first(struct recording *recording, const char *pattern) {
  recording->pattern = pattern;
  const char *problem = stamp_name(pattern, time(NULL), recording->path, sizeof recording->path);
  if (problem != NULL) fail(EXIT_USAGE, "\"%s\" %s", pattern, problem);
}

void recording_begin(struct session *session, const struct recording_request *request) {
  const struct spate_recorder_config recorder = {
      .checkpoint_ms = request->checkpoint_ms, .event = take_event, .context = session};

  control_catch_signals(); /* first: opening the sources may take long, and a trigger must not end the program */
  session->count = request->count;
  for (unsigned i = 0; i < request->count; i++) {
    const struct source_config config = source_config(request, request->sources[i]);
    name_first(&session->recordings[i], request->paths[i]);
    source_open(&session->recordings[i].source, request->sources[i], &config);
    check_source(&session->recordings[i].source, request->target);
  }
  volume_open(&session->volume, request->target, TARGET_WRITE);
  tell_if_forbidden(&session->volume.target);
  catch_signals(); /* after volume_open(): opening the target may install other handlers */
  if (session->volume.found.reservations > 0)
    (void)fprintf(stderr, "%s: %u interrupted recording%s recovered\n", request->target,
                  session->volume.found.reservations, session->volume.found.reservations == 1 ? "" : "s");
  loops_plan(session, request);
  if (!loops_wanted(session)) check_paths(session);
  expect(spate_recorder_open(&session->recorder, &session->volume.exfat, &recorder), request->target);
  for (unsigned i = 0; i < session->count; i++)
    open_recording(session, &session->recordings[i]);
  if (!loops_wanted(session)) parts_begin(session, request);
  if (loops_wanted(session)) loops_listen(session, request);
  for (unsigned i = 0; i < session->count; i++)
    arm(session, &session->recordings[i]);
  if (loops_wanted(session)) loops_compare_room(session, request);
  for (unsigned i = 0; i < session->count; i++) {
    const int error = source_start(&session->recordings[i].source);
    if (error == 0) continue;
    (void)fprintf(stderr, "spate: cannot start a thread for %s: %s\n", session->recordings[i].source.name,
                  strerror(error));
    give_up(session, session->recordings[i].path, SPATE_E_MEMORY, failure_help(SPATE_E_MEMORY));
  }
}
