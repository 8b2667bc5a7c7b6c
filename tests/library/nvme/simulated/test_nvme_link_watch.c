/* SPDX-License-Identifier: Apache-2.0 */
/* A bus that reports whether its link is up, behind a bridge that returns arbitrary data for a drive that is gone. */
#include "bus/unanswered.h"
#include "nvme_link_drop.h"

struct watched {
  struct helper helper; /* first: both hooks get it as context */
  unsigned questions, drops_after, isolated;
  uint32_t status; /* CSTS when the link dropped */
};

static bool is_up(void *context) {
  struct watched *watched = context;
  struct fixture *f = watched->helper.f;

  if (sim_drive_is_silent(f->drive)) return false;
  if (++watched->questions != watched->drops_after) return true;
  watched->status = csts(f);
  sim_drive_silence(f->drive, true); /* after the answer: the link was up */
  return true;
}

static enum spate_error isolate(void *context) {
  struct watched *watched = context;

  watched->isolated++;
  return SPATE_OK;
}

/* The link drops just after the driver asked for it, at any of these questions. The driver does not use what it reads
 * then. */
static void test_link_that_drops_between_question_and_read(void **state) {
  unsigned questions = 0;
  for (unsigned after = 0; after <= questions; after++) {
    struct watched watched = {.helper = {.delay_us = 1000}};
    struct fixture *f = prepared(&watched.helper);
    f->config.bus.link_is_up = is_up;
    f->config.bus.context = &watched;
    sim_set_unanswered(f->sim, SIM_UNANSWERED_ARBITRARY);
    struct touched touched = {.f = f};
    sim_trace(f->sim, count_touches, &touched);
    fixture_open(f, 8);
    go_at(f, false, -1, 5); /* causes a bring-up, with all its questions */
    watched.questions = 0;
    watched.drops_after = after;
    expect_all_written(f);
    fixture_poll_ms(f, 300);
    if (after == 0) questions = watched.questions;
    assert_in_range(touched.reads, 0, after == 0 ? 0 : 4); /* at most one check */
    assert_in_range(spate_nvme_counters(&f->nvme)->reattachments, 1, 2);
    assert_int_equal(f->nvme.state, SPATE_NVME_RUNNING);
    assert_int_equal(spate_nvme_counters(&f->nvme)->resets, spate_nvme_counters(&f->nvme)->reattachments);
    fixture_free(f);
  }
  assert_true(questions > 20);
  (void)state;
}

/* The link drops during open, before any of the later questions: the error is that answer, not a value read then. */
static void test_link_that_drops_during_open(void **state) {
  unsigned lost = 0;
  for (unsigned after = 0; after < 60; after++) {
    struct watched watched = {.drops_after = after};
    struct fixture *f = prepared(&watched.helper);
    f->config.bus = (struct spate_nvme_bus){.link_is_up = is_up, .context = &watched};
    sim_set_unanswered(f->sim, SIM_UNANSWERED_ARBITRARY);
    if (after == 0) sim_drive_silence(f->drive, true);
    struct touched touched = {.f = f};
    sim_trace(f->sim, count_touches, &touched);
    const enum spate_error error = spate_nvme_open(&f->nvme, &f->config);
    const bool silent = sim_drive_is_silent(f->drive);
    if (error != SPATE_OK || !silent) assert_int_equal(error, silent ? SPATE_E_GONE : SPATE_OK);
    if (error == SPATE_OK || after == 0) assert_int_equal(touched.reads, 0); /* no register access after that */
    lost += error != SPATE_OK;
    fixture_free(f);
  }
  assert_true(lost > 10);
  (void)state;
}

/* Where the bus reports the link down, the driver does not write either, except on the data path: a write may hang like
 * a read. */
static void test_nothing_is_written_to_a_link_that_is_down(void **state) {
  struct watched watched = {.helper = {.delay_us = 1000}};
  struct fixture *f = prepared(&watched.helper);
  f->config.bus.link_is_up = is_up;
  f->config.bus.context = &watched;
  struct touched touched = {.f = f};
  sim_trace(f->sim, count_touches, &touched);
  fixture_open(f, 8);
  sim_drive_silence(f->drive, true);
  assert_int_equal(spate_nvme_health_start(&f->nvme), SPATE_OK);
  fixture_poll_ms(f, 300);
  assert_int_equal(touched.writes, 0);
  assert_int_equal(touched.reads, 0);
  assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, 1);
  sim_drive_silence(f->drive, true);
  watched.helper.error = SPATE_E_NO_DEVICE;
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_E_GONE);
  assert_int_equal(touched.writes, 0);
  fixture_free(f);
  (void)state;
}

