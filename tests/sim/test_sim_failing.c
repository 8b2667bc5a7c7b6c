/* SPDX-License-Identifier: Apache-2.0 */
/* A drive that fails as a whole: it reports a fatal status, ignores CC, shuts down slowly, or does not answer. Also a
 * drive that keeps state across a reset that others lose. */
#include "bus/unanswered.h"
#include "raw_sim.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define BACK 17u /* page: read to */

enum { CC = 0x14 };
enum { SET_FEATURES = 9, GET_FEATURES };
enum { FLUSH, WRITE, READ };

#define WRITE_CACHE 6u /* feature */

static struct raw_sim *start(void) {
  const struct sim_drive_options options = {.bytes = UINT64_C(64) << 20};
  struct raw_sim *r = raw_sim_start(sim_profile_find("ideal"), &options, 7);
  r->raw.target.patience = 50;
  return r;
}

static void end(struct raw_sim *r) {
  const char *first = NULL;
  if (sim_take_violations(r->sim, &first) != 0) fail_msg("%s", first);
  raw_sim_free(r);
}

static bool answers(struct raw_sim *r) {
  const struct raw_command flush = {.opcode = FLUSH, .nsid = 1};
  return !raw_do(&r->raw, 1, &flush).missing;
}

static void enable_again(struct raw_sim *r) {
  assert_true(raw_enable(&r->raw));
  raw_queue_forget(&r->raw, 1);
  assert_int_equal(raw_queue(&r->raw, 1), 0);
}

/* CSTS.CFS is set besides CSTS.RDY, and nothing completes. A reset by CC.EN repairs it. */
static void test_failed(void **state) {
  struct raw_sim *r = start();
  assert_true(answers(r));
  sim_drive_fail(r->drive);
  assert_int_equal(raw_csts(&r->raw), 3);
  assert_false(answers(r));
  assert_true(raw_disable(&r->raw));
  enable_again(r);
  assert_true(answers(r));
  end(r);
  (void)state;
}

/* CSTS.RDY falls, but CC reads as enabled. */
static void test_control_ignored(void **state) {
  struct raw_sim *r = start();
  const uint32_t control = raw_sim_read32(r, CC);
  sim_drive_ignore_control(r->drive);
  raw_sim_write32(r, CC, control & ~1u);
  assert_int_equal(raw_csts(&r->raw), 0);
  assert_int_equal(raw_sim_read32(r, CC), control);
  raw_sim_write32(r, CC, control | 0x4000);
  sim_spend(r->sim, SIM_PS_PER_S);
  assert_int_equal(raw_csts(&r->raw), 0); /* no shutdown status, and not ready again */
  assert_int_equal(sim_drive_counters(r->drive)->shutdowns, 0);
  end(r);
  (void)state;
}

static void test_slow_shutdown(void **state) {
  struct raw_sim *r = start();
  sim_drive_slow_shutdown(r->drive, 5000);
  raw_sim_write32(r, CC, 0x00464001);
  sim_spend(r->sim, 4999 * SIM_PS_PER_MS);
  assert_int_equal(raw_csts(&r->raw), 5);
  sim_spend(r->sim, 2 * SIM_PS_PER_MS);
  assert_int_equal(raw_csts(&r->raw), 9);
  end(r);
  (void)state;
}

/* Reads get no answer, writes are lost, and memory is not accessed. Link and configuration stay. Afterwards the drive
 * is as after a reset. */
static void test_does_not_answer(void **state) {
  struct raw_sim *r = start();
  const struct raw_command read = {.opcode = READ, .nsid = 1, .prp1 = raw_bus(&r->raw, BACK), .dword12 = 7};
  memset(raw_at(&r->raw, BACK), 0xee, RAW_PAGE);
  (void)raw_put(&r->raw, 1, &read);
  raw_ring(&r->raw, 1);
  sim_spend(r->sim, 5 * SIM_PS_PER_US); /* the command is in flight */
  assert_int_equal(sim_drive_counters(r->drive)->io[READ], 1);
  sim_drive_silence(r->drive, true);
  sim_spend(r->sim, SIM_PS_PER_S);
  assert_int_equal(*raw_at(&r->raw, BACK), 0xee);
  const uint64_t unanswered = sim_unanswered_reads(r->sim);
  assert_int_equal(raw_csts(&r->raw), UINT32_MAX);
  assert_int_equal(sim_unanswered_reads(r->sim), unanswered + 1);
  assert_true(spate_pcie_link_is_up(&r->host, r->device));
  const uint64_t enables = sim_drive_counters(r->drive)->enables;
  raw_sim_write32(r, CC, 0x00460001);
  sim_spend(r->sim, SIM_PS_PER_MS);
  assert_int_equal(sim_drive_counters(r->drive)->enables, enables);
  sim_drive_silence(r->drive, false);
  assert_int_equal(raw_csts(&r->raw), 0);
  assert_int_equal(raw_sim_read32(r, CC), 0);
  enable_again(r);
  assert_true(answers(r));
  end(r);
  (void)state;
}

static uint32_t write_cache(struct raw_sim *r) {
  return raw_do(&r->raw, 0, &(struct raw_command){.opcode = GET_FEATURES, .dword10 = WRITE_CACHE}).result;
}

static void test_write_cache_kept(void **state) {
  for (unsigned keeps = 0; keeps < 2; keeps++) {
    const struct sim_drive_options options = {.bytes = UINT64_C(64) << 20, .keeps_write_cache = keeps == 1};
    struct raw_sim *r = raw_sim_start(sim_profile_find("ideal"), &options, 7);
    assert_int_equal(write_cache(r), 1); /* the default, until the host sets it again */
    (void)raw_do(&r->raw, 0, &(struct raw_command){.opcode = SET_FEATURES, .dword10 = WRITE_CACHE});
    assert_int_equal(write_cache(r), 0);
    assert_true(raw_disable(&r->raw));
    assert_true(raw_enable(&r->raw));
    assert_int_equal(write_cache(r), keeps == 1 ? 0 : 1);
    end(r);
  }
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_failed),           cmocka_unit_test(test_control_ignored),
      cmocka_unit_test(test_slow_shutdown),    cmocka_unit_test(test_does_not_answer),
      cmocka_unit_test(test_write_cache_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
