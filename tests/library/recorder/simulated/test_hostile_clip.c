/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/*
 * The fate of a clip. A controller reset and a link drop lose nothing while the ring has room. A drive that lost power
 * gets again what the ring retains, or the clip ends at the flushed length, and the rest is reported to the byte. The
 * source does not wait: pieces that find no room are lost, and counted.
 */
#include "hostile_clip.h"

#define RING     256u
#define PIECE_US 2000u /* 8 MB/s: the ring holds half a second */
#define WANTED   450u
#define WRITE    0x01 /* opcode */
#define GET_LOG  0x02

#define INVALID_LOG 0x4109u

static struct sim_stack_config clip_config(uint64_t seed, bool journal) {
  struct sim_stack_config config = hostile_config(seed);
  config.machine.coherent = seed % 4 != 0; /* mostly coherent, because that is faster */
  config.options.journal = journal;
  config.command_timeout_ms = 2000;
  return config;
}

static void expect_recovered(void) {
  assert_in_range(spate_nvme_counters(&recording.stack->drives[0].nvme)->resets, 1, 3);
  expect_nothing_lost(WANTED);
}

/* When an event happens: after this many pieces, this far into the checkpoint period. */
static const struct {
  uint32_t pieces, us;
} moments[] = {{1, 0}, {20, 137}, {61, 1900}, {130, 640}, {255, 333}, {256, 1001}, {300, 77}};
#define MOMENTS (sizeof moments / sizeof moments[0])

static void stream_to(unsigned moment) {
  assert_int_equal(recording_arm(), SPATE_OK);
  assert_int_equal(recording_stream(moments[moment].pieces), SPATE_OK);
  sim_spend(recording.stack->sim, moments[moment].us * SIM_PS_PER_US);
}

static void test_reset_loses_nothing(void **state) {
  (void)state;
  for (unsigned i = 0; i < MOMENTS; i++) {
    const struct sim_stack_config config = clip_config(i, true);
    recording_begin("reset", &config, RING, PIECE_US, i % 2 == 1);
    stream_to(i);
    sim_drive_reset(recording.stack->drives[0].drive);
    assert_int_equal(recording_stream(WANTED), SPATE_OK);
    assert_int_equal(recording_finish(), SPATE_OK);
    expect_recovered();
    recording_end();
  }
}

static void test_link_drop_loses_nothing(void **state) {
  (void)state;
  static const uint32_t ms[] = {1, 20, 90};
  for (unsigned i = 0; i < MOMENTS; i++) {
    const struct sim_stack_config config = clip_config(i, true);
    recording_begin("link drop", &config, RING, PIECE_US, i % 2 == 1);
    stream_to(i);
    sim_drive_link_drop(recording.stack->drives[0].drive, ms[i % 3]);
    assert_int_equal(recording_stream(WANTED), SPATE_OK);
    assert_int_equal(recording_finish(), SPATE_OK);
    assert_int_equal(spate_nvme_counters(&recording.stack->drives[0].nvme)->reattachments, 1);
    expect_recovered();
    recording_end();
  }
}

/* The drive may now hold any version of the unflushed data: it is written again. */
static void cut_power_and_expect_all(void) {
  sim_drive_power_cut(recording.stack->drives[0].drive);
  assert_int_equal(recording_stream(WANTED), SPATE_OK);
  assert_int_equal(recording_finish(), SPATE_OK);
  assert_int_equal(recording.stack->block->power_losses, 1);
  expect_recovered();
  recording_end();
}

static void test_power_cut_with_retained_pieces_loses_nothing(void **state) {
  (void)state;
  for (unsigned i = 0; i < MOMENTS; i++) {
    const struct sim_stack_config config = clip_config(i, true);
    recording_begin("power cut, retained", &config, RING, PIECE_US, true);
    stream_to(i);
    cut_power_and_expect_all();
  }
}

/* What the drive says about its power after a cut, and before. */
static const struct habit {
  bool counts_no_power_cut;
  enum sim_action log; /* of each Get Log Page, from the moment of the cut; SIM_LATE: the log is good */
} habits[] = {{true, SIM_LATE}, {true, SIM_ZEROS}, {true, SIM_STATUS}, {false, SIM_ZEROS}, {false, SIM_STATUS}};
#define HABITS (sizeof habits / sizeof habits[0])

