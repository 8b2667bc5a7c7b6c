/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one command costs the processor, in instructions, at the block interface.
 *
 * A batch of 32 requests is submitted, then the doorbell is rung once. When all completions are in the queue, one poll
 * reaps them. Waiting is not counted: a drive's latency is not the driver's cost. The figure of the poll includes the
 * bodies of the callbacks. Their cost is also given separately, so that the driver's part is known.
 *
 * The including file must first define pmu_instructions(), which reads the counter.
 */
#ifndef SPATE_FIRMWARE_CALLS_H
#define SPATE_FIRMWARE_CALLS_H

#include <spate/block.h>
#include <spate/port.h>

#define CALLS_BATCH 32u
#define CALLS_RUNS  8u

struct cost {
  uint32_t submit;             /* per request */
  uint32_t doorbell, complete; /* per batch */
};

static struct spate_block *device;
static struct spate_io ios[CALLS_BATCH];
static uint32_t completed;

static void done(struct spate_io *io) {
  (void)io;
  completed++;
}

static void do_nothing(struct spate_io *io) { (void)io; }

/*
 * Each counted call is in a function of its own, so that no surrounding code comes between the two reads of the
 * counter. The count covers the call through the interface, with its arguments already in registers, until it returns.
 */
#define COUNTED __attribute__((noinline)) static uint32_t

/* The cost of reading the counter twice. */
COUNTED count_nothing(void) {
  uint32_t before = pmu_instructions();

  return pmu_instructions() - before;
}

COUNTED count_submit(struct spate_io *io, enum spate_error *error) {
  struct spate_block *block = device;
  uint32_t before = pmu_instructions();

  enum spate_error answer = spate_block_submit(block, io);
  uint32_t after = pmu_instructions();
  *error = answer;
  return after - before - count_nothing();
}

COUNTED count_kick(void) {
  struct spate_block *block = device;
  uint32_t before = pmu_instructions();

  spate_block_kick(block);
  uint32_t after = pmu_instructions();
  return after - before - count_nothing();
}

COUNTED count_poll(void) {
  struct spate_block *block = device;
  uint32_t before = pmu_instructions();

  (void)spate_block_poll(block, CALLS_BATCH);
  uint32_t after = pmu_instructions();
  return after - before - count_nothing();
}

COUNTED count_call(void (*call)(struct spate_io *io), struct spate_io *io) {
  uint32_t before = pmu_instructions();

  call(io);
  uint32_t after = pmu_instructions();
  return after - before - count_nothing();
}

/* The cost of done()'s body, which belongs to this program and not to the driver: how much more a call of it costs than
 * a call of a function that only returns, plus that one instruction. */
static uint32_t calls_callback_body(void) { return count_call(done, &ios[0]) - count_call(do_nothing, &ios[0]) + 1u; }

static void prepare(const struct spate_region *data, enum spate_op op, uint32_t bytes) {
  for (uint32_t i = 0; i < CALLS_BATCH; i++)
    ios[i] = (struct spate_io){.op = (uint8_t)op,
                               .lba = (uint64_t)i * (bytes >> device->block_shift),
                               .blocks = bytes >> device->block_shift,
                               .region = data,
                               .offset_bytes = (uint64_t)i * bytes,
                               .done = done};
}

/* Gives the drive time to complete the whole batch, without accessing it. */
static void wait_a_while(void) {
  uint64_t until_ticks = spate_port_ticks() + spate_port_ticks_per_second() / 256u;

  while (spate_port_ticks() < until_ticks)
    spate_port_relax();
}

/* *whole is false if the batch did not complete in one poll: the sample is not valid. */
static enum spate_error measure(const struct spate_region *data, enum spate_op op, uint32_t bytes, struct cost *cost,
                                bool *whole) {
  enum spate_error error = SPATE_OK;

  *cost = (struct cost){0};
  prepare(data, op, bytes);
  completed = 0;
  for (uint32_t i = 0; i < CALLS_BATCH; i++) {
    uint32_t instructions = count_submit(&ios[i], &error);
    if (error != SPATE_OK) return error;
    if (instructions > cost->submit) cost->submit = instructions;
  }
  cost->doorbell = count_kick();
  wait_a_while();
  cost->complete = count_poll();
  *whole = completed == CALLS_BATCH;
  while (completed < CALLS_BATCH)
    (void)spate_block_poll(device, CALLS_BATCH);
  for (uint32_t i = 0; i < CALLS_BATCH && error == SPATE_OK; i++)
    error = ios[i].error;
  return error;
}

/* The lowest cost of several batches on `data`, which is at least 32 × bytes large. No first run is needed to warm
 * anything up, but the periodic scan of deadlines may fall into any run. TIMEOUT: no batch completed in one poll. */
static enum spate_error calls_cost(const struct spate_region *data, enum spate_op op, uint32_t bytes,
                                   struct cost *best) {
  struct cost cost;

  *best = (struct cost){.submit = UINT32_MAX};
  for (unsigned run = 0; run < CALLS_RUNS; run++) {
    bool whole = false;
    const enum spate_error error = measure(data, op, bytes, &cost, &whole);
    if (error != SPATE_OK) return error;
    if (whole && (best->submit == UINT32_MAX || cost.submit + cost.complete < best->submit + best->complete))
      *best = cost;
  }
  return best->submit == UINT32_MAX ? SPATE_E_TIMEOUT : SPATE_OK;
}

/* The lowest of several polls: now and then, a poll also checks the controller's health, which is not the cost of
 * idling. */
static uint32_t calls_idle_poll(void) {
  uint32_t least = UINT32_MAX;

  for (unsigned run = 0; run < CALLS_RUNS; run++) {
    uint32_t instructions = count_poll();
    if (instructions < least) least = instructions;
  }
  return least;
}

#endif
