/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives that need more than the specification asks for (src/nvme/quirks.def), and what the driver finds out by itself.
 * Each row is seen on the bus: the same drive with the identifiers of another one gets other commands, and in some
 * cases does not work.
 */
#include "nvme_fixture.h"

#define CREATE_SQ    0x01
#define WRITE_ZEROES 0x08
#define TRIM         0x09
#define CC           0x14u
#define CSTS         0x1cu
#define NSZE         0u
#define EUI64        120u
#define PRIORITY     (3u << 1) /* in dword 11 of Create I/O Submission Queue */
#define MEDIUM       (2u << 1)
#define MQES         UINT64_C(0xffff)

/* P pause, Z no Write Zeroes, I no identifiers, M medium priority, Q deeper queues, F stopped before a function level
 * reset. The last ones have no row. */
static const struct drive {
  uint16_t vendor_id, device_id;
  const char *needs;
} drives[] = {
    {0x10ec, 0x5762, "I"},  {0x10ec, 0x5763, "I"},  {0x10ec, 0x5765, "I"},
    {0x126f, 0x2262, "I"},  {0x126f, 0x2263, "I"},  {0x1344, 0x6001, "I"},
    {0x144d, 0xa802, "IF"}, {0x144d, 0xa804, "F"},  {0x144d, 0xa809, "Z"},
    {0x144d, 0xa80b, "ZI"}, {0x144d, 0xa821, "PQ"}, {0x144d, 0xa822, "PQZ"},
    {0x15b7, 0x2001, "Z"},  {0x1987, 0x5012, "I"},  {0x1987, 0x5016, "I"},
    {0x1987, 0x5019, "Z"},  {0x1987, 0x5021, "Z"},  {0x1bb1, 0x0100, "P"},
    {0x1c58, 0x0003, "P"},  {0x1c58, 0x0023, "P"},  {0x1c5c, 0x1504, "Z"},
    {0x1c5c, 0x174a, "I"},  {0x1c5c, 0x1d59, "Z"},  {0x1c5f, 0x0540, "P"},
    {0x1cc1, 0x33f8, "I"},  {0x1cc1, 0x5350, "I"},  {0x1cc4, 0x6302, "Z"},
    {0x1cc4, 0x6303, "Z"},  {0x1d97, 0x1d97, "I"},  {0x1d97, 0x2263, "ZI"},
    {0x1d97, 0x2269, "I"},  {0x1dbe, 0x5216, "I"},  {0x1dbe, 0x5236, "I"},
    {0x1e4b, 0x1001, "I"},  {0x1e4b, 0x1002, "I"},  {0x1e4b, 0x1202, "I"},
    {0x1e4b, 0x1602, "I"},  {0x1f40, 0x1202, "I"},  {0x1f40, 0x5236, "I"},
    {0x2646, 0x5016, "Z"},  {0x2646, 0x5018, "Z"},  {0x2646, 0x501a, "Z"},
    {0x2646, 0x501b, "Z"},  {0x2646, 0x501e, "Z"},  {0x2646, 0x502f, "Z"},
    {0x8086, 0x0a54, "I"},  {0x8086, 0xf1a5, "MZ"}, {0xc0a9, 0x540a, "I"},
    {0x144d, 0xa808, ""},   {0x1c5f, 0x0003, ""},   {0, 0, ""},
};
#define DRIVES (sizeof drives / sizeof drives[0])

static bool needs(const struct drive *drive, char what) { return strchr(drive->needs, what) != NULL; }

static struct fixture *made(const struct drive *drive) {
  struct fixture *f = fixture_make(9);

  f->config.bus.vendor_id = drive->vendor_id;
  f->config.bus.device_id = drive->device_id;
  return f;
}

/* ---- the rows ---- */

/* The time from the last clearing of CC.EN to the next read of CSTS. */
struct pause {
  const struct fixture *f;
  uint64_t cleared_us; /* 0: CSTS was read since */
  uint64_t us;
};

static void time_pause(void *context, const struct sim_access *access) {
  struct pause *pause = context;
  const uint64_t offset = access->address - pause->f->config.registers, us = access->at_ps / SIM_PS_PER_US;

  if (access->kind == SIM_ACCESS_WRITE && offset == CC && (spate_get32(access->data) & 1u) == 0) pause->cleared_us = us;
  if (access->kind != SIM_ACCESS_READ || offset != CSTS || pause->cleared_us == 0) return;
  pause->us = us - pause->cleared_us;
  pause->cleared_us = 0;
}

/* Some drives must not be accessed for a while after CC.EN was cleared: in recovery and at the end. CAP.TO counts from
 * the end of this pause. */
