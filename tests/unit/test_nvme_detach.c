/* SPDX-License-Identifier: Apache-2.0 */
/* A drive that falls off the bus, and somebody who brings it back. */
#include "nvme_fixture.h"
#include <spate/bytes.h>

#define REQUESTS 64u
#define BLOCKS   16u

/* Whoever brings the drive back, and how. */
struct helper {
  struct fixture *f;
  uint64_t back_ticks;    /* from then on the drive can be had again */
  uint64_t delay_ticks;   /* how long that takes, from the first call on; 0: it is there at once */
  bool hasty;             /* the answer is OK from the first call on */
  enum spate_error error; /* the answer instead, if not OK */
  unsigned calls;
};

static enum spate_error bring_back(void *context) {
  struct helper *helper = context;
  struct fake_nvme *drive = &helper->f->drive;

  helper->calls++;
  if (helper->error != SPATE_OK) return helper->error;
  if (helper->back_ticks == 0) helper->back_ticks = drive->ticks + helper->delay_ticks;
  if (drive->ticks < helper->back_ticks) return helper->hasty ? SPATE_OK : SPATE_E_BUSY;
  helper->back_ticks = 0;
  fake_nvme_return(drive);
  return SPATE_OK;
}

static struct fixture *prepared(struct helper *helper) {
  struct fixture *f = fixture_make(9);
  helper->f = f;
  f->config.bus = (struct spate_nvme_bus){.restore = bring_back, .context = helper};
  fill_pattern(f->ring_memory, REQUESTS * BLOCKS * 512, 5);
  return f;
}

static struct spate_io write_number(const struct fixture *f, unsigned i) {
  return (struct spate_io){
      .op = SPATE_WRITE, .lba = BLOCKS * i, .blocks = BLOCKS, .region = &f->ring, .offset_bytes = BLOCKS * 512 * i};
}

static void go_at(struct fixture *f, bool admin, int opcode, unsigned skip) {
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_GONE, admin, opcode, skip, 1, 0});
}

/* Write all requests, within a minute of the drive's time. Returns how many failed. */
static unsigned stream(struct fixture *f, struct outcome *outcomes, enum spate_error *error) {
  const uint64_t end = f->drive.ticks + 60 * FAKE_TICKS_PER_SECOND;
  unsigned submitted = 0, ended = 0, failed = 0;

  while (ended < REQUESTS) {
    assert_true(f->drive.ticks < end);
    while (submitted < REQUESTS) {
      const enum spate_error answer = fixture_submit(f, &outcomes[submitted], write_number(f, submitted));
      if (answer == SPATE_E_FULL) break;
      if (answer != SPATE_OK) { /* dead */
        *error = answer;
        outcomes[submitted].calls = 1;
        outcomes[submitted].io.error = answer;
      }
      submitted++;
    }
    fixture_poll(f);
    ended = 0;
    for (unsigned i = 0; i < submitted; i++)
      ended += outcomes[i].calls;
  }
  for (unsigned i = 0; i < REQUESTS; i++) {
    assert_int_equal(outcomes[i].calls, 1);
    if (outcomes[i].io.error == SPATE_OK) continue;
    *error = outcomes[i].io.error;
    failed++;
  }
  return failed;
}

static void expect_all_written(struct fixture *f) {
  struct outcome outcomes[REQUESTS];
  enum spate_error error = SPATE_OK;
  assert_int_equal(stream(f, outcomes, &error), 0);
  assert_memory_equal(f->drive.media, f->ring_memory, REQUESTS * BLOCKS * 512);
}

static void test_stream_goes_on_when_the_drive_is_back(void **state) {
  for (unsigned position = 0; position < REQUESTS; position += 3) {
    struct helper helper = {.delay_ticks = 300000};
    struct fixture *f = prepared(&helper);
    fixture_open(f, 16);
    go_at(f, false, -1, position);
    expect_all_written(f);
    assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, 1);
    assert_int_equal(spate_nvme_counters(&f->nvme)->power_losses, 0);
    assert_int_equal(f->queue.block.power_losses, 0);
    assert_int_equal(f->nvme.state, SPATE_NVME_RUNNING);
    assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
    fixture_free(f);
  }
  (void)state;
}

