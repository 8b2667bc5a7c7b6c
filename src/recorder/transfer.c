/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data path: pieces pushed by the source become write requests, completions become a contiguous prefix.
 *
 * A stream's chunks form a ring counted by free-running indices: flushed ≤ completed ≤ pushed, and `next` walks from
 * completed to pushed looking for something to submit. Everything before `completed` has completed, in whatever order
 * the drive chose. Nothing here waits, allocates or divides.
 */
#include "internal.h"
#include <spate/port.h>

uint32_t spate_stream_released(const struct spate_stream *stream) {
  return stream->config.retain ? stream->flushed : stream->completed;
}

uint32_t spate_stream_room(const struct spate_stream *stream) {
  return stream->config.chunk_count - (stream->pushed - spate_stream_released(stream));
}

void spate_stream_overrun(struct spate_stream *stream, uint64_t bytes) { stream->counters.overrun_bytes += bytes; }

/* Every chunk before `index` is durable. A checkpoint and a closing clip may say so in either order. */
void spate_transfer_flushed(struct spate_stream *stream, uint32_t index) {
  uint32_t ahead = index - stream->flushed;

  if (ahead <= stream->completed - stream->flushed) stream->flushed = index;
}

/* What is completed stays in the file; what is pushed and not, is lost, and counted as its chunks come back. */
void spate_take_cap(struct spate_take *take, enum spate_error error) {
  if (take->capped) return;
  take->capped = true;
  take->error = error;
  if (take->stream->error == SPATE_OK) take->stream->error = error;
}

static void advance(struct spate_stream *stream) {
  while (stream->completed != stream->pushed) {
    struct spate_chunk *chunk = chunk_at(stream, stream->completed);
    struct spate_take *take = chunk->take;

    if (chunk->state != CHUNK_DONE) return;
    if (chunk->io.error != SPATE_OK) spate_take_cap(take, chunk->io.error);
    if (take->capped) {
      stream->counters.lost_bytes += chunk->bytes;
    } else {
      take->completed_bytes += chunk->bytes;
      stream->counters.completed_bytes += chunk->bytes;
    }
    take->outstanding--;
    stream->completed++;
  }
}

static void chunk_done(struct spate_io *io) {
  struct spate_chunk *chunk = io->context;
  struct spate_stream *stream = chunk->stream;
  struct spate_recorder *recorder = stream->recorder;
  uint64_t gap_ticks = recorder->now_ticks - stream->last_completion_ticks;

  if (gap_ticks > stream->counters.gap_ticks_max) stream->counters.gap_ticks_max = gap_ticks;
  stream->last_completion_ticks = recorder->now_ticks;
  recorder->in_flight--;
  chunk->state = CHUNK_DONE;
  advance(stream);
}

/* The reservation is used up, or the clip was capped: go on in the one armed after it. */
static enum spate_error roll_over(struct spate_stream *stream) {
  struct spate_take *take = stream->now;

  if (stream->after == NULL) {
    if (stream->config.next_bytes > 0 && !stream->volume_ended) return SPATE_E_FULL; /* work() is about to arm it */
    return take->capped ? take->error : SPATE_E_NO_SPACE;
  }
  take->rolled = true;
  take->end = stream->pushed;
  take->state = TAKE_ENDING;
  stream->now = stream->after;
  stream->after = NULL;
  return SPATE_OK;
}

static bool piece_is_valid(const struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes, uint32_t blocks) {
  const struct spate_block *block = stream->recorder->block;
  uint64_t whole_bytes = (uint64_t)blocks << block->block_shift;
  uint64_t region_bytes = stream->config.region->bytes;

  return bytes > 0 && blocks <= block->request_blocks_max && (offset_bytes & 3u) == 0 && offset_bytes <= region_bytes &&
         whole_bytes <= region_bytes - offset_bytes;
}

enum spate_error spate_stream_push(struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes) {
  const uint8_t shift = stream->recorder->block->block_shift;
  const uint32_t within = (UINT32_C(1) << shift) - 1u;
  const uint32_t blocks = (bytes >> shift) + ((bytes & within) != 0);
  struct spate_take *take = stream->now;

  if (take == NULL) return SPATE_E_STATE;
  if (!piece_is_valid(stream, offset_bytes, bytes, blocks)) return SPATE_E_INVALID;
  if (stream->config.chunk_bytes > 0 && bytes > stream->config.chunk_bytes) return SPATE_E_INVALID;
  if (spate_stream_room(stream) == 0) {
    stream->counters.ring_full++;
    return SPATE_E_FULL;
  }
  if (take->last_pushed) return SPATE_E_STATE;
  if (take->capped || take->pushed_bytes + ((uint64_t)blocks << shift) > take->clip.reserved_bytes) {
    enum spate_error error = roll_over(stream);
    if (error != SPATE_OK) return error;
    take = stream->now;
    if (((uint64_t)blocks << shift) > take->clip.reserved_bytes) return SPATE_E_NO_SPACE;
  }

