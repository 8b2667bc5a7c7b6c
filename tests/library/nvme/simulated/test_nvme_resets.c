/* SPDX-License-Identifier: Apache-2.0 */
/* Resets beyond CC.EN: a drive that only one kind of reset repairs, while it writes and while it is opened. */
#include "machine/stack.h"
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../../ports/host/host_port.h"

#define CAP_SUBSYSTEM (UINT64_C(1) << 36)
#define REQUESTS      24u
#define BLOCKS        64u

/* The board's part: PERST# is low for 2 ms, one step per call. */
struct slot {
  struct sim_drive *drive;
  uint64_t since_ticks;
  struct sim *bounces; /* if set, the link bounces once, after_us after PERST# is released */
  uint64_t after_us;
};

static void bounce(void *context, uint64_t number) {
  (void)number;
  sim_drive_link_drop(context, 10);
}

static enum spate_error perst(void *context) {
  struct slot *slot = context;

  if (slot->since_ticks == 0) {
    slot->since_ticks = host_ticks();
    sim_drive_perst(slot->drive, true);
  }
  if (host_ticks() - slot->since_ticks < host_ticks_per_second() / 500) return SPATE_E_BUSY;
  slot->since_ticks = 0;
  sim_drive_perst(slot->drive, false);
  if (slot->bounces != NULL)
    sim_at(slot->bounces, sim_now_ps(slot->bounces) + slot->after_us * SIM_PS_PER_US, bounce, slot->drive, 0);
  return SPATE_OK;
}

static struct sim_stack *prepared(struct slot *slot, bool subsystem, bool has_perst) {
  struct sim_stack *stack = sim_stack_new(
      &(struct sim_stack_config){.machine = {.seed = 11}, .depth = 8, .options = {.bytes = UINT64_C(64) << 20}});
  slot->drive = stack->drives[0].drive;
  if (has_perst) {
    stack->drives[0].pcie_bus.perst = perst;
    stack->drives[0].pcie_bus.perst_context = slot;
  }
  if (subsystem) *sim_drive_cap(slot->drive) |= CAP_SUBSYSTEM;
  return stack;
}

static void count(struct spate_io *io) {
  unsigned *ended = io->context;

  (*ended)++;
}

/* Write; the drive breaks in the middle. Returns the error of the requests that failed. */
static enum spate_error write_while_it_breaks(struct sim_stack *stack, enum sim_reset_kind cure) {
  const struct spate_region *region = sim_stack_region(stack, REQUESTS * BLOCKS * 512u, SIM_LOGIC);
  struct spate_io ios[REQUESTS];
  unsigned submitted = 0, ended = 0;
  enum spate_error error = SPATE_OK;

  while (ended < REQUESTS) {
    for (; submitted < REQUESTS; submitted++) {
      if (submitted == REQUESTS / 2 && !ended) break;
      ios[submitted] = (struct spate_io){.op = SPATE_WRITE,
                                         .lba = (uint64_t)submitted * BLOCKS,
                                         .blocks = BLOCKS,
                                         .region = region,
                                         .done = count,
                                         .context = &ended};
      ios[submitted].error = spate_block_submit(stack->block, &ios[submitted]);
      if (ios[submitted].error == SPATE_E_FULL) break;
      if (ios[submitted].error != SPATE_OK) ended++;
      if (submitted == REQUESTS / 2) sim_drive_break(stack->drives[0].drive, cure);
    }
    (void)spate_block_poll(stack->block, 8);
    host_relax();
  }
  for (unsigned i = 0; i < REQUESTS; i++)
    if (ios[i].error != SPATE_OK) error = ios[i].error;
  return error;
}

/* The weaker resets are tried first, each once; stronger ones are not tried. */
static void expect_up_to(const struct sim_stack *stack, enum sim_reset_kind last, bool subsystem) {
  const struct sim_drive_counters *counters = sim_drive_counters(stack->drives[0].drive);
  uint32_t resets = 0;

  for (unsigned kind = 0; kind < SIM_RESET_KINDS; kind++) {
    const uint32_t expected = kind <= last && (subsystem || kind != SIM_RESET_SUBSYSTEM);
    assert_int_equal(counters->hard_resets[kind], expected);
    resets += expected;
  }
  assert_int_equal(spate_nvme_counters(&stack->drives[0].nvme)->hard_resets, resets);
}

