/* SPDX-License-Identifier: Apache-2.0 */
/* Resets beyond CC.EN, and a controller that none of them repairs: what the driver asks of the bus, and in which order.
 * A trace has a letter for each event: F, B, S: a reset was requested for the first time; r: restore; i: isolate; d: an
 * I/O request ended; a: an admin request ended. */
#include "nvme_link_drop.h"

#define CAP_SUBSYSTEM_RESET (UINT64_C(1) << 36)
#define NSSR                0x20

struct bus {
  struct fixture *f;
  enum spate_error answers[SPATE_NVME_RESETS]; /* to each reset */
  enum spate_error isolate_answer;
  bool reset_takes_it_away; /* off the bus: restore() brings it back */
  unsigned repaired_by;     /* one more than the reset that repairs it; 0: none does */
  uint64_t restore_ms;      /* how long restore() takes */
  uint64_t reset_at_us;
  uint64_t returns_ms;    /* after the reset that repairs it: does not answer for this time, and returns by itself */
  uint64_t returns_at_us; /* 0: it answers */
  unsigned asked[SPATE_NVME_RESETS];
  unsigned questions, down_from; /* calls of link_is_up; 0: never down */
  bool link_asked;               /* since a register was last accessed */
  unsigned unasked_resets;       /* of the subsystem, without that question */
  char trace[32];
};

static void note(struct bus *bus, char event) {
  const size_t length = strlen(bus->trace);

  assert_true(length + 1 < sizeof bus->trace);
  bus->trace[length] = event;
}

static enum spate_error reset(void *context, enum spate_nvme_reset how) {
  struct bus *bus = context;
  struct fixture *f = bus->f;

  if (bus->asked[how]++ == 0) note(bus, "FBS"[how]);
  if (bus->answers[how] != SPATE_OK) return bus->answers[how];
  bus->reset_at_us = now_us(f);
  if (bus->reset_takes_it_away || bus->returns_ms > 0) sim_drive_silence(f->drive, true);
  if (bus->repaired_by != how + 1u) return SPATE_OK;
  sim_drive_stick(f->drive, false, false, false);
  if (bus->returns_ms > 0) bus->returns_at_us = now_us(f) + bus->returns_ms * US_PER_MS;
  return SPATE_OK;
}

static enum spate_error restore(void *context) {
  struct bus *bus = context;

  if (now_us(bus->f) - bus->reset_at_us < bus->restore_ms * US_PER_MS) return SPATE_E_BUSY;
  note(bus, 'r');
  sim_drive_silence(bus->f->drive, false);
  return SPATE_OK;
}

static enum spate_error isolate(void *context) {
  struct bus *bus = context;

  note(bus, 'i');
  return bus->isolate_answer;
}

static bool is_up(void *context) {
  struct bus *bus = context;

  if (++bus->questions == bus->down_from) sim_drive_silence(bus->f->drive, true);
  bus->link_asked = true;
  return !sim_drive_is_silent(bus->f->drive) && spate_pcie_link_is_up(&bus->f->host, bus->f->pcie_bus.device);
}

/* An NVM subsystem reset also drops the link and the configuration: the machine's own function restores them. */
static enum spate_error restore_link(void *context) {
  const struct bus *bus = context;

  if (sim_drive_is_silent(bus->f->drive)) return SPATE_E_NO_DEVICE;
  return spate_pcie_restore(&bus->f->host, bus->f->pcie_bus.device);
}

static struct fixture *opened(struct bus *bus, struct spate_nvme_bus hooks) {
  struct fixture *f = fixture_make(9);
  bus->f = f;
  f->config.bus = hooks;
  f->config.bus.context = bus;
  fixture_open(f, 4);
  return f;
}

/* From now on the controller fails whenever it is enabled. */
static void break_drive(struct fixture *f) {
  sim_drive_stick(f->drive, false, false, true);
  sim_drive_fail(f->drive);
}

static void io_ended(struct spate_io *io) { note(io->context, 'd'); }

