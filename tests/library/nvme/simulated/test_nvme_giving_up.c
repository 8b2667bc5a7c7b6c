/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller that is given up no longer writes to memory when its requests end, or when open has failed; or the error
 * says that it may still write.
 */
#include "machine/internal.h"
#include "machine/stack.h"
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../../ports/host/host_port.h"

#define REQUESTS   6u
#define BLOCKS     64u
#define NVME_CSTS  0x1cu
#define LATE_MS    60000u
#define INTERNAL   0x4006u /* a status without DNR */
#define IDENTIFY   0x06
#define ADMIN_KIND 6u

struct run {
  struct sim_stack *stack;
  struct spate_io ios[REQUESTS];
  unsigned ended;
  bool ready_at_end;     /* CSTS.RDY when the first request ended */
  unsigned stores_after; /* the drive's stores to memory since then */
};

static void watch(void *context, const struct sim_access *access) {
  struct run *run = context;

  run->stores_after += access->kind == SIM_ACCESS_STORE;
}

static void watch_from_now(struct run *run) {
  run->ready_at_end = (sim_drive_register_read(run->stack->drives[0].drive, NVME_CSTS) & 1u) != 0;
  sim_trace(run->stack->sim, watch, run);
}

static void done(struct spate_io *io) {
  struct run *run = io->context;

  if (io->error != SPATE_OK && run->ended++ == 0) watch_from_now(run);
}

static struct run *prepared(enum sim_stack_bus bus) {
  struct run *run = calloc(1, sizeof *run);

  assert_non_null(run);
  run->stack = sim_stack_new(&(struct sim_stack_config){.machine = {.seed = 5},
                                                        .depth = 8,
                                                        .command_timeout_ms = 1000,
                                                        .options = {.bytes = UINT64_C(64) << 20},
                                                        .bus = bus});
  return run;
}

static void end(struct run *run) {
  sim_trace(run->stack->sim, NULL, NULL);
  assert_int_equal(sim_take_violations(run->stack->sim, NULL), 0);
  sim_stack_free(run->stack);
  free(run);
}

static void submit_all(struct run *run) {
  const struct spate_region *region = sim_stack_region(run->stack, REQUESTS * BLOCKS * 512u, SIM_LOGIC);

  for (unsigned i = 0; i < REQUESTS; i++) {
    run->ios[i] = (struct spate_io){.op = SPATE_READ,
                                    .lba = (uint64_t)BLOCKS * i,
                                    .blocks = BLOCKS,
                                    .region = region,
                                    .offset_bytes = (uint64_t)BLOCKS * 512u * i,
                                    .done = done,
                                    .context = run};
    assert_int_equal(spate_block_submit(run->stack->block, &run->ios[i]), SPATE_OK);
  }
}

/* One command is lost, which begins a recovery; the others complete much later. */
static void go_wrong(struct run *run) {
  struct sim_drive *drive = run->stack->drives[0].drive;

  sim_drive_fault(drive, (struct sim_fault){.action = SIM_LOSE, .opcode = -1, .count = 1});
  sim_drive_fault(drive, (struct sim_fault){.action = SIM_LATE, .opcode = -1, .count = UINT32_MAX, .value = LATE_MS});
  submit_all(run);
}

static void wait_for_all(struct run *run, uint64_t most_ms) {
  const uint64_t end_ps = sim_now_ps(run->stack->sim) + most_ms * SIM_PS_PER_MS;

  while (run->ended < REQUESTS) {
    assert_true(sim_now_ps(run->stack->sim) < end_ps);
    (void)spate_block_poll(run->stack->block, 8);
    host_relax();
  }
  sim_spend(run->stack->sim, 3 * LATE_MS * SIM_PS_PER_MS);
}

/* CC.EN stops it. After the next enable its Identify commands fail, so that it is given up while it is ready. */
static void test_a_drive_that_stops(void **state) {
  (void)state;
  for (enum sim_stack_bus bus = SIM_STACK_PCIE; bus <= SIM_STACK_ALONE; bus++) {
    struct run *run = prepared(bus);
    assert_int_equal(sim_stack_open(run->stack), SPATE_OK);
    sim_drive_fault(
        run->stack->drives[0].drive,
        (struct sim_fault){
            .action = SIM_STATUS, .admin = true, .opcode = IDENTIFY, .count = UINT32_MAX, .value = INTERNAL});
    go_wrong(run);
    wait_for_all(run, 20000);
    for (unsigned i = 0; i < REQUESTS; i++)
      assert_int_equal(run->ios[i].error, SPATE_E_COMMAND);
    assert_false(run->ready_at_end);
    assert_int_equal(run->stores_after, 0);
    end(run);
  }
}

/* It works on regardless of CC.EN. Without bus mastering it cannot reach memory. */
static void test_a_drive_that_does_not_stop_is_isolated(void **state) {
  (void)state;
  struct run *run = prepared(SIM_STACK_ISOLATES);
  assert_int_equal(sim_stack_open(run->stack), SPATE_OK);
  sim_drive_stick(run->stack->drives[0].drive, false, true, false);
  go_wrong(run);
  wait_for_all(run, 20000);
  for (unsigned i = 0; i < REQUESTS; i++)
    assert_int_equal(run->ios[i].error, SPATE_E_TIMEOUT);
  assert_true(run->ready_at_end);
  assert_int_equal(run->stores_after, 0);
  end(run);
}