/* A shutdown that the drive did not confirm does not count: the drive may work on, and is isolated like any other. */
static void test_link_that_drops_during_shutdown(void **state) {
  unsigned lost = 0;
  for (unsigned after = 1; after < 200; after++) {
    struct watched watched = {.helper = {.seed = after}};
    struct fixture *f = prepared(&watched.helper);
    f->config.bus = (struct spate_nvme_bus){.link_is_up = is_up, .isolate = isolate, .context = &watched};
    sim_set_unanswered(f->sim, SIM_UNANSWERED_ARBITRARY);
    sim_drive_slow_shutdown(f->drive, 20);
    fixture_open(f, 8);
    watched.questions = 0;
    watched.drops_after = after;
    const enum spate_error error = spate_nvme_shutdown(&f->nvme);
    const bool silent = sim_drive_is_silent(f->drive);
    const bool complete = ((silent ? watched.status : csts(f)) & 0xc) == 8;
    lost += !complete;
    if (!complete) assert_int_equal(error, SPATE_E_GONE);
    assert_int_equal(watched.isolated, error == SPATE_E_GONE);
    if (!silent) assert_int_equal(error, SPATE_OK);
    fixture_free(f);
  }
  assert_true(lost > 20);
  (void)state;
}

static void speak(void *context, uint64_t number) {
  struct fixture *f = context;

  (void)number;
  sim_drive_silence(f->drive, false);
}

static void fall_silent(void *context, uint64_t number) {
  struct fixture *f = context;

  (void)number;
  sim_drive_silence(f->drive, true);
}

/* For sim_trace(): silent for 1.5 s from the write that clears CC.EN on. */
static void be_silent_when_stopped(void *context, const struct sim_access *access) {
  struct fixture *f = context;

  if (access->kind != SIM_ACCESS_WRITE || access->address != f->config.registers + 0x14) return;
  if ((spate_get32(access->data) & 1u) != 0 || sim_drive_is_silent(f->drive)) return;
  sim_at(f->sim, access->at_ps, fall_silent, f, 0);
  sim_at(f->sim, access->at_ps + 1500 * SIM_PS_PER_MS, speak, f, 0);
}

struct awakening {
  struct fixture *f;
  unsigned reads, at;
};

/* For sim_trace(): the drive begins to answer between two reads of registers. */
static void speak_between_reads(void *context, const struct sim_access *access) {
  struct awakening *awakening = context;
  const uint64_t offset = access->address - awakening->f->config.registers;

  if (access->kind != SIM_ACCESS_READ || offset >= awakening->f->config.registers_bytes) return;
  if (++awakening->reads == awakening->at) sim_at(awakening->f->sim, access->at_ps, speak, awakening->f, 0);
}

/* No value is put together from a half that was read before and one that was read after. */
static void test_a_drive_that_begins_to_answer_between_two_reads(void **state) {
  for (unsigned at = 1; at <= 12; at++) {
    for (unsigned zeros = 0; zeros < 2; zeros++) {
      struct fixture *f = fixture_make(9);
      struct awakening awakening = {.f = f, .at = at};
      sim_set_unanswered(f->sim, zeros ? SIM_UNANSWERED_ZEROS : SIM_UNANSWERED_ONES);
      sim_drive_silence(f->drive, true);
      sim_trace(f->sim, speak_between_reads, &awakening);
      assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
      assert_int_equal(spate_nvme_identity(&f->nvme)->queue_entries_max, 64);
      assert_int_equal(spate_nvme_identity(&f->nvme)->ready_timeout_ms, 2000);
      assert_int_equal(spate_nvme_identity(&f->nvme)->version, 0x00010400);
      fixture_free(f);
    }
  }
  (void)state;
}

static bool link_is_down(void *context) {
  (void)context;
  return false;
}

/* A drive that was just reset may read as all ones for two seconds, before it is opened and when it is stopped for the
 * first time. One whose link is down is gone at once. */
static void test_open_waits_for_a_silent_drive(void **state) {
  for (unsigned ms = 1500; ms <= 2500; ms += 1000) {
    struct fixture *f = fixture_make(9);
    const uint64_t start = now_us(f);
    sim_drive_silence(f->drive, true);
    sim_at(f->sim, sim_now_ps(f->sim) + ms * SIM_PS_PER_MS, speak, f, 0);
    assert_int_equal(spate_nvme_open(&f->nvme, &f->config), ms < 2000 ? SPATE_OK : SPATE_E_GONE);
    assert_in_range((now_us(f) - start) / 1000, 1500, 2100);
    fixture_free(f);
  }
  struct fixture *f = fixture_make(9);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK); /* it stays enabled */
  sim_trace(f->sim, be_silent_when_stopped, f);
  uint64_t start = now_us(f);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  assert_in_range((now_us(f) - start) / 1000, 1500, 1600);
  fixture_free(f);
  f = fixture_make(9);
  start = now_us(f);
  sim_drive_silence(f->drive, true);
  f->config.bus.link_is_up = link_is_down;
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_GONE);
  assert_in_range((now_us(f) - start) / 1000, 0, 10);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_link_that_drops_between_question_and_read),
      cmocka_unit_test(test_link_that_drops_during_open),
      cmocka_unit_test(test_nothing_is_written_to_a_link_that_is_down),
      cmocka_unit_test(test_link_that_drops_during_shutdown),
      cmocka_unit_test(test_open_waits_for_a_silent_drive),
      cmocka_unit_test(test_a_drive_that_begins_to_answer_between_two_reads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