/* Break the drive during a FLUSH and record what happens. Returns how many ms it took. */
static uint64_t run(struct bus *bus, struct spate_io *io) {
  struct fixture *f = bus->f;
  const uint64_t start_us = now_us(f), end_us = start_us + 60 * US_PER_S;

  *io = (struct spate_io){.op = SPATE_FLUSH, .done = io_ended, .context = bus};
  assert_int_equal(spate_block_submit(&bus->f->queue.block, io), SPATE_OK);
  while (strchr(bus->trace, 'd') == NULL) {
    fixture_poll(f);
    assert_true(now_us(f) < end_us);
    if (bus->returns_at_us == 0 || now_us(f) < bus->returns_at_us) continue;
    bus->returns_at_us = 0;
    sim_drive_silence(f->drive, false);
  }
  return (now_us(f) - start_us) / US_PER_MS;
}

/* ---- the resets ---- */

static void test_the_subsystem_reset_comes_first(void **state) {
  struct bus bus = {0};
  struct fixture *f = fixture_make(9);
  struct spate_io io;
  bus.f = f;
  *sim_drive_cap(f->drive) |= CAP_SUBSYSTEM_RESET;
  f->config.bus = (struct spate_nvme_bus){.reset = reset, .restore = restore_link, .context = &bus};
  fixture_open(f, 4);
  sim_drive_break(f->drive, SIM_RESET_SUBSYSTEM);
  assert_in_range(run(&bus, &io), 0, 1000);
  assert_int_equal(io.error, SPATE_OK);
  assert_int_equal(sim_drive_counters(f->drive)->hard_resets[SIM_RESET_SUBSYSTEM], 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->hard_resets, 1);
  assert_string_equal(bus.trace, "d");
  fixture_free(f);
  (void)state;
}

/* Whenever the link goes down while a drive is reset and given up, no register is accessed from then on. The sweep ends
 * well behind the subsystem reset. */
static void test_no_reset_is_written_to_a_link_that_is_down(void **state) {
  unsigned from, reset_before = 0;
  for (from = 1; reset_before < 20; from++) {
    assert_in_range(from, 1, 2000);
    struct bus bus = {0};
    struct fixture *f = fixture_make(9);
    struct spate_io io;
    bus.f = f;
    *sim_drive_cap(f->drive) |= CAP_SUBSYSTEM_RESET;
    f->config.bus = (struct spate_nvme_bus){.link_is_up = is_up, .restore = restore_link, .context = &bus};
    struct touched touched = {.f = f};
    sim_trace(f->sim, count_touches, &touched);
    fixture_open(f, 4);
    break_drive(f);
    bus.down_from = bus.questions + from;
    (void)run(&bus, &io);
    if (io.error == SPATE_OK) fail_msg("a broken drive carried out a command");
    assert_int_equal(touched.writes, 0);
    assert_int_equal(touched.reads, 0);
    reset_before += sim_drive_counters(f->drive)->hard_resets[SIM_RESET_SUBSYSTEM];
    fixture_free(f);
  }
  assert_true(from > 40); /* most of it before the reset */
  (void)state;
}

/* For sim_trace(): each register access makes the last answer about the link stale. */
static void note_unasked_reset(void *context, const struct sim_access *access) {
  struct bus *bus = context;
  const uint64_t offset = access->address - bus->f->config.registers;

  if (access->kind > SIM_ACCESS_WRITE || offset >= bus->f->config.registers_bytes) return;
  bus->unasked_resets += access->kind == SIM_ACCESS_WRITE && offset == NSSR && !bus->link_asked;
  bus->link_asked = false;
}

/* The same if the cause is a failed command, whose completion needs no register access. */
static void test_the_link_is_asked_just_before_the_subsystem_is_reset(void **state) {
  struct bus bus = {0};
  struct fixture *f = fixture_make(9);
  struct spate_io io;
  bus.f = f;
  *sim_drive_cap(f->drive) |= CAP_SUBSYSTEM_RESET;
  f->config.bus = (struct spate_nvme_bus){.link_is_up = is_up, .restore = restore_link, .context = &bus};
  sim_trace(f->sim, note_unasked_reset, &bus);
  fixture_open(f, 4);
  sim_drive_fail(f->drive);
  fixture_fault(f, SIM_STATUS, true, 0x06, 0, 100, 0x4006); /* Identify */
  (void)run(&bus, &io);
  assert_int_equal(io.error, SPATE_E_COMMAND);
  assert_int_equal(sim_drive_counters(f->drive)->hard_resets[SIM_RESET_SUBSYSTEM], 1);
  assert_int_equal(bus.unasked_resets, 0);
  fixture_free(f);
  (void)state;
}

