/* SPDX-License-Identifier: Apache-2.0 */
/* Programmable logic as a drive's host: windows instead of memory, and register accesses that nothing waits for. */
#include "machine/internal.h"
#include "machine/logic.h"
#include "raw_sim.h"
#include <setjmp.h>
#include <spate/bytes.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define PAGES  64u
#define WINDOW UINT64_C(0x40000000)
#define ROUND  UINT64_C(10) /* microseconds: more than enough for a register's answer */

/* Logic that stores what is written to it, and counts the accesses. */
struct logic {
  struct raw_sim *r;
  uint8_t kept[PAGES * RAW_PAGE];
  unsigned reads, writes;
  uint64_t first_read, last_read, end_read;
  struct raw_nvme raw;
  struct sim_logic_access access;
  bool answered;
};

static void window_read(void *context, uint64_t address, uint8_t *data, uint64_t bytes) {
  struct logic *logic = context;

  if (logic->reads++ == 0) logic->first_read = address;
  logic->last_read = address;
  logic->end_read = address + bytes;
  memcpy(data, logic->kept + (address - WINDOW), (size_t)bytes);
}

static void window_write(void *context, uint64_t address, const uint8_t *data, uint64_t bytes) {
  struct logic *logic = context;

  logic->writes++;
  memcpy(logic->kept + (address - WINDOW), data, (size_t)bytes);
}

static void is_answered(void *context, const struct sim_logic_access *access) {
  struct logic *logic = context;

  assert_ptr_equal(access, &logic->access);
  logic->answered = true;
}

static uint32_t ask(struct logic *logic, uint64_t address, const uint32_t *written) {
  struct sim *sim = logic->r->sim;

  logic->access = (struct sim_logic_access){
      .address = address, .write = written != NULL, .answered = is_answered, .context = logic};
  if (written != NULL) logic->access.value = *written;
  logic->answered = false;
  sim_logic_ask(sim, sim_now_ps(sim), &logic->access);
  assert_false(logic->answered); /* not before time passes */
  sim_spend(sim, ROUND * SIM_PS_PER_US);
  assert_true(logic->answered);
  return logic->access.value;
}

static uint32_t logic_read32(void *context, uint32_t offset) {
  struct logic *logic = context;

  return ask(logic, logic->r->bar + offset, NULL);
}

static void logic_write32(void *context, uint32_t offset, uint32_t value) {
  const struct logic *logic = context;

  sim_logic_post(logic->r->sim, sim_now_ps(logic->r->sim), logic->r->bar + offset, value);
}

static void logic_wait(void *context) { sim_spend(((struct logic *)context)->r->sim, SIM_PS_PER_MS); }

static struct logic *make(void) {
  struct logic *logic = calloc(1, sizeof *logic);

  assert_non_null(logic);
  logic->r = raw_sim_new(sim_profile_find("ideal"), NULL, 1);
  sim_window_add(logic->r->sim, &(struct sim_window){.address = WINDOW,
                                                     .bytes = sizeof logic->kept,
                                                     .read = window_read,
                                                     .write = window_write,
                                                     .context = logic});
  raw_init(&logic->raw, &(struct raw_target){.context = logic,
                                             .read32 = logic_read32,
                                             .write32 = logic_write32,
                                             .wait = logic_wait,
                                             .memory = logic->kept,
                                             .bus = WINDOW,
                                             .patience = 1000});
  return logic;
}

static void drop(struct logic *logic) {
  raw_sim_free(logic->r);
  free(logic);
}

/* Queues, page lists and data are all in a window. */
static void test_a_drive_works_from_a_window(void **state) {
  struct logic *logic = make();
  struct raw_nvme *raw = &logic->raw;
  const unsigned list = RAW_PAGES_USED, first = list + 1, pages = 16;

  (void)state;
  assert_true(raw_enable(raw));
  assert_int_equal(raw_queue(raw, 1), 0);
  for (unsigned i = 0; i < pages * RAW_PAGE; i++)
    raw_at(raw, first)[i] = (uint8_t)(i * 7u + i / RAW_PAGE);
  for (unsigned i = 0; i + 1 < pages; i++)
    spate_put64(raw_at(raw, list) + (size_t)i * 8, raw_bus(raw, first + 1 + i));
  struct raw_command command = {.opcode = 1,
                                .nsid = 1,
                                .prp1 = raw_bus(raw, first),
                                .prp2 = raw_bus(raw, list),
                                .dword10 = 800,
                                .dword12 = pages * 8 - 1};
  assert_int_equal(raw_do(raw, 1, &command).status, 0);
  uint8_t *stored = malloc(pages * RAW_PAGE);
  assert_non_null(stored);
  sim_store_read(sim_drive_store(logic->r->drive), UINT64_C(800) << 9, stored, pages * RAW_PAGE);
  assert_memory_equal(stored, raw_at(raw, first), pages * RAW_PAGE);

  memset(raw_at(raw, first), 0, pages * RAW_PAGE);
  command.opcode = 2;
  assert_int_equal(raw_do(raw, 1, &command).status, 0);
  assert_memory_equal(raw_at(raw, first), stored, pages * RAW_PAGE);
  free(stored);
  assert_true(logic->reads > 4 && logic->writes > 4);
  drop(logic);
}

