/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scenarios of diskio_scenarios.h on the virtual drive, which carries out writes late and completes commands in
 * random order. With EXPECTS_FAILURES the program is linked to a disk layer without one of its rules, and each scenario
 * has to fail on some volume. Without a rule most of what FatFs does fails: this shows that the volumes and the drive
 * provoke the faults, not that each scenario finds one of its own.
 */
#include "../diskio_scenarios.h"

#include <machine/stack.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SEEDS           3u
#define SCENARIO_PS_MAX (2 * SIM_PS_PER_S) /* the longest takes 0.2 s */

static const struct volume_kind kinds[] = {VOLUME_KINDS};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* Two seconds of virtual time are over: the scenario stalls. */
static void too_late(void *context, uint64_t number) {
  (void)number;
  *(bool *)context = true;
}

static const char *run_one(const struct scenario *scenario, const struct volume_kind *kind, uint64_t seed) {
  const struct sim_stack_config config = {.machine = {.seed = seed, .host = sim_host_a53, .coherent = kind->everything},
                                          .profile = "970evoplus",
                                          .options = {.shuffle = true,
                                                      .write_delay_us = 2000,
                                                      .bytes = DRIVE_BYTES,
                                                      .block_shift = kind->block_bytes == 512 ? 9 : 12}};
  struct fixture fixture = {0};
  struct sim_stack *stack = sim_stack_new(&config);
  bool late = false;

  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  fixture.block = stack->block;
  fixture.region = sim_stack_region(stack, REGION_BYTES, SIM_CACHED);
  fixture.bounce = sim_memory_take(stack->sim, BOUNCE_BYTES, SIM_CACHED);
  const FRESULT formatted = fixture_format(&fixture, kind);
  sim_at(stack->sim, sim_now_ps(stack->sim) + SCENARIO_PS_MAX, too_late, &late, 0);
  const char *wrong = formatted == FR_OK ? scenario->run(&fixture) : failed("fixture_format()", formatted);
  if (wrong == NULL && late) wrong = "took more than two seconds";
  fixture_close(&fixture);
  assert_int_equal(sim_stack_close(stack), SPATE_OK);
  sim_stack_free(stack);
  return wrong;
}

static unsigned run_all(const struct scenario *scenario) {
  unsigned broken = 0;

  for (unsigned kind = 0; kind < KINDS; kind++)
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      const char *wrong = run_one(scenario, &kinds[kind], seed);
      if (wrong == NULL) continue;
      broken++;
      print_message("%s, %s, seed %llu: %s\n", scenario->name, kinds[kind].name, (unsigned long long)seed, wrong);
    }
  return broken;
}

static void test_scenario(void **state) {
  const struct scenario *scenario = &scenarios[(uintptr_t)*state];
  const unsigned broken = run_all(scenario);

#ifdef EXPECTS_FAILURES
  assert_int_not_equal(broken, 0);
#else
  assert_int_equal(broken, 0);
#endif
}

int main(void) {
  struct CMUnitTest tests[SCENARIOS];

  for (uintptr_t i = 0; i < SCENARIOS; i++)
    tests[i] = (struct CMUnitTest){.name = scenarios[i].name, .test_func = test_scenario, .initial_state = (void *)i};
  return cmocka_run_group_tests_name("diskio_reports", tests, NULL, NULL);
}