static void test_pause(void **state) {
  for (unsigned i = 0; i < DRIVES; i++) {
    struct fixture *f = made(&drives[i]);
    struct pause pause = {.f = f};
    struct outcome outcome;
    const uint64_t least = needs(&drives[i], 'P') ? 2300000 : 0, most = least + 200000;
    sim_trace(f->sim, time_pause, &pause);
    fixture_open(f, 4);
    sim_drive_fail(f->drive);
    assert_int_equal(fixture_submit(f, &outcome, (struct spate_io){.op = SPATE_FLUSH}), SPATE_OK);
    assert_true(fixture_wait(f, &outcome, 10000));
    assert_int_equal(outcome.io.error, SPATE_OK);
    assert_in_range(pause.us, least, most);
    pause.us = UINT64_MAX;
    sim_drive_stick(f->drive, true, false, false);
    sim_drive_fail(f->drive);
    assert_int_equal(fixture_submit(f, &outcome, (struct spate_io){.op = SPATE_FLUSH}), SPATE_OK);
    assert_true(fixture_wait(f, &outcome, 200000));
    assert_in_range(pause.us, least, most);
    fixture_free(f);
  }
  (void)state;
}

static void test_no_write_zeroes(void **state) {
  for (unsigned i = 0; i < DRIVES; i++) {
    const bool without = needs(&drives[i], 'Z');
    struct fixture *f = made(&drives[i]);
    fixture_open(f, 4);
    assert_int_equal(f->queue.block.can_zero, !without);
    assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_ZERO, .blocks = 8}, NULL),
                     without ? SPATE_E_UNSUPPORTED : SPATE_OK);
    assert_int_equal(sim_drive_counters(f->drive)->io[WRITE_ZEROES], without ? 0 : 1);
    fixture_free(f);
  }
  (void)state;
}

/* EUI64 changes over a reset. A namespace of another size is another drive's in any case. */
static void test_no_identifiers(void **state) {
  for (unsigned i = 0; i < DRIVES; i++) {
    for (unsigned resized = 0; resized < 2; resized++) {
      struct fixture *f = made(&drives[i]);
      fixture_open(f, 4);
      namespace_page(f)[resized ? NSZE : EUI64] ^= 1;
      sim_drive_fail(f->drive);
      assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL),
                       needs(&drives[i], 'I') && !resized ? SPATE_OK : SPATE_E_GONE);
      fixture_free(f);
    }
  }
  (void)state;
}

static void test_medium_priority(void **state) {
  for (unsigned i = 0; i < DRIVES; i++) {
    struct fixture *f = made(&drives[i]);
    fixture_open(f, 4);
    assert_int_equal(last_admin(f, CREATE_SQ)->dwords[11] & PRIORITY, needs(&drives[i], 'M') ? MEDIUM : 0);
    fixture_free(f);
  }
  (void)state;
}

static void test_deeper_queues(void **state) {
  for (unsigned i = 0; i < DRIVES; i++) {
    struct fixture *f = made(&drives[i]);
    *sim_drive_cap(f->drive) &= ~MQES;
    if (needs(&drives[i], 'Q')) {
      fixture_open(f, 32);
      assert_int_equal(f->queue.block.depth, 32);
      assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
    } else {
      assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_UNSUPPORTED);
    }
    fixture_free(f);
  }
  (void)state;
}

struct resets {
  const struct fixture *f;
  unsigned asked[SPATE_NVME_RESETS];
  bool enabled; /* CC.EN at the function level reset */
};

static enum spate_error note_reset(void *context, enum spate_nvme_reset how) {
  struct resets *resets = context;

  resets->asked[how]++;
  if (how == SPATE_NVME_RESET_FUNCTION)
    resets->enabled = (spate_port_read32(resets->f->config.registers + CC) & 1u) != 0;
  return SPATE_E_UNSUPPORTED;
}

/* A controller that cannot be disabled gets the next harder reset. One that can gets the function level reset. */
static void test_stopped_before_a_function_level_reset(void **state) {
  for (unsigned i = 0; i < DRIVES; i++) {
    for (unsigned stuck = 0; stuck < 2; stuck++) {
      struct fixture *f = made(&drives[i]);
      struct resets resets = {.f = f};
      f->config.bus.reset = note_reset;
      f->config.bus.context = &resets;
      fixture_open(f, 4);
      sim_drive_stick(f->drive, true, false, false);
      if (stuck) sim_drive_ignore_control(f->drive);
      sim_drive_fail(f->drive);
      assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), stuck ? SPATE_E_NOT_STOPPED : SPATE_E_TIMEOUT);
      assert_int_equal(resets.asked[SPATE_NVME_RESET_FUNCTION], stuck && needs(&drives[i], 'F') ? 0 : 1);
      assert_int_equal(resets.asked[SPATE_NVME_RESET_BUS], 1);
      assert_false(resets.enabled && needs(&drives[i], 'F'));
      fixture_free(f);
    }
  }
  (void)state;
}