static void test_each_is_tried_until_one_helps(void **state) {
  (void)state;
  for (unsigned cure = 0; cure < SIM_RESET_KINDS; cure++) {
    for (unsigned subsystem = cure != SIM_RESET_SUBSYSTEM ? 0 : 1; subsystem < 2; subsystem++) {
      struct slot slot = {0};
      struct sim_stack *stack = prepared(&slot, subsystem, true);
      assert_int_equal(sim_stack_open(stack), SPATE_OK);
      assert_int_equal(write_while_it_breaks(stack, cure), SPATE_OK);
      expect_up_to(stack, cure, subsystem);
      assert_int_equal(spate_nvme_counters(&stack->drives[0].nvme)->reattachments, 0); /* the link did not drop */
      assert_int_equal(sim_stack_close(stack), SPATE_OK);
      assert_int_equal(sim_take_violations(stack->sim, NULL), 0);
      sim_stack_free(stack);
    }
  }
}

static void test_opening_tries_them_too(void **state) {
  (void)state;
  for (unsigned cure = 0; cure < SIM_RESET_KINDS; cure++) {
    struct slot slot = {0};
    struct sim_stack *stack = prepared(&slot, true, true);
    sim_drive_break(slot.drive, cure);
    assert_int_equal(sim_stack_open(stack), SPATE_OK);
    expect_up_to(stack, cure, true);
    assert_int_equal(sim_stack_close(stack), SPATE_OK);
    assert_int_equal(sim_take_violations(stack->sim, NULL), 0);
    sim_stack_free(stack);
  }
}

/* The link drops once more, this long after PERST# was released. */
static void open_with_a_bounce_after(uint64_t us) {
  struct slot slot = {0};
  struct sim_stack *stack = prepared(&slot, false, true);
  const struct spate_nvme *nvme = &stack->drives[0].nvme;

  slot.bounces = stack->sim;
  slot.after_us = us;
  sim_drive_break(slot.drive, SIM_RESET_SLOT);
  const enum spate_error error = sim_stack_open(stack);
  /* After the controller was opened, a call that the drop interrupts ends with GONE, and the next one waits for the
   * drive. */
  if (error != SPATE_OK && (nvme->opening || nvme->state == SPATE_NVME_DEAD))
    fail_msg("a link that bounces after %u us: %s", (unsigned)us, spate_error_name(error));
  sim_stack_free(stack);
}

/* The drop is no reason to give up, at any step until the drive is ready. The drive is restored some 170 ms after
 * PERST#. */
static void test_a_link_that_bounces_after_the_reset(void **state) {
  (void)state;
  for (uint64_t us = 5000; us < 400000; us += 10000)
    open_with_a_bounce_after(us);
  for (uint64_t us = 160000; us < 190000; us += 200)
    open_with_a_bounce_after(us);
}

/* The board cannot drive PERST#. Nothing helps, and the error is the first failure. */
static void test_a_drive_that_no_reset_repairs_is_given_up(void **state) {
  (void)state;
  struct slot slot = {0};
  struct sim_stack *stack = prepared(&slot, true, false);
  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  assert_int_equal(write_while_it_breaks(stack, SIM_RESET_SLOT), SPATE_E_FATAL);
  expect_up_to(stack, SIM_RESET_BUS, true);
  assert_int_equal(stack->drives[0].nvme.state, SPATE_NVME_DEAD);
  assert_int_equal(sim_take_violations(stack->sim, NULL), 0);
  sim_stack_free(stack);
}

/* Once the drive runs again, all resets are available for the next failure. */
static void test_the_next_failure_starts_with_the_first_reset(void **state) {
  (void)state;
  struct slot slot = {0};
  struct sim_stack *stack = prepared(&slot, true, true);
  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  stack->drives[0].nvme.config.reattach_timeout_ms = 300; /* for each reset, not for all of them together */
  for (uint32_t turn = 1; turn <= 3; turn++) {
    assert_int_equal(write_while_it_breaks(stack, SIM_RESET_FUNCTION), SPATE_OK);
    assert_int_equal(sim_drive_counters(slot.drive)->hard_resets[SIM_RESET_SUBSYSTEM], turn);
    assert_int_equal(sim_drive_counters(slot.drive)->hard_resets[SIM_RESET_FUNCTION], turn);
  }
  assert_int_equal(sim_stack_close(stack), SPATE_OK);
  sim_stack_free(stack);
}

/* A function-level reset takes this drive off the bus: only a bus reset, or a stronger one, brings it back. */
struct lost_drive {
  struct spate_nvme_bus bus;
  enum spate_error answer; /* to each question during that time */
  bool lost;
};

