/* SPDX-License-Identifier: Apache-2.0 */
/* Each fault does what sim/drive/fault.h says, and nothing else. */
#include "raw_sim.h"
#include <setjmp.h>
#include <spate/bytes.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define OUT         16u /* pages: written from, read to */
#define BACK        17u
#define SHORT_WAIT  50u /* of a millisecond each */
#define MEDIA_ERROR 0x0281u

enum { GET_LOG = 2, IDENTIFY = 6, ABORT = 8 };
enum { FLUSH, WRITE, READ };

static struct raw_sim *start(void) {
  const struct sim_drive_options options = {.bytes = UINT64_C(64) << 20};
  struct raw_sim *r = raw_sim_start(sim_profile_find("ideal"), &options, 7);
  r->raw.target.patience = SHORT_WAIT;
  return r;
}

/* The next I/O command with this opcode has the fault. */
static void fault_next(struct raw_sim *r, enum sim_action action, int16_t opcode, uint32_t value) {
  sim_drive_fault(r->drive, (struct sim_fault){.action = action, .opcode = opcode, .count = 1, .value = value});
}

/* These tests obey the specification, so no fault may lead to a violation. */
static void end(struct raw_sim *r) {
  const char *first = NULL;
  if (sim_take_violations(r->sim, &first) != 0) fail_msg("%s", first);
  raw_sim_free(r);
}

static struct raw_command io(const struct raw_sim *r, uint32_t opcode, uint32_t page, uint32_t lba) {
  if (opcode == FLUSH) return (struct raw_command){.opcode = FLUSH, .nsid = 1};
  return (struct raw_command){
      .opcode = opcode, .nsid = 1, .prp1 = raw_bus(&r->raw, page), .dword10 = lba, .dword12 = 7};
}

static struct raw_completion do_io(struct raw_sim *r, uint32_t opcode, uint32_t lba) {
  const struct raw_command command = io(r, opcode, opcode == WRITE ? OUT : BACK, lba);
  return raw_do(&r->raw, 1, &command);
}

static void write_byte(struct raw_sim *r, uint32_t lba, uint8_t byte) {
  memset(raw_at(&r->raw, OUT), byte, RAW_PAGE);
  const struct raw_completion c = do_io(r, WRITE, lba);
  assert_false(c.missing);
  assert_int_equal(c.status, 0);
}

/* A write that does not complete. Returns its identifier. */
static uint16_t write_unanswered(struct raw_sim *r, uint32_t lba, uint8_t byte) {
  memset(raw_at(&r->raw, OUT), byte, RAW_PAGE);
  const struct raw_command command = io(r, WRITE, OUT, lba);
  const uint16_t id = raw_put(&r->raw, 1, &command);
  raw_ring(&r->raw, 1);
  assert_true(raw_take(&r->raw, 1).missing);
  return id;
}

static uint8_t read_byte(struct raw_sim *r, uint32_t lba) {
  memset(raw_at(&r->raw, BACK), 0xee, RAW_PAGE);
  const struct raw_completion c = do_io(r, READ, lba);
  assert_false(c.missing);
  assert_int_equal(c.status, 0);
  return raw_at(&r->raw, BACK)[RAW_PAGE - 1];
}

/* After a reset by the host the I/O queues are gone, and with them the commands in flight. */
static void enable_again(struct raw_sim *r) {
  r->raw.target.patience = 1000;
  assert_true(raw_enable(&r->raw));
  assert_int_equal(raw_queue(&r->raw, 1), 0);
  assert_int_equal(raw_queue(&r->raw, 2), 0);
  r->raw.target.patience = SHORT_WAIT;
}

static void smart(struct raw_sim *r, uint8_t log[512]) {
  const struct raw_command command = {
      .opcode = GET_LOG, .nsid = UINT32_MAX, .prp1 = raw_bus(&r->raw, BACK), .dword10 = 127u << 16 | 2u};
  assert_int_equal(raw_do(&r->raw, 0, &command).status, 0);
  memcpy(log, raw_at(&r->raw, BACK), 512);
}

