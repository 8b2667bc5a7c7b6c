/* SPDX-License-Identifier: Apache-2.0 */
/* Resets beyond CC.EN, and the end of a controller that none of them mends: what the bus is asked for, and in which
 * order. A trace has a letter for each event: F, B, S: a reset was asked for the first time; r: restore; i: isolate;
 * d: an I/O request ended; a: an admin request ended. */
#include "nvme_fixture.h"

#define CAP_SUBSYSTEM_RESET (UINT64_C(1) << 36)

struct bus {
  struct fixture *f;
  enum spate_error answers[SPATE_NVME_RESETS]; /* to each reset */
  enum spate_error isolate_answer;
  bool reset_takes_it_away; /* from the bus: restore() brings it back */
  unsigned mended_by;       /* one more than the reset that mends it; 0: none does */
  uint64_t restore_ms;      /* and needs so long for it */
  uint64_t reset_at_ticks;
  uint64_t returns_ms;       /* after that one it is silent for so long, and comes back by itself */
  uint64_t returns_at_ticks; /* 0: not silent */
  unsigned asked[SPATE_NVME_RESETS];
  unsigned questions, down_from; /* of the link; 0: never down */
  char trace[32];
};

static void note(struct bus *bus, char event) {
  const size_t length = strlen(bus->trace);

  assert_true(length + 1 < sizeof bus->trace);
  bus->trace[length] = event;
}

static enum spate_error reset(void *context, enum spate_nvme_reset how) {
  struct bus *bus = context;
  struct fake_nvme *drive = &bus->f->drive;

  if (bus->asked[how]++ == 0) note(bus, "FBS"[how]);
  if (bus->answers[how] != SPATE_OK) return bus->answers[how];
  bus->reset_at_ticks = drive->ticks;
  if (bus->reset_takes_it_away || bus->returns_ms > 0) drive->gone = true;
  if (bus->mended_by != how + 1u) return SPATE_OK;
  drive->fatal_on_enable = false;
  if (bus->returns_ms > 0) bus->returns_at_ticks = drive->ticks + bus->returns_ms * 1000u;
  return SPATE_OK;
}

static enum spate_error restore(void *context) {
  struct bus *bus = context;

  if (bus->f->drive.ticks - bus->reset_at_ticks < bus->restore_ms * 1000) return SPATE_E_BUSY;
  note(bus, 'r');
  fake_nvme_return(&bus->f->drive);
  return SPATE_OK;
}

static enum spate_error isolate(void *context) {
  struct bus *bus = context;

  note(bus, 'i');
  return bus->isolate_answer;
}

static bool is_up(void *context) {
  struct bus *bus = context;

  if (++bus->questions == bus->down_from) bus->f->drive.gone = true;
  bus->f->drive.link_asked = true;
  return !bus->f->drive.gone;
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
  f->drive.fatal_on_enable = true;
  f->drive.csts |= 2;
}

static void io_ended(struct spate_io *io) { note(io->context, 'd'); }

/* Break the drive under a FLUSH and see what becomes of that. Returns how many ms it took. */
static uint64_t run(struct bus *bus, struct spate_io *io) {
  struct fake_nvme *drive = &bus->f->drive;
  const uint64_t start = drive->ticks, end = start + 60 * FAKE_TICKS_PER_SECOND;

  *io = (struct spate_io){.op = SPATE_FLUSH, .done = io_ended, .context = bus};
  assert_int_equal(spate_block_submit(&bus->f->queue.block, io), SPATE_OK);
  while (strchr(bus->trace, 'd') == NULL) {
    fixture_poll(bus->f);
    assert_true(drive->ticks < end);
    if (bus->returns_at_ticks == 0 || drive->ticks < bus->returns_at_ticks) continue;
    bus->returns_at_ticks = 0;
    fake_nvme_return(drive);
  }
  return (drive->ticks - start) / 1000;
}

/* ---- the resets ---- */

