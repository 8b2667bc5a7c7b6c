/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/*
 * The plan for a stream compared with a recording of it: the recorder on the simulated drive, a source at a fixed rate.
 * Drives are nearly full, so that their SLC cache is small and its edge comes early.
 */
#include "machine/stack.h"
#include <math.h>
#include <setjmp.h>
#include <spate/recorder.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GB     UINT64_C(1000000000)
#define MIB    (UINT64_C(1) << 20)
#define PIECE  ((uint32_t)(512 * 1024))
#define PIECES 2048u /* the largest ring of any case */

#define OK(call) must_be(call, __LINE__)

static void must_be(enum spate_error error, int line) {
  if (error != SPATE_OK) fail_msg("line %d: %s", line, spate_error_name(error));
}

static struct sim_link_config gen3(void) {
  return (struct sim_link_config){.generation = 3,
                                  .lanes = 4,
                                  .payload_bytes = 256,
                                  .read_request_bytes = 512,
                                  .latency_ns = 250,
                                  .dllp_percent = 2};
}

/* ---- a recording ---- */

struct run {
  struct sim_stack *stack;
  struct sim_media_stream planned;
  struct spate_exfat volume;
  struct spate_recorder recorder;
  struct spate_stream stream;
  struct spate_region *ring;
  struct spate_piece *pieces;
  uint32_t ring_pieces; /* the ring's size */
  uint64_t piece_count; /* to be pushed */
  uint64_t pushed;
  uint64_t start_ps, next_ps;
  uint64_t most_pieces; /* the most that the ring held, including the one being filled */
  bool streaming;
  double over_s; /* when it first held more than planned.ring_bytes; HUGE_VAL: never */
  bool overrun;
};

static void piece_full(void *context, uint64_t number) {
  (void)context;
  (void)number;
}

static void begin_piece(struct run *run) {
  run->next_ps = run->start_ps + (uint64_t)((double)(run->pushed + 1) * PIECE / run->planned.rate * 1e12);
  if (run->next_ps > sim_now_ps(run->stack->sim)) sim_at(run->stack->sim, run->next_ps, piece_full, NULL, 0);
}

/* Logic fills the ring: only the device's view exists. */
static void stamp_piece(struct run *run) {
  uint8_t *ring = run->ring->start;
  const uint64_t offset = run->pushed % run->ring_pieces * PIECE;

  for (uint64_t page = 0; page < PIECE; page += SIM_PAGE)
    sim_stamp_put(ring + offset + page, (struct sim_stamp){1, run->pushed * PIECE + page});
}

/* Pieces that the source holds or has given to the recorder, including the one that begins now. */
static uint64_t pieces_held(const struct run *run) {
  return run->pushed - spate_stream_released(&run->stream) + (run->pushed < run->piece_count ? 1 : 0);
}

static void note_level(struct run *run) {
  const uint64_t held = pieces_held(run);

  if (held > run->most_pieces) run->most_pieces = held;
  if (held * PIECE > run->planned.ring_bytes && run->over_s == HUGE_VAL)
    run->over_s = (double)(sim_now_ps(run->stack->sim) - run->start_ps) / 1e12;
  if (held > run->ring_pieces) run->overrun = true;
}

static void push_what_is_full(void *context) {
  struct run *run = context;

  while (run->streaming && run->pushed < run->piece_count && !run->overrun &&
         run->next_ps <= sim_now_ps(run->stack->sim)) {
    stamp_piece(run);
    OK(spate_stream_push(&run->stream, run->pushed % run->ring_pieces * PIECE, PIECE));
    run->pushed++;
    begin_piece(run);
    note_level(run);
  }
}

static void open_run(struct run *run, const char *profile) {
  const struct sim_stack_config config = {
      .machine = {.seed = 1, .host = sim_host_a53, .coherent = true},
      .profile = profile,
      .options = {.link = gen3(), .filled = run->planned.filled},
  };
  const struct spate_exfat_format format = {.cluster_bytes = 4 * MIB, .label = "PLAN"};

  run->stack = sim_stack_new(&config);
  OK(sim_stack_open(run->stack));
  struct spate_exfat_config volume = sim_stack_exfat(run->stack);
  OK(spate_exfat_format(&volume, &format));
  OK(spate_exfat_mount(&run->volume, &volume, NULL));
  run->ring = sim_stack_region(run->stack, (uint64_t)run->ring_pieces * PIECE, SIM_LOGIC);
  run->pieces = calloc(PIECES, sizeof *run->pieces);
  OK(spate_recorder_open(&run->recorder, &run->volume,
                         &(struct spate_recorder_config){.checkpoint_ms = run->planned.checkpoint_ms,
                                                         .while_waiting = push_what_is_full,
                                                         .context = run}));
  OK(spate_stream_open(
      &run->recorder, &run->stream,
      &(struct spate_stream_config){.region = run->ring, .pieces = run->pieces, .piece_count = PIECES}));
  OK(spate_stream_arm(&run->stream, "CLIP.RAW", run->piece_count * PIECE));
}

