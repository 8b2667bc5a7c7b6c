/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long will the ring last?
 *
 * About 64 times a second each stream's counts of pushed, completed and held pieces are sampled. The last four of these
 * steps give the rate at which the ring fills, and so the time that it lasts. Three things look like a slow drive and
 * are ignored: a burst (the ring was almost empty a moment ago), growth that is no more than jitter, and steps in which
 * a checkpoint's flush delayed the data, if it took no longer than flushes do.
 *
 * The data path only counts. The divisions are here: one a step for the recorder and two for each stream, of 32 bits,
 * because some processors have no others.
 */
#include "internal.h"
#include <spate/port.h>

#define STEPS_PER_S_SHIFT 6u  /* 15.6 ms each */
#define LATENCY_SHIFT     16u /* SPATE_LATENCY_COUNTS: the first bound is 2^-16 s */
#define FLUSH_STEPS_MAX   8u  /* 125 ms: a flush that takes longer is a slow drive */
#define HOLD_STEPS        64u /* longer than from checkpoint to checkpoint */
#define MARGIN_MS         32u /* SLOW comes so much earlier than the source needs: two steps */
#define CRITICAL_MS       16u /* the next step may come too late */
#define UNITS_SHIFT       15u /* fewer than 2^15 units of time a second */
#define RHYTHM_PIECES     2u  /* growth that may be jitter: so many pieces, and a share of the ring */
#define RHYTHM_SHIFT      5u
#define BURST_SHIFT       3u /* a ring that is less than an eighth full counts as empty */

/* A stream in the last steps. */
struct view {
  uint64_t in_bytes, out_bytes;
  uint32_t ms;
  uint32_t out_pieces;
  uint32_t held_pieces_min;
  int32_t grown_pieces;
  uint32_t ring_pieces, room_pieces; /* without what waits for a flush */
  bool stopped;                      /* the source pushes nothing, although there is room */
};

static uint32_t at_most_32_bits(uint64_t value) { return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX; }

uint32_t spate_watch_ms(const struct spate_recorder *recorder, uint64_t ticks) {
  const struct spate_recorder_watch *watch = &recorder->watch;

  return at_most_32_bits(((uint64_t)at_most_32_bits(ticks >> watch->unit_shift) * watch->ms_per_unit_q16) >> 16);
}

uint32_t spate_watch_quotient(uint64_t dividend, uint32_t divisor) { return at_most_32_bits(dividend) / divisor; }

void spate_watch_open(struct spate_recorder *recorder) {
  struct spate_recorder_watch *watch = &recorder->watch;
  const uint64_t ticks_per_s = spate_port_ticks_per_second();

  while (ticks_per_s >> watch->unit_shift >> UNITS_SHIFT != 0)
    watch->unit_shift++;
  watch->units_per_s = (uint32_t)(ticks_per_s >> watch->unit_shift);
  watch->ms_per_unit_q16 = (UINT32_C(1000) << 16) / watch->units_per_s;
  watch->step_ticks = ticks_per_s >> STEPS_PER_S_SHIFT;
  watch->latency_bound_ticks = ticks_per_s >> LATENCY_SHIFT;
  if (watch->latency_bound_ticks == 0) watch->latency_bound_ticks = 1;
  watch->started_ticks = recorder->now_ticks;
  recorder->heat.left_ms = SPATE_NEVER_MS;
}

void spate_watch_stream(struct spate_stream *stream) {
  stream->pressure.left_ms = SPATE_NEVER_MS;
  stream->pressure.room_pieces = stream->config.piece_count;
}

/* A level lasts for a while after it was last called for. */
static enum spate_level settle(struct spate_stream_watch *watch, enum spate_level wanted) {
  enum spate_level level = SPATE_LEVEL_CALM;

  for (unsigned i = SPATE_LEVEL_WATCH; i <= SPATE_LEVEL_CRITICAL; i++) {
    uint8_t *hold_steps = &watch->hold_steps[i - SPATE_LEVEL_WATCH];
    if (wanted >= i)
      *hold_steps = HOLD_STEPS;
    else if (*hold_steps > 0)
      --*hold_steps;
    if (*hold_steps > 0) level = (enum spate_level)i;
  }
  return level;
}

