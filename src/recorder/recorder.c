/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include <spate/clock.h>
#include <spate/port.h>

#define POLL_BATCH            32u
#define CHECKPOINT_MS_DEFAULT 500u
#define SLOW_MS_DEFAULT       250u
#define METADATA_DEPTH        4u /* left for checkpoints and metadata when the caller names no depth */

/* Everything that never waits. */
static void pump(struct spate_recorder *recorder) {
  /* A length that was counted before a power loss was dealt with must not be published. */
  bool may_begin = spate_transfer_check_power(recorder);
  spate_checkpoint_step(recorder, may_begin);
  spate_transfer_submit(recorder);
  spate_watch_turn(recorder);
}

/* Measure all times from now on. */
static void restart_times(struct spate_recorder *recorder, uint64_t now_ticks) {
  recorder->checkpoint_started_ticks = now_ticks;
  recorder->watch.started_ticks = now_ticks;
  recorder->heat_watch = (struct spate_heat_watch){.reported = recorder->heat_watch.reported};
  for (uint32_t i = 0; i < recorder->stream_count; i++) {
    struct spate_stream *stream = recorder->streams[i];
    stream->last_completion_ticks = now_ticks;
    for (uint32_t j = stream->completed; j != stream->pushed; j++)
      spate_piece_at(stream, j)->submitted_ticks = now_ticks;
  }
}

/* Once a turn: has the clock gone back, or wrapped? */
static void look_at_clock(struct spate_recorder *recorder) {
  const uint64_t now_ticks = spate_port_ticks();

  if (now_ticks < recorder->now_ticks) {
    if (recorder->error == SPATE_OK) recorder->error = SPATE_E_CLOCK;
    restart_times(recorder, now_ticks);
  }
  recorder->now_ticks = now_ticks;
}

/* Called by the device while a metadata operation waits. */
static void while_waiting(void *context) {
  struct spate_recorder *recorder = context;

  if (recorder->config.while_waiting != NULL) recorder->config.while_waiting(recorder->config.context);
  look_at_clock(recorder);
  pump(recorder);
}

enum spate_error spate_recorder_open(struct spate_recorder *recorder, struct spate_exfat *volume,
                                     const struct spate_recorder_config *config) {
  if (volume->mounted != volume) return SPATE_E_NOT_MOUNTED;
  struct spate_block *block = volume->config.block;
  if (block->while_waiting != NULL) return SPATE_E_OPEN; /* before *recorder is written: it may be this one */
  if (spate_clock_check() != SPATE_OK) return SPATE_E_CLOCK;

  *recorder = (struct spate_recorder){.config = *config, .volume = volume, .block = block};
  if (recorder->config.checkpoint_ms == 0) recorder->config.checkpoint_ms = CHECKPOINT_MS_DEFAULT;
  if (recorder->config.slow_ms == 0) recorder->config.slow_ms = SLOW_MS_DEFAULT;
  if (recorder->config.depth == 0)
    recorder->config.depth = (uint16_t)(block->depth > METADATA_DEPTH ? block->depth - METADATA_DEPTH : 1u);
  recorder->period_ticks = spate_port_ticks_per_second() * recorder->config.checkpoint_ms / 1000u;
  recorder->now_ticks = spate_port_ticks();
  recorder->checkpoint_started_ticks = recorder->now_ticks;
  spate_watch_open(recorder);
  return spate_exfat_take_turns(volume, while_waiting, recorder);
}

enum spate_error spate_recorder_close(struct spate_recorder *recorder) {
  if (!spate_recorder_is_open(recorder)) return SPATE_OK; /* the hook may be another's */
  if (recorder->checkpoint != CHECKPOINT_IDLE || recorder->in_flight > 0) return SPATE_E_BUSY;
  for (uint32_t i = 0; i < recorder->stream_count; i++)
    if (spate_stream_active(recorder->streams[i])) return SPATE_E_BUSY;
  for (uint32_t i = 0; i < recorder->stream_count; i++)
    if (recorder->streams[i]->clips[0].state == CLIP_STUCK || recorder->streams[i]->clips[1].state == CLIP_STUCK)
      return SPATE_E_IN_USE;
  spate_exfat_leave_turns(recorder->volume, recorder);
  return SPATE_OK;
}

