/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous events: the log page of every event is read, and an event that never stops costs little. */
#include "machine/stack.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../../../ports/host/host_port.h"

#define GET_LOG     0x02u
#define EVENT       0x0cu
#define PAGE_ERRORS 1u
#define PAGE_HEALTH 2u

static struct sim_stack *opened(void) {
  struct sim_stack *stack = sim_stack_new(&(struct sim_stack_config){
      .machine = {.seed = 7}, .depth = 8, .options = {.bytes = UINT64_C(64) << 20, .log_commands = true}});

  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  return stack;
}

static void poll_ms(struct sim_stack *stack, uint64_t ms) {
  const uint64_t end_ps = sim_now_ps(stack->sim) + ms * SIM_PS_PER_MS;

  while (sim_now_ps(stack->sim) < end_ps) {
    (void)spate_block_poll(stack->block, 8);
    host_relax();
  }
}

static void end(struct sim_stack *stack) {
  const char *why = NULL;

  assert_int_equal(sim_stack_close(stack), SPATE_OK);
  if (sim_take_violations(stack->sim, &why) != 0) fail_msg("%s", why);
  sim_stack_free(stack);
}

static unsigned times_read(const struct sim_stack *stack, uint8_t page) {
  size_t count;
  const struct sim_command *commands = sim_drive_commands(stack->drives[0].drive, &count);
  unsigned times = 0;

  for (size_t i = 0; i < count; i++)
    times +=
        commands[i].queue == 0 && (commands[i].dwords[0] & 0xffu) == GET_LOG && (uint8_t)commands[i].dwords[10] == page;
  return times;
}

/* Three kinds of events arrive while the first log read takes four seconds: each page is read afterwards. */
static void no_page_is_forgotten(void **state) {
  (void)state;
  struct sim_stack *stack = opened();
  struct sim_drive *drive = stack->drives[0].drive;

  sim_drive_clear_commands(drive);
  sim_drive_fault(drive, (struct sim_fault){SIM_LATE, true, GET_LOG, 0, 0, 0, 1, 4000});
  assert_int_equal(spate_nvme_health_start(&stack->drives[0].nvme), SPATE_OK);
  poll_ms(stack, 1);
  assert_true(sim_drive_event(drive, 0, 0, PAGE_ERRORS));
  poll_ms(stack, 1300);
  assert_true(sim_drive_event(drive, 2, 0, 0x81));
  poll_ms(stack, 1300);
  assert_true(sim_drive_event(drive, 1, 0, PAGE_HEALTH));
  poll_ms(stack, 3000);
  assert_int_equal(times_read(stack, PAGE_ERRORS), 1);
  assert_int_equal(times_read(stack, 0x81), 1);
  assert_int_equal(times_read(stack, PAGE_HEALTH), 2);
  assert_true(sim_drive_event(drive, 0, 0, PAGE_ERRORS)); /* an event of this kind can be reported again */
  poll_ms(stack, 1300);
  assert_int_equal(times_read(stack, PAGE_ERRORS), 2);
  end(stack);
}

/* For ten seconds an event is reported as soon as the driver asks for it: four at once, then one a second. */
static void an_event_that_never_stops_costs_one_log_read_a_second(void **state) {
  (void)state;
  struct sim_stack *stack = opened();
  struct sim_drive *drive = stack->drives[0].drive;
  const uint32_t before = spate_nvme_counters(&stack->drives[0].nvme)->events;

  sim_drive_clear_commands(drive);
  for (unsigned i = 0; i < 1000; i++) {
    (void)sim_drive_event(drive, 1, 1, PAGE_HEALTH);
    poll_ms(stack, 10);
  }
  assert_in_range(spate_nvme_counters(&stack->drives[0].nvme)->events - before, 12, 15);
  assert_in_range(times_read(stack, PAGE_HEALTH), 12, 15);
  end(stack);
}

/* The driver asks once, and again only after a reset of the controller. */
static void a_refused_request_is_not_repeated(void **state) {
  (void)state;
  struct sim_stack *stack = opened();
  struct sim_drive *drive = stack->drives[0].drive;

  sim_drive_fault(drive, (struct sim_fault){SIM_STATUS, true, EVENT, 0, 0, 0, UINT32_MAX, 0x0105});
  assert_true(sim_drive_event(drive, 1, 1, PAGE_HEALTH));
  sim_drive_clear_counters(drive);
  poll_ms(stack, 5000);
  assert_int_equal(sim_drive_counters(drive)->admin[EVENT], 1);
  end(stack);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_page_is_forgotten),
      cmocka_unit_test(an_event_that_never_stops_costs_one_log_read_a_second),
      cmocka_unit_test(a_refused_request_is_not_repeated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
