/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream meets, piece by piece, on the media's model alone. */
#include "media.h"

#include <assert.h>
#include <math.h>

#define PS_PER_S  1e12
#define PS_PER_NS UINT64_C(1000)
#define PS_PER_MS UINT64_C(1000000000)

/* The stream is split into this many parts. Comparing the last two shows whether the drive falls behind. */
#define PARTS 16u
/* Pieces on their way to the drive at once; the others wait in the ring. Large enough never to be the limit. */
#define DEPTH 32u

struct run {
  const struct sim_media_stream *stream;
  struct sim_media_outlook *out;
  struct sim_media media;
  double part_least[2]; /* the lowest level in the second last part, and in the last */
  uint64_t released_ps[DEPTH];
  uint64_t link_free_ps;
  uint64_t next_flush_ps;
};

static void flush_until(struct run *run, uint64_t now_ps) {
  const uint64_t period_ps = run->stream->checkpoint_ms * PS_PER_MS;

  while (period_ps > 0 && run->next_flush_ps <= now_ps) {
    uint64_t took_ps = sim_media_flush(&run->media, run->next_flush_ps) - run->next_flush_ps;

    if (took_ps > run->out->flush_ps_max) run->out->flush_ps_max = took_ps;
    run->next_flush_ps += took_ps > period_ps ? took_ps : period_ps;
  }
}

/* The piece that ends at byte `end` is sent at `free_ps`, or when it is complete. Returns when the drive has taken
 * it. */
static uint64_t write_piece(struct run *run, uint64_t end, uint32_t bytes, uint64_t free_ps) {
  const struct sim_media_stream *stream = run->stream;
  uint64_t arrived_ps = (uint64_t)((double)end / stream->rate * PS_PER_S);

  if (arrived_ps < free_ps) arrived_ps = free_ps;
  if (arrived_ps < run->link_free_ps) arrived_ps = run->link_free_ps;
  arrived_ps += (uint64_t)(bytes / stream->link_rate * PS_PER_S);
  run->link_free_ps = arrived_ps;
  flush_until(run, arrived_ps);
  return sim_media_write(&run->media, arrived_ps, bytes, bytes) + run->media.profile->write_latency_ns * PS_PER_NS;
}

static void note_state(struct run *run) {
  struct sim_media_outlook *out = run->out;

  const bool past_edge = run->media.state == SIM_MEDIA_FOLDING || run->media.state == SIM_MEDIA_DIRECT;

  if (past_edge && out->edge_s == HUGE_VAL && run->media.profile->slc_bytes > 0)
    out->edge_s = (double)run->media.now_ps / PS_PER_S;
  if (run->media.temperature_c > out->temperature_max_c) out->temperature_max_c = run->media.temperature_c;
}

/* `start` is where the piece begins: everything before it has been released. */
static void note_level(struct run *run, uint64_t start, uint64_t released_ps) {
  const struct sim_media_stream *stream = run->stream;
  struct sim_media_outlook *out = run->out;
  const double produced = stream->rate * (double)released_ps / PS_PER_S;
  const double level = (produced < (double)stream->bytes ? produced : (double)stream->bytes) - (double)start;
  const double endless = produced - (double)start; /* if the source continued */
  const uint64_t part = (uint64_t)((double)start / (double)stream->bytes * PARTS);
  const uint64_t pieces = (uint64_t)(level / stream->piece_bytes) + 1;

  if (level > (double)stream->ring_bytes && out->sustained_s == HUGE_VAL)
    out->sustained_s = ((double)start + (double)stream->ring_bytes) / stream->rate;
  if (part + 2 >= PARTS && endless < run->part_least[part + 2 - PARTS]) run->part_least[part + 2 - PARTS] = endless;
  if (pieces * stream->piece_bytes <= out->ring_needed_bytes) return;
  out->ring_needed_bytes = pieces * stream->piece_bytes;
  out->worst_s = (double)released_ps / PS_PER_S;
  out->worst = run->media.state;
  out->worst_paused = run->media.now_ps < run->media.pause_until_ps;
  out->worst_throttled = run->media.throttled;
}

void sim_media_outlook(struct sim_media_outlook *out, const struct sim_profile *profile,
                       const struct sim_media_stream *stream) {
  struct run run = {.stream = stream, .out = out, .part_least = {HUGE_VAL, HUGE_VAL}};
  uint64_t released_ps = 0, piece = 0;

  assert(stream->bytes > 0 && stream->rate > 0 && stream->link_rate > 0 && stream->piece_bytes > 0);
  sim_media_init(&run.media, profile, stream->filled);
  *out = (struct sim_media_outlook){.sustained_s = HUGE_VAL, .edge_s = HUGE_VAL};
  run.next_flush_ps = stream->checkpoint_ms * PS_PER_MS;
  for (uint64_t start = 0; start < stream->bytes; start += stream->piece_bytes, piece++) {
    const uint64_t left = stream->bytes - start;
    const uint32_t bytes = left < stream->piece_bytes ? (uint32_t)left : stream->piece_bytes;
    const uint64_t done_ps = write_piece(&run, start + bytes, bytes, run.released_ps[piece % DEPTH]);

    /* Pieces are released in the order in which they were pushed. */
    if (released_ps < done_ps) released_ps = done_ps;
    run.released_ps[piece % DEPTH] = released_ps;
    note_state(&run);
    note_level(&run, start, released_ps);
  }
  out->throttled_s = (double)run.media.throttled_ps / PS_PER_S;
  out->falls_behind = run.part_least[1] > run.part_least[0] + stream->piece_bytes;
}

/* A request's life: doorbell, fetch of the command, front end, fetch of the page list, data, buffer, completion. It
 * crosses the link eight times. One more request is always between its completion in memory and the next doorbell. */
uint32_t sim_media_depth(const struct sim_profile *profile, double link_rate, uint32_t latency_ns,
                         uint32_t piece_bytes) {
  const double medium_rate = profile->slc_bytes > 0 ? profile->slc_rate : profile->direct_rate;
  const double rate = medium_rate < link_rate ? medium_rate : link_rate;
  const double life_s =
      (8.0 * latency_ns + profile->command_ns + profile->write_latency_ns) * 1e-9 + piece_bytes / link_rate;

  return (uint32_t)(life_s * rate / piece_bytes) + 2;
}
