/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one command costs the processor, in instructions, at the block interface. Run under an emulator that counts
 * instructions exactly (QEMU -icount): the figures then repeat to the digit.
 *
 * A batch of 32 requests is submitted, the doorbell rung once, and, when all completions lie in the queue, reaped in
 * one poll. Waiting is not counted: how long a drive takes is not the driver's cost. The poll's figure includes the
 * bodies of the callbacks, which are given on their own, too, so that the driver's part can be told.
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
static struct spate_block *device;
static struct spate_io ios[BATCH];
static uint32_t completed;

static void done(struct spate_io *io) {
  (void)io;
  completed++;
}

static void do_nothing(struct spate_io *io) { (void)io; }

/*
 * Each call counted stands in a function of its own, so that nothing of its surroundings gets between the two reads of
 * the counter. What is counted is the call through the interface, with the arguments already in their registers, and
 * all that happens until it is back.
 */
#define COUNTED __attribute__((noinline)) static uint32_t

/* What reading the counter twice costs by itself. */
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

  (void)spate_block_poll(block, BATCH);
  uint32_t after = pmu_instructions();
  return after - before - count_nothing();
}

COUNTED count_call(void (*call)(struct spate_io *io), struct spate_io *io) {
  uint32_t before = pmu_instructions();

  call(io);
  uint32_t after = pmu_instructions();
  return after - before - count_nothing();
}

/* The body of done(), which is this application's and not the driver's: its call costs as much more than the call of a
 * function that only returns, and that one instruction. */
static uint32_t callback_body(void) { return count_call(done, &ios[0]) - count_call(do_nothing, &ios[0]) + 1u; }

static void prepare(enum spate_op op, uint32_t bytes) {
  for (uint32_t i = 0; i < BATCH; i++)
    ios[i] = (struct spate_io){.op = (uint8_t)op,
                               .lba = (uint64_t)i * (bytes >> device->block_shift),
                               .blocks = bytes >> device->block_shift,
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
  *cost = (struct cost){0};
  prepare(op, bytes);
  completed = 0;
  for (uint32_t i = 0; i < BATCH; i++) {
    enum spate_error error = SPATE_OK;
    uint32_t instructions = count_submit(&ios[i], &error);
    must("submitting", error);
    if (instructions > cost->submit) cost->submit = instructions;
  }
  cost->doorbell = count_kick();
  wait_a_while();
  cost->complete = count_poll();
  bool whole = completed == BATCH;
  while (completed < BATCH)
    (void)spate_block_poll(device, BATCH);
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
  uint32_t least = UINT32_MAX;

  for (unsigned run = 0; run < RUNS; run++) {
    uint32_t instructions = count_poll();
    if (instructions < least) least = instructions;
  }
  return least;
}

int app_main(void) {
  static const uint32_t sizes[] = {4096, 128u << 10, 1u << 20};

  pmu_start();
  drive_open(&drive, QUEUE_DEPTH);
  device = &drive.queue.block;
  if (device->command_bytes_max < 1u << 20) {
    print("FAILED: this drive takes commands of %u bytes at most: run it with mdts=8\n", device->command_bytes_max);
    return 1;
  }
  for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    print_cost("write", SPATE_WRITE, sizes[i]);
    print_cost("read", SPATE_READ, sizes[i]);
  }
  print("cost callback %u\n", callback_body());
  print("cost idle poll %u\n", idle_poll());
  must("shutting the drive down", spate_nvme_shutdown(&drive.controller));
  return 0;
}
