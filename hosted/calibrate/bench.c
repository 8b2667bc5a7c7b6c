/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include "../device/interrupt.h"
#include "../memory.h"
#include "../speed/speed.h"
#include "../target/temperature.h"
#include "../text/fail.h"

#include <spate/port.h>
#include <stdlib.h>
#include <string.h>

#define RING_BYTES (UINT64_C(4) << 20)
#define TRIM_BYTES (UINT64_C(4) << 30) /* a whole drive at once can outlast any deadline */
#define GAP_S      0.002
#define NS_PER_S   1e9
#define PAGE       4096u

/* ---- the bench ---- */

/* Data that no drive can compress, marked for those that are not real. */
static void fill(const struct target *target, uint8_t *ring) {
  uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

  for (uint64_t at = 0; at < RING_BYTES; at += sizeof random) {
    random ^= random >> 12;
    random ^= random << 25;
    random ^= random >> 27;
    memcpy(ring + at, &random, sizeof random);
  }
  for (uint64_t at = 0; target->mark_page != NULL && at < RING_BYTES; at += PAGE)
    target->mark_page(ring + at, at);
}

void bench_open(struct bench *bench, struct target *target) {
  *bench = (struct bench){.target = target,
                          .block = target->block,
                          .ring = memory_take_ring(RING_BYTES),
                          .table = memory_take((size_t)SPATE_REGION_TABLE_BYTES(RING_BYTES)),
                          .bytes = target->block->blocks << target->block->block_shift,
                          .ns_per_tick = NS_PER_S / (double)spate_port_ticks_per_second()};
  fill(target, bench->ring);
  memory_region(&bench->region, bench->ring, RING_BYTES, bench->table);
}

void bench_close(struct bench *bench) {
  memory_give(bench->table);
  memory_give(bench->ring);
}

void bench_begin(struct bench *bench, const char *what, uint64_t total_bytes) {
  bench->moved_bytes = 0;
  progress_begin(&bench->progress, what, total_bytes);
}

void bench_end(struct bench *bench) { progress_end(&bench->progress); }

double bench_now_s(const struct bench *bench) { return (double)spate_port_ticks() * bench->ns_per_tick / NS_PER_S; }

bool bench_celsius(struct bench *bench, double *celsius) {
  struct temperature temperature;

  if (!temperature_read(bench->target, &temperature)) return false;
  *celsius = temperature.celsius;
  return true;
}

/* ---- streams ---- */

struct watcher {
  struct bench *bench;
  struct bench_curve *curve;
  uint64_t seen_bytes, seen_ns, grain_bytes, grain_ns;
};

/* A point each grain, and every gap. Where there are more points than room, each second one goes. */
static void add_point(struct watcher *watcher, uint64_t bytes, uint64_t ns) {
  struct bench_curve *curve = watcher->curve;

  if (curve->count == BENCH_CURVE_POINTS) {
    for (size_t i = 0; i < BENCH_CURVE_POINTS / 2u; i++)
      curve->points[i] = curve->points[2u * i];
    curve->count = BENCH_CURVE_POINTS / 2u;
    watcher->grain_bytes *= 2u;
  }
  curve->points[curve->count++] = (struct fit_point){.bytes = (double)bytes, .seconds = (double)ns / NS_PER_S};
}

static void look(void *context, uint64_t bytes, uint64_t elapsed_ns) {
  struct watcher *watcher = context;
  struct bench_curve *curve = watcher->curve;

  if (bytes == watcher->seen_bytes) return;
  const double gap_s = (double)(elapsed_ns - watcher->seen_ns) / NS_PER_S;
  if (gap_s >= GAP_S && watcher->seen_bytes > 0) {
    curve->gaps_lost = curve->gaps_lost || curve->gap_count == BENCH_GAPS;
    if (!curve->gaps_lost)
      curve->gaps[curve->gap_count++] = (struct fit_gap){.at_bytes = (double)watcher->seen_bytes, .seconds = gap_s};
  }
  watcher->seen_bytes = bytes;
  watcher->seen_ns = elapsed_ns;
  if (curve->count == 0 || (double)bytes >= curve->points[curve->count - 1u].bytes + (double)watcher->grain_bytes)
    add_point(watcher, bytes, elapsed_ns);
  progress_show(&watcher->bench->progress, watcher->bench->moved_bytes + bytes, NULL);
}

