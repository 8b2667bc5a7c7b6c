/* SPDX-License-Identifier: Apache-2.0 */
#include "load.h"

#include "../device/interrupt.h"
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

/* ---- the load ---- */

/* Fills the ring with data that no drive can compress. A virtual drive marks its pages. */
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

void load_open(struct load *load, struct target *target) {
  *load = (struct load){.target = target,
                        .block = target->block,
                        .ring = memory_take_ring(target->memory, RING_BYTES),
                        .table = memory_take(target->memory, (size_t)SPATE_REGION_TABLE_BYTES(RING_BYTES)),
                        .bytes = target->block->blocks << target->block->block_shift,
                        .ns_per_tick = NS_PER_S / (double)spate_port_ticks_per_second()};
  fill(target, load->ring);
  memory_region(target->memory, &load->region, load->ring, RING_BYTES, load->table);
}

void load_close(struct load *load) {
  memory_give(load->target->memory, load->table);
  memory_give(load->target->memory, load->ring);
}

void load_begin(struct load *load, const char *what, uint64_t total_bytes) {
  load->moved_bytes = 0;
  progress_begin(&load->progress, what, total_bytes);
}

void load_end(struct load *load) { progress_end(&load->progress); }

double load_now_s(const struct load *load) { return (double)spate_port_ticks() * load->ns_per_tick / NS_PER_S; }

bool load_celsius(struct load *load, double *celsius) {
  struct temperature temperature;

  if (!temperature_read(load->target, &temperature)) return false;
  *celsius = temperature.celsius;
  return true;
}

/* ---- streams ---- */

struct watcher {
  struct load *load;
  struct load_curve *curve;
  uint64_t seen_bytes, seen_ns, grain_bytes, grain_ns;
};

/* Adds a point for each grain of bytes. If the curve is full, every second point is removed and the grain doubled. */
static void add_point(struct watcher *watcher, uint64_t bytes, uint64_t ns) {
  struct load_curve *curve = watcher->curve;

  if (curve->count == LOAD_CURVE_POINTS) {
    for (size_t i = 0; i < LOAD_CURVE_POINTS / 2u; i++)
      curve->points[i] = curve->points[2u * i];
    curve->count = LOAD_CURVE_POINTS / 2u;
    watcher->grain_bytes *= 2u;
  }
  curve->points[curve->count++] = (struct fit_point){.bytes = (double)bytes, .seconds = (double)ns / NS_PER_S};
}

static void look(void *context, uint64_t bytes, uint64_t elapsed_ns) {
  struct watcher *watcher = context;
  struct load_curve *curve = watcher->curve;

  if (bytes == watcher->seen_bytes) return;
  const double gap_s = (double)(elapsed_ns - watcher->seen_ns) / NS_PER_S;
  if (gap_s >= GAP_S && watcher->seen_bytes > 0) {
    curve->gaps_lost = curve->gaps_lost || curve->gap_count == LOAD_GAPS;
    if (!curve->gaps_lost)
      curve->gaps[curve->gap_count++] = (struct fit_gap){.at_bytes = (double)watcher->seen_bytes, .seconds = gap_s};
  }
  watcher->seen_bytes = bytes;
  watcher->seen_ns = elapsed_ns;
  if (curve->count == 0 || (double)bytes >= curve->points[curve->count - 1u].bytes + (double)watcher->grain_bytes)
    add_point(watcher, bytes, elapsed_ns);
  progress_show(&watcher->load->progress, watcher->load->moved_bytes + bytes, NULL);
}

void load_run(struct load *load, const struct load_stream *stream, struct load_curve *curve) {
  static struct speed_result result;
  const unsigned shift = load->block->block_shift;
  struct watcher watcher = {.load = load, .curve = curve, .grain_bytes = stream->io_bytes};
  const struct speed_job job = {.op = stream->op,
                                .io_bytes = stream->io_bytes,
                                .depth = stream->depth < load->block->depth ? stream->depth : load->block->depth,
                                .sleep = load->target->nvme == NULL,
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
  expect(speed_run(load->block, &job, &load->region, &result), load->target->name);
  if (curve->gaps_lost) curve->gap_count = 0;
  curve->bytes = (double)result.bytes;
  curve->seconds = result.seconds;
  curve->ios = (double)result.ios;
  curve->latency_s = result.latency_mean_ns / NS_PER_S;
  load->moved_bytes += result.bytes;
}

/* ---- single requests ---- */

static bool answered; /* one request is in flight at a time */

static void finished(struct spate_io *io) {
  (void)io;
  answered = true;
}

/* Nanoseconds from before submit() until poll() has found the completion. */
static double once(struct load *load, struct spate_io *io, double *submit_ns) {
  answered = false;
  io->done = finished;
  const uint64_t begun = spate_port_ticks();
  expect(spate_block_submit(load->block, io), load->target->name);
  spate_block_kick(load->block);
  const uint64_t submitted = spate_port_ticks();
  uint64_t ended = submitted;
  while (!answered) {
    if (spate_block_poll(load->block, 1) == 0 && load->target->nvme == NULL) spate_port_relax();
    ended = spate_port_ticks(); /* this call also advances virtual time */
  }
  expect(io->error, load->target->name);
  *submit_ns = (double)(submitted - begun) * load->ns_per_tick;
  return (double)(ended - begun) * load->ns_per_tick;
}

double load_single(struct load *load, enum spate_op op, uint8_t flags, uint32_t io_bytes, uint64_t range_bytes,
                   unsigned count, double *submit_ns) {
  static double samples[LOAD_SAMPLES], submits[LOAD_SAMPLES];
  const unsigned shift = load->block->block_shift;
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
                          .region = &load->region,
                          .offset_bytes = (uint64_t)i % 256u * PAGE};
    samples[i] = once(load, &io, &submits[i]);
    if (op != SPATE_FLUSH) continue;
    io = (struct spate_io){.op = SPATE_FLUSH};
    samples[i] = once(load, &io, &submits[i]);
    interrupt_check();
  }
  *submit_ns = fit_median(submits, count);
  return fit_median(samples, count);
}

/* ---- flush, trim, idle ---- */

void load_flush(struct load *load) { expect(spate_block_flush(load->block), load->target->name); }

static void show_trim(void *context, uint64_t blocks_done) {
  (void)blocks_done;
  struct load *load = context;
  progress_show(&load->progress, load->moved_bytes, NULL);
  interrupt_check();
}

void load_trim(struct load *load, uint64_t at, uint64_t bytes) {
  const unsigned shift = load->block->block_shift;

  expect(spate_block_erase(load->block, SPATE_TRIM, at >> shift, bytes >> shift, (uint32_t)(TRIM_BYTES >> shift),
                           show_trim, load),
         load->target->name);
}

void load_idle(struct load *load, double seconds) {
  const double end_s = load_now_s(load) + seconds;

  while (load_now_s(load) < end_s) {
    (void)spate_block_poll(load->block, 1);
    spate_port_relax();
    progress_show(&load->progress, load->moved_bytes, NULL);
    interrupt_check();
  }
}
