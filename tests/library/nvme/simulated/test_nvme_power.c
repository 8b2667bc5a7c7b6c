/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the drive lost power: what the driver reports when the SMART log is refused, empty, late or never counts, and
 * what it does not report when power was there all the time. */
#include "nvme_link_drop.h"

#define GET_LOG      0x02
#define INVALID_LOG  0x4109u
#define CC           0x14
#define POWER_CYCLES 112
#define UNSAFE       144

static struct fixture *opened(struct sim_drive_options options) {
  struct fixture *f = fixture_make_with(options, 1);

  spate_put64(health_page(f) + POWER_CYCLES, 17);
  fixture_open(f, 4);
  return f;
}

static void log_fault(struct fixture *f, enum sim_action action, uint32_t skip, uint32_t count) {
  fixture_fault(f, action, true, GET_LOG, skip, count, action == SIM_STATUS ? INVALID_LOG : 0);
}

/* The next write meets this. It succeeds all the same, because the driver sends it again. */
static void meet(struct fixture *f, enum sim_action action) {
  io_fault(f, action, 0, 1, 0);
  assert_int_equal(fixture_do(f, write_of(f, 0, 1), NULL), SPATE_OK);
}

static void expect(const struct fixture *f, unsigned losses, unsigned unknown) {
  const struct spate_nvme_counters *counters = spate_nvme_counters(&f->nvme);

  assert_int_equal(counters->power_losses, losses);
  assert_int_equal(counters->power_unknown, unknown);
  assert_int_equal(f->queue.block.power_losses, losses);
  assert_int_equal(f->queue.block.power_unknown, unknown);
}

static void test_a_log_that_was_refused_at_first_hides_no_loss(void **state) {
  const enum sim_action faults[] = {SIM_STATUS, SIM_ZEROS};
  for (unsigned i = 0; i < 2; i++) {
    struct fixture *f = fixture_make(9);
    log_fault(f, faults[i], 0, 1);
    fixture_open(f, 4);
    meet(f, SIM_POWER_CUT);
    expect(f, 1, 0);
    meet(f, SIM_POWER_CUT);
    expect(f, 2, 0);
    fixture_free(f);
  }
  (void)state;
}

static void test_no_log_after_a_loss_is_a_loss_once(void **state) {
  const enum sim_action faults[] = {SIM_STATUS, SIM_ZEROS};
  for (unsigned i = 0; i < 2; i++) {
    struct fixture *f = opened((struct sim_drive_options){0});
    log_fault(f, faults[i], 0, 1);
    meet(f, SIM_POWER_CUT);
    expect(f, 1, 0);
    assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_OK); /* now it shows the rise */
    expect(f, 1, 0);
    fixture_free(f);
  }
  (void)state;
}

/* No counter is known before: 0 then is not the same as 0 before. */
static void test_zeros_are_not_a_known_count(void **state) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.counts_no_power_cut = true}, 1);
  spate_put64(health_page(f) + POWER_CYCLES, 0);
  spate_put64(health_page(f) + UNSAFE, 0);
  log_fault(f, SIM_STATUS, 0, 1);
  fixture_open(f, 4);
  meet(f, SIM_POWER_CUT);
  expect(f, 1, 0);
  meet(f, SIM_POWER_CUT);
  expect(f, 1, 1);
  fixture_free(f);
  (void)state;
}

static void test_a_drive_that_never_counts_is_unknown(void **state) {
  struct fixture *f = opened((struct sim_drive_options){.counts_no_power_cut = true});
  for (unsigned i = 1; i <= 3; i++) {
    meet(f, SIM_POWER_CUT);
    expect(f, 0, i);
  }
  fixture_free(f);
  (void)state;
}

