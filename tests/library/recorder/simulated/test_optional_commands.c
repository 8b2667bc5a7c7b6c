/* SPDX-License-Identifier: Apache-2.0 */
/* A drive that announces Write Zeroes and TRIM and hangs in them can be formatted and used: it costs two timeouts. */
#include "machine/stack.h"
#include <spate/exfat.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define WRITE_ZEROES    8
#define TRIM            9
#define TIMEOUTS_MS_MAX 24000u /* twice ten seconds, an abort and a reset */

static struct spate_exfat volume;

static uint64_t now_ms(const struct sim_stack *stack) { return sim_now_ps(stack->sim) / SIM_PS_PER_MS; }

static struct sim_stack *begin(enum sim_action action, int16_t opcode) {
  const struct sim_stack_config config = {
      .machine = {.seed = 1}, .options = {.bytes = UINT64_C(64) << 20}, .depth = 16};
  struct sim_stack *stack = sim_stack_new(&config);

  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  sim_drive_fault(stack->drives[0].drive,
                  (struct sim_fault){.action = action, .opcode = opcode, .count = UINT32_MAX, .value = 12000});
  return stack;
}

static uint64_t format_ms(struct sim_stack *stack) {
  struct spate_exfat_config config = sim_stack_exfat(stack);
  const struct spate_exfat_format format = {.label = "TEST", .serial = 1};
  const uint64_t start_ms = now_ms(stack);

  assert_int_equal(spate_exfat_format(&config, &format), SPATE_OK);
  return now_ms(stack) - start_ms;
}

/* `value`: Write Zeroes takes 12 s, if it ends at all. */
static void test_format(void **state) {
  static const enum sim_action actions[] = {SIM_STALL, SIM_LOSE, SIM_LATE};
  for (unsigned i = 0; i < 3; i++) {
    struct sim_stack *stack = begin(actions[i], WRITE_ZEROES);
    assert_in_range(format_ms(stack), 20000, TIMEOUTS_MS_MAX);
    assert_in_range(format_ms(stack), 0, 1000);
    assert_in_range(sim_drive_counters(stack->drives[0].drive)->io[WRITE_ZEROES], 2, 4);
    const struct spate_exfat_config config = sim_stack_exfat(stack);
    assert_int_equal(spate_exfat_mount(&volume, &config, NULL), SPATE_OK);
    sim_stack_free(stack);
  }
  (void)state;
}

static void test_delete(void **state) {
  struct sim_stack *stack = begin(SIM_LOSE, TRIM);
  (void)format_ms(stack);
  const struct spate_exfat_config config = sim_stack_exfat(stack);
  assert_int_equal(spate_exfat_mount(&volume, &config, NULL), SPATE_OK);
  for (unsigned i = 0; i < 2; i++) {
    assert_int_equal(spate_exfat_mkdir(&volume, "A"), SPATE_OK);
    const uint64_t start_ms = now_ms(stack);
    assert_int_equal(spate_exfat_delete(&volume, "A"), SPATE_OK);
    assert_in_range(now_ms(stack) - start_ms, i == 0 ? 20000 : 0, i == 0 ? TIMEOUTS_MS_MAX : 1000);
  }
  assert_int_equal(sim_drive_counters(stack->drives[0].drive)->io[TRIM], 2);
  sim_stack_free(stack);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_format), cmocka_unit_test(test_delete)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