static void test_requests_are_kept_while_it_is_away(void **state) {
  struct helper helper = {.delay_ticks = 5000000};
  struct fixture *f = prepared(&helper);
  struct outcome kept, refused;
  fixture_open(f, 4);
  go_at(f, false, -1, 0);
  assert_int_equal(fixture_submit(f, &kept, write_number(f, 0)), SPATE_OK);
  fixture_poll_ms(f, 4000);
  assert_int_equal(f->nvme.state, SPATE_NVME_DETACHED);
  assert_int_equal(kept.calls, 0);
  assert_int_equal(fixture_submit(f, &refused, write_number(f, 1)), SPATE_E_FULL);
  assert_true(fixture_wait(f, &kept, 2000));
  assert_int_equal(kept.io.error, SPATE_OK);
  fixture_free(f);
  (void)state;
}

static void test_power_lost_meanwhile_is_counted(void **state) {
  struct helper helper = {.delay_ticks = 1000};
  struct fixture *f = prepared(&helper);
  fixture_open(f, 4);
  spate_put64(f->drive.health_page + 112, 18);
  go_at(f, false, -1, 0);
  expect_all_written(f);
  assert_int_equal(f->queue.block.power_losses, 1);
  fixture_free(f);
  (void)state;
}

/* Nobody can bring it back: within the time given every request ends, with the reason. */
static void expect_gone(struct fixture *f, uint64_t least_ms, uint64_t most_ms) {
  struct outcome outcomes[REQUESTS], late;
  enum spate_error error = SPATE_OK;
  const uint64_t start = f->drive.ticks;
  assert_int_not_equal(stream(f, outcomes, &error), 0);
  assert_int_equal(error, SPATE_E_GONE);
  assert_in_range((f->drive.ticks - start) / 1000, least_ms, most_ms);
  assert_int_equal(f->nvme.state, SPATE_NVME_DEAD);
  assert_int_equal(fixture_submit(f, &late, write_number(f, 0)), SPATE_E_GONE);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_E_GONE);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_E_GONE);
}

static void test_patience_ends(void **state) {
  const uint32_t stated_ms[] = {0, 1, 700, 20000};
  for (unsigned i = 0; i < sizeof stated_ms / sizeof stated_ms[0]; i++) {
    const uint32_t ms = stated_ms[i] == 0 ? 10000 : stated_ms[i];
    struct helper helper = {.error = SPATE_E_BUSY};
    struct fixture *f = prepared(&helper);
    f->config.reattach_timeout_ms = stated_ms[i];
    fixture_open(f, 8);
    go_at(f, false, -1, 20);
    expect_gone(f, ms, ms + ms / 10 + 150);
    fixture_free(f);
  }
  (void)state;
}

static void test_helper_that_gives_up_is_not_asked_again(void **state) {
  struct helper helper = {.error = SPATE_E_NO_DEVICE};
  struct fixture *f = prepared(&helper);
  fixture_open(f, 8);
  go_at(f, false, -1, 20);
  expect_gone(f, 0, 200);
  assert_int_equal(helper.calls, 1);
  fixture_free(f);
  (void)state;
}

/* It goes again while it is brought up after the first time: at each admin command, and in between. */
static void test_gone_at_each_step_of_the_way_back(void **state) {
  static const struct {
    int opcode;
    unsigned skip;
  } steps[] = {{0x06, 0}, {0x06, 1}, {0x09, 0}, {0x09, 1}, {0x0a, 0}, {0x02, 0}, {0x05, 0}, {0x01, 0}, {0x0c, 0}};
  static const unsigned times[] = {1, SPATE_NVME_RECOVERIES_MAX, 20};
  for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    for (unsigned j = 0; j < sizeof times / sizeof times[0]; j++) {
      struct helper helper = {.delay_ticks = 1000};
      struct fixture *f = prepared(&helper);
      /* the last command is sent when all is well again: each time is an absence of its own */
      const bool is_over = steps[i].opcode == 0x0c;
      if (is_over && times[j] >= SPATE_NVME_ABSENCES_MAX) {
        fixture_free(f);
        continue;
      }
      fixture_open(f, 8);
      go_at(f, false, -1, 10);
      fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_GONE, true, steps[i].opcode, steps[i].skip, times[j], 0});
      expect_all_written(f);
      assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, is_over ? times[j] + 1 : 1);
      fixture_free(f);
    }
  }
  (void)state;
}

