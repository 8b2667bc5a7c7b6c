/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a clip is: pushed, completed, durable, published, in this order. Each of these functions moves one step of
 * one clip, and the stream's counters with it, so that the counters are always the sum over the stream's clips.
 */
#include "internal.h"

void spate_progress_begin(struct spate_stream_clip *clip) {
  clip->progress = (struct spate_clip_progress){0};
  clip->snapshot_bytes = 0;
  clip->doubted_bytes = 0;
  clip->tail_end_bytes = 0;
  clip->outstanding = 0;
}

/* What is completed stays in the file; what is pushed and not, is lost, and counted as its pieces come back. A piece
 * before the cap may fail when it is written again. */
void spate_stream_clip_cap(struct spate_stream_clip *clip, enum spate_error error) {
  const uint64_t bytes = clip->progress.completed_bytes;

  if (!clip->capped || bytes < clip->cap_bytes) clip->cap_bytes = bytes;
  clip->tail_end_bytes = 0;
  /* What a checkpoint would publish of a tail may be destroyed. */
  if (clip->stream->recorder->checkpoint != CHECKPOINT_PUBLISHING && clip->snapshot_bytes > bytes)
    clip->snapshot_bytes = bytes;
  if (clip->capped) return;
  clip->capped = true;
  clip->error = error;
  if (clip->stream->error == SPATE_OK) clip->stream->error = error;
}

void spate_progress_end(struct spate_stream_clip *clip, uint64_t bytes) {
  if (clip->progress.durable_bytes > bytes) {
    clip->stream->counters.durable_bytes -= clip->progress.durable_bytes - bytes;
    clip->progress.durable_bytes = bytes;
  }
  spate_exfat_take_back(&clip->file, bytes);
}

/* The opposite of spate_progress_completed(): the piece at `offset_bytes` of the clip is to be written again. */
void spate_progress_take_back(struct spate_stream_clip *clip, uint64_t offset_bytes, uint32_t bytes) {
  struct spate_stream_counters *counters = &clip->stream->counters;

  clip->outstanding++;
  if (clip->capped && offset_bytes >= clip->cap_bytes) {
    counters->lost_bytes -= bytes;
  } else {
    clip->progress.completed_bytes -= bytes;
    counters->completed_bytes -= bytes;
  }
}

/* The clip's first `bytes` are flushed. */
void spate_progress_durable(struct spate_stream_clip *clip, uint64_t bytes) {
  if (bytes <= clip->progress.durable_bytes) return;
  clip->stream->counters.durable_bytes += bytes - clip->progress.durable_bytes;
  clip->progress.durable_bytes = bytes;
}

/* The volume may have a new length. What has a length is durable. */
void spate_progress_published(struct spate_stream_clip *clip) {
  clip->progress.published_bytes = clip->file.published_bytes;
  spate_progress_durable(clip, clip->progress.published_bytes);
}

/* The drive has lost what was completed and not durable. If that is part of the clip, the clip ends before it. */
void spate_progress_cut(struct spate_stream_clip *clip) {
  struct spate_stream_counters *counters = &clip->stream->counters;

  if (clip->progress.completed_bytes <= clip->progress.durable_bytes) return;
  uint64_t lost_bytes = clip->progress.completed_bytes - clip->progress.durable_bytes;
  clip->progress.completed_bytes = clip->progress.durable_bytes;
  counters->completed_bytes -= lost_bytes;
  counters->lost_bytes += lost_bytes;
  spate_stream_clip_cap(clip, SPATE_E_POWER_LOST);
}

/* The drive may have lost the same. The file keeps it. Each byte is counted once. */
void spate_progress_doubt(struct spate_stream_clip *clip) {
  uint64_t from_bytes = clip->progress.durable_bytes;

  if (from_bytes < clip->doubted_bytes) from_bytes = clip->doubted_bytes;
  if (clip->progress.completed_bytes <= from_bytes) return;
  clip->stream->counters.unknown_bytes += clip->progress.completed_bytes - from_bytes;
  clip->doubted_bytes = clip->progress.completed_bytes;
}

struct spate_clip_progress spate_stream_progress(const struct spate_stream *stream) {
  return stream->current != NULL ? stream->current->progress : (struct spate_clip_progress){0};
}

uint64_t spate_stream_left_bytes(const struct spate_stream *stream) {
  const struct spate_stream_clip *clip = stream->current;

  return clip != NULL ? clip->file.reserved_bytes - clip->progress.pushed_bytes : 0;
}

uint64_t spate_stream_published_bytes(const struct spate_stream *stream) {
  uint64_t bytes = 0;

  for (unsigned i = 0; i < 2; i++)
    if (stream->clips[i].state != CLIP_EMPTY) bytes += stream->clips[i].progress.published_bytes;
  return bytes;
}
