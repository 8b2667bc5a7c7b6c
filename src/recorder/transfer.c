/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data path: pieces pushed by the source become write requests, completions become a contiguous prefix.
 *
 * A stream's pieces form a ring counted by free-running indices: flushed ≤ completed ≤ pushed, and `next` walks from
 * completed to pushed looking for a piece to submit. Every piece before `completed` has completed, whatever the order
 * in which the drive completed them. Nothing here waits, allocates or divides.
 */
#include "internal.h"
#include <spate/port.h>

#define LATENCY_SHIFT 4u /* the mean moves by a sixteenth of the difference */

uint32_t spate_stream_released(const struct spate_stream *stream) {
  return stream->config.retain ? stream->flushed : stream->completed;
}

uint32_t spate_stream_room(const struct spate_stream *stream) {
  return stream->config.piece_count - (stream->pushed - spate_stream_released(stream));
}

void spate_stream_overrun(struct spate_stream *stream, uint64_t bytes) { stream->counters.overrun_bytes += bytes; }

/* Every piece before `index` is durable. Checkpoints and closing clips call this in any order. */
void spate_transfer_flushed(struct spate_stream *stream, uint32_t index) {
  uint32_t ahead = index - stream->flushed;

  if (ahead > stream->completed - stream->flushed) return;
  stream->watch.retained_pieces = stream->completed - stream->flushed;
  stream->flushed = index;
}

static void advance(struct spate_stream *stream) {
  while (stream->completed != stream->pushed) {
    struct spate_piece *piece = spate_piece_at(stream, stream->completed);
    struct spate_stream_clip *clip = piece->clip;

    if (piece->state != PIECE_DONE) return;
    if (piece->io.error != SPATE_OK) spate_stream_clip_cap(clip, piece->io.error);
    spate_progress_completed(clip, piece->bytes);
    stream->completed++;
  }
}

/* The count of this latency: each bound is twice the one before. */
static uint32_t latency_index(uint64_t ticks, uint64_t bound_ticks) {
  uint32_t index = 0;

  while (index < SPATE_LATENCY_COUNTS - 1u && ticks > bound_ticks << index)
    index++;
  return index;
}

static void note_latency(struct spate_pressure *pressure, uint64_t ticks, uint64_t bound_ticks) {
  if (pressure->latency_ticks == 0) pressure->latency_ticks = ticks;
  pressure->latency_ticks += (ticks >> LATENCY_SHIFT) - (pressure->latency_ticks >> LATENCY_SHIFT);
  if (ticks > pressure->latency_ticks_max) pressure->latency_ticks_max = ticks;
  pressure->latency_ticks_sum += ticks;
  pressure->latency_counts[latency_index(ticks, bound_ticks)]++;
}

static void piece_done(struct spate_io *io) {
  struct spate_piece *piece = io->context;
  struct spate_stream *stream = piece->stream;
  struct spate_recorder *recorder = stream->recorder;
  uint64_t gap_ticks = recorder->now_ticks - stream->last_completion_ticks;

  if (gap_ticks > stream->counters.gap_ticks_max) stream->counters.gap_ticks_max = gap_ticks;
  note_latency(&stream->pressure, recorder->now_ticks - piece->submitted_ticks, recorder->watch.latency_bound_ticks);
  stream->last_completion_ticks = recorder->now_ticks;
  recorder->in_flight--;
  /* Some of the request's commands may have completed before the power loss: write it again. A failed request is not
   * repeated, because it may be the cause of the power loss. */
  if (piece->io.error == SPATE_OK && piece->mark != spate_block_power_mark(recorder->block)) {
    piece->state = PIECE_QUEUED;
    stream->next = stream->completed;
    return;
  }
  piece->state = PIECE_DONE;
  advance(stream);
}

static bool is_arming(const struct spate_stream *stream) {
  return stream->clips[0].state == CLIP_ARMING || stream->clips[1].state == CLIP_ARMING;
}

/* The reservation is used up, or the clip was capped: continue in the next clip. */
static enum spate_error enter_following(struct spate_stream *stream, uint64_t piece_bytes) {
  struct spate_stream_clip *clip = stream->current;