static uint16_t abort_command(struct raw_sim *r, uint16_t id, bool *aborted) {
  const struct raw_command command = {.opcode = ABORT, .dword10 = (uint32_t)id << 16 | 1u};
  const struct raw_completion c = raw_do(&r->raw, 0, &command);
  assert_false(c.missing);
  *aborted = (c.result & 1u) == 0;
  return c.status;
}

static void test_status(void **state) {
  struct raw_sim *r = start();
  uint8_t before[512], after[512];
  write_byte(r, 8, 1);
  smart(r, before);
  fault_next(r, SIM_STATUS, WRITE, MEDIA_ERROR);
  memset(raw_at(&r->raw, OUT), 2, RAW_PAGE);
  assert_int_equal(do_io(r, WRITE, 8).status, MEDIA_ERROR);
  assert_int_equal(read_byte(r, 8), 1); /* not carried out */
  smart(r, after);
  assert_int_equal(spate_get64(after + 160), spate_get64(before + 160) + 1); /* media errors */
  assert_int_equal(spate_get64(after + 176), spate_get64(before + 176) + 1); /* error log entries */
  write_byte(r, 8, 3);
  end(r);
  (void)state;
}

static void test_which_commands(void **state) {
  struct raw_sim *r = start();
  sim_drive_fault(r->drive,
                  (struct sim_fault){.action = SIM_STATUS, .opcode = READ, .skip = 2, .count = 2, .value = 0x0281});
  static const uint16_t expected[] = {0, 0, MEDIA_ERROR, MEDIA_ERROR, 0};
  for (unsigned i = 0; i < 5; i++) {
    write_byte(r, 8, 1); /* another opcode: neither counted nor hit */
    assert_int_equal(do_io(r, READ, 8).status, expected[i]);
  }
  sim_drive_clear_faults(r->drive);
  sim_drive_fault(r->drive, (struct sim_fault){.action = SIM_STATUS,
                                               .opcode = -1,
                                               .first_lba = 100,
                                               .last_lba = 110,
                                               .count = UINT32_MAX,
                                               .value = MEDIA_ERROR});
  assert_int_equal(do_io(r, READ, 92).status, 0); /* 92 … 99 */
  assert_int_equal(do_io(r, READ, 93).status, MEDIA_ERROR);
  assert_int_equal(do_io(r, WRITE, 110).status, MEDIA_ERROR);
  assert_int_equal(do_io(r, READ, 111).status, 0);
  assert_int_equal(do_io(r, FLUSH, 0).status, 0);
  sim_drive_clear_faults(r->drive);
  assert_int_equal(do_io(r, READ, 93).status, 0);
  sim_drive_fault(r->drive,
                  (struct sim_fault){.action = SIM_STATUS, .admin = true, .opcode = IDENTIFY, .count = 1, .value = 6});
  assert_int_equal(do_io(r, READ, 93).status, 0);
  const struct raw_command identify = {.opcode = IDENTIFY, .prp1 = raw_bus(&r->raw, BACK), .dword10 = 1};
  assert_int_equal(raw_do(&r->raw, 0, &identify).status, 6);
  assert_int_equal(raw_do(&r->raw, 0, &identify).status, 0);
  end(r);
  (void)state;
}

static void test_lose(void **state) {
  struct raw_sim *r = start();
  bool aborted;
  fault_next(r, SIM_LOSE, WRITE, 0);
  const uint16_t id = write_unanswered(r, 8, 5);
  assert_int_equal(abort_command(r, id, &aborted), 0);
  assert_false(aborted);
  assert_int_equal(read_byte(r, 8), 5); /* carried out */
  end(r);
  (void)state;
}

static void test_stall(void **state) {
  struct raw_sim *r = start();
  bool aborted;
  write_byte(r, 8, 1);
  fault_next(r, SIM_STALL, WRITE, 0);
  const uint16_t id = write_unanswered(r, 8, 5);
  assert_int_equal(abort_command(r, id, &aborted), 0);
  assert_true(aborted);
  const struct raw_completion c = raw_take(&r->raw, 1);
  assert_int_equal(c.id, id);
  assert_int_equal(c.status, 7);
  assert_int_equal(abort_command(r, id, &aborted), 0);
  assert_false(aborted); /* only once */
  assert_int_equal(read_byte(r, 8), 1);
  end(r);
  (void)state;
}