/* A connector that bounces has, all in all, the time of one absence; the next absence has it again. */
static void test_bouncing_ends(void **state) {
  struct helper helper = {.delay_ticks = 1000};
  struct fixture *f = prepared(&helper);
  f->config.reattach_timeout_ms = 3000;
  fixture_open(f, 8);
  for (unsigned i = 0; i < 3; i++) {
    go_at(f, false, -1, 10);
    fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_GONE, true, 0x06, 0, 15, 0});
    expect_all_written(f);
  }
  go_at(f, false, -1, 10);
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_GONE, true, 0x06, 0, 1000, 0});
  expect_gone(f, 3000, 3500);
  fixture_free(f);
  (void)state;
}

/* Link and configuration are there, the drive answers later: as some do that load their firmware first. */
static void test_registers_come_later_than_the_link(void **state) {
  const uint64_t late_ms[] = {5, 250, 9000};
  for (unsigned i = 0; i < sizeof late_ms / sizeof late_ms[0]; i++) {
    struct helper helper = {.hasty = true, .delay_ticks = late_ms[i] * 1000};
    struct fixture *f = prepared(&helper);
    fixture_open(f, 8);
    go_at(f, false, -1, 10);
    expect_all_written(f);
    assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, 1);
    fixture_free(f);
  }
  struct helper helper = {.hasty = true, .delay_ticks = 60000000};
  struct fixture *f = prepared(&helper);
  f->config.reattach_timeout_ms = 700;
  fixture_open(f, 8);
  go_at(f, false, -1, 10);
  expect_gone(f, 700, 900);
  fixture_free(f);
  (void)state;
}

/* Other drives want the processor, too. */
static void test_helper_is_asked_once_in_a_millisecond(void **state) {
  struct helper helper = {.error = SPATE_E_BUSY};
  struct fixture *f = prepared(&helper);
  f->config.reattach_timeout_ms = 1000;
  fixture_open(f, 8);
  go_at(f, false, -1, 10);
  expect_gone(f, 1000, 1200);
  assert_in_range(helper.calls, 900, 1001);
  fixture_free(f);
  (void)state;
}

/* One that is caught by absence after absence is kept, but not for ever: it may well be what drives the drive away. */
static void test_request_outlives_absences(void **state) {
  for (unsigned times = SPATE_NVME_ABSENCES_MAX - 1; times <= SPATE_NVME_ABSENCES_MAX; times++) {
    struct helper helper = {.delay_ticks = 1000};
    struct fixture *f = prepared(&helper);
    struct outcome outcome;
    fixture_open(f, 8);
    fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_GONE, false, -1, 0, times, 0});
    assert_int_equal(fixture_submit(f, &outcome, write_number(f, 0)), SPATE_OK);
    assert_true(fixture_wait(f, &outcome, 10000));
    assert_int_equal(outcome.io.error, times < SPATE_NVME_ABSENCES_MAX ? SPATE_OK : SPATE_E_GONE);
    assert_int_equal(f->nvme.state, SPATE_NVME_RUNNING);
    assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, times);
    expect_all_written(f);
    fixture_free(f);
  }
  (void)state;
}

