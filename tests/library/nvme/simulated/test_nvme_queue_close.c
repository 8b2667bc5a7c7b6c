/* SPDX-License-Identifier: Apache-2.0 */
/* Closing queues: memory is reused, requests in flight keep a queue open, and the drive deletes a closed queue. */
#include "machine/stack.h"
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../../ports/host/host_port.h"

#define BLOCKS 8u

static const struct sim_stack_config config = {
    .machine = {.seed = 3}, .depth = 8, .options = {.bytes = UINT64_C(64) << 20, .queue_pairs = 2}};

static struct sim_stack *opened(const struct sim_stack_config *how) {
  struct sim_stack *stack = sim_stack_new(how);

  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  return stack;
}

static void end(struct sim_stack *stack) {
  const char *why = NULL;

  assert_int_equal(sim_stack_close(stack), SPATE_OK);
  if (sim_take_violations(stack->sim, &why) != 0) fail_msg("%s", why);
  sim_stack_free(stack);
}

static void count(struct spate_io *io) {
  unsigned *ended = io->context;

  (*ended)++;
}

static enum spate_error write_one(struct spate_block *block, const struct spate_region *region) {
  unsigned ended = 0;
  struct spate_io io = {.op = SPATE_WRITE, .blocks = BLOCKS, .region = region, .done = count, .context = &ended};
  const enum spate_error error = spate_block_submit(block, &io);

  if (error != SPATE_OK) return error;
  while (ended == 0) {
    (void)spate_block_poll(block, 8);
    host_relax();
  }
  return io.error;
}

static void a_thousand_times_takes_no_more_memory(void **state) {
  (void)state;
  struct sim_stack *stack = opened(&config);
  struct sim_stack_drive *drive = &stack->drives[0];
  const struct spate_region *region = sim_stack_region(stack, BLOCKS * 512u, SIM_LOGIC);
  const size_t used_bytes = drive->queue_memory.used_bytes;

  for (unsigned i = 0; i < 1000; i++) {
    assert_int_equal(spate_nvme_queue_close(&drive->nvme, &drive->queue), SPATE_OK);
    assert_int_equal(spate_block_submit(&drive->queue.block, &(struct spate_io){.op = SPATE_FLUSH}), SPATE_E_INVALID);
    memset(&drive->queue, 0xa7, sizeof drive->queue);
    assert_int_equal(sim_stack_queue_open(drive, i % 2 == 0 ? 3 : 8), SPATE_OK);
    assert_int_equal(write_one(&drive->queue.block, region), SPATE_OK);
  }
  assert_int_equal(drive->queue_memory.used_bytes, used_bytes);
  end(stack);
}

static void with_requests_in_flight_nothing_changes(void **state) {
  (void)state;
  struct sim_stack *stack = opened(&config);
  struct sim_stack_drive *drive = &stack->drives[0];
  const struct spate_region *region = sim_stack_region(stack, BLOCKS * 512u, SIM_LOGIC);
  unsigned ended = 0;
  struct spate_io io = {.op = SPATE_WRITE, .blocks = BLOCKS, .region = region, .done = count, .context = &ended};

  assert_int_equal(spate_block_submit(&drive->queue.block, &io), SPATE_OK);
  spate_block_kick(&drive->queue.block);
  assert_int_equal(spate_nvme_queue_close(&drive->nvme, &drive->queue), SPATE_E_BUSY);
  assert_int_equal(sim_drive_counters(drive->drive)->admin[0], 0);
  assert_int_equal(spate_block_claim(&drive->queue.block, stack, 0, 1), SPATE_OK);
  while (ended == 0) {
    (void)spate_block_poll(&drive->queue.block, 8);
    host_relax();
  }
  assert_int_equal(io.error, SPATE_OK);
  assert_int_equal(spate_nvme_queue_close(&drive->nvme, &drive->queue), SPATE_E_OPEN);
  spate_block_release(&drive->queue.block, stack);
  assert_int_equal(write_one(&drive->queue.block, region), SPATE_OK);
  assert_int_equal(spate_nvme_queue_close(&drive->nvme, &drive->queue), SPATE_OK);
  assert_int_equal(spate_nvme_queue_close(&drive->nvme, &drive->queue), SPATE_E_INVALID);
  end(stack);
}

/* A queue that the drive refuses to delete stays open. */
static void a_drive_may_refuse(void **state) {
  (void)state;
  struct sim_stack *stack = opened(&config);
  struct sim_stack_drive *drive = &stack->drives[0];
  const struct spate_region *region = sim_stack_region(stack, BLOCKS * 512u, SIM_LOGIC);

  sim_drive_fault(drive->drive, (struct sim_fault){SIM_STATUS, true, 0x00, 0, 0, 0, 1, 0x4006});
  assert_int_equal(spate_nvme_queue_close(&drive->nvme, &drive->queue), SPATE_E_COMMAND);
  assert_int_equal(write_one(&drive->queue.block, region), SPATE_OK);
  end(stack);
}

/* The reset deletes the queue; bring-up does not create it again. */
static void a_reset_during_close_closes_it_too(void **state) {
  (void)state;
  for (uint8_t opcode = 0x00; opcode <= 0x04; opcode += 4) {
    struct sim_stack *stack = opened(&config);
    struct sim_stack_drive *drive = &stack->drives[0];
    const struct spate_region *region = sim_stack_region(stack, BLOCKS * 512u, SIM_LOGIC);

    sim_drive_fault(drive->drive, (struct sim_fault){SIM_LOSE, true, opcode, 0, 0, 0, 1, 0});
    assert_int_equal(spate_nvme_queue_close(&drive->nvme, &drive->queue), SPATE_OK);
    assert_int_equal(spate_nvme_counters(&drive->nvme)->resets, 1);
    assert_int_equal(sim_stack_queue_open(drive, 8), SPATE_OK);
    assert_int_equal(drive->queue.id, 1);
    assert_int_equal(sim_drive_counters(drive->drive)->admin[0x05], 2);
    assert_int_equal(write_one(&drive->queue.block, region), SPATE_OK);
    end(stack);
  }
}

/* When the drive refuses the second of the two queues, the first is deleted again, so that a thousand attempts lose
 * nothing. */
static void a_refused_queue_loses_nothing(void **state) {
  (void)state;
  struct sim_stack *stack = opened(&config);
  struct sim_stack_drive *drive = &stack->drives[0];
  const size_t used_bytes = drive->queue_memory.used_bytes;

  assert_int_equal(spate_nvme_queue_close(&drive->nvme, &drive->queue), SPATE_OK);
  drive->nvme.counters.resets = 0x10000; /* in a long life */
  sim_drive_fault(drive->drive, (struct sim_fault){SIM_STATUS, true, 0x01, 0, 0, 0, 1000, 0x4006});
  for (unsigned i = 0; i < 1000; i++)
    assert_int_equal(sim_stack_queue_open(drive, 8), SPATE_E_COMMAND);
  assert_int_equal(spate_nvme_last_status(&drive->nvme), 0x4006);
  assert_int_equal(sim_stack_queue_open(drive, 8), SPATE_OK);
  assert_int_equal(drive->queue.id, 1);
  assert_int_equal(drive->queue_memory.used_bytes, used_bytes);
  end(stack);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thousand_times_takes_no_more_memory),
      cmocka_unit_test(with_requests_in_flight_nothing_changes),
      cmocka_unit_test(a_drive_may_refuse),
      cmocka_unit_test(a_reset_during_close_closes_it_too),
      cmocka_unit_test(a_refused_queue_loses_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