static void test_double(void **state) {
  struct raw_sim *r = start();
  fault_next(r, SIM_DOUBLE, READ, 0);
  const struct raw_completion one = do_io(r, READ, 8), two = raw_take(&r->raw, 1);
  assert_false(two.missing);
  assert_int_equal(one.id, two.id);
  assert_true(raw_take(&r->raw, 1).missing);
  end(r);
  (void)state;
}

/* The second completion comes when no command has the identifier any more. */
static void test_double_later(void **state) {
  struct raw_sim *r = start();
  fault_next(r, SIM_DOUBLE, READ, 3);
  const uint16_t id = do_io(r, READ, 8).id;
  sim_spend(r->sim, 2 * SIM_PS_PER_MS);
  assert_int_not_equal(do_io(r, READ, 8).id, id);
  const uint64_t start_ps = sim_now_ps(r->sim);
  const struct raw_completion again = raw_take(&r->raw, 1);
  assert_false(again.missing);
  assert_int_equal(again.id, id);
  assert_int_equal(again.status, 0);
  assert_in_range(sim_now_ps(r->sim) - start_ps, 0, SIM_PS_PER_MS);
  assert_true(raw_take(&r->raw, 1).missing);
  fault_next(r, SIM_DOUBLE, READ, 3);
  assert_false(do_io(r, READ, 8).missing);
  assert_true(raw_disable(&r->raw)); /* a reset drops the second completion */
  enable_again(r);
  assert_true(raw_take(&r->raw, 1).missing);
  end(r);
  (void)state;
}

static void test_late(void **state) {
  struct raw_sim *r = start();
  r->raw.target.patience = 5000;
  fault_next(r, SIM_LATE, READ, 3000);
  const uint64_t start_ps = sim_now_ps(r->sim);
  assert_int_equal(do_io(r, READ, 8).status, 0);
  assert_in_range(sim_now_ps(r->sim) - start_ps, 3000 * SIM_PS_PER_MS, 3001 * SIM_PS_PER_MS);
  write_byte(r, 8, 1);
  fault_next(r, SIM_STATUS, WRITE, 3000u << 16 | MEDIA_ERROR);
  memset(raw_at(&r->raw, OUT), 2, RAW_PAGE);
  const uint64_t again_ps = sim_now_ps(r->sim);
  assert_int_equal(do_io(r, WRITE, 8).status, MEDIA_ERROR);
  assert_in_range(sim_now_ps(r->sim) - again_ps, 3000 * SIM_PS_PER_MS, 3001 * SIM_PS_PER_MS);
  assert_int_equal(read_byte(r, 8), 1);
  end(r);
  (void)state;
}

static void test_wrong_completions(void **state) {
  struct raw_sim *r = start();
  fault_next(r, SIM_WRONG_ID, READ, 0x0f0f);
  const struct raw_completion wrong = do_io(r, READ, 8), right = raw_take(&r->raw, 1);
  assert_int_equal(wrong.id, right.id ^ 0x0f0f);
  assert_false(right.missing);
  fault_next(r, SIM_WRONG_QUEUE, READ, 0);
  const struct raw_completion other = do_io(r, READ, 8), own = raw_take(&r->raw, 1);
  assert_int_equal(other.queue, 2);
  assert_int_equal(own.queue, 1);
  assert_int_equal(other.id, own.id);
  assert_true(raw_take(&r->raw, 1).missing);
  fault_next(r, SIM_MISDIRECT, READ, 0);
  const uint16_t id = r->raw.next_id;
  const struct raw_completion misdirected = do_io(r, READ, 8);
  assert_int_equal(misdirected.id, id);
  assert_int_equal(misdirected.queue, 2);
  assert_true(raw_take(&r->raw, 1).missing); /* its own completion never comes */
  end(r);
  (void)state;
}