/* It is back, and gone again before it is ready, or before it could be told to start. */
static void test_gone_while_it_gets_ready(void **state) {
  struct helper helper = {.delay_ticks = 1000};
  struct fixture *f = prepared(&helper);
  struct outcome outcome;
  fixture_open(f, 8);
  go_at(f, false, -1, 0);
  f->drive.gone_after_enables = 2;
  assert_int_equal(fixture_submit(f, &outcome, write_number(f, 0)), SPATE_OK);
  while (f->drive.enables < 2)
    fixture_poll(f);
  f->drive.gone_after_enables = 0;
  assert_true(fixture_wait(f, &outcome, 1000));
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, 1);
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_FATAL, false, -1, 0, 1, 0});
  assert_int_equal(fixture_submit(f, &outcome, write_number(f, 1)), SPATE_OK);
  while (f->nvme.state != SPATE_NVME_DISABLING)
    fixture_poll(f);
  f->drive.gone = true;
  assert_true(fixture_wait(f, &outcome, 1000));
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, 2);
  fixture_free(f);
  (void)state;
}

/* Nobody brings it back, but it comes by itself, each time within half a second. */
static void test_short_absences_do_not_add_up(void **state) {
  struct helper helper = {0};
  struct fixture *f = prepared(&helper);
  f->config.bus = (struct spate_nvme_bus){0};
  fixture_open(f, 8);
  for (unsigned i = 0; i < 3; i++) {
    f->drive.gone = true;
    fixture_poll_ms(f, 400);
    assert_int_equal(f->nvme.state, SPATE_NVME_DISABLING);
    fake_nvme_return(&f->drive);
    fixture_poll_ms(f, 300);
    assert_int_equal(f->nvme.state, SPATE_NVME_RUNNING);
  }
  fixture_free(f);
  (void)state;
}

/* ---- a bus that can tell, on a bridge that gives arbitrary data for a drive that is gone ---- */

struct watched {
  struct helper helper; /* first: the context of both hooks */
  unsigned questions, drops_after, isolated;
};

static bool is_up(void *context) {
  struct watched *watched = context;
  struct fake_nvme *drive = &watched->helper.f->drive;

  if (drive->gone) return false;
  if (++watched->questions == watched->drops_after) drive->gone = true; /* after the answer: it was up */
  return true;
}

static enum spate_error isolate(void *context) {
  struct watched *watched = context;

  watched->isolated++;
  return SPATE_OK;
}

/* The link goes just after the driver asked for it, whichever question that is. What is read then is not believed. */
static void test_link_that_goes_between_question_and_read(void **state) {
  unsigned questions = 0;
  for (unsigned after = 0; after <= questions; after++) {
    struct watched watched = {.helper = {.delay_ticks = 1000}};
    struct fixture *f = prepared(&watched.helper);
    f->config.bus.link_is_up = is_up;
    f->config.bus.context = &watched;
    f->drive.arbitrary = true;
    fixture_open(f, 8);
    go_at(f, false, -1, 5); /* for a bring-up, with all its questions */
    watched.questions = 0;
    watched.drops_after = after;
    expect_all_written(f);
    fixture_poll_ms(f, 300);
    if (after == 0) questions = watched.questions;
    assert_in_range(f->drive.reads_gone, 0, after == 0 ? 0 : 4); /* no more than one look at it */
    assert_in_range(spate_nvme_counters(&f->nvme)->reattachments, 1, 2);
    assert_int_equal(f->nvme.state, SPATE_NVME_RUNNING);
    assert_int_equal(spate_nvme_counters(&f->nvme)->resets, spate_nvme_counters(&f->nvme)->reattachments);
    fixture_free(f);
  }
  assert_true(questions > 20);
  (void)state;
}

/* It goes while it is opened, whichever question that comes after: that is the answer, and not what was read then. */
static void test_link_that_goes_while_it_is_opened(void **state) {
  unsigned lost = 0;
  for (unsigned after = 0; after < 60; after++) {
    struct watched watched = {.drops_after = after};
    struct fixture *f = prepared(&watched.helper);
    f->config.bus = (struct spate_nvme_bus){.link_is_up = is_up, .context = &watched};
    f->drive.arbitrary = true;
    f->drive.gone = after == 0;
    const enum spate_error error = spate_nvme_open(&f->nvme, &f->config);
    if (error != SPATE_OK || !f->drive.gone) assert_int_equal(error, f->drive.gone ? SPATE_E_GONE : SPATE_OK);
    if (error == SPATE_OK || after == 0) assert_int_equal(f->drive.reads_gone, 0); /* nobody asked after that */
    lost += error != SPATE_OK;
    fixture_free(f);
  }
  assert_true(lost > 10);
  (void)state;
}

