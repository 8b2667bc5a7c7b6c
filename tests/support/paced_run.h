/* SPDX-License-Identifier: Apache-2.0 */
/* A recorder on a drive whose rate and flush time the test sets, and a source with its own rate. Included by one test
 * program each. */
#ifndef SPATE_TESTS_PACED_RUN_H
#define SPATE_TESTS_PACED_RUN_H

#include "recorder_fixture.h"

#define PIECE_BYTES 4096u
#define RING_MAX    512u
#define STEP_NS     250000u
#define MS          UINT64_C(1000000)

/* ---- a drive with a rate in pieces per millisecond, which is 0 during a flush ---- */

struct paced {
  const struct spate_block_ops *inner;
  double out_per_ms; /* 0: no limit */
  double credit;
  uint64_t flush_ns;
  uint64_t paced_ns, flush_until_ns;
  bool flushing;
};

static struct paced paced;

static inline bool flush_is_pending(const struct ram_block *ram) {
  for (unsigned i = 0; i < ram->pending_count; i++)
    if (ram->pending[i].io->op == SPATE_FLUSH) return true;
  return false;
}

static inline enum spate_error paced_submit(struct spate_block *block, struct spate_io *io) {
  return paced.inner->submit(block, io);
}

static inline void paced_kick(struct spate_block *block) { paced.inner->kick(block); }

static inline unsigned paced_poll(struct spate_block *block, unsigned max) {
  struct ram_block *ram = (struct ram_block *)block;
  const double elapsed_ms = (double)(clock_ns - paced.paced_ns) / 1e6;

  paced.paced_ns = clock_ns;
  if (paced.out_per_ms == 0) return paced.inner->poll(block, max);
  if (flush_is_pending(ram) && !paced.flushing) {
    paced.flushing = true;
    paced.flush_until_ns = clock_ns + paced.flush_ns;
  }
  if (paced.flushing) {
    if (clock_ns < paced.flush_until_ns) return 0;
    paced.flushing = false;
    ram->held_ops = RAM_OP(SPATE_WRITE);
    unsigned reaped = paced.inner->poll(block, max);
    ram->held_ops = 0;
    return reaped;
  }
  paced.credit += elapsed_ms * paced.out_per_ms;
  if (ram->pending_count == 0 && paced.credit > 1) paced.credit = 1; /* unused rate is not saved up */
  if (paced.credit < 1) return 0;
  unsigned reaped = paced.inner->poll(block, paced.credit < (double)max ? (unsigned)paced.credit : max);
  paced.credit -= reaped;
  return reaped;
}

/* ---- a source with a rate in pieces per millisecond ---- */

struct run {
  struct fixture *fixture;
  struct spate_stream stream;
  struct spate_piece pieces[RING_MAX];
  struct spate_region region;
  uint8_t *ring;
  double in_per_ms;
  double due;
  uint32_t burst;      /* pieces pushed at a time */
  uint64_t overruns;   /* pieces that found no room */
  uint64_t overrun_ns; /* of the first one */
  uint64_t slow_at_ns; /* when SLOW was first reached or exceeded */
  enum spate_level worst;
  uint32_t events;
};

static inline void on_level(void *context, struct spate_stream *stream, enum spate_event event, uint64_t value) {
  struct run *run = context;

  if (event != SPATE_EVENT_PRESSURE) return;
  assert_int_equal(value, stream->pressure.level);
  run->events++;
  if (value > run->worst) run->worst = (enum spate_level)value;
  if (value >= SPATE_LEVEL_SLOW && run->slow_at_ns == 0) run->slow_at_ns = clock_ns;
}

static inline struct run *start(uint32_t ring_pieces, uint32_t slow_ms, bool retain) {
  static const struct spate_block_ops ops = {paced_submit, paced_kick, paced_poll};
  struct run *run = calloc(1, sizeof *run);
  const uint64_t ring_bytes = (uint64_t)ring_pieces * PIECE_BYTES;
  const size_t table_bytes = SPATE_REGION_TABLE_BYTES(ring_bytes);

  assert_non_null(run);
  clock_ns = 0;
  run->fixture = open_fixture(4096, VOLUME_MIB);
  OK(spate_recorder_close(&run->fixture->recorder));
  paced = (struct paced){.inner = run->fixture->ram.block.ops};
  run->fixture->ram.block.ops = &ops;
  struct spate_recorder_config config = {.slow_ms = slow_ms, .event = on_level, .context = run};
  OK(spate_recorder_open(&run->fixture->recorder, &run->fixture->volume, &config));
  struct spate_arena arena = {.start = aligned_alloc(4096, table_bytes), .bytes = table_bytes};
  run->ring = aligned_alloc(4096, ring_bytes);
  if (arena.start == NULL || run->ring == NULL) abort();
  memset(run->ring, 0x5a, ring_bytes);
  OK(spate_region_init(&run->region, run->ring, ring_bytes, &arena));
  struct spate_stream_config stream_config = {
      .region = &run->region, .pieces = run->pieces, .piece_count = ring_pieces, .cpu_filled = true, .retain = retain};
  OK(spate_stream_open(&run->fixture->recorder, &run->stream, &stream_config));
  OK(spate_stream_arm(&run->stream, "CLIP.RAW", 120 * MIB));
  run->burst = 1;
  return run;
}

static inline void end(struct run *run) {
  struct fixture *fixture = run->fixture;

  paced.out_per_ms = 0;
  OK(spate_recorder_finish(&fixture->recorder));
  free(run->region.list);
  free(run->ring);
  close_fixture(fixture);
  free(run);
}

static inline bool push_one(struct run *run) {
  const uint32_t slot = run->stream.pushed & (run->stream.config.piece_count - 1u);

  if (spate_stream_room(&run->stream) == 0) return false;
  OK(spate_stream_push(&run->stream, (uint64_t)slot * PIECE_BYTES, PIECE_BYTES));
  return true;
}

/* One turn of the application: push the pieces that the source has filled, then call the recorder's work(). */
static inline void step(struct run *run) {
  clock_ns += STEP_NS;
  run->due += run->in_per_ms * STEP_NS / 1e6;
  while (run->due >= run->burst) {
    for (uint32_t i = 0; i < run->burst; i++, run->due -= 1) {
      if (push_one(run)) continue;
      run->overruns++;
      if (run->overrun_ns == 0) run->overrun_ns = clock_ns;
    }
  }
  work(run->fixture);
}

static inline void run_for(struct run *run, uint64_t ms) {
  const uint64_t until_ns = clock_ns + ms * MS;

  while (clock_ns < until_ns)
    step(run);
}

static inline double between(uint64_t *random, double low, double high) {
  return low + (high - low) * (double)(ram_random(random) >> 11) * 0x1p-53;
}

#endif