static void test_either_counter_higher_or_lower_is_a_loss(void **state) {
  for (unsigned i = 0; i < 4; i++) {
    const unsigned counter = i % 2 == 0 ? POWER_CYCLES : UNSAFE;
    struct fixture *f = fixture_make_with((struct sim_drive_options){.counts_no_power_cut = true}, 1);
    spate_put64(health_page(f) + counter, 17);
    fixture_open(f, 4);
    spate_put64(health_page(f) + counter, i < 2 ? 16 : 18);
    meet(f, SIM_POWER_CUT);
    expect(f, 1, 0);
    fixture_free(f);
  }
  (void)state;
}

/* A reset that leaves no doubt: the registers are kept. */
static void test_a_thousand_resets_without_a_log_are_no_loss(void **state) {
  const enum sim_action faults[] = {SIM_STATUS, SIM_ZEROS};
  for (unsigned i = 0; i < 2; i++) {
    struct fixture *f = fixture_make(9);
    log_fault(f, faults[i], 0, UINT32_MAX);
    fixture_open(f, 4);
    for (unsigned j = 0; j < 1000; j++)
      meet(f, SIM_FATAL);
    assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1000);
    expect(f, 0, 0);
    fixture_free(f);
  }
  (void)state;
}

static void test_a_rise_without_a_doubt_is_no_loss(void **state) {
  struct fixture *f = opened((struct sim_drive_options){0});
  spate_put64(health_page(f) + POWER_CYCLES, 18);
  meet(f, SIM_FATAL);
  expect(f, 0, 0);
  spate_put64(health_page(f) + UNSAFE, 1000);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_OK);
  expect(f, 0, 0);
  meet(f, SIM_POWER_CUT); /* and the counters are known as they are now */
  expect(f, 1, 0);
  fixture_free(f);
  (void)state;
}

/* It may be a loss of power as well: the link drops in both cases. */
static void test_a_drive_that_resets_itself_is_unknown(void **state) {
  struct fixture *f = opened((struct sim_drive_options){0});
  meet(f, SIM_RESET);
  expect(f, 0, 1);
  fixture_free(f);
  (void)state;
}

static void test_a_link_drop_is_unknown(void **state) {
  struct helper helper = {.delay_us = 1000};
  struct fixture *f = prepared(&helper);
  fixture_open(f, 4);
  go_at(f, false, -1, 0);
  expect_all_written(f);
  expect(f, 0, 1);
  fixture_free(f);
  (void)state;
}

static void cut(void *context, uint64_t number) {
  sim_drive_power_cut(((struct fixture *)context)->drive);
  (void)number;
}

/* For sim_trace(): power is lost between CC.EN = 0 and CSTS.RDY = 0, once. */
static void cut_when_disabled(void *context, const struct sim_access *access) {
  struct fixture *f = context;
  const uint32_t control = access->kind == SIM_ACCESS_WRITE ? spate_get32(access->data) : 1;

  if (access->address - SIM_WINDOW >= SIM_WINDOW_BYTES || access->address % 4096u != CC || (control & 1u) != 0) return;
  sim_at(f->sim, access->at_ps + 10 * SIM_PS_PER_US, cut, f, 0);
  sim_trace(f->sim, NULL, NULL);
}

static void test_a_loss_while_the_controller_stops(void **state) {
  for (unsigned known = 0; known < 2; known++) {
    struct fixture *f = opened((struct sim_drive_options){0});
    if (known) meet(f, SIM_FATAL); /* it keeps its registers, so the second reading is a witness, too */
    if (known) log_fault(f, SIM_STATUS, 0, 1);
    io_fault(f, SIM_FATAL, 0, 1, 0);
    sim_trace(f->sim, cut_when_disabled, f);
    assert_int_equal(fixture_do(f, write_of(f, 0, 1), NULL), SPATE_OK);
    assert_int_equal(sim_drive_counters(f->drive)->power_cycles, 1);
    expect(f, 1, 0);
    fixture_free(f);
  }
  (void)state;
}