/* Outside the data path nothing is written either, where the bus says that nobody is there: a write may hang as a read.
 */
static void test_nothing_is_written_to_a_link_that_is_down(void **state) {
  struct watched watched = {.helper = {.delay_ticks = 1000}};
  struct fixture *f = prepared(&watched.helper);
  f->config.bus.link_is_up = is_up;
  f->config.bus.context = &watched;
  fixture_open(f, 8);
  f->drive.gone = true;
  assert_int_equal(spate_nvme_health_start(&f->nvme), SPATE_OK);
  fixture_poll_ms(f, 300);
  assert_int_equal(f->drive.writes_gone, 0);
  assert_int_equal(f->drive.reads_gone, 0);
  assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, 1);
  f->drive.gone = true;
  watched.helper.error = SPATE_E_NO_DEVICE;
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_E_GONE);
  assert_int_equal(f->drive.writes_gone, 0);
  fixture_free(f);
  (void)state;
}

/* A shutdown that the drive did not report is none: the drive may work on, and is kept from memory as any other. */
static void test_link_that_goes_while_it_is_shut_down(void **state) {
  unsigned lost = 0;
  for (unsigned after = 1; after < 200; after++) {
    struct watched watched = {0};
    struct fixture *f = prepared(&watched.helper);
    f->config.bus = (struct spate_nvme_bus){.link_is_up = is_up, .isolate = isolate, .context = &watched};
    f->drive.arbitrary = true;
    f->drive.random = after;
    f->drive.shutdown_ticks = 20000;
    fixture_open(f, 8);
    watched.questions = 0;
    watched.drops_after = after;
    const enum spate_error error = spate_nvme_shutdown(&f->nvme);
    const bool complete = (f->drive.csts & 0xc) == 8;
    lost += !complete;
    if (!complete) assert_int_equal(error, SPATE_E_GONE);
    assert_int_equal(watched.isolated, error == SPATE_E_GONE);
    if (!f->drive.gone) assert_int_equal(error, SPATE_OK);
    fixture_free(f);
  }
  assert_true(lost > 20);
  (void)state;
}

static void other_serial(struct fake_nvme *drive) { memcpy(drive->controller_page + 4, "FAKE0002", 8); }
static void other_size(struct fake_nvme *drive) { spate_put64(drive->namespace_page, drive->blocks / 2); }
static void other_format(struct fake_nvme *drive) { drive->namespace_page[26] = 2; }
static void other_nguid_start(struct fake_nvme *drive) { drive->namespace_page[104] = 1; }
static void other_nguid_end(struct fake_nvme *drive) { drive->namespace_page[119] = 1; }
static void other_eui64(struct fake_nvme *drive) { drive->namespace_page[127] ^= 1; }
static void no_namespace(struct fake_nvme *drive) { drive->namespaces[0] = 2; }

/* It is waited for that the right one comes. */
static void test_another_drive_is_not_written(void **state) {
  static void (*const others[])(struct fake_nvme *) = {other_serial,    other_size,  other_format, other_nguid_start,
                                                       other_nguid_end, other_eui64, no_namespace};
  for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
    struct helper helper = {.delay_ticks = 1000};
    struct fixture *f = prepared(&helper);
    spate_put64(f->drive.namespace_page + 120, UINT64_C(0x123456789abcdef0));
    fixture_open(f, 8);
    go_at(f, false, -1, 10);
    struct outcome outcomes[REQUESTS];
    for (unsigned j = 0; j < 8; j++)
      assert_int_equal(fixture_submit(f, &outcomes[j], write_number(f, j)), SPATE_OK);
    fixture_poll_ms(f, 1);
    others[i](&f->drive);
    const unsigned fetched = f->drive.journal_count;
    f->drive.gone = true;
    expect_gone(f, 10000, 10500);
    assert_int_equal(f->drive.journal_count, fetched);
    fixture_free(f);
  }
  (void)state;
}

