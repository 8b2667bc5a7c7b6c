/* SPDX-License-Identifier: Apache-2.0 */
/* The library's Sanitize on a virtual drive: it runs by itself, continues after power cuts, and blocks all other
 * commands. */
#include "machine/stack.h"
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define STATUS_SANITIZE_FAILED  0x1cu
#define STATUS_SANITIZING       0x1du
#define MS_OF_BLOCK_ERASE       4000u
#define CONTROLLER_MEMORY_BYTES ((size_t)1 << 20)

struct fixture {
  struct sim_stack *stack;
  struct spate_nvme nvme;
  struct spate_nvme_queue queue;
  struct spate_nvme_slot slots[SPATE_NVME_SLOTS(4)];
  struct spate_arena memory;
  struct sim_drive *drive;
};

/* The stack brings the machine up. The controller is then opened again without a queue. */
static void open_again(struct fixture *fixture) {
  struct spate_nvme_config config = fixture->stack->drives[0].nvme.config;

  fixture->memory =
      (struct spate_arena){.start = sim_memory_take(fixture->stack->sim, CONTROLLER_MEMORY_BYTES, SIM_CACHED),
                           .bytes = CONTROLLER_MEMORY_BYTES};
  config.queue_memory = &fixture->memory;
  assert_int_equal(spate_nvme_open(&fixture->nvme, &config), SPATE_OK);
}

static struct fixture *make(void) {
  static struct fixture fixture;
  const struct sim_stack_config config = {.machine = {.seed = 1, .host = sim_host_a53, .coherent = true},
                                          .options = {.bytes = UINT64_C(64) << 20}};

  fixture = (struct fixture){.stack = sim_stack_new(&config)};
  assert_int_equal(sim_stack_open(fixture.stack), SPATE_OK);
  fixture.drive = fixture.stack->drives[0].drive;
  assert_int_equal(spate_nvme_shutdown(&fixture.stack->drives[0].nvme), SPATE_OK);
  open_again(&fixture);
  return &fixture;
}

static void end(struct fixture *fixture) {
  const char *first = NULL;

  assert_int_equal(spate_nvme_shutdown(&fixture->nvme), SPATE_OK);
  if (sim_take_violations(fixture->stack->sim, &first) != 0) fail_msg("%s", first);
  sim_stack_free(fixture->stack);
}

static void pass_ms(uint32_t ms) {
  const uint64_t until = spate_port_ticks() + spate_port_ticks_per_second() / 1000u * ms;

  while (spate_port_ticks() < until)
    spate_port_relax();
}

static struct spate_nvme_sanitize_status look(struct fixture *fixture) {
  struct spate_nvme_sanitize_status status;

  assert_int_equal(spate_nvme_sanitize_status(&fixture->nvme, &status), SPATE_OK);
  return status;
}

/* The result of reading block 0. The namespace's queue is opened for it, and closed with the controller. */
static enum spate_error read_one(struct fixture *fixture, uint16_t *detail) {
  void *page = spate_arena_take(&fixture->memory, SPATE_PAGE_BYTES, SPATE_PAGE_BYTES);
  struct spate_io io = {.op = SPATE_READ, .blocks = 1, .buffer = page};

  const struct spate_nvme_queue_config config = {
      .depth = 4, .slots = fixture->slots, .slot_count = SPATE_NVME_SLOTS(4)};
  assert_int_equal(spate_nvme_queue_open(&fixture->nvme, &fixture->queue, &config), SPATE_OK);
  const enum spate_error error = spate_block_do(&fixture->queue.block, &io);
  *detail = io.detail & 0x7ffu;
  assert_int_equal(spate_nvme_sanitize(&fixture->nvme, SPATE_NVME_SANITIZE_BLOCK), SPATE_E_BUSY);
  assert_int_equal(spate_nvme_shutdown(&fixture->nvme), SPATE_OK);
  open_again(fixture);
  return error;
}

static bool is_blank(struct fixture *fixture) {
  uint64_t at = 0;

  return !sim_store_next(sim_drive_store(fixture->drive), &at);
}

static void write_data(struct fixture *fixture) {
  uint8_t page[4096];

  memset(page, 0x5a, sizeof page);
  (void)sim_store_write(sim_drive_store(fixture->drive), 0, page, sizeof page);
  assert_false(is_blank(fixture));
}

/* ---- tests ---- */