/* The entry is written, but looks old. The next entry looks new, but is behind it, where no host looks. */
static void test_wrong_phase(void **state) {
  struct raw_sim *r = start();
  fault_next(r, SIM_WRONG_PHASE, READ, 0);
  const uint16_t id = r->raw.next_id;
  assert_true(do_io(r, READ, 8).missing);
  assert_true(do_io(r, READ, 8).missing);
  const uint8_t *entries = raw_at(&r->raw, 3); /* the completion queue of pair 1 */
  assert_int_equal(spate_get16(entries + 12), id);
  assert_int_equal(entries[14] & 1, 0);
  assert_int_equal(spate_get16(entries + 16 + 12), id + 1);
  assert_int_equal(entries[16 + 14] & 1, 1);
  end(r);
  (void)state;
}

static void test_fatal(void **state) {
  struct raw_sim *r = start();
  write_byte(r, 8, 9);
  fault_next(r, SIM_FATAL, FLUSH, 0);
  assert_true(do_io(r, FLUSH, 0).missing);
  assert_int_equal(raw_csts(&r->raw) & 2, 2);
  assert_true(do_io(r, READ, 8).missing);
  assert_true(raw_disable(&r->raw));
  assert_int_equal(raw_csts(&r->raw), 0);
  enable_again(r);
  assert_int_equal(read_byte(r, 8), 9);
  end(r);
  (void)state;
}

static void test_reset(void **state) {
  struct raw_sim *r = start();
  uint8_t before[512], after[512];
  smart(r, before);
  write_byte(r, 8, 9);
  fault_next(r, SIM_RESET, READ, 0);
  assert_true(do_io(r, READ, 8).missing);
  assert_int_equal(raw_sim_read32(r, 0x14) & 1, 0); /* CC.EN */
  assert_int_equal(raw_csts(&r->raw), 0);
  enable_again(r);
  assert_int_equal(read_byte(r, 8), 9);
  smart(r, after);
  assert_memory_equal(after + 112, before + 112, 48); /* power cycles to unsafe shutdowns */
  end(r);
  (void)state;
}

static void test_power_cut(void **state) {
  struct raw_sim *r = start();
  uint8_t before[512], after[512];
  smart(r, before);
  fault_next(r, SIM_POWER_CUT, READ, 0);
  assert_true(do_io(r, READ, 8).missing);
  assert_int_equal(raw_sim_read32(r, 0x14), 0);
  assert_int_equal(raw_csts(&r->raw), 0);
  enable_again(r);
  smart(r, after);
  assert_int_equal(spate_get64(after + 112), spate_get64(before + 112) + 1);
  assert_int_equal(spate_get64(after + 144), spate_get64(before + 144) + 1);
  end(r);
  (void)state;
}

static void test_link_drop(void **state) {
  struct raw_sim *r = start();
  enum spate_error error = SPATE_E_BUSY;
  write_byte(r, 8, 9);
  fault_next(r, SIM_LINK_DROP, READ, 200);
  const uint64_t start_ps = sim_now_ps(r->sim);
  assert_true(do_io(r, READ, 8).missing);
  assert_int_equal(raw_csts(&r->raw), UINT32_MAX);
  for (unsigned i = 0; i < 2000 && error == SPATE_E_BUSY; i++) {
    sim_idle(r->sim, SIM_PS_PER_MS);
    error = spate_pcie_restore(&r->host, r->device);
  }
  assert_int_equal(error, SPATE_OK);
  assert_true(sim_now_ps(r->sim) - start_ps >= 200 * SIM_PS_PER_MS);
  assert_int_equal(raw_csts(&r->raw), 0);
  enable_again(r);
  assert_int_equal(read_byte(r, 8), 9);
  end(r);
  (void)state;
}

static void test_gone(void **state) {
  struct raw_sim *r = start();
  fault_next(r, SIM_GONE, READ, 0);
  assert_true(do_io(r, READ, 8).missing);
  sim_spend(r->sim, 3600 * SIM_PS_PER_S);
  assert_int_equal(raw_csts(&r->raw), UINT32_MAX);
  end(r);
  (void)state;
}