  if (stream->following == NULL) {
    if (is_arming(stream)) return SPATE_E_FULL;
    if (stream->next_bytes > 0 && !stream->volume_ended) return SPATE_E_FULL; /* work() is about to arm it */
    if (clip->capped) return clip->error;
    return stream->end_reason;
  }
  if (piece_bytes > stream->following->file.reserved_bytes) return SPATE_E_RESERVATION;
  clip->rolled = true;
  clip->end = stream->pushed;
  clip->state = CLIP_ENDING;
  stream->current = stream->following;
  stream->current->last_pushed = stream->current->has_tail = false; /* no tail is being written */
  stream->following = NULL;
  return SPATE_OK;
}

/* Of one request from this offset: spate/block.h. */
static uint32_t blocks_max(const struct spate_block *block, uint64_t offset_bytes) {
  if ((offset_bytes & (spate_block_bytes(block) - 1u)) == 0) return block->request_blocks_max;
  return block->depth > 2 ? block->request_blocks_max / 2u : SPATE_PAGE_BYTES >> block->block_shift;
}

bool spate_transfer_is_valid(const struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes,
                             uint32_t blocks) {
  const struct spate_block *block = stream->recorder->block;
  uint64_t whole_bytes = (uint64_t)blocks << block->block_shift;
  uint64_t region_bytes = stream->config.region->bytes;

  /* Data that the CPU wrote are cleaned from its cache by whole lines. */
  const uint64_t align = stream->config.cpu_filled ? SPATE_DMA_ALIGN : 4u;

  return bytes > 0 && blocks <= blocks_max(block, offset_bytes) && (offset_bytes & (align - 1u)) == 0 &&
         offset_bytes <= region_bytes && whole_bytes <= region_bytes - offset_bytes;
}

/* The clip's last piece was pushed, or a tail. A piece is written over a tail when that is not under way any more. */
static enum spate_error enter_tail(struct spate_stream_clip *clip) {
  if (!clip->has_tail) return SPATE_E_STATE;
  if (clip->stream->tail.context != NULL) return SPATE_E_FULL;
  clip->has_tail = false;
  clip->last_pushed = false;
  return SPATE_OK;
}

/* The stream's next piece: `blocks` from the memory at `offset_bytes`, to where the clip's pieces end. */
static void queue_piece(struct spate_stream *stream, struct spate_stream_clip *clip, uint64_t offset_bytes,
                        uint32_t bytes, uint32_t blocks) {
  struct spate_piece *piece = spate_piece_at(stream, stream->pushed);

  *piece = (struct spate_piece){
      .stream = stream,
      .clip = clip,
      .bytes = bytes,
      .state = PIECE_QUEUED,
      .io = {.op = SPATE_WRITE,
             .flags = stream->config.cpu_filled ? SPATE_IO_CPU : 0,
             .lba = clip->file.first_lba + (clip->progress.pushed_bytes >> stream->recorder->block->block_shift),
             .blocks = blocks,
             .region = stream->config.region,
             .offset_bytes = offset_bytes,
             .done = piece_done,
             .context = piece},
  };
}

enum spate_error spate_stream_push(struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes) {
  const uint8_t shift = stream->recorder->block->block_shift;
  const uint32_t within = (UINT32_C(1) << shift) - 1u;
  const uint32_t blocks = (bytes >> shift) + ((bytes & within) != 0);
  struct spate_stream_clip *clip = stream->current;

  if (clip == NULL) return SPATE_E_STATE;
  if (!spate_transfer_is_valid(stream, offset_bytes, bytes, blocks)) return SPATE_E_INVALID;
  if (stream->config.chunk_bytes > 0 && bytes > stream->config.chunk_bytes) return SPATE_E_INVALID;
  if (clip->last_pushed) {
    enum spate_error error = enter_tail(clip);
    if (error != SPATE_OK) return error;
  }
  const uint64_t whole_bytes = (uint64_t)blocks << shift;
  if (clip->capped || clip->progress.pushed_bytes + whole_bytes > clip->file.reserved_bytes) {
    enum spate_error error = enter_following(stream, whole_bytes);
    if (error != SPATE_OK) return error;
    clip = stream->current;
  }
  if (spate_stream_room(stream) == 0) {
    stream->counters.ring_full++;
    return SPATE_E_FULL;
  }

  queue_piece(stream, clip, offset_bytes, bytes, blocks);
  if (stream->completed == stream->pushed)
    stream->last_completion_ticks = stream->recorder->now_ticks; /* nothing was due until now */
  stream->pushed++;
  clip->progress.pushed_bytes += bytes;
  clip->last_pushed = (bytes & within) != 0 || bytes < stream->config.chunk_bytes;
  clip->outstanding++;
  stream->counters.pushed_bytes += bytes;
  stream->counters.pushed_pieces++;
  uint32_t held = stream->pushed - spate_stream_released(stream);
  if (held > stream->counters.pieces_high_water) stream->counters.pieces_high_water = held;
  return SPATE_OK;
}