static void test_the_subsystem_reset_comes_first(void **state) {
  struct bus bus = {0};
  struct fixture *f = fixture_make(9);
  struct spate_io io;
  bus.f = f;
  f->drive.cap |= CAP_SUBSYSTEM_RESET;
  f->drive.subsystem_reset_mends = true;
  f->config.bus = (struct spate_nvme_bus){.reset = reset, .context = &bus};
  fixture_open(f, 4);
  break_drive(f);
  assert_in_range(run(&bus, &io), 0, 1000);
  assert_int_equal(io.error, SPATE_OK);
  assert_int_equal(f->drive.subsystem_resets, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->hard_resets, 1);
  assert_string_equal(bus.trace, "d");
  fixture_free(f);
  (void)state;
}

/* Whenever the link goes down while a drive is reset and given up, from then on no register is touched. */
static void test_no_reset_is_written_to_a_link_that_is_down(void **state) {
  unsigned questions = 60, reset_before = 0;
  for (unsigned from = 1; from <= questions; from++) {
    struct bus bus = {0};
    struct fixture *f = fixture_make(9);
    struct spate_io io;
    bus.f = f;
    f->drive.cap |= CAP_SUBSYSTEM_RESET;
    f->config.bus = (struct spate_nvme_bus){.link_is_up = is_up, .context = &bus};
    fixture_open(f, 4);
    break_drive(f);
    bus.down_from = bus.questions + from;
    (void)run(&bus, &io);
    if (io.error == SPATE_OK) fail_msg("a broken drive carried out a command");
    assert_int_equal(f->drive.writes_gone, 0);
    assert_int_equal(f->drive.reads_gone, 0);
    reset_before += f->drive.subsystem_resets;
    fixture_free(f);
  }
  assert_in_range(reset_before, 1, questions - 1u); /* the sweep has both */
  (void)state;
}

/* Also when what failed is a command, whose answer needs no register. */
static void test_the_link_is_asked_just_before_the_subsystem_is_reset(void **state) {
  struct bus bus = {0};
  struct fixture *f = fixture_make(9);
  struct spate_io io;
  bus.f = f;
  f->drive.cap |= CAP_SUBSYSTEM_RESET;
  f->config.bus = (struct spate_nvme_bus){.link_is_up = is_up, .context = &bus};
  fixture_open(f, 4);
  f->drive.csts |= 2;
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_STATUS, true, 0x06, 0, 100, 0x4006}); /* Identify */
  (void)run(&bus, &io);
  assert_int_equal(io.error, SPATE_E_COMMAND);
  assert_int_equal(f->drive.subsystem_resets, 1);
  assert_int_equal(f->drive.unasked_resets, 0);
  fixture_free(f);
  (void)state;
}

static void test_a_reset_is_asked_for_once_in_a_millisecond(void **state) {
  struct bus bus = {.answers = {SPATE_E_BUSY, SPATE_E_BUSY, SPATE_E_BUSY}};
  struct fixture *f = opened(&bus, (struct spate_nvme_bus){.reset = reset});
  struct spate_io io;
  break_drive(f);
  assert_in_range(run(&bus, &io), 6000, 6600);
  assert_string_equal(bus.trace, "FBSd");
  for (unsigned i = 0; i < SPATE_NVME_RESETS; i++)
    assert_in_range(bus.asked[i], 1800, 2001);
  assert_int_equal(io.error, SPATE_E_FATAL);
  fixture_free(f);
  (void)state;
}