/* Where its bus mastering cannot be disabled, the error tells the caller that the drive may still use the memory. */
static void test_a_drive_that_cannot_be_stopped_is_reported(void **state) {
  (void)state;
  struct run *run = prepared(SIM_STACK_ALONE);
  assert_int_equal(sim_stack_open(run->stack), SPATE_OK);
  sim_drive_stick(run->stack->drives[0].drive, false, true, false);
  go_wrong(run);
  wait_for_all(run, 20000);
  for (unsigned i = 0; i < REQUESTS; i++)
    assert_int_equal(run->ios[i].error, SPATE_E_NOT_STOPPED);
  assert_int_not_equal(run->stores_after, 0); /* it does write, as the error says */
  end(run);
}

/* Commands that it completed before it was given up count, however it was stopped. No poll had seen them yet. */
static void test_completions_that_had_arrived_count(void **state) {
  (void)state;
  for (enum sim_stack_bus bus = SIM_STACK_PCIE; bus <= SIM_STACK_ALONE; bus++) {
    for (unsigned stuck = 0; stuck < 2; stuck++) {
      struct run *run = prepared(bus);
      struct sim_drive *drive = run->stack->drives[0].drive;
      assert_int_equal(sim_stack_open(run->stack), SPATE_OK);
      sim_drive_fault(drive, (struct sim_fault){
                                 .action = SIM_LATE, .opcode = -1, .skip = 3, .count = UINT32_MAX, .value = LATE_MS});
      submit_all(run);
      spate_block_kick(run->stack->block);
      sim_spend(run->stack->sim, 200 * SIM_PS_PER_MS);
      sim_drive_break(drive, SIM_RESET_KINDS); /* CSTS.CFS for good */
      sim_drive_stick(drive, false, stuck != 0, false);
      while (run->ended < REQUESTS - 3) {
        assert_in_range(sim_now_ps(run->stack->sim) / SIM_PS_PER_MS, 0, LATE_MS);
        (void)spate_block_poll(run->stack->block, 8);
        host_relax();
      }
      for (unsigned i = 0; i < REQUESTS; i++)
        assert_int_equal(run->ios[i].error == SPATE_OK, i < 3);
      end(run);
    }
  }
}

static enum spate_error refuses(void *context) {
  (void)context;
  return SPATE_E_NO_DEVICE;
}

/* Its registers do not answer, but its link is up and it works on: its memory decoding was turned off. The error is
 * GONE in each case. Where it cannot be isolated, because there is no isolate() or isolate() fails, it still writes to
 * memory, as the header says. */
static void test_a_drive_that_does_not_answer_is_isolated_or_writes_on(void **state) {
  (void)state;
  enum { ISOLATED, NOBODY_ASKED, REFUSED, WAYS };
  for (unsigned way = 0; way < WAYS; way++) {
    struct run *run = prepared(way == ISOLATED ? SIM_STACK_ISOLATES : SIM_STACK_ALONE);
    assert_int_equal(sim_stack_open(run->stack), SPATE_OK);
    if (way == REFUSED) run->stack->drives[0].nvme.config.bus.isolate = refuses;
    go_wrong(run);
    spate_block_kick(run->stack->block);
    sim_spend(run->stack->sim, 10 * SIM_PS_PER_MS);
    spate_port_write32(SIM_ECAM + (UINT64_C(1) << 20) + 4, 0x0004); /* bus 1, device 0: bus mastering alone */
    wait_for_all(run, 20000);
    for (unsigned i = 0; i < REQUESTS; i++)
      assert_int_equal(run->ios[i].error, SPATE_E_GONE);
    assert_int_equal(run->stores_after != 0, way != ISOLATED);
    end(run);
  }
}

/* Each admin command of open fails in turn, or completes after the driver has stopped waiting. */
static void test_an_open_that_fails_leaves_nothing_behind(void **state) {
  (void)state;
  static const struct sim_fault faults[] = {
      {.action = SIM_STATUS, .admin = true, .opcode = -1, .count = UINT32_MAX, .value = INTERNAL},
      {.action = SIM_LATE, .admin = true, .opcode = -1, .count = 1, .value = LATE_MS},
  };
  unsigned failed = 0;

  for (unsigned i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    for (uint32_t skip = 0; skip < ADMIN_KIND; skip++) {
      for (enum sim_stack_bus bus = SIM_STACK_ISOLATES; bus <= SIM_STACK_ALONE; bus++) {
        struct run *run = prepared(bus);
        struct sim_drive *drive = run->stack->drives[0].drive;
        struct sim_fault fault = faults[i];
        fault.skip = skip;
        sim_drive_fault(drive, fault);
        sim_drive_stick(drive, false, bus == SIM_STACK_ISOLATES, false);
        const enum spate_error error = sim_stack_open(run->stack);
        if (run->stack->drives[0].nvme.state == SPATE_NVME_DEAD) {
          failed++;
          assert_int_not_equal(error, SPATE_OK);
          assert_int_not_equal(error, SPATE_E_NOT_STOPPED);
          watch_from_now(run);
          (void)sim_drive_event(drive, 1, 1, 2);
          sim_spend(run->stack->sim, 3 * LATE_MS * SIM_PS_PER_MS);
          assert_int_equal(run->ready_at_end, bus == SIM_STACK_ISOLATES);
          assert_int_equal(run->stores_after, 0);
        }
        end(run);
      }
    }
  }
  assert_true(failed >= 12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_drive_that_stops),
      cmocka_unit_test(test_a_drive_that_does_not_stop_is_isolated),
      cmocka_unit_test(test_a_drive_that_cannot_be_stopped_is_reported),
      cmocka_unit_test(test_completions_that_had_arrived_count),
      cmocka_unit_test(test_a_drive_that_does_not_answer_is_isolated_or_writes_on),
      cmocka_unit_test(test_an_open_that_fails_leaves_nothing_behind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
