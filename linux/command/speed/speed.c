/* SPDX-License-Identifier: Apache-2.0 */
#include "speed.h"

#include "../device/interrupt.h"

#include <spate/port.h>
#include <string.h>

#define NS_PER_S 1000000000.0

struct runner;

struct request {
  struct spate_io io;
  struct runner *runner;
  uint64_t submitted_ticks;
  struct request *next; /* while it is idle */
};

struct runner {
  struct spate_block *block;
  const struct speed_job *job;
  const struct spate_region *data;
  struct speed_result *result;
  struct request *idle;
  uint64_t next, places; /* requests in the range */
  uint64_t random;
  uint64_t sent_bytes, now_ticks;
  double ns_per_tick, latency_sum_ns;
  uint32_t in_flight;
  enum spate_error error;
};

/* ---- latencies ---- */

/* A bucket for each power of two and the three bits after the leading one. */
static unsigned bucket_of(uint64_t ns) {
  if (ns < 8) return (unsigned)ns;
  const unsigned log2 = 63u - (unsigned)__builtin_clzll(ns);
  return (log2 - 2u) * 8u + (unsigned)(ns >> (log2 - 3u) & 7u);
}

static uint64_t bucket_end_ns(unsigned bucket) {
  if (bucket < 8) return bucket;
  const unsigned log2 = bucket / 8u + 2u;
  return ((UINT64_C(9) + bucket % 8u) << (log2 - 3u)) - 1u;
}

uint64_t speed_percentile_ns(const struct speed_result *result, double share) {
  const double wanted = share * (double)result->ios;
  uint64_t seen = 0;

  for (unsigned i = 0; i < SPEED_BUCKETS; i++) {
    seen += result->latencies[i];
    if (seen > 0 && (double)seen >= wanted)
      return bucket_end_ns(i) < result->latency_max_ns ? bucket_end_ns(i) : result->latency_max_ns;
  }
  return result->latency_max_ns;
}

static void count(struct runner *runner, uint64_t ticks) {
  struct speed_result *result = runner->result;
  const uint64_t ns = (uint64_t)((double)ticks * runner->ns_per_tick);

  if (result->ios == 0 || ns < result->latency_min_ns) result->latency_min_ns = ns;
  if (ns > result->latency_max_ns) result->latency_max_ns = ns;
  result->latencies[bucket_of(ns)]++;
  runner->latency_sum_ns += (double)ns;
  result->ios++;
  result->bytes += runner->job->io_bytes;
}

/* ---- requests ---- */

static void done(struct spate_io *io) {
  struct request *request = io->context;
  struct runner *runner = request->runner;

  if (io->error != SPATE_OK && runner->error == SPATE_OK) runner->error = io->error;
  count(runner, spate_port_ticks() - request->submitted_ticks);
  request->next = runner->idle;
  runner->idle = request;
  runner->in_flight--;
}

/* xorshift64*: the order of requests need not be unpredictable. */
static uint64_t random_place(struct runner *runner) {
  runner->random ^= runner->random >> 12;
  runner->random ^= runner->random << 25;
  runner->random ^= runner->random >> 27;
  return runner->random * UINT64_C(0x2545f4914f6cdd1d) % runner->places;
}

/* False: the device accepts no more now, or no request is idle. */
static bool send_one(struct runner *runner) {
  const struct speed_job *job = runner->job;
  struct request *request = runner->idle;

  if (request == NULL || runner->error != SPATE_OK) return false;
  const uint64_t place = job->random ? random_place(runner) : runner->next % runner->places;
  request->io.lba = job->first_lba + place * request->io.blocks;
  request->submitted_ticks = runner->now_ticks;
  const enum spate_error error = spate_block_submit(runner->block, &request->io);
  if (error == SPATE_E_FULL) return false;
  if (error != SPATE_OK) {
    runner->error = error;
    return false;
  }
  runner->idle = request->next;
  runner->next++;
  runner->in_flight++;
  runner->sent_bytes += job->io_bytes;
  return true;
}

static bool time_is_over(const struct runner *runner, uint64_t started_ticks) {
  const struct speed_job *job = runner->job;
  const double seconds = (double)(runner->now_ticks - started_ticks) * runner->ns_per_tick / NS_PER_S;

  return (job->bytes > 0 && runner->sent_bytes >= job->bytes) || (job->seconds > 0 && seconds >= job->seconds);
}

static void prepare(struct runner *runner, struct request *requests) {
  const struct speed_job *job = runner->job;

  for (uint32_t i = job->depth; i-- > 0;) {
    requests[i] = (struct request){.runner = runner, .next = runner->idle};
    requests[i].io = (struct spate_io){.blocks = job->io_bytes >> runner->block->block_shift,
                                       .op = (uint8_t)job->op,
                                       .flags = job->flags,
                                       .region = runner->data,
                                       .offset_bytes = (uint64_t)i * job->io_bytes,
                                       .done = done,
                                       .context = &requests[i]};
    runner->idle = &requests[i];
  }
}

enum spate_error speed_run(struct spate_block *block, const struct speed_job *job, const struct spate_region *data,
                           struct speed_result *result) {
  static struct request requests[SPEED_DEPTH_MAX];
  struct runner runner = {.block = block,
                          .job = job,
                          .data = data,
                          .result = result,
                          .places = (job->blocks << block->block_shift) / job->io_bytes,
                          .random = UINT64_C(0x9e3779b97f4a7c15),
                          .ns_per_tick = NS_PER_S / (double)spate_port_ticks_per_second()};

  *result = (struct speed_result){.ios = 0};
  prepare(&runner, requests);
  const uint64_t started_ticks = spate_port_ticks();
  runner.now_ticks = started_ticks;
  bool sending = true;
  while (sending || runner.in_flight > 0) {
    while (sending && send_one(&runner))
      sending = !(job->bytes > 0 && runner.sent_bytes >= job->bytes);
    spate_block_kick(block);
    if (spate_block_poll(block, SPEED_DEPTH_MAX) == 0 && job->sleep) spate_port_relax();
    runner.now_ticks = spate_port_ticks();
    interrupt_check();
    if (job->turn != NULL)
      job->turn(job->context, result->bytes,
                (uint64_t)((double)(runner.now_ticks - started_ticks) * runner.ns_per_tick));
    sending = sending && runner.error == SPATE_OK && !time_is_over(&runner, started_ticks);
  }
  result->seconds = (double)(spate_port_ticks() - started_ticks) * runner.ns_per_tick / NS_PER_S;
  result->latency_mean_ns = result->ios == 0 ? 0 : runner.latency_sum_ns / (double)result->ios;
  return runner.error;
}