static void begin_with_habit(const char *name, unsigned moment, const struct habit *habit, bool retain) {
  struct sim_stack_config config = clip_config(moment, true);
  config.options.counts_no_power_cut = habit->counts_no_power_cut;
  recording_begin(name, &config, RING, PIECE_US, retain);
  stream_to(moment);
  sim_drive_fault(recording.stack->drives[0].drive,
                  (struct sim_fault){.action = habit->log,
                                     .admin = true,
                                     .opcode = GET_LOG,
                                     .count = UINT32_MAX,
                                     .value = habit->log == SIM_STATUS ? INVALID_LOG : 0});
}

static void test_power_cut_that_no_counter_shows_loses_nothing_retained(void **state) {
  (void)state;
  for (unsigned i = 0; i < MOMENTS; i++) {
    for (unsigned j = 0; j < HABITS; j++) {
      const struct spate_block *block;
      begin_with_habit("power cut, not counted", i, &habits[j], true);
      block = recording.stack->block;
      sim_drive_power_cut(recording.stack->drives[0].drive);
      assert_int_equal(recording_stream(WANTED), SPATE_OK);
      assert_int_equal(recording_finish(), SPATE_OK);
      assert_int_equal(block->power_unknown, j == 0 ? 1 : 0);
      assert_int_equal(block->power_losses, j == 0 ? 0 : 1);
      assert_int_equal(recording.unknown_bytes, 0);
      expect_recovered();
      recording_end();
    }
  }
}

/* The stream does not retain: it is told how much may be wrong, and continues. */
static void test_power_cut_that_no_counter_shows_is_told(void **state) {
  (void)state;
  for (unsigned i = 1; i < MOMENTS; i++) {
    begin_with_habit("power cut, told as unknown", i, &habits[0], false);
    assert_int_equal(spate_recorder_work(&recording.recorder), SPATE_OK); /* takes a flush that has completed */
    const struct spate_stream_counters *counters = &recording.stream.counters;
    const uint64_t unflushed = counters->completed_bytes - counters->durable_bytes;
    sim_drive_power_cut(recording.stack->drives[0].drive);
    assert_int_equal(recording_stream(WANTED), SPATE_OK);
    assert_int_equal(recording_finish(), SPATE_OK);
    assert_true(recording.unknown_bytes >= unflushed && unflushed > 0);
    assert_int_equal(recording.lost_bytes, 0);
    assert_int_equal(recording.closed_bytes, recording.pushed_bytes);
    recording_end();
  }
}

/* A controller reset is no power loss, also where no log says so. */
static void test_reset_without_a_log_loses_nothing(void **state) {
  (void)state;
  for (unsigned i = 0; i < MOMENTS; i++) {
    begin_with_habit("reset, no log", i, &habits[2], false);
    sim_drive_fail(recording.stack->drives[0].drive);
    assert_int_equal(recording_stream(WANTED), SPATE_OK);
    assert_int_equal(recording_finish(), SPATE_OK);
    assert_int_equal(spate_block_power_mark(recording.stack->block), 0);
    assert_int_equal(recording.unknown_bytes, 0);
    expect_recovered();
    recording_end();
  }
}

/* Of a piece of two commands one has completed and the other has not when the power fails. The piece is still in
 * flight, and the driver sends only the command that has not completed. */
static void test_power_cut_amid_a_piece_of_two_commands(void **state) {
  (void)state;
  recording_mdts = 1;
  for (unsigned i = 0; i < MOMENTS; i++) {
    const struct sim_stack_config config = clip_config(i, true);
    recording_begin("power cut amid a piece", &config, RING, PIECE_US, true);
    stream_to(i);
    sim_drive_fault(
        recording.stack->drives[0].drive,
        (struct sim_fault){.action = SIM_LATE, .opcode = WRITE, .skip = 1 + i % 2, .count = 1, .value = 50});
    assert_int_equal(recording_stream(recording.produced + 3), SPATE_OK);
    cut_power_and_expect_all();
  }
  recording_mdts = 0;
}

