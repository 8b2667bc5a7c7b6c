/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one command costs the processor, in instructions, at the block interface. Run under an emulator that counts
 * instructions exactly (QEMU -icount): the figures then repeat to the digit.
 *
 * A batch of 32 requests is submitted, the doorbell rung once, and, when all completions lie in the queue, reaped in
 * one poll. Waiting is not counted: how long a drive takes is not the driver's cost.
 */
#include "../common/drive.h"
#include "pmu.h"
#include <print.h>
#include <spate/port.h>

#define BATCH       32u
#define QUEUE_DEPTH 64u
#define RUNS        8u

struct cost {
  uint32_t submit;             /* per request */
  uint32_t doorbell, complete; /* per batch */
};

static struct drive drive;
static struct spate_io ios[BATCH];
static uint32_t completed;

static void done(struct spate_io *io) {
  (void)io;
  completed++;
}

/* What reading the counter twice costs by itself. */
static uint32_t overhead(void) {
  uint32_t before = pmu_instructions();

  return pmu_instructions() - before;
}

static void prepare(enum spate_op op, uint32_t bytes) {
  struct spate_block *block = &drive.queue.block;

  for (uint32_t i = 0; i < BATCH; i++)
    ios[i] = (struct spate_io){.op = (uint8_t)op,
                               .lba = (uint64_t)i * (bytes >> block->block_shift),
                               .blocks = bytes >> block->block_shift,
                               .region = &drive.ring,
                               .offset_bytes = (uint64_t)i * bytes,
                               .done = done};
}

/* Give the drive time to complete the whole batch without touching it. */
static void wait_a_while(void) {
  uint64_t until_ticks = spate_port_ticks() + spate_port_ticks_per_second() / 256u;

  while (spate_port_ticks() < until_ticks)
    spate_port_relax();
}

/* False when the batch did not come back in one poll: the sample says nothing. */
static bool measure(enum spate_op op, uint32_t bytes, struct cost *cost) {
  struct spate_block *block = &drive.queue.block;
  uint32_t nothing = overhead();
  uint32_t submit_max = 0;

  prepare(op, bytes);
  completed = 0;
  for (uint32_t i = 0; i < BATCH; i++) {
    uint32_t before = pmu_instructions();
    enum spate_error error = spate_block_submit(block, &ios[i]);
    uint32_t instructions = pmu_instructions() - before - nothing;
    must("submitting", error);
    if (instructions > submit_max) submit_max = instructions;
  }
  uint32_t before = pmu_instructions();
  spate_block_kick(block);
  cost->doorbell = pmu_instructions() - before - nothing;
  wait_a_while();
  before = pmu_instructions();
  spate_block_poll(block, BATCH);
  cost->complete = pmu_instructions() - before - nothing;
  cost->submit = submit_max;
  bool whole = completed == BATCH;
  while (completed < BATCH)
    spate_block_poll(block, BATCH);
  for (uint32_t i = 0; i < BATCH; i++)
    must("a request", ios[i].error);
  return whole;
}

static void print_cost(const char *name, enum spate_op op, uint32_t bytes) {
  struct cost best = {.submit = UINT32_MAX};
  struct cost cost;

  /* The first run warms nothing that counts, but the periodic deadline scan may fall into any of them. */
  for (unsigned run = 0; run < RUNS; run++) {
    if (!measure(op, bytes, &cost)) continue;
    if (best.submit == UINT32_MAX || cost.submit + cost.complete < best.submit + best.complete) best = cost;
  }
  if (best.submit == UINT32_MAX) {
    print("FAILED: no batch of %s came back in one poll\n", name);
    board_exit(1);
  }
  print("cost %s %u submit %u doorbell %u complete %u batch %u\n", name, bytes, best.submit, best.doorbell,
        best.complete, BATCH);
}

/* The least of several: now and then one looks after the controller's health, which is not what idling costs. */
static uint32_t idle_poll(void) {
  uint32_t nothing = overhead();
  uint32_t least = UINT32_MAX;

  for (unsigned run = 0; run < RUNS; run++) {
    uint32_t before = pmu_instructions();
    spate_block_poll(&drive.queue.block, BATCH);
    uint32_t instructions = pmu_instructions() - before - nothing;
    if (instructions < least) least = instructions;
  }
  return least;
}

int app_main(void) {
  static const uint32_t sizes[] = {4096, 128u << 10, 1u << 20};

  pmu_start();
  drive_open(&drive, QUEUE_DEPTH);
  if (drive.queue.block.command_bytes_max < 1u << 20) {
    print("FAILED: this drive takes commands of %u bytes at most: run it with mdts=8\n",
          drive.queue.block.command_bytes_max);
    return 1;
  }
  for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    print_cost("write", SPATE_WRITE, sizes[i]);
    print_cost("read", SPATE_READ, sizes[i]);
  }
  print("cost idle 0 poll %u\n", idle_poll());
  must("shutting the drive down", spate_nvme_shutdown(&drive.controller));
  return 0;
}