static void test_a_reset_is_asked_for_once_in_a_millisecond(void **state) {
  struct bus bus = {.answers = {SPATE_E_BUSY, SPATE_E_BUSY, SPATE_E_BUSY}};
  struct fixture *f = opened(&bus, (struct spate_nvme_bus){.reset = reset});
  struct spate_io io;
  fixture_tick(f, 0);
  break_drive(f);
  assert_in_range(run(&bus, &io), 6000, 6600);
  assert_string_equal(bus.trace, "FBSd");
  for (unsigned i = 0; i < SPATE_NVME_RESETS; i++)
    assert_in_range(bus.asked[i], 1800, 2001);
  assert_int_equal(io.error, SPATE_E_FATAL);
  fixture_free(f);
  (void)state;
}

static void test_an_unsupported_reset_is_requested_once(void **state) {
  struct bus bus = {.answers = {SPATE_E_UNSUPPORTED, SPATE_E_NO_DEVICE, SPATE_E_TIMEOUT}};
  struct fixture *f = opened(&bus, (struct spate_nvme_bus){.reset = reset});
  struct spate_io io;
  break_drive(f);
  assert_in_range(run(&bus, &io), 0, 500);
  assert_string_equal(bus.trace, "FBSd");
  for (unsigned i = 0; i < SPATE_NVME_RESETS; i++)
    assert_int_equal(bus.asked[i], 1);
  assert_int_equal(io.error, SPATE_E_FATAL);
  assert_int_equal(spate_nvme_counters(&f->nvme)->hard_resets, 0);
  fixture_free(f);
  (void)state;
}

/* A reset clears the configuration: until it is restored no register is accessed. */
static void test_registers_are_not_accessed_until_restored(void **state) {
  struct bus bus = {.reset_takes_it_away = true, .repaired_by = SPATE_NVME_RESET_BUS + 1u};
  struct fixture *f = opened(&bus, (struct spate_nvme_bus){.reset = reset, .restore = restore});
  struct touched touched = {.f = f};
  struct spate_io io;
  sim_trace(f->sim, count_touches, &touched);
  break_drive(f);
  (void)run(&bus, &io);
  assert_int_equal(io.error, SPATE_OK);
  assert_string_equal(bus.trace, "FrBrd");
  assert_int_equal(touched.reads, 0);
  assert_int_equal(touched.writes, 0);
  fixture_free(f);
  (void)state;
}

/* Each reset begins a link drop that has its whole timeout. */
static void test_each_reset_begins_a_link_drop(void **state) {
  struct bus bus = {.reset_takes_it_away = true, .restore_ms = 700, .repaired_by = SPATE_NVME_RESET_SLOT + 1u};
  struct fixture *f = fixture_make(9);
  struct spate_io io;
  bus.f = f;
  f->config.bus = (struct spate_nvme_bus){.reset = reset, .restore = restore, .context = &bus};
  f->config.reattach_timeout_ms = 1000;
  fixture_open(f, 4);
  break_drive(f);
  assert_in_range(run(&bus, &io), 2100, 3000);
  assert_int_equal(io.error, SPATE_OK);
  assert_string_equal(bus.trace, "FrBrSrd");
  fixture_free(f);
  (void)state;
}

/* There is no restore(): after each reset the drive has half a second to come back. */
static void test_each_reset_has_its_own_half_second(void **state) {
  struct bus bus = {.repaired_by = SPATE_NVME_RESET_BUS + 1u, .returns_ms = 300};
  struct fixture *f = opened(&bus, (struct spate_nvme_bus){.reset = reset});
  struct spate_io io;
  break_drive(f);
  assert_in_range(run(&bus, &io), 800, 1300);
  assert_int_equal(io.error, SPATE_OK);
  assert_string_equal(bus.trace, "FBd");
  fixture_free(f);
  (void)state;
}

/* ---- giving up ---- */

static void admin_ended(struct spate_nvme_admin_request *request) { note(request->context, 'a'); }

