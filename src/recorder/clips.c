/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files begin and end here. These functions wait for metadata; the device's while_waiting hook keeps all streams
 * flowing meanwhile.
 */
#include "internal.h"
#include <spate/port.h>
#include <string.h>

#define LONGEST_TRIES 4u

struct spate_stream_clip *spate_stream_free_clip(struct spate_stream *stream) {
  for (unsigned i = 0; i < 2; i++)
    if (stream->clips[i].state == CLIP_EMPTY) return &stream->clips[i];
  return NULL;
}

static bool copy_path(char *to, const char *from) {
  for (uint32_t i = 0; i < SPATE_RECORDER_PATH_BYTES_MAX; i++) {
    to[i] = from[i];
    if (from[i] == '\0') return true;
  }
  return false;
}

enum spate_error spate_stream_clip_arm(struct spate_stream *stream, struct spate_stream_clip *clip, uint64_t bytes) {
  clip->state = CLIP_ARMING; /* pushes may come while this waits, and must not use the clip yet */
  spate_progress_begin(clip);
  struct spate_exfat_chunks chunks = {.chunk_bytes = stream->config.chunk_bytes,
                                      .first_number = stream->counters.pushed_pieces};
  memcpy(chunks.stream, stream->config.chunk_stream, sizeof chunks.stream);
  enum spate_error error = spate_exfat_arm_chunks(stream->recorder->volume, &clip->file, clip->path, bytes,
                                                  chunks.chunk_bytes > 0 ? &chunks : NULL);
  if (error != SPATE_OK) {
    clip->state = CLIP_EMPTY;
    return error;
  }
  clip->stream = stream;
  clip->error = SPATE_OK;
  clip->capped = false;
  clip->unpublished = false;
  clip->rolled = false;
  clip->last_pushed = clip->has_tail = stream->tail.context != NULL; /* of the clip before: pieces wait for it */
  clip->order = stream->arms++;
  clip->state = CLIP_ARMED;
  if (stream->current == NULL)
    stream->current = clip;
  else
    stream->following = clip;
  return SPATE_OK;
}

enum spate_error spate_stream_arm_longest(struct spate_stream *stream, struct spate_stream_clip *clip, uint32_t shares,
                                          uint64_t least_bytes, spate_stream_arming *arm) {
  struct spate_exfat *volume = stream->recorder->volume;
  uint64_t bytes = 0, before;
  enum spate_error error = SPATE_OK;

  for (unsigned tries = 0; tries < LONGEST_TRIES; tries++) {
    before = bytes;
    const enum spate_error looked = spate_exfat_longest_free(volume, shares, &bytes);
    if (looked != SPATE_OK) return looked;
    if (tries > 0 && bytes == before) return error;
    if (bytes == 0 || bytes < least_bytes) return SPATE_E_NO_SPACE;
    error = arm(stream, clip, bytes);
    if (error != SPATE_E_NO_SPACE && error != SPATE_E_FRAGMENTED) return error;
  }
  return error;
}

static uint32_t streams_without_clip(const struct spate_recorder *recorder) {
  uint32_t count = 0;

  for (uint32_t i = 0; i < recorder->stream_count; i++)
    count += spate_stream_active(recorder->streams[i]) ? 0u : 1u;
  return count;
}

enum spate_error spate_stream_can_arm(const struct spate_stream *stream) {
  if (!spate_recorder_is_open(stream->recorder)) return SPATE_E_STATE;
  if (stream->current != NULL && stream->following != NULL) return SPATE_E_BUSY;
  if (stream->clips[0].state == CLIP_EMPTY || stream->clips[1].state == CLIP_EMPTY) return SPATE_OK;
  for (unsigned i = 0; i < 2; i++)
    if (stream->clips[i].state == CLIP_STUCK) return stream->clips[i].error;
  return SPATE_E_BUSY;
}

enum spate_error spate_stream_arm(struct spate_stream *stream, const char *path, uint64_t bytes) {
  struct spate_stream_clip *clip = spate_stream_free_clip(stream);

  if (path == NULL) return SPATE_E_INVALID;
  if (!spate_recorder_is_open(stream->recorder)) return SPATE_E_STATE;
  if (spate_stream_can_arm(stream) != SPATE_OK) return SPATE_E_STATE;
  if (!copy_path(clip->path, path)) return SPATE_E_NAME_LONG;
  const bool first = !spate_stream_active(stream);
  enum spate_error end_reason = SPATE_E_RESERVATION;
  enum spate_error error;
  if (bytes == 0) {
    uint32_t shares = streams_without_clip(stream->recorder) + (spate_stream_active(stream) ? 1u : 0u);
    error = shares == 1 ? spate_stream_clip_arm(stream, clip, 0) /* the volume looks for it when all is taken */
                        : spate_stream_arm_longest(stream, clip, shares, 0, spate_stream_clip_arm);
    if (shares == 1) end_reason = SPATE_E_NO_SPACE; /* it has the longest free run of the volume */
  } else {
    error = spate_stream_clip_arm(stream, clip, bytes);
  }
  if (error != SPATE_OK) return error;
  if (first) stream->error = SPATE_OK;
  (void)copy_path(stream->base_path, path); /* it fitted above */
  stream->part = 1;
  stream->end_reason = end_reason;
  stream->volume_ended = false;
  return SPATE_OK;
}

