/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a slow source has, before it is a piece. Its blocks are written where the next piece will be, and published like
 * pieces. The piece, or a longer tail, is then written over them: data that are promised already. Both begin with the
 * promised bytes, so that a torn write keeps them.
 */
#include "internal.h"

static void tail_done(struct spate_io *io) {
  struct spate_stream_clip *clip = io->context;
  struct spate_stream *stream = clip->stream;

  clip->outstanding--;
  io->context = NULL;
  if (io->error != SPATE_OK)
    spate_stream_clip_cap(clip, io->error); /* the blocks may hold anything */
  else if (stream->tail_mark == spate_block_power_mark(stream->recorder->block))
    clip->tail_end_bytes = clip->progress.completed_bytes + stream->tail_bytes;
}

enum spate_error spate_stream_tail(struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes) {
  struct spate_block *block = stream->recorder->block;
  const uint32_t within = (UINT32_C(1) << block->block_shift) - 1u;
  const uint32_t blocks = (bytes + within) >> block->block_shift;
  struct spate_stream_clip *clip = stream->current;

  if (clip == NULL || (clip->last_pushed && !clip->has_tail) || clip->capped) return SPATE_E_STATE;
  if (bytes > SPATE_PAGE_BYTES || !spate_transfer_is_valid(stream, offset_bytes, bytes, blocks)) return SPATE_E_INVALID;
  if (stream->config.chunk_bytes > 0 || stream->config.region->list == NULL) return SPATE_E_INVALID;
  const uint64_t at_bytes = clip->progress.pushed_bytes;
  if (at_bytes + bytes < clip->tail_end_bytes) return SPATE_E_INVALID;
  if (at_bytes + ((uint64_t)blocks << block->block_shift) > clip->file.reserved_bytes) return SPATE_E_RESERVATION;
  if (clip->outstanding > 0 || stream->tail.context != NULL) return SPATE_E_FULL;
  /* A loss of power that is not dealt with yet may take back pieces before it. */
  if (stream->mark_seen != spate_block_power_mark(block)) return SPATE_E_FULL;
  stream->tail = (struct spate_io){.op = SPATE_WRITE,
                                   .flags = stream->config.cpu_filled ? SPATE_IO_CPU : 0,
                                   .lba = clip->file.first_lba + (at_bytes >> block->block_shift),
                                   .blocks = blocks,
                                   .region = stream->config.region,
                                   .offset_bytes = offset_bytes,
                                   .done = tail_done,
                                   .context = clip};
  const enum spate_error error = spate_block_submit(block, &stream->tail);
  if (error != SPATE_OK) {
    stream->tail.context = NULL; /* it is not under way */
    return error;
  }
  stream->tail_bytes = bytes;
  stream->tail_mark = spate_block_power_mark(block);
  clip->outstanding++;
  clip->has_tail = true;
  clip->last_pushed = true;
  spate_block_kick(block);
  return SPATE_OK;
}