static struct spate_watch_step take_step(struct spate_stream *stream) {
  struct spate_stream_watch *watch = &stream->watch;
  const struct spate_stream_counters *counters = &stream->counters;
  const uint64_t out_bytes = counters->completed_bytes + counters->lost_bytes;
  const uint32_t held_pieces = stream->pushed - stream->completed;
  /* After the drive lost power, pieces are written again, and `completed` goes back. */
  const int32_t out_pieces = (int32_t)(stream->completed - watch->completed_pieces);
  struct spate_watch_step step = {
      .in_bytes = counters->pushed_bytes - watch->in_bytes,
      .out_bytes = out_bytes > watch->out_bytes ? out_bytes - watch->out_bytes : 0,
      .out_pieces = out_pieces > 0 ? (uint32_t)out_pieces : 0,
      .held_pieces_min = watch->held_pieces_min,
      .grown_pieces = (int32_t)(held_pieces - watch->held_pieces),
  };

  watch->in_bytes = counters->pushed_bytes;
  watch->out_bytes = out_bytes;
  watch->held_pieces = held_pieces;
  watch->completed_pieces = stream->completed;
  watch->held_pieces_min = held_pieces;
  return step;
}

static struct view look_back(const struct spate_stream *stream, uint32_t ms) {
  const uint32_t pieces = stream->config.piece_count;
  const uint32_t held_pieces = stream->pushed - stream->completed;
  uint32_t retained_pieces = 0;
  struct view view = {.ms = ms, .held_pieces_min = UINT32_MAX};

  for (uint32_t i = 0; i < SPATE_WATCH_STEPS; i++) {
    const struct spate_watch_step *step = &stream->watch.steps[i];
    view.in_bytes += step->in_bytes;
    view.out_bytes += step->out_bytes;
    view.out_pieces += step->out_pieces;
    view.grown_pieces += step->grown_pieces;
    if (step->held_pieces_min < view.held_pieces_min) view.held_pieces_min = step->held_pieces_min;
  }
  if (stream->config.retain) {
    retained_pieces = stream->completed - stream->flushed;
    if (stream->watch.retained_pieces > retained_pieces) retained_pieces = stream->watch.retained_pieces;
  }
  view.stopped = view.in_bytes == 0 && spate_stream_room(stream) > 0;
  view.ring_pieces = retained_pieces < pieces ? pieces - retained_pieces : 0;
  view.room_pieces = held_pieces < view.ring_pieces ? view.ring_pieces - held_pieces : 0;
  return view;
}

/* How long the drive's next flush, or the rest of the present one, will delay the data. */
static uint32_t flush_left_ms(const struct spate_recorder *recorder) {
  const struct spate_recorder_watch *watch = &recorder->watch;
  const uint64_t most_ticks = watch->step_ticks * FLUSH_STEPS_MAX;
  const uint64_t ticks = watch->flush_ticks < most_ticks ? watch->flush_ticks : most_ticks;

  return watch->flush_age_ticks < ticks ? spate_watch_ms(recorder, ticks - watch->flush_age_ticks) : 0;
}

static enum spate_level level_of_left(const struct spate_recorder *recorder, uint32_t left_ms) {
  if (left_ms <= CRITICAL_MS) return SPATE_LEVEL_CRITICAL;
  if (left_ms <= MARGIN_MS || left_ms - MARGIN_MS <= recorder->config.slow_ms) return SPATE_LEVEL_SLOW;
  return SPATE_LEVEL_WATCH;
}

/* How long the ring lasts, and the level that this calls for. */
static enum spate_level judge(const struct spate_recorder *recorder, const struct view *view, uint32_t *left_ms) {
  const uint32_t rhythm_pieces = RHYTHM_PIECES + (view->ring_pieces >> RHYTHM_SHIFT);
  const uint32_t grown_pieces = view->grown_pieces > 0 ? (uint32_t)view->grown_pieces : 0;
  const bool drains = view->grown_pieces < -(int32_t)rhythm_pieces;
  const bool burst = view->held_pieces_min < view->ring_pieces >> BURST_SHIFT;
  const uint64_t room_piece_ms = (uint64_t)view->room_pieces * view->ms;
  /* During a flush nothing leaves the ring: it needs room for what would have left. */
  const uint64_t flush_piece_ms = (uint64_t)view->out_pieces * flush_left_ms(recorder);
  const uint64_t piece_ms = room_piece_ms > flush_piece_ms ? room_piece_ms - flush_piece_ms : 0;
  /* Growth below the jitter is assumed to be as large as the jitter. */
  const enum spate_level level = level_of_left(recorder, spate_watch_quotient(piece_ms, grown_pieces + rhythm_pieces));

  *left_ms = SPATE_NEVER_MS;
  if (view->stopped || drains) return SPATE_LEVEL_CALM;
  if (grown_pieces > rhythm_pieces && !burst) {
    *left_ms = spate_watch_quotient(piece_ms, grown_pieces);
    return level;
  }
  if (view->room_pieces <= view->ring_pieces >> 2) return level; /* it may be filling up too slowly to be seen */
  return view->room_pieces <= view->ring_pieces >> 1 && !burst ? SPATE_LEVEL_WATCH : SPATE_LEVEL_CALM;
}

