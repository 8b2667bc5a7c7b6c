/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checkpoint: the length of each clip on the volume catches up with its data.
 *
 *   IDLE → (snapshot the contiguous completed lengths) → FLUSHING → FLUSHED → (publish) → PUBLISHING → IDLE
 *
 * The lengths are those of *completed* bytes, taken before the flush is submitted: a flush covers no write that
 * completes after it. Only when the flush has completed are they published, one FUA write for each directory block.
 * All of it shares the data's queue and never drains it.
 */
#include "internal.h"
#include <spate/port.h>

static bool is_due(const struct spate_recorder *recorder) {
  if (recorder->now_ticks - recorder->checkpoint_started_ticks < recorder->period_ticks) return false;
  for (uint32_t i = 0; i < recorder->stream_count; i++) {
    for (unsigned j = 0; j < 2; j++) {
      const struct spate_take *take = &recorder->streams[i]->takes[j];
      if (take_is_open(take) && take->completed_bytes > take->clip.published_bytes) return true;
    }
  }
  return false;
}

static void flush_done(struct spate_io *io) {
  struct spate_recorder *recorder = io->context;

  recorder->checkpoint = CHECKPOINT_FLUSHED;
}

static void begin(struct spate_recorder *recorder) {
  if (recorder->block->volatile_cache) {
    recorder->flush = (struct spate_io){.op = SPATE_FLUSH, .done = flush_done, .context = recorder};
    enum spate_error error = spate_block_submit(recorder->block, &recorder->flush);
    if (error == SPATE_E_FULL) return;
    recorder->flush.error = error;
    recorder->checkpoint = error == SPATE_OK ? CHECKPOINT_FLUSHING : CHECKPOINT_FLUSHED;
    recorder->counters.flushes++;
    spate_block_kick(recorder->block);
  } else {
    recorder->flush.error = SPATE_OK;
    recorder->checkpoint = CHECKPOINT_FLUSHED;
  }
  /* Nothing completes between the submission and here: completions only come from poll(). */
  recorder->checkpoint_started_ticks = recorder->now_ticks;
  recorder->losses_at_flush = recorder->block->power_losses;
  for (uint32_t i = 0; i < recorder->stream_count; i++) {
    struct spate_stream *stream = recorder->streams[i];
    stream->flush_mark = stream->completed;
    for (unsigned j = 0; j < 2; j++)
      stream->takes[j].snapshot_bytes = stream->takes[j].completed_bytes;
  }
}

/* Nothing new is durable. The next period tries again. */
static void give_up(struct spate_recorder *recorder) {
  recorder->counters.checkpoint_failures++;
  if (recorder->error == SPATE_OK) recorder->error = recorder->flush.error;
}

/* Returns whether every length was accepted for publishing. */
static bool publish(struct spate_recorder *recorder) {
  bool all = true;

  for (uint32_t i = 0; i < recorder->stream_count; i++) {
    struct spate_stream *stream = recorder->streams[i];
    for (unsigned j = 0; j < 2; j++) {
      struct spate_take *take = &stream->takes[j];
      if (!take_is_open(take) || take->snapshot_bytes == 0) continue;
      enum spate_error error = spate_exfat_publish(&take->clip, take->snapshot_bytes);
      if (error == SPATE_E_FULL) {
        all = false;
        continue;
      }
      if (error != SPATE_OK && recorder->error == SPATE_OK) recorder->error = error;
      take->snapshot_bytes = 0;
      stream->counters.checkpoints++;
    }
  }
  return all;
}

static void make_durable(struct spate_recorder *recorder) {
  for (uint32_t i = 0; i < recorder->stream_count; i++) {
    struct spate_stream *stream = recorder->streams[i];
    spate_transfer_flushed(stream, stream->flush_mark);
    for (unsigned j = 0; j < 2; j++) {
      struct spate_take *take = &stream->takes[j];
      if (take_is_open(take) && take->snapshot_bytes > take->durable_bytes) {
        stream->counters.durable_bytes += take->snapshot_bytes - take->durable_bytes;
        take->durable_bytes = take->snapshot_bytes;
      }
      if (!take_is_open(take) || take->snapshot_bytes <= take->clip.published_bytes)
        take->snapshot_bytes = 0; /* nothing to publish */
    }
  }
}

static bool is_published(struct spate_recorder *recorder) {
  for (uint32_t i = 0; i < recorder->stream_count; i++) {
    for (unsigned j = 0; j < 2; j++) {
      struct spate_take *take = &recorder->streams[i]->takes[j];
      if (!take_is_open(take)) continue;
      if (take->clip.publishing) return false;
      if (take->clip.error != SPATE_OK && recorder->error == SPATE_OK) {
        recorder->error = take->clip.error;
        recorder->counters.checkpoint_failures++;
      }
    }
  }
  return true;
}

void spate_checkpoint_step(struct spate_recorder *recorder) {
  if (recorder->checkpoint == CHECKPOINT_IDLE && is_due(recorder)) begin(recorder);
  if (recorder->checkpoint == CHECKPOINT_FLUSHED) {
    if (recorder->flush.error != SPATE_OK) {
      give_up(recorder);
      recorder->checkpoint = CHECKPOINT_IDLE;
      return;
    }
    if (recorder->losses_at_flush != recorder->block->power_losses) {
      recorder->checkpoint = CHECKPOINT_IDLE; /* the flush may have come after the loss: it proves nothing */
      return;
    }
    make_durable(recorder);
    recorder->checkpoint = CHECKPOINT_PUBLISHING;
  }
  if (recorder->checkpoint == CHECKPOINT_PUBLISHING && publish(recorder) && is_published(recorder)) {
    uint64_t ticks = recorder->now_ticks - recorder->checkpoint_started_ticks;
    if (ticks > recorder->counters.checkpoint_ticks_max) recorder->counters.checkpoint_ticks_max = ticks;
    recorder->checkpoint = CHECKPOINT_IDLE;
  }
}