/* `stream` may hold anything and is not read: the recorder knows the streams that are open. */
static bool is_taken(const struct spate_recorder *recorder, const struct spate_stream *stream,
                     const struct spate_stream_config *config) {
  const uintptr_t start = (uintptr_t)config->pieces;
  const uintptr_t end = (uintptr_t)(config->pieces + config->piece_count);

  for (uint32_t i = 0; i < recorder->stream_count; i++) {
    const struct spate_stream_config *other = &recorder->streams[i]->config;
    const bool overlap = start < (uintptr_t)(other->pieces + other->piece_count) && (uintptr_t)other->pieces < end;
    if (recorder->streams[i] == stream || overlap) return true;
  }
  return false;
}

enum spate_error spate_stream_open(struct spate_recorder *recorder, struct spate_stream *stream,
                                   const struct spate_stream_config *config) {
  uint32_t count = config->piece_count;

  if (!spate_recorder_is_open(recorder)) return SPATE_E_STATE;
  if (config->region == NULL || config->pieces == NULL || count < 2 || (count & (count - 1u)) != 0)
    return SPATE_E_INVALID;
  if (config->retain && config->region->list == NULL) return SPATE_E_INVALID; /* no memory: it comes once */
  if ((config->chunk_bytes & (spate_block_bytes(recorder->block) - 1u)) != 0) return SPATE_E_INVALID;
  if (is_taken(recorder, stream, config)) return SPATE_E_OPEN;
  if (recorder->stream_count == SPATE_STREAMS_MAX) return SPATE_E_FULL;
  *stream = (struct spate_stream){.config = *config,
                                  .recorder = recorder,
                                  .mark_seen = spate_block_power_mark(recorder->block),
                                  .losses_seen = recorder->block->power_losses};
  stream->clips[0].stream = stream;
  stream->clips[1].stream = stream;
  spate_watch_stream(stream);
  recorder->streams[recorder->stream_count++] = stream;
  return SPATE_OK;
}

enum spate_error spate_recorder_work(struct spate_recorder *recorder) {
  look_at_clock(recorder);
  spate_block_poll(recorder->block, POLL_BATCH);
  pump(recorder);
  for (uint32_t i = 0; i < recorder->stream_count; i++) {
    struct spate_stream *stream = recorder->streams[i];
    spate_stream_clip_close_ended(recorder, &stream->clips[0]);
    spate_stream_clip_close_ended(recorder, &stream->clips[1]);
    if (stream->arm_next != NULL) stream->arm_next(stream);
    spate_recorder_report(stream);
  }
  spate_recorder_report_heat(recorder);
  enum spate_error error = recorder->error;
  recorder->error = SPATE_OK;
  return error;
}

static bool is_working(const struct spate_recorder *recorder) {
  if (recorder->checkpoint != CHECKPOINT_IDLE || recorder->in_flight > 0) return true;
  for (uint32_t i = 0; i < recorder->stream_count; i++)
    if (spate_stream_active(recorder->streams[i])) return true;
  return false;
}

enum spate_error spate_recorder_finish(struct spate_recorder *recorder) {
  enum spate_error first = SPATE_OK;

  for (uint32_t i = 0; i < recorder->stream_count; i++) {
    enum spate_error error = spate_stream_stop(recorder->streams[i]);
    if (error != SPATE_OK && error != SPATE_E_STATE) first = error;
  }
  while (is_working(recorder)) {
    enum spate_error error = spate_recorder_work(recorder);
    if (first == SPATE_OK) first = error;
    if (is_working(recorder)) spate_port_relax();
  }
  for (uint32_t i = 0; i < recorder->stream_count && first == SPATE_OK; i++)
    first = recorder->streams[i]->error;
  return first;
}