/* At each admin command of the recovery, after a reset that was no loss. */
static void test_a_loss_during_bring_up(void **state) {
  for (unsigned step = 0; step < 7; step++) {
    struct fixture *f = opened((struct sim_drive_options){0});
    io_fault(f, SIM_FATAL, 0, 1, 0);
    fixture_fault(f, SIM_POWER_CUT, true, -1, step, 1, 0);
    assert_int_equal(fixture_do(f, write_of(f, 0, 1), NULL), SPATE_OK);
    fixture_poll_ms(f, 1000); /* the last one ends the recovery before it is noticed */
    assert_int_equal(sim_drive_counters(f->drive)->power_cycles, 1);
    expect(f, 1, 0);
    fixture_free(f);
  }
  (void)state;
}

/* Two losses within one recovery are two if each was followed by a log. */
static void test_every_doubt_is_settled_once(void **state) {
  struct fixture *f = opened((struct sim_drive_options){0});
  io_fault(f, SIM_POWER_CUT, 0, 1, 0);
  fixture_fault(f, SIM_POWER_CUT, true, 0x01, 0, 1, 0);
  assert_int_equal(fixture_do(f, write_of(f, 0, 1), NULL), SPATE_OK);
  assert_int_equal(sim_drive_counters(f->drive)->power_cycles, 2);
  expect(f, 2, 0);
  for (unsigned i = 0; i < 3; i++)
    assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_OK);
  expect(f, 2, 0);
  fixture_free(f);
  (void)state;
}

/* Some clear AQA, ASQ and ACQ when they are disabled. */
static void test_a_drive_that_clears_its_registers_is_not_accused(void **state) {
  struct fixture *f = opened((struct sim_drive_options){.clears_admin_when_disabled = true});
  for (unsigned i = 0; i < 3; i++)
    meet(f, SIM_FATAL);
  log_fault(f, SIM_STATUS, 0, 1);
  meet(f, SIM_FATAL);
  expect(f, 0, 0);
  meet(f, SIM_POWER_CUT);
  expect(f, 1, 0);
  io_fault(f, SIM_FATAL, 0, 1, 0);
  sim_trace(f->sim, cut_when_disabled, f);
  assert_int_equal(fixture_do(f, write_of(f, 0, 1), NULL), SPATE_OK);
  expect(f, 2, 0);
  fixture_free(f);
  (void)state;
}

static struct fixture *with_subsystem_reset(void) {
  struct fixture *f = fixture_make(9);

  *sim_drive_cap(f->drive) |= UINT64_C(1) << 36;
  f->config.bus = spate_nvme_pcie_bus(&f->pcie_bus);
  return f;
}

/* The drive works again after a reset of its subsystem, which clears the registers. */
static void reset_subsystem(struct fixture *f) {
  const unsigned before = spate_nvme_counters(&f->nvme)->hard_resets;

  sim_drive_break(f->drive, SIM_RESET_SUBSYSTEM);
  assert_int_equal(fixture_do(f, write_of(f, 0, 1), NULL), SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->hard_resets, before + 1);
}

/* Only a rise of the counters is then a loss, however late the log comes. Until then it is not known. */
/* Registers that always read 0 are no witness: the counters alone decide. */
static void test_registers_that_cannot_be_read(void **state) {
  struct fixture *f = opened((struct sim_drive_options){.hides_admin_registers = true});
  meet(f, SIM_FATAL);
  expect(f, 0, 0);
  meet(f, SIM_POWER_CUT);
  expect(f, 1, 0);
  fixture_free(f);
  (void)state;
}

static void test_a_reset_of_the_subsystem(void **state) {
  static const struct {
    bool refused, cut;
    unsigned losses, unknown;
  } cases[] = {{false, false, 0, 1}, {true, false, 0, 1}, {false, true, 1, 0}, {true, true, 1, 1}};
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture *f = with_subsystem_reset();
    fixture_open(f, 4);
    if (cases[i].refused) log_fault(f, SIM_STATUS, 0, 1);
    if (cases[i].cut) spate_put64(health_page(f) + UNSAFE, 1000);
    reset_subsystem(f);
    for (unsigned reads = 0; reads < 2; reads++) {
      assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_OK);
      expect(f, cases[i].losses, cases[i].unknown);
    }
    fixture_free(f);
  }
  (void)state;
}