void bench_run(struct bench *bench, const struct bench_stream *stream, struct bench_curve *curve) {
  static struct speed_result result;
  const unsigned shift = bench->block->block_shift;
  struct watcher watcher = {.bench = bench, .curve = curve, .grain_bytes = stream->io_bytes};
  const struct speed_job job = {.op = stream->op,
                                .io_bytes = stream->io_bytes,
                                .depth = stream->depth < bench->block->depth ? stream->depth : bench->block->depth,
                                .sleep = bench->target->nvme == NULL,
                                .random = stream->random,
                                .first_lba = stream->at >> shift,
                                .blocks = stream->bytes >> shift,
                                .bytes = stream->seconds > 0       ? 0
                                         : stream->total_bytes > 0 ? stream->total_bytes
                                                                   : stream->bytes,
                                .seconds = stream->seconds,
                                .turn = look,
                                .context = &watcher};

  curve->count = curve->gap_count = 0;
  curve->gaps_lost = false;
  expect(speed_run(bench->block, &job, &bench->region, &result), bench->target->name);
  if (curve->gaps_lost) curve->gap_count = 0;
  curve->bytes = (double)result.bytes;
  curve->seconds = result.seconds;
  curve->ios = (double)result.ios;
  curve->latency_s = result.latency_mean_ns / NS_PER_S;
  bench->moved_bytes += result.bytes;
}

/* ---- single requests ---- */

static bool answered; /* there is one at a time */

static void finished(struct spate_io *io) {
  (void)io;
  answered = true;
}

/* Nanoseconds from before submit() until poll() has found the answer. */
static double once(struct bench *bench, struct spate_io *io, double *submit_ns) {
  answered = false;
  io->done = finished;
  const uint64_t begun = spate_port_ticks();
  expect(spate_block_submit(bench->block, io), bench->target->name);
  spate_block_kick(bench->block);
  const uint64_t told = spate_port_ticks();
  uint64_t ended = told;
  while (!answered) {
    if (spate_block_poll(bench->block, 1) == 0 && bench->target->nvme == NULL) spate_port_relax();
    ended = spate_port_ticks(); /* also lets virtual time pass */
  }
  expect(io->error, bench->target->name);
  *submit_ns = (double)(told - begun) * bench->ns_per_tick;
  return (double)(ended - begun) * bench->ns_per_tick;
}

double bench_single(struct bench *bench, enum spate_op op, uint8_t flags, uint32_t io_bytes, uint64_t range_bytes,
                    unsigned count, double *submit_ns) {
  static double samples[BENCH_SAMPLES], submits[BENCH_SAMPLES];
  const unsigned shift = bench->block->block_shift;
  uint64_t random = 88172645463325252u;

  for (unsigned i = 0; i < count; i++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    const uint32_t bytes = op == SPATE_FLUSH ? PAGE : io_bytes;
    struct spate_io io = {.lba = random % (range_bytes / bytes) * bytes >> shift,
                          .blocks = bytes >> shift,
                          .op = (uint8_t)(op == SPATE_FLUSH ? SPATE_WRITE : op),
                          .flags = flags,
                          .region = &bench->region,
                          .offset_bytes = (uint64_t)i % 256u * PAGE};
    samples[i] = once(bench, &io, &submits[i]);
    if (op != SPATE_FLUSH) continue;
    io = (struct spate_io){.op = SPATE_FLUSH};
    samples[i] = once(bench, &io, &submits[i]);
    interrupt_check();
  }
  *submit_ns = fit_median(submits, count);
  return fit_median(samples, count);
}

/* ---- the rest ---- */

void bench_flush(struct bench *bench) { expect(spate_block_flush(bench->block), bench->target->name); }

static void show_trim(void *context, uint64_t blocks_done) {
  (void)blocks_done;
  struct bench *bench = context;
  progress_show(&bench->progress, bench->moved_bytes, NULL);
  interrupt_check();
}

void bench_trim(struct bench *bench, uint64_t at, uint64_t bytes) {
  const unsigned shift = bench->block->block_shift;

  expect(spate_block_erase(bench->block, SPATE_TRIM, at >> shift, bytes >> shift, (uint32_t)(TRIM_BYTES >> shift),
                           show_trim, bench),
         bench->target->name);
}

void bench_idle(struct bench *bench, double seconds) {
  const double end_s = bench_now_s(bench) + seconds;

  while (bench_now_s(bench) < end_s) {
    (void)spate_block_poll(bench->block, 1);
    spate_port_relax();
    progress_show(&bench->progress, bench->moved_bytes, NULL);
    interrupt_check();
  }
}