static void watch_stream(struct spate_stream *stream, uint32_t ms, uint32_t per_s_q16) {
  struct spate_pressure *pressure = &stream->pressure;
  struct spate_stream_watch *watch = &stream->watch;
  const struct view view = look_back(stream, ms);
  enum spate_level wanted = judge(stream->recorder, &view, &pressure->left_ms);

  if (watch->overrun_bytes != stream->counters.overrun_bytes) {
    watch->overrun_bytes = stream->counters.overrun_bytes;
    pressure->left_ms = 0;
    wanted = SPATE_LEVEL_CRITICAL;
  }
  pressure->level = settle(watch, wanted);
  pressure->room_pieces = view.room_pieces;
  pressure->in_bytes_per_s = (view.in_bytes * per_s_q16) >> 16;
  pressure->out_bytes_per_s = (view.out_bytes * per_s_q16) >> 16;
}

/* How long the flush under way has taken so far, and the last one in all. */
static void watch_flush(struct spate_recorder *recorder) {
  struct spate_recorder_watch *watch = &recorder->watch;

  if (recorder->checkpoint == CHECKPOINT_FLUSHING) {
    watch->flush_age_ticks = recorder->now_ticks - recorder->checkpoint_started_ticks + 1u; /* 0: none */
    if (watch->flush_age_ticks <= watch->step_ticks * FLUSH_STEPS_MAX) watch->flushing = true;
  } else if (watch->flush_age_ticks > 0) {
    watch->flush_ticks = watch->flush_age_ticks;
    watch->flush_age_ticks = 0;
  }
}

/* Is the growth in this step explained by a flush? Then the step is ignored, but not again before SPATE_WATCH_STEPS
 * other steps: flushes that follow each other faster are part of the drive's rate. */
static bool leave_out(struct spate_recorder_watch *watch) {
  watch->leaving_out = watch->flushing && (watch->leaving_out || watch->seen_steps == SPATE_WATCH_STEPS);
  watch->flushing = false;
  if (watch->leaving_out)
    watch->seen_steps = 0;
  else if (watch->seen_steps < SPATE_WATCH_STEPS)
    watch->seen_steps++;
  return watch->leaving_out;
}

static void end_step(struct spate_recorder *recorder, uint64_t ticks) {
  struct spate_recorder_watch *watch = &recorder->watch;
  const bool left_out = leave_out(watch);
  const bool stale = ticks >> STEPS_PER_S_SHIFT >= watch->step_ticks; /* there was no turn for a second */
  uint32_t units = 0;

  if (!left_out) watch->step_units[watch->step] = at_most_32_bits(ticks >> watch->unit_shift);
  for (uint32_t i = 0; i < SPATE_WATCH_STEPS; i++) {
    if (stale) watch->step_units[i] = 0;
    units += watch->step_units[i];
  }
  const uint32_t ms = spate_watch_ms(recorder, (uint64_t)units << watch->unit_shift);
  const uint32_t per_s_q16 = units > 0 ? (watch->units_per_s << 16) / units : 0;
  for (uint32_t i = 0; i < recorder->stream_count; i++) {
    struct spate_stream *stream = recorder->streams[i];
    const struct spate_watch_step step = take_step(stream);
    if (!left_out) stream->watch.steps[watch->step] = step;
    for (uint32_t j = 0; stale && j < SPATE_WATCH_STEPS; j++)
      stream->watch.steps[j] = (struct spate_watch_step){0};
    if (units > 0) watch_stream(stream, ms, per_s_q16);
  }
  if (!left_out) watch->step = (uint8_t)((watch->step + 1u) & (SPATE_WATCH_STEPS - 1u));
}

void spate_watch_turn(struct spate_recorder *recorder) {
  struct spate_recorder_watch *watch = &recorder->watch;
  const uint64_t ticks = recorder->now_ticks - watch->started_ticks;

  for (uint32_t i = 0; i < recorder->stream_count; i++) {
    struct spate_stream *stream = recorder->streams[i];
    const uint32_t held_pieces = stream->pushed - stream->completed;
    if (held_pieces < stream->watch.held_pieces_min) stream->watch.held_pieces_min = held_pieces;
  }
  watch_flush(recorder);
  if (ticks < watch->step_ticks) return;
  watch->started_ticks = recorder->now_ticks;
  end_step(recorder, ticks);
}