static void test_a_reset_of_the_subsystem_before_the_first_log(void **state) {
  struct fixture *f = with_subsystem_reset();
  log_fault(f, SIM_STATUS, 0, 1);
  fixture_open(f, 4);
  reset_subsystem(f);
  expect(f, 0, 1);
  fixture_free(f);
  (void)state;
}

/* The loss was reported before, when there was no log. */
static void test_a_rise_is_not_reported_again_after_a_reset_of_the_subsystem(void **state) {
  struct fixture *f = with_subsystem_reset();
  fixture_open(f, 4);
  log_fault(f, SIM_STATUS, 0, 1);
  meet(f, SIM_POWER_CUT);
  expect(f, 1, 0);
  reset_subsystem(f);
  expect(f, 1, 1);
  fixture_free(f);
  (void)state;
}

/* A suspicion outlives the resets that follow until there is a log. */
static void test_a_reset_of_the_subsystem_does_not_excuse_a_loss(void **state) {
  struct fixture *f = with_subsystem_reset();
  fixture_open(f, 4);
  log_fault(f, SIM_STATUS, 0, 1);
  sim_drive_power_cut(f->drive);
  reset_subsystem(f);
  expect(f, 1, 0);
  fixture_free(f);
  (void)state;
}

static void test_an_empty_log_is_no_health(void **state) {
  struct fixture *f = opened((struct sim_drive_options){0});
  const uint32_t sequence = spate_nvme_health(&f->nvme)->sequence;
  log_fault(f, SIM_ZEROS, 0, 1);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_E_UNSUPPORTED);
  assert_int_equal(spate_nvme_health(&f->nvme)->sequence, sequence);
  assert_int_equal(spate_nvme_health(&f->nvme)->power_cycles, 17);
  log_fault(f, SIM_ZEROS, 0, 1);
  assert_int_equal(spate_nvme_health_start(&f->nvme), SPATE_OK);
  fixture_poll_ms(f, 10);
  assert_int_equal(spate_nvme_health(&f->nvme)->sequence, sequence);
  expect(f, 0, 0);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_log_that_was_refused_at_first_hides_no_loss),
      cmocka_unit_test(test_no_log_after_a_loss_is_a_loss_once),
      cmocka_unit_test(test_zeros_are_not_a_known_count),
      cmocka_unit_test(test_a_drive_that_never_counts_is_unknown),
      cmocka_unit_test(test_either_counter_higher_or_lower_is_a_loss),
      cmocka_unit_test(test_a_thousand_resets_without_a_log_are_no_loss),
      cmocka_unit_test(test_a_rise_without_a_doubt_is_no_loss),
      cmocka_unit_test(test_a_drive_that_resets_itself_is_unknown),
      cmocka_unit_test(test_a_link_drop_is_unknown),
      cmocka_unit_test(test_a_loss_while_the_controller_stops),
      cmocka_unit_test(test_a_loss_during_bring_up),
      cmocka_unit_test(test_every_doubt_is_settled_once),
      cmocka_unit_test(test_a_drive_that_clears_its_registers_is_not_accused),
      cmocka_unit_test(test_registers_that_cannot_be_read),
      cmocka_unit_test(test_a_reset_of_the_subsystem),
      cmocka_unit_test(test_a_reset_of_the_subsystem_before_the_first_log),
      cmocka_unit_test(test_a_rise_is_not_reported_again_after_a_reset_of_the_subsystem),
      cmocka_unit_test(test_a_reset_of_the_subsystem_does_not_excuse_a_loss),
      cmocka_unit_test(test_an_empty_log_is_no_health),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
