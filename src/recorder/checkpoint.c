/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checkpoint: flush, then publish the length of each clip.
 *
 *   IDLE → (snapshot the contiguous completed lengths) → FLUSHING → FLUSHED → (publish) → PUBLISHING → IDLE
 *
 * The lengths count *completed* bytes, and are taken before the flush is submitted: a flush does not cover a write that
 * completes after its submission. They are published when the flush has completed, by one FUA write for each directory
 * block. Flush and writes share the data's queue and never drain it.
 */
#include "internal.h"
#include <spate/port.h>

/* Two clips a stream. */
static uint32_t clip_count(const struct spate_recorder *recorder) { return 2u * recorder->stream_count; }

/* One of all streams' clips, if its file is open, else NULL. */
static struct spate_stream_clip *open_clip(const struct spate_recorder *recorder, uint32_t index) {
  struct spate_stream_clip *clip = &recorder->streams[index / 2u]->clips[index & 1u];

  return spate_stream_clip_is_open(clip) ? clip : NULL;
}

/* The same for what a flush makes durable: also a clip that is being closed, because its memory is released, too. */
static struct spate_stream_clip *flushed_clip(const struct spate_recorder *recorder, uint32_t index) {
  struct spate_stream_clip *clip = &recorder->streams[index / 2u]->clips[index & 1u];

  return spate_stream_clip_is_open(clip) || clip->state == CLIP_CLOSING ? clip : NULL;
}

static bool is_due(const struct spate_recorder *recorder) {
  if (recorder->now_ticks - recorder->checkpoint_started_ticks < recorder->period_ticks) return false;
  for (uint32_t i = 0; i < clip_count(recorder); i++) {
    const struct spate_stream_clip *clip = open_clip(recorder, i);
    if (clip != NULL && spate_progress_with_tail(clip) > clip->progress.published_bytes) return true;
  }
  /* A stream that retains its memory needs a flush even if all its bytes are lost. */
  for (uint32_t i = 0; i < recorder->stream_count; i++) {
    const struct spate_stream *stream = recorder->streams[i];
    if (stream->config.retain && stream->flushed != stream->completed) return true;
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
    recorder->counters.flushes++; /* the doorbell of the streams' requests covers it */
  } else {
    recorder->flush.error = SPATE_OK;
    recorder->checkpoint = CHECKPOINT_FLUSHED;
  }
  /* Nothing completes between the submission and here: completions only come from poll(). */
  recorder->checkpoint_started_ticks = recorder->now_ticks;
  recorder->mark_at_flush = spate_block_power_mark(recorder->block);
  for (uint32_t i = 0; i < recorder->stream_count; i++)
    recorder->streams[i]->flush_mark = recorder->streams[i]->completed;
  for (uint32_t i = 0; i < clip_count(recorder); i++) {
    struct spate_stream_clip *clip = flushed_clip(recorder, i);
    if (clip != NULL) clip->snapshot_bytes = spate_progress_with_tail(clip);
  }
}

/* The flush failed: nothing new is durable. The next checkpoint tries again. */
static void give_up(struct spate_recorder *recorder) {
  recorder->counters.checkpoint_failures++;
  if (recorder->error == SPATE_OK) recorder->error = recorder->flush.error;
  for (uint32_t i = 0; i < clip_count(recorder); i++) {
    struct spate_stream_clip *clip = open_clip(recorder, i);
    if (clip != NULL) clip->unpublished = true;
  }
}

/* The clip's length is published, or could not be. */
static void published(void *context, enum spate_error error) {
  struct spate_stream_clip *clip = context;
  struct spate_recorder *recorder = clip->stream->recorder;

  clip->publishing = false;
  if (error == SPATE_E_FULL) return; /* the next step publishes it again */
  clip->snapshot_bytes = 0;
  spate_progress_published(clip);
  clip->unpublished = error != SPATE_OK;
  if (error == SPATE_OK) {
    clip->stream->counters.checkpoints++;
    return;
  }
  recorder->counters.checkpoint_failures++;
  if (recorder->error == SPATE_OK) recorder->error = error;
}

static void publish(struct spate_stream_clip *clip) {
  if (clip->snapshot_bytes == 0 || clip->publishing) return;
  clip->publishing = true;
  enum spate_error error = spate_exfat_publish(&clip->file, clip->snapshot_bytes, published, clip);
  if (error != SPATE_OK) published(clip, error);
}

static bool publish_all(struct spate_recorder *recorder) {
  bool all = true;

  for (uint32_t i = 0; i < clip_count(recorder); i++) {
    struct spate_stream_clip *clip = open_clip(recorder, i);
    if (clip == NULL) continue;
    publish(clip);
    if (clip->snapshot_bytes > 0) all = false;
  }
  return all;
}

static void make_durable(struct spate_recorder *recorder) {
  for (uint32_t i = 0; i < recorder->stream_count; i++)
    spate_transfer_flushed(recorder->streams[i], recorder->streams[i]->flush_mark);
  for (uint32_t i = 0; i < clip_count(recorder); i++) {
    struct spate_stream_clip *clip = flushed_clip(recorder, i);
    if (clip == NULL) continue;
    spate_progress_durable(clip, clip->snapshot_bytes);
    if (clip->snapshot_bytes <= clip->progress.published_bytes) clip->snapshot_bytes = 0; /* nothing to publish */
  }
}

void spate_checkpoint_step(struct spate_recorder *recorder, bool may_begin) {
  if (recorder->checkpoint == CHECKPOINT_IDLE && may_begin && is_due(recorder)) begin(recorder);
  if (recorder->checkpoint == CHECKPOINT_FLUSHED) {
    if (recorder->flush.error != SPATE_OK) {
      give_up(recorder);
      recorder->checkpoint = CHECKPOINT_IDLE;
      return;
    }
    if (recorder->mark_at_flush != spate_block_power_mark(recorder->block)) {
      recorder->checkpoint = CHECKPOINT_IDLE; /* the flush may have come after the loss: it proves nothing */
      return;
    }
    make_durable(recorder);
    recorder->checkpoint = CHECKPOINT_PUBLISHING;
  }
  if (recorder->checkpoint == CHECKPOINT_PUBLISHING && publish_all(recorder)) {
    uint64_t ticks = recorder->now_ticks - recorder->checkpoint_started_ticks;
    if (ticks > recorder->counters.checkpoint_ticks_max) recorder->counters.checkpoint_ticks_max = ticks;
    recorder->checkpoint = CHECKPOINT_IDLE;
  }
}