/* A clip's end that was published, and that the next clip begins with: it has to be published there first. If that clip
 * fails before it, the end stays here. */
static uint64_t tail_elsewhere_bytes(const struct spate_stream_clip *clip) {
  const uint64_t bytes = clip->progress.completed_bytes;

  return clip->rolled && clip->tail_end_bytes > bytes ? clip->tail_end_bytes - bytes : 0;
}

static bool waits_for_next(struct spate_stream_clip *clip) {
  const struct spate_stream_clip *next = spate_stream_other_clip(clip);
  const uint64_t tail_bytes = tail_elsewhere_bytes(clip);

  return tail_bytes > 0 && !next->capped && !next->unpublished && next->progress.published_bytes < tail_bytes;
}

/* Where the clip's file ends. */
static uint64_t end_of(struct spate_stream_clip *clip) {
  const struct spate_stream_clip *next = spate_stream_other_clip(clip);
  const uint64_t tail_bytes = tail_elsewhere_bytes(clip);

  if (tail_bytes > 0 && next->progress.published_bytes >= tail_bytes) return clip->progress.completed_bytes;
  return spate_progress_with_tail(clip);
}

static bool may_close(struct spate_stream_clip *clip) {
  const struct spate_stream_clip *other = spate_stream_other_clip(clip);
  /* The older clip closes first: the flush of a close then covers every piece before the clip's end. */
  bool older = other->state == CLIP_ENDING && (int32_t)(other->order - clip->order) < 0;
  /* The drive lost power while the other clip was closing, and this is not dealt with yet: pieces may be gone. */
  bool lost = clip->stream->mark_seen != spate_block_power_mark(clip->stream->recorder->block);

  /* Its length is on its way to the volume: closing would wait for that. */
  bool publishing = clip->stream->recorder->checkpoint == CHECKPOINT_PUBLISHING && clip->snapshot_bytes > 0;

  return clip->state == CLIP_ENDING && clip->outstanding == 0 && !publishing && !older && !lost &&
         !waits_for_next(clip);
}

static void closed(struct spate_stream_clip *clip, uint64_t bytes) {
  struct spate_stream *stream = clip->stream;

  spate_transfer_flushed(stream, clip->end);
  clip->state = CLIP_EMPTY;
  stream->closed = clip;
  if (stream->clip_closed != NULL) stream->clip_closed(stream->clip_closed_context, clip, bytes);
  if (clip->rolled) spate_recorder_event(stream, SPATE_EVENT_ROLLED_OVER, bytes);
  spate_recorder_event(stream, bytes > 0 ? SPATE_EVENT_CLIP_CLOSED : SPATE_EVENT_CLIP_DISCARDED, bytes);
}

void spate_stream_clip_close_ended(struct spate_recorder *recorder, struct spate_stream_clip *clip) {
  if (!may_close(clip)) return;
  uint64_t bytes = end_of(clip);
  clip->state = CLIP_CLOSING;
  spate_progress_end(clip, bytes);
  /* A clip without data leaves no file. */
  enum spate_error error = bytes == 0 ? spate_exfat_discard(&clip->file) : spate_exfat_close(&clip->file, bytes);
  clip->snapshot_bytes = 0;       /* a checkpoint that is under way has nothing to publish for it */
  spate_progress_published(clip); /* also where what comes after the final length failed */
  /* Then nothing of the clip has to be written again, whatever the drive loses. */
  if (bytes > 0 && clip->progress.published_bytes == bytes) spate_transfer_flushed(clip->stream, clip->end);
  if (error == SPATE_OK) {
    closed(clip, bytes);
  } else if (error == SPATE_E_BUSY || error == SPATE_E_POWER_LOST) {
    clip->state =
        CLIP_ENDING; /* what was published stays; what is still in memory is written again, and then it closes */
  } else {
    clip->state = CLIP_STUCK;
    if (!clip->capped) clip->error = error;
    if (recorder->error == SPATE_OK) recorder->error = error;
  }
}

enum spate_error spate_stream_cut(struct spate_stream *stream) {
  if (stream->current == NULL) return SPATE_E_STATE;
  stream->current->end = stream->pushed;
  stream->current->state = CLIP_ENDING;
  stream->current = stream->following;
  stream->following = NULL;
  /* The memory of a tail that is being written is the source's next piece. */
  if (stream->current != NULL && stream->tail.context != NULL)
    stream->current->last_pushed = stream->current->has_tail = true;
  return SPATE_OK;
}

enum spate_error spate_stream_stop(struct spate_stream *stream) {
  enum spate_error error = spate_stream_cut(stream);

  if (error == SPATE_OK && stream->current != NULL) error = spate_stream_cut(stream);
  return error;
}

const char *spate_stream_closed_path(const struct spate_stream *stream) {
  return stream->closed != NULL ? stream->closed->path : NULL;
}

const char *spate_stream_path(const struct spate_stream *stream) {
  return stream->current != NULL ? stream->current->path : NULL;
}

bool spate_stream_active(const struct spate_stream *stream) {
  for (unsigned i = 0; i < 2; i++)
    if (stream->clips[i].state != CLIP_EMPTY && stream->clips[i].state != CLIP_STUCK) return true;
  return false;
}