static struct spate_piece *next_queued(struct spate_stream *stream) {
  for (; stream->next != stream->pushed; stream->next++) {
    struct spate_piece *piece = spate_piece_at(stream, stream->next);
    if (piece->state == PIECE_QUEUED) return piece;
  }
  return NULL;
}

/* The streams take turns, one request each, so that a fast one cannot starve a slow one. */
void spate_transfer_submit(struct spate_recorder *recorder) {
  uint32_t idle_streams = 0;

  while (recorder->in_flight < recorder->config.depth && idle_streams < recorder->stream_count) {
    struct spate_stream *stream = recorder->streams[recorder->turn];
    struct spate_piece *piece = next_queued(stream);

    if (piece == NULL) {
      idle_streams++;
    } else {
      enum spate_error error = spate_block_submit(recorder->block, &piece->io);
      if (error == SPATE_E_FULL) break;
      idle_streams = 0;
      stream->next++;
      stream->counters.data_requests++;
      if (error == SPATE_OK) {
        piece->state = PIECE_IN_FLIGHT;
        piece->mark = spate_block_power_mark(recorder->block);
        piece->submitted_ticks = recorder->now_ticks;
        recorder->in_flight++;
      } else { /* refused for good: as if it had failed */
        piece->io.error = error;
        piece->state = PIECE_DONE;
        advance(stream);
      }
    }
    recorder->turn = recorder->turn + 1u < recorder->stream_count ? recorder->turn + 1u : 0;
  }
  spate_block_kick(recorder->block);
}

/* What completed since the last flush may be gone: write again the pieces that are still held. A failed one is not
 * repeated, because it may be what resets the drive. */
static void write_again(struct spate_stream *stream) {
  uint32_t first = spate_stream_released(stream);

  for (uint32_t i = first; i != stream->completed; i++) {
    const struct spate_piece *piece = spate_piece_at(stream, i);
    const uint64_t offset_blocks = piece->io.lba - piece->clip->file.first_lba;
    spate_progress_take_back(piece->clip, offset_blocks << stream->recorder->block->block_shift, piece->bytes);
  }
  for (uint32_t i = first; i != stream->pushed; i++) {
    struct spate_piece *piece = spate_piece_at(stream, i);
    if (piece->state == PIECE_DONE && piece->io.error == SPATE_OK) piece->state = PIECE_QUEUED;
  }
  stream->completed = first;
  stream->next = first;
  advance(stream); /* if only failed pieces are left, nothing else would */
}

/* What is not held any more cannot be written again. A clip ends before what is lost. What may be lost stays in it, and
 * is counted. */
static void settle(struct spate_stream *stream, bool lost) {
  for (unsigned i = 0; i < 2; i++) {
    struct spate_stream_clip *clip = &stream->clips[i];
    if (!spate_stream_clip_is_open(clip)) continue;
    if (clip->tail_end_bytes > clip->progress.durable_bytes) clip->tail_end_bytes = 0; /* the source gives it again */
    if (lost)
      spate_progress_cut(clip);
    else
      spate_progress_doubt(clip);
  }
}

static bool is_closing(const struct spate_stream *stream) {
  return stream->clips[0].state == CLIP_CLOSING || stream->clips[1].state == CLIP_CLOSING;
}

/* Deal with power losses of the drive, and with those that it does not tell. A stream with a clip that is being closed
 * has to wait: the close notices the loss by itself, and only when it returns is it known what became of the clip.
 * True: all losses are dealt with. */
bool spate_transfer_check_power(struct spate_recorder *recorder) {
  const struct spate_block *block = recorder->block;
  bool all = true;

  for (uint32_t i = 0; i < recorder->stream_count; i++) {
    struct spate_stream *stream = recorder->streams[i];
    if (stream->mark_seen == spate_block_power_mark(block)) continue;
    if (is_closing(stream)) {
      all = false;
      continue;
    }
    const bool lost = stream->losses_seen != block->power_losses;
    stream->mark_seen = spate_block_power_mark(block);
    stream->losses_seen = block->power_losses;
    if (!block->volatile_cache) continue; /* completed is durable */
    write_again(stream);
    settle(stream, lost);
  }
  return all;
}