static void test_silence(void **state) {
  struct raw_sim *r = start();
  fault_next(r, SIM_SILENCE, READ, 0);
  assert_true(do_io(r, READ, 8).missing);
  assert_int_equal(raw_csts(&r->raw), UINT32_MAX);
  sim_drive_silence(r->drive, false);
  enable_again(r);
  assert_false(do_io(r, READ, 8).missing);
  end(r);
  (void)state;
}

static void test_garbage(void **state) {
  struct raw_sim *r = start();
  const struct raw_command identify = {.opcode = IDENTIFY, .prp1 = raw_bus(&r->raw, BACK), .dword10 = 1};
  uint8_t first[RAW_PAGE];
  sim_drive_fault(r->drive, (struct sim_fault){.action = SIM_GARBAGE, .admin = true, .opcode = IDENTIFY, .count = 1});
  assert_int_equal(raw_do(&r->raw, 0, &identify).status, 0);
  assert_memory_not_equal(raw_at(&r->raw, BACK), sim_drive_identify_controller(r->drive), RAW_PAGE);
  assert_int_equal(raw_do(&r->raw, 0, &identify).status, 0);
  assert_memory_equal(raw_at(&r->raw, BACK), sim_drive_identify_controller(r->drive), RAW_PAGE);
  write_byte(r, 8, 4);
  sim_drive_fault(r->drive, (struct sim_fault){.action = SIM_GARBAGE, .opcode = READ, .count = 2});
  assert_int_equal(do_io(r, READ, 8).status, 0);
  memcpy(first, raw_at(&r->raw, BACK), RAW_PAGE);
  assert_int_equal(do_io(r, READ, 8).status, 0);
  assert_memory_not_equal(raw_at(&r->raw, BACK), first, RAW_PAGE);
  assert_int_equal(read_byte(r, 8), 4); /* the media is unchanged */
  end(r);
  (void)state;
}

static void test_phantom(void **state) {
  struct raw_sim *r = start();
  write_byte(r, 8, 4);
  fault_next(r, SIM_PHANTOM, WRITE, 0);
  write_byte(r, 8, 5);
  assert_int_equal(read_byte(r, 8), 4);
  memset(raw_at(&r->raw, BACK), 9, RAW_PAGE);
  fault_next(r, SIM_PHANTOM, READ, 0);
  assert_int_equal(do_io(r, READ, 8).status, 0);
  assert_int_equal(*(uint8_t *)raw_at(&r->raw, BACK), 9);
  end(r);
  (void)state;
}

static void test_elsewhere(void **state) {
  struct raw_sim *r = start();
  write_byte(r, 8, 4);
  write_byte(r, 16, 5);
  fault_next(r, SIM_ELSEWHERE, WRITE, 8);
  write_byte(r, 8, 6);
  assert_int_equal(read_byte(r, 8), 4);
  assert_int_equal(read_byte(r, 16), 6);
  end(r);
  (void)state;
}

static void test_hold(void **state) {
  struct raw_sim *r = start();
  static const uint16_t order[] = {1, 2, 3, 0, 4, 5};
  fault_next(r, SIM_HOLD, READ, 3);
  const uint16_t first = r->raw.next_id;
  for (unsigned i = 0; i < 6; i++) {
    const struct raw_command command = io(r, READ, BACK, 8 * i);
    (void)raw_put(&r->raw, 1, &command);
  }
  raw_ring(&r->raw, 1);
  for (unsigned i = 0; i < 6; i++)
    assert_int_equal(raw_take(&r->raw, 1).id, first + order[i]);
  end(r);
  (void)state;
}

/* Two commands that wait for the same three: both complete after them. */
static void test_hold_of_two(void **state) {
  struct raw_sim *r = start();
  uint16_t ids[5];
  unsigned seen = 0;
  sim_drive_fault(r->drive, (struct sim_fault){.action = SIM_HOLD, .opcode = READ, .count = 2, .value = 3});
  for (unsigned i = 0; i < 5; i++) {
    const struct raw_command command = io(r, READ, BACK, 8 * i);
    ids[i] = raw_put(&r->raw, 1, &command);
  }
  raw_ring(&r->raw, 1);
  for (unsigned i = 0; i < 5; i++) {
    const struct raw_completion c = raw_take(&r->raw, 1);
    assert_false(c.missing);
    for (unsigned j = 0; j < 5; j++)
      if (ids[j] == c.id) seen |= 1u << j;
    if (i < 3) assert_true(c.id != ids[0] && c.id != ids[1]);
  }
  assert_int_equal(seen, 31);
  end(r);
  (void)state;
}