struct watch {
  const struct fixture *f;
  uint64_t last_us;  /* of the access before */
  uint64_t reset_us; /* of the access that reset it; 0: not yet */
  unsigned early;    /* reads of registers within 250 ms of the reset */
};

static void watch_reads(void *context, const struct sim_access *access) {
  struct watch *watch = context;
  const uint64_t offset = access->address - watch->f->config.registers, us = access->at_ps / SIM_PS_PER_US;

  if (watch->reset_us == 0 && sim_drive_counters(watch->f->drive)->hard_resets[SIM_RESET_FUNCTION] > 0)
    watch->reset_us = watch->last_us;
  watch->last_us = us;
  watch->early += watch->reset_us != 0 && us - watch->reset_us < 250000 && access->kind == SIM_ACCESS_READ &&
                  offset < watch->f->config.registers_bytes;
}

/* With the functions for PCI Express the function level reset takes its time, and nothing is read meanwhile. */
static void test_the_function_level_reset_is_completed(void **state) {
  for (unsigned i = 0; i < DRIVES; i++) {
    struct fixture *f = made(&drives[i]);
    struct watch watch = {.f = f};
    f->config.bus = spate_nvme_pcie_bus(&f->pcie_bus);
    f->config.bus.vendor_id = drives[i].vendor_id;
    f->config.bus.device_id = drives[i].device_id;
    fixture_open(f, 4);
    sim_trace(f->sim, watch_reads, &watch);
    sim_drive_break(f->drive, SIM_RESET_FUNCTION);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
    assert_int_equal(sim_drive_counters(f->drive)->hard_resets[SIM_RESET_FUNCTION], 1);
    assert_int_equal(sim_drive_counters(f->drive)->hard_resets[SIM_RESET_BUS], 0);
    assert_true(watch.reset_us != 0);
    assert_int_equal(watch.early, 0);
    fixture_free(f);
  }
  (void)state;
}

/* ---- what the driver finds out ---- */

static bool can(const struct spate_nvme_queue *queue, uint8_t op) {
  return op == SPATE_ZERO ? queue->block.can_zero : queue->block.can_trim;
}

/* Write Zeroes or TRIM hangs. All that were submitted end when the first has timed out twice, and no other is sent, on
 * any queue and after any reset. Everything else continues. */
static void test_an_optional_command_that_hangs(void **state) {
  static const enum sim_action actions[] = {SIM_STALL, SIM_LOSE, SIM_LATE}; /* an abort ends it; a reset; neither */
  static const struct { uint8_t op, opcode; } ops[] = {{SPATE_ZERO, WRITE_ZEROES}, {SPATE_TRIM, TRIM}};
  for (unsigned i = 0; i < 6; i++) {
    const struct spate_io io = {.op = ops[i % 2].op, .blocks = 8};
    struct fixture *f = fixture_make(9);
    struct outcome outcomes[3], other;
    fixture_open_two(f, 4);
    fixture_fault(f, actions[i / 2], false, ops[i % 2].opcode, 0, UINT32_MAX, 12000);
    for (unsigned j = 0; j < 3; j++)
      assert_int_equal(fixture_submit(f, &outcomes[j], io), SPATE_OK);
    for (unsigned j = 0; j < 3; j++) {
      assert_true(fixture_wait(f, &outcomes[j], j == 0 ? 24000 : 2500));
      if (actions[i / 2] != SIM_LATE || j != 0) assert_int_equal(outcomes[j].io.error, SPATE_E_UNSUPPORTED);
    }
    assert_false(can(&f->queue, io.op));
    assert_false(can(&f->second, io.op));
    sim_drive_fail(f->drive);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
    const uint64_t sent = sim_drive_counters(f->drive)->io[ops[i % 2].opcode];
    assert_int_equal(fixture_submit(f, &other, io), SPATE_E_UNSUPPORTED);
    assert_int_equal(fixture_submit_to(&f->second, &other, io), SPATE_E_UNSUPPORTED);
    assert_in_range(sent, 2, io.op == SPATE_TRIM ? 2 : 6); /* one TRIM at a time */
    fixture_free(f);
  }
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pause),
      cmocka_unit_test(test_no_write_zeroes),
      cmocka_unit_test(test_no_identifiers),
      cmocka_unit_test(test_medium_priority),
      cmocka_unit_test(test_deeper_queues),
      cmocka_unit_test(test_stopped_before_a_function_level_reset),
      cmocka_unit_test(test_the_function_level_reset_is_completed),
      cmocka_unit_test(test_an_optional_command_that_hangs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