  struct spate_chunk *chunk = chunk_at(stream, stream->pushed);
  *chunk = (struct spate_chunk){
      .stream = stream,
      .take = take,
      .bytes = bytes,
      .state = CHUNK_QUEUED,
      .io = {.op = SPATE_WRITE,
             .flags = stream->config.cpu_filled ? SPATE_IO_CPU : 0,
             .lba = take->clip.first_lba + (take->pushed_bytes >> shift),
             .blocks = blocks,
             .region = stream->config.region,
             .offset_bytes = offset_bytes,
             .done = chunk_done,
             .context = chunk},
  };
  if (stream->completed == stream->pushed)
    stream->last_completion_ticks = stream->recorder->now_ticks; /* nothing was due until now */
  stream->pushed++;
  take->pushed_bytes += bytes;
  take->last_pushed = (bytes & within) != 0 || bytes < stream->config.chunk_bytes;
  take->outstanding++;
  stream->counters.pushed_bytes += bytes;
  stream->counters.pushed_pieces++;
  uint32_t held = stream->pushed - spate_stream_released(stream);
  if (held > stream->counters.chunks_high_water) stream->counters.chunks_high_water = held;
  return SPATE_OK;
}

static struct spate_chunk *next_queued(struct spate_stream *stream) {
  for (; stream->next != stream->pushed; stream->next++) {
    struct spate_chunk *chunk = chunk_at(stream, stream->next);
    if (chunk->state == CHUNK_QUEUED) return chunk;
  }
  return NULL;
}

/* The streams take turns, one request each, so that a fast one does not starve a slow one. */
void spate_transfer_submit(struct spate_recorder *recorder) {
  uint32_t idle_streams = 0;

  while (recorder->in_flight < recorder->config.depth && idle_streams < recorder->stream_count) {
    struct spate_stream *stream = recorder->streams[recorder->turn];
    struct spate_chunk *chunk = next_queued(stream);

    if (chunk == NULL) {
      idle_streams++;
    } else {
      enum spate_error error = spate_block_submit(recorder->block, &chunk->io);
      if (error == SPATE_E_FULL) break;
      idle_streams = 0;
      stream->next++;
      stream->counters.data_requests++;
      if (error == SPATE_OK) {
        chunk->state = CHUNK_IN_FLIGHT;
        recorder->in_flight++;
      } else { /* refused for good: as if it had failed */
        chunk->io.error = error;
        chunk->state = CHUNK_DONE;
        advance(stream);
      }
    }
    recorder->turn = recorder->turn + 1u < recorder->stream_count ? recorder->turn + 1u : 0;
  }
  spate_block_kick(recorder->block);
}

/* What completed since the last flush may be gone. Chunks still held are written again; a clip whose chunks were
 * already released ends at what was flushed. */
static void power_lost(struct spate_stream *stream) {
  uint32_t first = spate_stream_released(stream);

  for (uint32_t i = first; i != stream->completed; i++) {
    struct spate_chunk *chunk = chunk_at(stream, i);
    if (!chunk->take->capped) {
      chunk->take->completed_bytes -= chunk->bytes;
      stream->counters.completed_bytes -= chunk->bytes;
    } else {
      stream->counters.lost_bytes -= chunk->bytes;
    }
    chunk->take->outstanding++;
  }
  for (uint32_t i = first; i != stream->pushed; i++) {
    if (chunk_at(stream, i)->state == CHUNK_DONE) chunk_at(stream, i)->state = CHUNK_QUEUED;
  }
  stream->completed = first;
  stream->next = first;
  for (unsigned i = 0; i < 2; i++) {
    struct spate_take *take = &stream->takes[i];
    if (take_is_open(take) && take->completed_bytes > take->durable_bytes) {
      uint64_t gone_bytes = take->completed_bytes - take->durable_bytes;
      stream->counters.lost_bytes += gone_bytes;
      stream->counters.completed_bytes -= gone_bytes;
      take->completed_bytes = take->durable_bytes;
      spate_take_cap(take, SPATE_E_POWER_LOST);
    }
  }
}

void spate_transfer_check_power(struct spate_recorder *recorder) {
  struct spate_block *block = recorder->block;

  if (recorder->losses_seen == block->power_losses) return;
  recorder->losses_seen = block->power_losses;
  if (!block->volatile_cache) return; /* completed is durable */
  for (uint32_t i = 0; i < recorder->stream_count; i++)
    power_lost(recorder->streams[i]);
}