static struct spate_nvme_admin_request get_feature(struct bus *bus) {
  return (struct spate_nvme_admin_request){
      .opcode = 0x0a, .dwords_10_15 = {2}, .timeout_ms = 60000, .done = admin_ended, .context = bus};
}

/* A drive that does not stop, or does not answer, is cut off from memory before any buffer returns to its caller. */
static void test_a_drive_is_isolated_before_any_request_ends(void **state) {
  for (unsigned silent = 0; silent < 2; silent++) {
    struct bus bus = {0};
    struct fixture *f = opened(&bus, (struct spate_nvme_bus){.isolate = isolate});
    struct spate_nvme_admin_request request = get_feature(&bus);
    struct spate_io io;
    fixture_fault(f, SIM_LOSE, true, 0x0a, 0, 1, 0);
    assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
    spend_us(f, US_PER_MS); /* the drive has fetched it */
    sim_drive_stick(f->drive, false, true, false);
    sim_drive_fail(f->drive);
    sim_drive_silence(f->drive, silent == 1);
    (void)run(&bus, &io);
    assert_string_equal(bus.trace, "iad");
    assert_int_equal(request.error, silent ? SPATE_E_GONE : SPATE_E_TIMEOUT);
    assert_int_equal(io.error, request.error);
    assert_int_equal(request.detail, 0);
    assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), io.error);
    fixture_free(f);
  }
  (void)state;
}

/* CC.EN cannot be cleared: CSTS.RDY = 0 alone does not show that the controller has stopped. */
static void test_a_controller_whose_enable_bit_is_stuck(void **state) {
  static const struct {
    bool has_isolate;
    enum spate_error answer, error;
    const char *trace;
  } cases[] = {{false, SPATE_OK, SPATE_E_NOT_STOPPED, ""},
               {true, SPATE_E_NO_DEVICE, SPATE_E_NOT_STOPPED, "i"},
               {true, SPATE_OK, SPATE_E_TIMEOUT, "i"}};
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct bus bus = {.isolate_answer = cases[i].answer};
    struct fixture *f = opened(&bus, (struct spate_nvme_bus){.isolate = cases[i].has_isolate ? isolate : NULL});
    const uint64_t start = now_us(f);
    sim_drive_ignore_control(f->drive);
    assert_int_equal(spate_nvme_shutdown(&f->nvme), cases[i].error);
    /* CC.SHN is not there: three recoveries, and the halt; CAP.TO and its slack to stop each time */
    assert_in_range((now_us(f) - start) / 1000, 10000, 16000);
    assert_string_equal(bus.trace, cases[i].trace);
    assert_int_equal(f->nvme.state, SPATE_NVME_DEAD);
    fixture_free(f);
  }
  (void)state;
}

/* CC.EN is cleared once, and the pause that some drives need after it is made once. */
static void test_a_drive_that_needs_a_pause_is_not_paused_again(void **state) {
  struct bus bus = {0};
  struct fixture *f =
      opened(&bus, (struct spate_nvme_bus){.isolate = isolate, .vendor_id = 0x144d, .device_id = 0xa821});
  struct spate_io io;
  sim_drive_stick(f->drive, false, true, false);
  sim_drive_fail(f->drive);
  assert_in_range(run(&bus, &io), 12000, 13500); /* the pause, and four times CAP.TO and its slack: 2300 + 4 × 2500 */
  assert_string_equal(bus.trace, "id");
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_subsystem_reset_comes_first),
      cmocka_unit_test(test_no_reset_is_written_to_a_link_that_is_down),
      cmocka_unit_test(test_the_link_is_asked_just_before_the_subsystem_is_reset),
      cmocka_unit_test(test_a_reset_is_asked_for_once_in_a_millisecond),
      cmocka_unit_test(test_an_unsupported_reset_is_requested_once),
      cmocka_unit_test(test_registers_are_not_accessed_until_restored),
      cmocka_unit_test(test_each_reset_begins_a_link_drop),
      cmocka_unit_test(test_each_reset_has_its_own_half_second),
      cmocka_unit_test(test_a_drive_is_isolated_before_any_request_ends),
      cmocka_unit_test(test_a_controller_whose_enable_bit_is_stuck),
      cmocka_unit_test(test_a_drive_that_needs_a_pause_is_not_paused_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