/* Nothing reads the phases in the ring: the drive never reads a completion queue in a window. */
static void test_completion_queues_are_not_read(void **state) {
  struct logic *logic = make();

  (void)state;
  memset(logic->kept, 0xff, sizeof logic->kept); /* if it were memory, every phase bit would be set */
  assert_false(sim_memory_is_window(logic->r->sim, WINDOW - 1));
  assert_true(sim_memory_is_window(logic->r->sim, WINDOW + sizeof logic->kept - 1));
  assert_false(sim_memory_is_window(logic->r->sim, WINDOW + sizeof logic->kept));
  assert_true(raw_enable(&logic->raw));
  assert_int_equal(logic->reads, 0);
  drop(logic);
}

static void test_nothing_answers_beyond_a_window(void **state) {
  struct logic *logic = make();
  struct sim *sim = logic->r->sim;
  const uint64_t end = WINDOW + sizeof logic->kept;
  uint8_t byte = 0x5a;

  (void)state;
  logic->kept[sizeof logic->kept - 1] = 0xa5;
  assert_int_equal(*sim_memory_device(sim, end - 1, 1), 0xa5);
  assert_null(sim_memory_device(sim, end - 1, 2));
  assert_null(sim_memory_device(sim, WINDOW - 1, 2));
  assert_null(sim_memory_device(sim, end, 1));
  assert_false(sim_memory_store(sim, end - 1, "xy", 2));
  assert_true(sim_memory_store(sim, end - 1, &byte, 1));
  assert_int_equal(logic->kept[sizeof logic->kept - 1], 0x5a);
  assert_int_equal(logic->writes, 1);
  assert_true(sim_memory_was_shown(sim, WINDOW, 4096, 0));
  drop(logic);
}

/* A read pushes the writes before it, and takes the link's round-trip time. */
static void test_accesses_take_the_links_time(void **state) {
  struct logic *logic = make();
  struct sim *sim = logic->r->sim;
  const uint64_t way_ps = sim_drive_link(logic->r->drive)->config.latency_ns * SIM_PS_PER_NS;
  const uint64_t start_ps = sim_now_ps(sim) + SIM_PS_PER_US;

  (void)state;
  logic->access = (struct sim_logic_access){.address = logic->r->bar + 0x24, .answered = is_answered, .context = logic};
  sim_logic_post(sim, start_ps, logic->r->bar + 0x24, 0x00030003);
  sim_logic_ask(sim, start_ps, &logic->access);
  sim_spend(sim, start_ps + 2 * way_ps - sim_now_ps(sim));
  assert_false(logic->answered);
  sim_spend(sim, way_ps);
  assert_true(logic->answered);
  assert_int_equal(logic->access.value, 0x00030003);
  assert_false(logic->access.nobody);
  drop(logic);
}

static void test_without_a_drive_all_ones(void **state) {
  struct logic *logic = make();
  struct sim *sim = logic->r->sim;

  (void)state;
  sim_drive_link_drop(logic->r->drive, UINT32_MAX);
  assert_int_equal(ask(logic, logic->r->bar, NULL), UINT32_MAX);
  assert_true(logic->access.nobody);
  sim_logic_post(sim, sim_now_ps(sim), logic->r->bar + 0x14, 1);
  sim_logic_post(sim, sim_now_ps(sim), WINDOW << 8, 1);
  sim_spend(sim, ROUND * SIM_PS_PER_US);
  assert_int_equal(sim_drive_counters(logic->r->drive)->enables, 0);
  drop(logic);
}

static void test_configuration_space(void **state) {
  struct logic *logic = make();
  const uint64_t port = SIM_ECAM;
  const uint32_t control = 0x00a05010;

  (void)state;
  assert_int_equal(ask(logic, port + 8, NULL) >> 16, 0x0604);
  assert_int_equal(ask(logic, port + 0x0100000 + 8, NULL) >> 8, 0x010802);
  (void)ask(logic, port + 0x28, &control);
  assert_int_equal(ask(logic, port + 0x28, NULL), control);
  drop(logic);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_drive_works_from_a_window),     cmocka_unit_test(test_completion_queues_are_not_read),
      cmocka_unit_test(test_nothing_answers_beyond_a_window), cmocka_unit_test(test_accesses_take_the_links_time),
      cmocka_unit_test(test_without_a_drive_all_ones),        cmocka_unit_test(test_configuration_space),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