/* Without retained pieces the clip ends at the flushed length. Every byte pushed is in the file, or was reported as
 * lost. */
static void test_power_cut_caps_the_clip_and_reports_the_loss(void **state) {
  (void)state;
  for (unsigned i = 1; i < MOMENTS; i++) {
    struct recording *r = &recording;
    const struct sim_stack_config config = clip_config(i, true);
    recording_begin("power cut", &config, RING, PIECE_US, false);
    stream_to(i);
    const uint64_t durable = r->stream.counters.durable_bytes;
    assert_true(r->stream.counters.completed_bytes > durable); /* otherwise nothing could be lost */
    sim_drive_power_cut(r->stack->drives[0].drive);
    assert_int_equal(recording_stream(WANTED), SPATE_OK);
    assert_int_equal(r->ended, SPATE_E_POWER_LOST);
    assert_int_equal(recording_finish(), SPATE_E_POWER_LOST);
    assert_int_equal(r->closed, 1);
    assert_true(r->closed_bytes >= durable);
    assert_true(r->lost_bytes > 0);
    assert_int_equal(r->closed_bytes + r->lost_bytes, r->pushed_bytes);
    assert_int_equal(recording_read_back(), r->closed_bytes);
    recording_end();
  }
}

/* ---- alarms ---- */

static void test_temperature_alarm_is_reported_and_disturbs_nothing(void **state) {
  (void)state;
  struct recording *r = &recording;
  static const double celsius[] = {95, 30, 85};
  const struct sim_stack_config config = clip_config(1, false);
  recording_begin("temperature alarm", &config, RING, PIECE_US, false);
  struct sim_stack_drive *drive = &r->stack->drives[0];
  assert_int_equal(recording_arm(), SPATE_OK);
  for (unsigned i = 0; i < sizeof celsius / sizeof celsius[0]; i++) {
    assert_int_equal(recording_stream(20 + 130 * i), SPATE_OK);
    sim_drive_heat(drive->drive, celsius[i]);
    /* 240 ms: the event is noticed, and the log read */
    assert_int_equal(recording_stream(20 + 130 * i + 120), SPATE_OK);
    /* an event when it gets hot, none when it cools */
    assert_int_equal(spate_nvme_counters(&drive->nvme)->events, (i + 2) / 2);
    const struct spate_nvme_health *health = spate_nvme_health(&drive->nvme);
    if (i == 1) continue;
    assert_int_equal(health->critical_warning & 2, 2);
    assert_in_range(health->temperature_c, celsius[i] - 3, celsius[i]);
  }
  assert_int_equal(recording_stream(WANTED), SPATE_OK);
  assert_int_equal(recording_finish(), SPATE_OK);
  assert_int_equal(spate_nvme_counters(&drive->nvme)->resets, 0);
  expect_nothing_lost(WANTED);
  recording_end();
}

/* Events of every type, known and unknown, that name existing and missing log pages. */
static void test_storm_of_events_disturbs_nothing(void **state) {
  (void)state;
  struct recording *r = &recording;
  const struct sim_stack_config config = clip_config(2, false);
  unsigned told = 0;
  recording_begin("events", &config, RING, PIECE_US, false);
  assert_int_equal(recording_arm(), SPATE_OK);
  for (unsigned i = 1; i < WANTED; i++) {
    const uint64_t random = sim_random(r->stack->sim);
    told += sim_drive_event(r->stack->drives[0].drive, random & 7, (uint8_t)(random >> 8), (uint8_t)(random >> 16));
    assert_int_equal(recording_stream(i), SPATE_OK);
  }
  assert_int_equal(recording_stream(WANTED), SPATE_OK);
  assert_int_equal(recording_finish(), SPATE_OK);
  assert_in_range(spate_nvme_counters(&r->stack->drives[0].nvme)->events, 4, told);
  assert_int_equal(spate_nvme_counters(&r->stack->drives[0].nvme)->resets, 0);
  expect_nothing_lost(WANTED);
  recording_end();
}

/* ---- every misbehaviour, while a clip is armed, recorded and closed ---- */

enum phase { ARMING, STREAMING, CLOSING };
static const char *const phase_names[] = {"arming", "streaming", "closing"};

