/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

/* After this long without a warning, the source returns to its full rate. */
#define CALM_PS (2 * SIM_PS_PER_S)

/* An event that does nothing: it stops the clock here, so that an idle processor finds the piece in time. */
static void piece_full(void *context, uint64_t number) {
  (void)context;
  (void)number;
}

static void plan_next(struct lab_source *source) {
  uint64_t now_ps = sim_now_ps(source->machine->sim);

  source->next_ps += (uint64_t)((double)source->piece_bytes * (double)SIM_PS_PER_S / source->rate);
  if (source->next_ps > now_ps) sim_at(source->machine->sim, source->next_ps, piece_full, source, 0);
}

void lab_source_init(struct lab_source *source, struct lab_machine *machine, struct spate_stream *stream,
                     struct spate_loop *loop, uint64_t bytes) {
  const struct lab_options *options = machine->options;

  *source = (struct lab_source){.machine = machine,
                                .stream = stream,
                                .loop = loop,
                                .piece_bytes = options->block_bytes,
                                .ring_pieces = machine->ring->bytes / options->block_bytes,
                                .pieces_left = bytes / options->block_bytes,
                                .rate = options->rate,
                                .full_rate = options->rate,
                                .slow_rate = options->slow_rate,
                                .next_ps = sim_now_ps(machine->sim),
                                .react_ps = options->react_ms * SIM_PS_PER_MS,
                                .change_ps = UINT64_MAX};
  if (source->rate > 0) plan_next(source);
}

/* The part of a loop may be full before the next one is armed. */
static enum spate_error push_bytes(const struct lab_source *source, uint64_t ring_offset) {
  const uint32_t bytes = (uint32_t)source->piece_bytes;

  if (source->loop == NULL) return spate_stream_push(source->stream, ring_offset, bytes);
  enum spate_error error = spate_loop_push(source->loop, ring_offset, bytes);
  return error == SPATE_E_RESERVATION ? SPATE_E_FULL : error;
}

/* False: the recorder is full. */
static bool push_one(struct lab_source *source) {
  uint64_t ring_offset = source->pushed % source->ring_pieces * source->piece_bytes;

  if (spate_stream_room(source->stream) == 0) return false;
  lab_ring_stamp(source->machine, ring_offset, source->pushed * source->piece_bytes, source->piece_bytes);
  enum spate_error error = push_bytes(source, ring_offset);
  if (error == SPATE_E_FULL) return false;
  lab_expect(error, "a push");
  source->pushed++;
  source->pieces_left--;
  return true;
}

static void change_rate(struct lab_source *source, uint64_t now_ps) {
  if (now_ps < source->change_ps) return;
  source->slowed += source->change_to < source->rate ? 1u : 0u;
  source->rate = source->change_to;
  source->change_ps = UINT64_MAX;
}

void lab_source_push(struct lab_source *source) {
  if (source->rate <= 0) {
    while (source->pieces_left > 0 && push_one(source)) {
    }
    return;
  }
  uint64_t now_ps = sim_now_ps(source->machine->sim);
  while (source->pieces_left > 0 && source->next_ps <= now_ps) {
    if (!push_one(source)) {
      spate_stream_overrun(source->stream, source->piece_bytes);
      source->dropped++;
      source->pieces_left--;
    }
    change_rate(source, now_ps);
    plan_next(source);
  }
}

bool lab_source_ended(const struct lab_source *source) { return source->pieces_left == 0; }

void lab_source_listen(struct lab_source *source, enum spate_level level) {
  uint64_t now_ps = sim_now_ps(source->machine->sim);

  if (source->slow_rate <= 0) return;
  if (level != SPATE_LEVEL_CALM) source->calm_since_ps = now_ps;
  double to = source->rate;
  if (level >= SPATE_LEVEL_SLOW)
    to = source->slow_rate;
  else if (now_ps - source->calm_since_ps >= CALM_PS)
    to = source->full_rate;
  bool changing = source->change_ps != UINT64_MAX;
  if (to == (changing ? source->change_to : source->rate)) return; /* NOLINT: both are one of two exact values */
  source->change_to = to;
  source->change_ps = now_ps + source->react_ps;
}