static void test_open_does_not_wait_for_it(void **state) {
  static const int opcodes[] = {-2, 0x06, 0x09, 0x0a, 0x02};
  for (unsigned i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
    struct helper helper = {.delay_ticks = 1000};
    struct fixture *f = prepared(&helper);
    if (opcodes[i] == -2)
      f->drive.gone_after_enables = 1;
    else
      go_at(f, true, opcodes[i], 0);
    const uint64_t start = f->drive.ticks;
    assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_GONE);
    assert_int_equal(helper.calls, 0);
    assert_in_range(f->drive.ticks - start, 0, 250000);
    fixture_free(f);
  }
  (void)state;
}

/* A call that waits for the drive's answer ends with the reason; the next one waits for the drive. */
static void test_waiting_call_ends(void **state) {
  struct helper helper = {.delay_ticks = 1000};
  struct fixture *f = prepared(&helper);
  fixture_open(f, 8);
  go_at(f, true, 0x02, 0);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_E_GONE);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, 1);
  fixture_free(f);
  (void)state;
}

static void test_shutdown_waits_for_it(void **state) {
  struct helper helper = {.delay_ticks = 700000};
  struct fixture *f = prepared(&helper);
  struct outcome outcome;
  fixture_open(f, 8);
  go_at(f, false, -1, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_number(f, 0)), SPATE_OK);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(outcome.calls, 1);
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(f->drive.shutdowns, 1);
  assert_false(f->drive.hot_shutdown);
  fixture_free(f);
  (void)state;
}

/* Longer than shutdown waits for requests that a drive has. */
static void test_shutdown_waits_for_requests_after_a_long_absence(void **state) {
  struct helper helper = {.delay_ticks = 45000000};
  struct fixture *f = prepared(&helper);
  struct outcome outcomes[8];
  f->config.reattach_timeout_ms = 60000;
  fixture_open(f, 8);
  f->drive.latency_ticks = 50000;
  go_at(f, false, -1, 0);
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(fixture_submit(f, &outcomes[i], write_number(f, i)), SPATE_OK);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  for (unsigned i = 0; i < 8; i++) {
    assert_int_equal(outcomes[i].calls, 1);
    assert_int_equal(outcomes[i].io.error, SPATE_OK);
  }
  assert_memory_equal(f->drive.media, f->ring_memory, 8 * BLOCKS * 512);
  assert_int_equal(f->drive.shutdowns, 1);
  assert_false(f->drive.hot_shutdown);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stream_goes_on_when_the_drive_is_back),
      cmocka_unit_test(test_requests_are_kept_while_it_is_away),
      cmocka_unit_test(test_power_lost_meanwhile_is_counted),
      cmocka_unit_test(test_patience_ends),
      cmocka_unit_test(test_helper_that_gives_up_is_not_asked_again),
      cmocka_unit_test(test_gone_at_each_step_of_the_way_back),
      cmocka_unit_test(test_bouncing_ends),
      cmocka_unit_test(test_registers_come_later_than_the_link),
      cmocka_unit_test(test_helper_is_asked_once_in_a_millisecond),
      cmocka_unit_test(test_request_outlives_absences),
      cmocka_unit_test(test_gone_while_it_gets_ready),
      cmocka_unit_test(test_short_absences_do_not_add_up),
      cmocka_unit_test(test_link_that_goes_between_question_and_read),
      cmocka_unit_test(test_link_that_goes_while_it_is_opened),
      cmocka_unit_test(test_nothing_is_written_to_a_link_that_is_down),
      cmocka_unit_test(test_link_that_goes_while_it_is_shut_down),
      cmocka_unit_test(test_another_drive_is_not_written),
      cmocka_unit_test(test_open_does_not_wait_for_it),
      cmocka_unit_test(test_waiting_call_ends),
      cmocka_unit_test(test_shutdown_waits_for_it),
      cmocka_unit_test(test_shutdown_waits_for_requests_after_a_long_absence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