static void test_from_the_start_to_the_end(void **state) {
  struct fixture *fixture = make();
  uint32_t last = 0;
  uint16_t detail;

  (void)state;
  write_data(fixture);
  assert_int_equal(spate_nvme_identity(&fixture->nvme)->sanitize, 7);
  assert_int_equal(look(fixture).state, SPATE_NVME_SANITIZE_NEVER);
  assert_int_equal(spate_nvme_sanitize(&fixture->nvme, SPATE_NVME_SANITIZE_BLOCK), SPATE_OK);
  for (unsigned i = 1; i < 4; i++) {
    const struct spate_nvme_sanitize_status status = look(fixture);
    assert_int_equal(status.state, SPATE_NVME_SANITIZE_RUNNING);
    assert_int_equal(status.action, SPATE_NVME_SANITIZE_BLOCK);
    assert_true(status.progress > last || i == 1);
    last = status.progress;
    pass_ms(MS_OF_BLOCK_ERASE / 4u);
  }
  assert_in_range(last, 65536 / 4, 65536 * 3 / 4);
  assert_int_equal(read_one(fixture, &detail), SPATE_E_COMMAND);
  assert_int_equal(detail, STATUS_SANITIZING);
  /* A second Sanitize, and Format NVM, are refused until it ends. */
  assert_int_equal(spate_nvme_sanitize(&fixture->nvme, SPATE_NVME_SANITIZE_CRYPTO), SPATE_E_COMMAND);
  assert_int_equal(spate_nvme_last_status(&fixture->nvme) & 0x7ffu, STATUS_SANITIZING);
  assert_int_equal(spate_nvme_format(&fixture->nvme, 1, 512, SPATE_NVME_ERASE_USER, 1000), SPATE_E_COMMAND);
  pass_ms(MS_OF_BLOCK_ERASE);
  assert_int_equal(look(fixture).state, SPATE_NVME_SANITIZE_DONE);
  assert_true(is_blank(fixture));
  assert_int_equal(read_one(fixture, &detail), SPATE_OK);
  end(fixture);
}

static void test_a_power_cut_does_not_end_it(void **state) {
  struct fixture *fixture = make();

  (void)state;
  assert_int_equal(spate_nvme_sanitize(&fixture->nvme, SPATE_NVME_SANITIZE_OVERWRITE), SPATE_OK);
  pass_ms(1000);
  sim_drive_power_cut(fixture->drive);
  open_again(fixture);
  const struct spate_nvme_sanitize_status status = look(fixture);
  assert_int_equal(status.state, SPATE_NVME_SANITIZE_RUNNING);
  assert_true(status.progress > 65536 / 10);
  pass_ms(8000);
  assert_int_equal(look(fixture).state, SPATE_NVME_SANITIZE_DONE);
  assert_int_equal(look(fixture).passes, 1);
  end(fixture);
}

static void test_one_that_fails(void **state) {
  struct fixture *fixture = make();
  uint16_t detail;

  (void)state;
  sim_drive_fail_sanitize(fixture->drive);
  assert_int_equal(spate_nvme_sanitize(&fixture->nvme, SPATE_NVME_SANITIZE_BLOCK), SPATE_OK);
  pass_ms(MS_OF_BLOCK_ERASE + 100u);
  assert_int_equal(look(fixture).state, SPATE_NVME_SANITIZE_FAILED);
  assert_int_equal(read_one(fixture, &detail), SPATE_E_COMMAND);
  assert_int_equal(detail, STATUS_SANITIZE_FAILED);
  /* It was started in the mode that permits leaving the failure state. */
  assert_int_equal(spate_nvme_sanitize(&fixture->nvme, SPATE_NVME_SANITIZE_EXIT), SPATE_OK);
  assert_int_equal(read_one(fixture, &detail), SPATE_OK);
  assert_int_equal(spate_nvme_sanitize(&fixture->nvme, SPATE_NVME_SANITIZE_CRYPTO), SPATE_OK);
  pass_ms(1000);
  assert_int_equal(look(fixture).state, SPATE_NVME_SANITIZE_DONE);
  end(fixture);
}

static void test_what_the_drive_cannot_do(void **state) {
  struct fixture *fixture = make();

  (void)state;
  sim_drive_identify_controller(fixture->drive)[328] = SPATE_NVME_CAN_SANITIZE_CRYPTO;
  assert_int_equal(spate_nvme_shutdown(&fixture->nvme), SPATE_OK);
  open_again(fixture);
  assert_int_equal(spate_nvme_sanitize(&fixture->nvme, SPATE_NVME_SANITIZE_BLOCK), SPATE_E_UNSUPPORTED);
  assert_int_equal(spate_nvme_sanitize(&fixture->nvme, SPATE_NVME_SANITIZE_OVERWRITE), SPATE_E_UNSUPPORTED);
  assert_int_equal(look(fixture).state, SPATE_NVME_SANITIZE_NEVER);
  assert_int_equal(spate_nvme_sanitize(&fixture->nvme, SPATE_NVME_SANITIZE_CRYPTO), SPATE_OK);
  end(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_from_the_start_to_the_end), cmocka_unit_test(test_a_power_cut_does_not_end_it),
      cmocka_unit_test(test_one_that_fails), cmocka_unit_test(test_what_the_drive_cannot_do)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