/* The link returns on time: other faults do not keep it down. */
static void test_link_returns_despite_other_faults(void **state) {
  for (unsigned what = 0; what < 3; what++) {
    struct raw_sim *r = start();
    sim_drive_link_drop(r->drive, 10);
    sim_spend(r->sim, SIM_PS_PER_MS);
    if (what == 0) sim_drive_reset(r->drive);
    if (what == 1) sim_drive_power_cut(r->drive);
    if (what == 2) sim_drive_link_drop(r->drive, 20); /* the later return counts */
    sim_spend(r->sim, 8 * SIM_PS_PER_MS);
    assert_int_not_equal(spate_pcie_restore(&r->host, r->device), SPATE_OK);
    sim_spend(r->sim, 2 * SIM_PS_PER_MS);
    if (what == 2) {
      assert_int_not_equal(spate_pcie_restore(&r->host, r->device), SPATE_OK);
      sim_spend(r->sim, 10 * SIM_PS_PER_MS);
    }
    enum spate_error error = SPATE_E_BUSY;
    for (unsigned i = 0; i < 1000 && error == SPATE_E_BUSY; i++) {
      error = spate_pcie_restore(&r->host, r->device);
      sim_spend(r->sim, SIM_PS_PER_MS);
    }
    assert_int_equal(error, SPATE_OK);
    raw_sim_free(r);
  }
  (void)state;
}

/* Commands that wait in the front end when their queue is deleted are dropped, whatever faults are planted on them. */
static void test_queue_deleted_before_its_commands_began(void **state) {
  const struct sim_drive_options options = {.bytes = UINT64_C(64) << 20};
  struct sim_profile profile = *sim_profile_find("ideal");
  profile.command_ns = 5000;
  struct raw_sim *r = raw_sim_start(&profile, &options, 7);
  const struct raw_command delete = {.opcode = 0, .dword10 = 1}, read = io(r, READ, BACK, 8);
  sim_drive_fault(r->drive, (struct sim_fault){.action = SIM_DOUBLE, .opcode = READ, .count = 8});
  (void)raw_put(&r->raw, 0, &delete);
  for (unsigned i = 0; i < 4; i++)
    (void)raw_put(&r->raw, 1, &read);
  raw_ring(&r->raw, 0);
  raw_ring(&r->raw, 1);
  assert_int_equal(raw_take(&r->raw, 0).status, 0);
  sim_spend(r->sim, SIM_PS_PER_MS);
  for (unsigned i = 0; i < RAW_PAGE; i++)
    assert_int_equal(raw_at(&r->raw, 3)[i], 0);
  end(r);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_status),
      cmocka_unit_test(test_which_commands),
      cmocka_unit_test(test_lose),
      cmocka_unit_test(test_stall),
      cmocka_unit_test(test_double),
      cmocka_unit_test(test_double_later),
      cmocka_unit_test(test_late),
      cmocka_unit_test(test_wrong_completions),
      cmocka_unit_test(test_wrong_phase),
      cmocka_unit_test(test_fatal),
      cmocka_unit_test(test_reset),
      cmocka_unit_test(test_power_cut),
      cmocka_unit_test(test_link_drop),
      cmocka_unit_test(test_gone),
      cmocka_unit_test(test_silence),
      cmocka_unit_test(test_garbage),
      cmocka_unit_test(test_phantom),
      cmocka_unit_test(test_elsewhere),
      cmocka_unit_test(test_hold),
      cmocka_unit_test(test_hold_of_two),
      cmocka_unit_test(test_link_returns_despite_other_faults),
      cmocka_unit_test(test_queue_deleted_before_its_commands_began),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
