/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_RECORDER_INTERNAL_H
#define SPATE_RECORDER_INTERNAL_H

#include <spate/recorder.h>

enum clip_state {
  CLIP_EMPTY,
  CLIP_ARMING,  /* spate_exfat_arm() waits */
  CLIP_ARMED,   /* the file exists, its run is reserved, and pushes go to it */
  CLIP_ENDING,  /* no more pushes; closed once everything pushed is durable */
  CLIP_CLOSING, /* spate_exfat_close() waits: its length is no longer published, and power losses have to wait */
  CLIP_STUCK,   /* closing failed: the volume still uses the clip, so its memory is not used again */
};

enum piece_state { PIECE_QUEUED, PIECE_IN_FLIGHT, PIECE_DONE };

enum checkpoint_state { CHECKPOINT_IDLE, CHECKPOINT_FLUSHING, CHECKPOINT_FLUSHED, CHECKPOINT_PUBLISHING };

static inline struct spate_piece *spate_piece_at(const struct spate_stream *stream, uint32_t index) {
  return &stream->config.pieces[index & (stream->config.piece_count - 1u)];
}

/* Do checkpoints and power losses concern this clip? */
static inline bool spate_stream_clip_is_open(const struct spate_stream_clip *clip) {
  return clip->state == CLIP_ARMED || clip->state == CLIP_ENDING;
}

/* progress.c: how far a clip is, and the stream's counters with it. */
/* The clip's next piece, in the order pushed, has completed. After the cap it is lost. */
static inline void spate_progress_completed(struct spate_stream_clip *clip, uint32_t bytes) {
  struct spate_stream_counters *counters = &clip->stream->counters;

  clip->outstanding--;
  if (clip->capped && clip->progress.completed_bytes >= clip->cap_bytes) {
    counters->lost_bytes += bytes;
  } else {
    clip->progress.completed_bytes += bytes;
    counters->completed_bytes += bytes;
  }
}
void spate_stream_clip_cap(struct spate_stream_clip *clip, enum spate_error error);
/* What a checkpoint may publish, and a close leave: with the tail. */
static inline uint64_t spate_progress_with_tail(const struct spate_stream_clip *clip) {
  const uint64_t bytes = clip->progress.completed_bytes;

  return clip->tail_end_bytes > bytes ? clip->tail_end_bytes : bytes;
}
/* The clip ends here, perhaps before what was published. */
void spate_progress_end(struct spate_stream_clip *clip, uint64_t bytes);
void spate_progress_begin(struct spate_stream_clip *clip);
void spate_progress_take_back(struct spate_stream_clip *clip, uint64_t offset_bytes, uint32_t bytes);
void spate_progress_durable(struct spate_stream_clip *clip, uint64_t bytes);
void spate_progress_published(struct spate_stream_clip *clip);
void spate_progress_cut(struct spate_stream_clip *clip);
void spate_progress_doubt(struct spate_stream_clip *clip);

/* The device knows the recorder that is open on it. */
static inline bool spate_recorder_is_open(const struct spate_recorder *recorder) {
  return recorder->block != NULL && recorder->block->while_waiting_context == recorder;
}

/* transfer.c: pieces to the device and back. */
/* A piece or a tail that the device can write from here. */
bool spate_transfer_is_valid(const struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes, uint32_t blocks);
void spate_transfer_submit(struct spate_recorder *recorder);
bool spate_transfer_check_power(struct spate_recorder *recorder);
void spate_transfer_flushed(struct spate_stream *stream, uint32_t index);

/* checkpoint.c: one step of the state machine; never waits. */
void spate_checkpoint_step(struct spate_recorder *recorder, bool may_begin);

static inline struct spate_stream_clip *spate_stream_other_clip(struct spate_stream_clip *clip) {
  return clip == &clip->stream->clips[0] ? &clip->stream->clips[1] : &clip->stream->clips[0];
}

/* clips.c: files begin and end. */
/* NULL: the stream has no unused clip. */
struct spate_stream_clip *spate_stream_free_clip(struct spate_stream *stream);
/* These wait. The clip's path is set. */
typedef enum spate_error spate_stream_arming(struct spate_stream *stream, struct spate_stream_clip *clip,
                                             uint64_t bytes);
spate_stream_arming spate_stream_clip_arm;
/* Arms a clip with the longest free run divided by `shares`, if that has `least_bytes`. The reservation record, if
 * there is none yet, or a directory that grows for the name may take clusters of this run. Then it is looked for again.
 */
enum spate_error spate_stream_arm_longest(struct spate_stream *stream, struct spate_stream_clip *clip, uint32_t shares,
                                          uint64_t least_bytes, spate_stream_arming *arm);
void spate_stream_clip_close_ended(struct spate_recorder *recorder, struct spate_stream_clip *clip);

/* watch.c: the rings' levels; spate_watch_turn() once a turn. heat.c measures time with it. */
void spate_watch_open(struct spate_recorder *recorder);
void spate_watch_stream(struct spate_stream *stream);
void spate_watch_turn(struct spate_recorder *recorder);
uint32_t spate_watch_ms(const struct spate_recorder *recorder, uint64_t ticks);
uint32_t spate_watch_quotient(uint64_t dividend, uint32_t divisor); /* the dividend is taken as at most 2^32 - 1 */

/* event.c */
void spate_recorder_event(struct spate_stream *stream, enum spate_event event, uint64_t value);
/* Events for what has changed since the last call: bytes that were lost, and levels. */
void spate_recorder_report(struct spate_stream *stream);
void spate_recorder_report_heat(struct spate_recorder *recorder);

#endif