static void close_run(struct run *run) {
  const char *violation;

  OK(spate_recorder_finish(&run->recorder));
  assert_int_equal(run->stream.counters.durable_bytes, run->pushed * PIECE);
  OK(spate_recorder_close(&run->recorder));
  OK(spate_exfat_unmount(&run->volume));
  OK(sim_stack_close(run->stack));
  if (sim_take_violations(run->stack->sim, &violation) > 0) fail_msg("%s", violation);
  sim_stack_free(run->stack);
  free(run->pieces);
}

/* Record the stream until everything is pushed or the ring overflows. */
static void record(struct run *run, const char *profile, uint64_t ring_bytes) {
  run->ring_pieces = (uint32_t)(ring_bytes / PIECE);
  run->piece_count = run->planned.bytes / PIECE;
  run->over_s = HUGE_VAL;
  assert_in_range(run->ring_pieces, 2, PIECES);
  open_run(run, profile);
  run->start_ps = sim_now_ps(run->stack->sim);
  run->streaming = true;
  begin_piece(run);
  while (run->pushed < run->piece_count && !run->overrun) {
    push_what_is_full(run);
    OK(spate_recorder_work(&run->recorder));
  }
  run->streaming = false;
  close_run(run);
}

/* ---- the plan and the recording ---- */

struct plan_case {
  const char *profile;
  double filled, rate;
  uint64_t bytes;
};

static struct sim_media_outlook plan(const struct plan_case *which, struct sim_media_stream *stream,
                                     uint64_t ring_bytes) {
  const struct sim_link_config link = gen3();
  struct sim_media_outlook outlook;

  *stream = (struct sim_media_stream){.filled = which->filled,
                                      .rate = which->rate,
                                      .link_rate = sim_link_down_max(&link),
                                      .bytes = which->bytes,
                                      .ring_bytes = ring_bytes,
                                      .piece_bytes = PIECE,
                                      .checkpoint_ms = 500};
  sim_media_outlook(&outlook, sim_profile_find(which->profile), stream);
  return outlook;
}

/* The planned ring loses nothing, 70 % of it loses something, and half of it overflows at the predicted time. One
 * recording shows all three: the most that the ring held, and when it first held more than half of the plan. */
static void meets_its_plan(const struct plan_case *which) {
  struct run run = {0};
  const struct sim_media_outlook whole = plan(which, &run.planned, 0);
  const struct sim_media_outlook half = plan(which, &run.planned, whole.ring_needed_bytes / 2);

  record(&run, which->profile, whole.ring_needed_bytes);
  print_message("%-10s %.2f GB/s, %.1f GB: planned %.2f MiB, met %.2f MiB; half of it after %.3f s, met %.3f s\n",
                which->profile, which->rate / 1e9, (double)which->bytes / 1e9,
                (double)whole.ring_needed_bytes / (double)MIB, (double)(run.most_pieces * PIECE) / (double)MIB,
                half.sustained_s, run.over_s);
  assert_false(run.overrun);
  assert_true((double)(run.most_pieces * PIECE) > 0.7 * (double)whole.ring_needed_bytes);
  assert_true(isfinite(half.sustained_s));
  assert_true(fabs(run.over_s / half.sustained_s - 1) < 0.05);
}

static void rings_over_the_edge_of_the_slc_cache(void **state) {
  (void)state;
  meets_its_plan(&(struct plan_case){"970evoplus", 0.99, 2.0e9, 9 * GB});
  meets_its_plan(&(struct plan_case){"980pro", 0.99, 2.5e9, 13 * GB});
}

static void rings_over_pauses_and_flushes(void **state) {
  (void)state;
  meets_its_plan(&(struct plan_case){"970evoplus", 0.99, 2.9e9, 5 * GB});
  meets_its_plan(&(struct plan_case){"980pro", 0.99, 3.3e9, 9 * GB});
}