static void test_a_reset_that_there_is_not_is_asked_for_once(void **state) {
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

/* A reset takes the configuration away: until it is restored no register is touched. */
static void test_what_was_reset_is_restored_before_it_is_touched(void **state) {
  struct bus bus = {.reset_takes_it_away = true, .mended_by = SPATE_NVME_RESET_BUS + 1u};
  struct fixture *f = opened(&bus, (struct spate_nvme_bus){.reset = reset, .restore = restore});
  struct spate_io io;
  break_drive(f);
  (void)run(&bus, &io);
  assert_int_equal(io.error, SPATE_OK);
  assert_string_equal(bus.trace, "FrBrd");
  assert_int_equal(f->drive.reads_gone, 0);
  assert_int_equal(f->drive.writes_gone, 0);
  fixture_free(f);
  (void)state;
}

/* Each reset begins an absence, with all its time. */
static void test_each_reset_begins_an_absence(void **state) {
  struct bus bus = {.reset_takes_it_away = true, .restore_ms = 700, .mended_by = SPATE_NVME_RESET_SLOT + 1u};
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

/* Nobody restores it: after each reset it has half a second of its own to come back. */
static void test_each_reset_has_its_own_half_second(void **state) {
  struct bus bus = {.mended_by = SPATE_NVME_RESET_BUS + 1u, .returns_ms = 300};
  struct fixture *f = opened(&bus, (struct spate_nvme_bus){.reset = reset});
  struct spate_io io;
  break_drive(f);
  assert_in_range(run(&bus, &io), 800, 1300);
  assert_int_equal(io.error, SPATE_OK);
  assert_string_equal(bus.trace, "FBd");
  fixture_free(f);
  (void)state;
}

/* ---- the end ---- */

static void admin_ended(struct spate_nvme_admin_request *request) { note(request->context, 'a'); }

static struct spate_nvme_admin_request get_feature(struct bus *bus) {
  return (struct spate_nvme_admin_request){
      .opcode = 0x0a, .dwords_10_15 = {2}, .timeout_ms = 60000, .done = admin_ended, .context = bus};
}

/* A drive that does not stop, or that is silent, is kept from memory before any buffer is the caller's again. */
static void test_it_is_isolated_before_any_request_ends(void **state) {
  for (unsigned silent = 0; silent < 2; silent++) {
    struct bus bus = {0};
    struct fixture *f = opened(&bus, (struct spate_nvme_bus){.isolate = isolate});
    struct spate_nvme_admin_request request = get_feature(&bus);
    struct spate_io io;
    fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_LOSE, true, 0x0a, 0, 1, 0});
    assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
    f->drive.never_disabled = true;
    f->drive.csts |= 2;
    f->drive.gone = silent == 1;
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

/* CC.EN does not fall: CSTS.RDY = 0 alone does not say that the controller has stopped. */
static void test_a_controller_that_cannot_be_told_to_stop(void **state) {
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
    const uint64_t start = f->drive.ticks;
    f->drive.ignores_control = f->drive.never_ready = true;
    assert_int_equal(spate_nvme_shutdown(&f->nvme), cases[i].error);
    assert_in_range((f->drive.ticks - start) / 1000, 12000, 13000); /* the shutdown's 10 s, CAP.TO and its slack */
    assert_string_equal(bus.trace, cases[i].trace);
    assert_int_equal(f->nvme.state, SPATE_NVME_DEAD);
    fixture_free(f);
  }
  (void)state;
}

/* CC.EN is cleared once, and the pause that some drives need then is made once. */
static void test_a_drive_that_needs_a_pause_is_not_paused_again(void **state) {
  struct bus bus = {0};
  struct fixture *f =
      opened(&bus, (struct spate_nvme_bus){.isolate = isolate, .vendor_id = 0x144d, .device_id = 0xa821});
  struct spate_io io;
  f->drive.never_disabled = true;
  f->drive.csts |= 2;
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
      cmocka_unit_test(test_a_reset_that_there_is_not_is_asked_for_once),
      cmocka_unit_test(test_what_was_reset_is_restored_before_it_is_touched),
      cmocka_unit_test(test_each_reset_begins_an_absence),
      cmocka_unit_test(test_each_reset_has_its_own_half_second),
      cmocka_unit_test(test_it_is_isolated_before_any_request_ends),
      cmocka_unit_test(test_a_controller_that_cannot_be_told_to_stop),
      cmocka_unit_test(test_a_drive_that_needs_a_pause_is_not_paused_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
