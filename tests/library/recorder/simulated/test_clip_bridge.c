/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clips recorded through the Xilinx bridges that the simulator models. In the middle the link drops, and with it Bridge
 * Enable: doorbells end in slave errors until the restore hook has set it again. Nothing is lost, whatever the bridge
 * answers meanwhile.
 */
#include "bus/unanswered.h"
#include "hostile_clip.h"

#define RING     256u
#define PIECE_US 2000u /* 8 MB/s: the ring holds half a second */
#define WANTED   450u

static struct sim_stack_config config_with(enum sim_bridge_family family, unsigned seed) {
  struct sim_stack_config config = hostile_config(seed);

  config.machine.coherent = seed % 4 != 0;
  config.command_timeout_ms = 2000;
  config.bridge = (struct sim_bridge_config){.family = family,
                                             .translates = true,
                                             .high_bar = seed % 2 != 0,
                                             .reports_link = seed % 3 == 0,
                                             .training_ms = 40,
                                             .speed_change_ms = 20,
                                             .interrupts_on = true,
                                             .errors = 2};
  return config;
}

static void record_over_a_link_drop(enum sim_bridge_family family, enum sim_unanswered mode, unsigned seed) {
  static const uint32_t drop_ms[] = {1, 20, 90};
  const struct sim_stack_config config = config_with(family, seed);

  recording_begin("bridge", &config, RING, PIECE_US, seed % 2 == 1);
  sim_set_unanswered(recording.stack->sim, mode);
  assert_int_equal(recording_arm(), SPATE_OK);
  assert_int_equal(recording_stream(50 + 23 * seed), SPATE_OK);
  assert_int_equal(sim_bridge_counters(recording.stack->sim).enables, 1);
  sim_drive_link_drop(recording.stack->drives[0].drive, drop_ms[seed % 3]);
  assert_int_equal(recording_stream(WANTED), SPATE_OK);
  assert_int_equal(recording_finish(), SPATE_OK);
  assert_int_equal(sim_bridge_counters(recording.stack->sim).enables, 2);
  if (drop_ms[seed % 3] > 1) assert_true(sim_bridge_counters(recording.stack->sim).slave_errors > 0);
  assert_int_equal(spate_nvme_counters(&recording.stack->drives[0].nvme)->reattachments, 1);
  assert_false(sim_bridge_interrupts(recording.stack->sim));
  expect_nothing_lost(WANTED);
  recording_end();
}

static void test_a_clip_survives_a_link_drop_behind_xdma(void **state) {
  (void)state;
  for (unsigned mode = 0; mode < SIM_UNANSWERED_MODES; mode++)
    record_over_a_link_drop(SIM_BRIDGE_PG194, mode, mode);
}

static void test_a_clip_survives_a_link_drop_behind_qdma(void **state) {
  (void)state;
  for (unsigned mode = 0; mode < SIM_UNANSWERED_MODES; mode++)
    record_over_a_link_drop(SIM_BRIDGE_QDMA, mode, mode + 1);
}

static void test_a_clip_survives_a_link_drop_behind_the_others(void **state) {
  static const enum sim_bridge_family others[] = {SIM_BRIDGE_PG055, SIM_BRIDGE_CPM4, SIM_BRIDGE_CPM5};
  (void)state;
  for (unsigned i = 0; i < 3; i++)
    record_over_a_link_drop(others[i], SIM_UNANSWERED_PG194, i + 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_clip_survives_a_link_drop_behind_xdma),
      cmocka_unit_test(test_a_clip_survives_a_link_drop_behind_qdma),
      cmocka_unit_test(test_a_clip_survives_a_link_drop_behind_the_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