static void seventy_per_cent_of_a_ring_overrun(void **state) {
  (void)state;
  const struct plan_case which = {"970evoplus", 0.99, 2.9e9, 5 * GB};
  struct run run = {0};
  const struct sim_media_outlook whole = plan(&which, &run.planned, 0);
  const uint64_t ring_bytes = whole.ring_needed_bytes * 7 / 10 / PIECE * PIECE;
  const struct sim_media_outlook less = plan(&which, &run.planned, ring_bytes);

  record(&run, which.profile, ring_bytes);
  assert_true(run.overrun);
  assert_true(run.pushed < run.piece_count);
  assert_true(fabs(run.over_s / less.sustained_s - 1) < 0.05);
}

/* ---- queue depth ---- */

#define REQUEST_BYTES (128u * 1024)
#define REQUESTS      64u

struct writes {
  struct sim_stack *stack;
  struct spate_region *region;
  struct spate_io ios[REQUESTS];
  uint64_t next, done, count;
};

static void write_done(struct spate_io *io);

/* The same stamped megabytes again and again: only the time matters. */
static void write_next(struct writes *writes, struct spate_io *io) {
  const uint32_t blocks = REQUEST_BYTES >> writes->stack->block->block_shift;

  if (writes->next == writes->count) return;
  *io = (struct spate_io){.lba = writes->next * blocks,
                          .blocks = blocks,
                          .op = SPATE_WRITE,
                          .region = writes->region,
                          .offset_bytes = writes->next % REQUESTS * REQUEST_BYTES,
                          .done = write_done,
                          .context = writes};
  OK(spate_block_submit(writes->stack->block, io));
  writes->next++;
}

static void write_done(struct spate_io *io) {
  struct writes *writes = io->context;

  OK(io->error);
  writes->done++;
  write_next(writes, io);
}

/* Raw writes at this depth, in bytes per second, on an empty drive. */
static double rate_at(const char *profile, const struct sim_link_config *link, unsigned depth) {
  const struct sim_stack_config config = {
      .machine = {.seed = 1, .coherent = true}, .profile = profile, .options = {.link = *link}};
  struct writes writes = {.stack = sim_stack_new(&config), .count = 16000};
  double seconds;

  OK(sim_stack_open(writes.stack));
  writes.region = sim_stack_region(writes.stack, (uint64_t)REQUESTS * REQUEST_BYTES, SIM_LOGIC);
  for (uint64_t page = 0; page < writes.region->bytes; page += SIM_PAGE)
    sim_stamp_put(writes.region->start + page, (struct sim_stamp){1, page});
  const uint64_t start_ps = sim_now_ps(writes.stack->sim);
  for (unsigned i = 0; i < depth; i++)
    write_next(&writes, &writes.ios[i]);
  while (writes.done < writes.count)
    (void)spate_block_poll(writes.stack->block, REQUESTS);
  seconds = (double)(sim_now_ps(writes.stack->sim) - start_ps) / 1e12;
  OK(sim_stack_close(writes.stack));
  sim_stack_free(writes.stack);
  return (double)writes.count * REQUEST_BYTES / seconds;
}

/* The planned depth gives the full rate; half of it gives much less. */
static void depth_is_enough(const char *profile, bool half_is_not) {
  const struct sim_link_config link = gen3();
  const uint32_t depth =
      sim_media_depth(sim_profile_find(profile), sim_link_down_max(&link), link.latency_ns, REQUEST_BYTES);
  const double most = rate_at(profile, &link, REQUESTS), planned = rate_at(profile, &link, depth);
  const double half = rate_at(profile, &link, depth / 2);

  print_message("%-10s depth %u: %.3f GB/s, %u: %.3f, %u: %.3f\n", profile, REQUESTS, most / 1e9, depth, planned / 1e9,
                depth / 2, half / 1e9);
  assert_true(planned > 0.99 * most);
  if (half_is_not) assert_true(half < 0.9 * most);
}

static void the_planned_depth_gives_the_full_rate(void **state) {
  (void)state;
  depth_is_enough("980pro", true);
  depth_is_enough("starblaze", true);
  depth_is_enough("exascend", true);
  depth_is_enough("960pro", false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rings_over_the_edge_of_the_slc_cache),
      cmocka_unit_test(rings_over_pauses_and_flushes),
      cmocka_unit_test(seventy_per_cent_of_a_ring_overrun),
      cmocka_unit_test(the_planned_depth_gives_the_full_rate),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