static enum spate_error lose(void *context, enum spate_nvme_reset how) {
  struct lost_drive *drive = context;
  const enum spate_error error = drive->bus.reset(drive->bus.context, how);

  if (error == SPATE_OK) drive->lost = how == SPATE_NVME_RESET_FUNCTION;
  return error;
}

static enum spate_error find(void *context) {
  struct lost_drive *drive = context;

  return drive->lost ? drive->answer : drive->bus.restore(drive->bus.context);
}

static bool sees_link(void *context) {
  struct lost_drive *drive = context;

  return !drive->lost && drive->bus.link_is_up(drive->bus.context);
}

static void test_a_drive_that_a_reset_took_away_gets_the_next_one(void **state) {
  (void)state;
  static const enum spate_error answers[] = {SPATE_E_BUSY, SPATE_E_NO_DEVICE, SPATE_OK};
  for (unsigned i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    struct slot slot = {0};
    struct sim_stack *stack = prepared(&slot, false, false);
    struct spate_nvme_config *config = &stack->drives[0].nvme.config;
    assert_int_equal(sim_stack_open(stack), SPATE_OK);
    struct lost_drive drive = {.bus = config->bus, .answer = answers[i]};
    config->bus = (struct spate_nvme_bus){.link_is_up = sees_link, .restore = find, .reset = lose, .context = &drive};
    config->reattach_timeout_ms = 500;
    assert_int_equal(write_while_it_breaks(stack, SIM_RESET_BUS), SPATE_OK);
    expect_up_to(stack, SIM_RESET_BUS, false);
    assert_int_equal(sim_stack_close(stack), SPATE_OK);
    assert_int_equal(sim_take_violations(stack->sim, NULL), 0);
    sim_stack_free(stack);
  }
}

/* Only the reset itself restores, and the function-level reset does not. */
static enum spate_error reset_and_restore(void *context, enum spate_nvme_reset how) {
  struct lost_drive *drive = context;

  if (!drive->lost) {
    const enum spate_error error = drive->bus.reset(drive->bus.context, how);
    if (error != SPATE_OK || how == SPATE_NVME_RESET_FUNCTION) return error;
    drive->lost = true;
  }
  const enum spate_error error = drive->bus.restore(drive->bus.context);
  drive->lost = error == SPATE_E_BUSY;
  return error;
}

static void test_a_drive_that_stays_silent_after_a_reset_gets_the_next_one(void **state) {
  (void)state;
  struct slot slot = {0};
  struct sim_stack *stack = prepared(&slot, false, false);
  struct spate_nvme_config *config = &stack->drives[0].nvme.config;
  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  struct lost_drive drive = {.bus = config->bus};
  config->bus = (struct spate_nvme_bus){.reset = reset_and_restore, .context = &drive};
  assert_int_equal(write_while_it_breaks(stack, SIM_RESET_BUS), SPATE_OK);
  expect_up_to(stack, SIM_RESET_BUS, false);
  sim_stack_free(stack);
}

static enum spate_error never_ends(void *context, enum spate_nvme_reset how) {
  unsigned *kinds = context;

  *kinds |= 1u << how;
  return SPATE_E_BUSY;
}

static void test_a_reset_that_never_ends_is_left_after_two_seconds(void **state) {
  (void)state;
  struct slot slot = {0};
  struct sim_stack *stack = prepared(&slot, false, false);
  unsigned kinds = 0;
  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  stack->drives[0].nvme.config.bus = (struct spate_nvme_bus){.reset = never_ends, .context = &kinds};
  const uint64_t start_ps = sim_now_ps(stack->sim);
  assert_int_equal(write_while_it_breaks(stack, SIM_RESET_SLOT), SPATE_E_FATAL);
  assert_in_range((sim_now_ps(stack->sim) - start_ps) / SIM_PS_PER_MS, 6000, 9000);
  assert_int_equal(kinds, (1u << SPATE_NVME_RESETS) - 1u);
  sim_stack_free(stack);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_is_tried_until_one_helps),
      cmocka_unit_test(test_opening_tries_them_too),
      cmocka_unit_test(test_a_link_that_bounces_after_the_reset),
      cmocka_unit_test(test_a_drive_that_no_reset_repairs_is_given_up),
      cmocka_unit_test(test_the_next_failure_starts_with_the_first_reset),
      cmocka_unit_test(test_a_drive_that_a_reset_took_away_gets_the_next_one),
      cmocka_unit_test(test_a_drive_that_stays_silent_after_a_reset_gets_the_next_one),
      cmocka_unit_test(test_a_reset_that_never_ends_is_left_after_two_seconds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