static bool deceives(const struct misbehaviour *what) {
  return what->action == SIM_GARBAGE || what->action == SIM_ZEROS;
}

/* Whatever happened, a host that restarts finds what the recorder reported. */
static void expect_consistent_report(const struct misbehaviour *what, enum spate_error error) {
  struct recording *r = &recording;
  const bool silent = error == SPATE_OK && r->stream.error == SPATE_OK && r->errors == 0 && r->ended == SPATE_OK;
  if (what->io == RECOVERED && what->action != SIM_POWER_CUT && (!silent || r->lost_bytes != 0))
    fail_msg("%s: %s, clip %s", r->name, spate_error_name(error), spate_error_name(r->stream.error));
  const uint64_t bytes = recording_read_back();
  if (r->closed != 0 && bytes != r->closed_bytes) fail_msg("%s: closed with another length", r->name);
  if (r->closed != 0 && r->closed_bytes + r->lost_bytes != r->pushed_bytes)
    fail_msg("%s: bytes went unreported", r->name);
  if (silent && r->pushed_bytes > 0 && bytes != r->pushed_bytes) fail_msg("%s: the file is short", r->name);
  if (r->closed == 0 && r->pushed_bytes > 0 && silent) fail_msg("%s: neither closed nor an error", r->name);
}

static void sweep_one(enum phase phase, const struct misbehaviour *what, uint32_t position) {
  static char name[128];
  const uint32_t pieces = 40;
  const struct sim_stack_config config = clip_config(position, what->action == SIM_POWER_CUT);
  const struct sim_fault fault = fault_of(what, false, -1, position);
  (void)snprintf(name, sizeof name, "%s at command %u of %s", what->name, position, phase_names[phase]);
  recording_begin(name, &config, 64, 1000, position % 2 == 1);
  struct sim_drive *drive = recording.stack->drives[0].drive;
  if (phase == ARMING) sim_drive_fault(drive, fault);
  const enum spate_error armed = recording_arm();
  enum spate_error error = armed;
  if (phase == STREAMING) sim_drive_fault(drive, fault);
  if (armed == SPATE_OK) error = recording_stream(pieces);
  if (phase == CLOSING) sim_drive_fault(drive, fault);
  if (armed == SPATE_OK) {
    const enum spate_error finished = recording_finish();
    if (error == SPATE_OK) error = finished;
  }
  if (!deceives(what)) expect_consistent_report(what, error);
  recording_end();
}

static void sweep(enum phase phase, uint32_t first, uint32_t step, uint32_t end) {
  for (unsigned what = 0; what < MISBEHAVIOURS; what++)
    for (uint32_t position = first; position < end; position += step)
      sweep_one(phase, &misbehaviours[what], position);
}

static void test_every_command_of_arming(void **state) {
  (void)state;
  sweep(ARMING, 0, 1, 8);
}

static void test_commands_of_a_stream(void **state) {
  (void)state;
  sweep(STREAMING, 0, 7, 50);
}

static void test_every_command_of_closing(void **state) {
  (void)state;
  sweep(CLOSING, 0, 1, 10);
}

static void test_count(void **state) {
  (void)state;
  print_message("%u clips\n", hostile_cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reset_loses_nothing),
      cmocka_unit_test(test_link_drop_loses_nothing),
      cmocka_unit_test(test_power_cut_with_retained_pieces_loses_nothing),
      cmocka_unit_test(test_power_cut_that_no_counter_shows_loses_nothing_retained),
      cmocka_unit_test(test_power_cut_that_no_counter_shows_is_told),
      cmocka_unit_test(test_reset_without_a_log_loses_nothing),
      cmocka_unit_test(test_power_cut_amid_a_piece_of_two_commands),
      cmocka_unit_test(test_power_cut_caps_the_clip_and_reports_the_loss),
      cmocka_unit_test(test_temperature_alarm_is_reported_and_disturbs_nothing),
      cmocka_unit_test(test_storm_of_events_disturbs_nothing),
      cmocka_unit_test(test_every_command_of_arming),
      cmocka_unit_test(test_commands_of_a_stream),
      cmocka_unit_test(test_every_command_of_closing),
      cmocka_unit_test(test_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
