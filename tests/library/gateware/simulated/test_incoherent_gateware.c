/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gateware's backend in memory mode, on memory in which data passes between processor and drive only through the
 * port's calls. tests/library/nvme/simulated/test_barrier_mutations.py removes each of those calls from the backend in
 * turn, or moves it after the start of the command, and then this program has to fail.
 */
#include "fake_gateware.h"
#include "machine/internal.h"
#include "machine/logic.h"

#include <setjmp.h>
#include <spate/dma.h>
#include <spate/gateware.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REGISTERS    UINT64_C(0x40000000)
#define WINDOW_BYTES UINT64_C(0x4000)
#define BLOCK        512u
#define BLOCKS       UINT64_C(4096)
#define REGION_BYTES 65536u
#define LINE         SPATE_DMA_ALIGN
#define POLLS_MAX    100000u
#define LAPS         12u

struct fixture {
  struct sim *sim;
  struct fake_gateware core;
  struct fake_gateware_memory memory;
  struct spate_gateware gateware;
  struct spate_region region;
  uint64_t command_sent; /* when the last command register write left the processor */
  bool done;
};

/* ---- the core's side ---- */

static void window_read(void *context, uint64_t address, uint8_t *data, uint64_t bytes) {
  struct fixture *fixture = context;
  const uint32_t value = fake_gateware_read(&fixture->core, (uint32_t)(address - REGISTERS));

  assert_int_equal(bytes, sizeof value);
  memcpy(data, &value, sizeof value);
}

static void window_write(void *context, uint64_t address, const uint8_t *data, uint64_t bytes) {
  struct fixture *fixture = context;
  uint32_t value;

  assert_int_equal(bytes, sizeof value);
  memcpy(&value, data, sizeof value);
  if (address - REGISTERS == SPATE_REGS_COMMAND) fixture->command_sent = sim_next_sequence(fixture->sim);
  fake_gateware_write(&fixture->core, (uint32_t)(address - REGISTERS), value);
}

/* A drive may read as soon as the command is written: data that becomes visible later could be missed. */
static const uint8_t *drive_load(void *context, uint64_t address, size_t bytes) {
  const struct fixture *fixture = context;
  const uint8_t *data = sim_memory_device(fixture->sim, address, bytes);

  assert_non_null(data);
  assert_true(sim_memory_was_shown(fixture->sim, address, bytes, fixture->command_sent));
  return data;
}

static void drive_store(void *context, uint64_t address, const uint8_t *data, size_t bytes) {
  const struct fixture *fixture = context;

  assert_true(sim_memory_store(fixture->sim, address, data, bytes));
}

/* ---- set-up ---- */

static int set_up(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  const struct sim_config machine = {.seed = 5, .host = sim_host_a53};

  assert_non_null(fixture);
  fixture->sim = sim_new(&machine);
  sim_use(fixture->sim);
  const struct sim_window window = {
      .address = REGISTERS, .bytes = WINDOW_BYTES, .read = window_read, .write = window_write, .context = fixture};
  sim_window_add(fixture->sim, &window);
  fake_gateware_open(&fixture->core, BLOCKS, 9);
  fixture->core.memory_mode = true;
  fixture->memory = (struct fake_gateware_memory){.load = drive_load, .store = drive_store, .context = fixture};
  fixture->core.far_memory = &fixture->memory;
  assert_int_equal(
      spate_gateware_open(&fixture->gateware, &(struct spate_gateware_config){.registers = (uintptr_t)REGISTERS}),
      SPATE_OK);
  *state = fixture;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  const char *first;

  if (sim_take_violations(fixture->sim, &first) != 0) fail_msg("%s", first);
  fake_gateware_close(&fixture->core);
  sim_free(fixture->sim);
  free(fixture);
  return 0;
}

static uint8_t *take_region(struct fixture *fixture, enum sim_memory_kind kind) {
  struct spate_arena table = {.start = sim_memory_take(fixture->sim, SPATE_PAGE_BYTES, SIM_QUEUE),
                              .bytes = SPATE_PAGE_BYTES};
  uint8_t *memory = sim_memory_take(fixture->sim, REGION_BYTES, kind);

  assert_int_equal(spate_region_init(&fixture->region, memory, REGION_BYTES, &table), SPATE_OK);
  return memory;
}

/* ---- requests ---- */

/* No two fills have the same byte at the same place, so that stale data shows. */
static void fill(uint8_t *to, size_t bytes, uint32_t seed) {
  for (size_t i = 0; i < bytes; i++)
    to[i] = (uint8_t)(seed * 29u + i + i / 251u + 1u);
}

static void assert_filled(const uint8_t *found, size_t bytes, uint32_t seed) {
  uint8_t expected[REGION_BYTES];

  fill(expected, bytes, seed);
  assert_memory_equal(found, expected, bytes);
}

static uint8_t *medium(const struct fixture *fixture, uint64_t lba) { return fixture->core.medium + lba * BLOCK; }

static void done(struct spate_io *io) {
  struct fixture *fixture = io->context;

  assert_int_equal(io->error, SPATE_OK);
  fixture->done = true;
}

static void do_request(struct fixture *fixture, struct spate_io io) {
  struct spate_block *block = &fixture->gateware.block;

  io.region = &fixture->region;
  io.done = done;
  io.context = fixture;
  fixture->done = false;
  assert_int_equal(block->ops->submit(block, &io), SPATE_OK);
  for (unsigned i = 0; i < POLLS_MAX && !fixture->done; i++)
    (void)block->ops->poll(block, 16);
  assert_true(fixture->done);
}

/* Uncached memory: stores become visible late, and the drive's stores may be loaded late. */
static void test_uncached_memory(void **state) {
  struct fixture *fixture = *state;
  uint8_t *memory = take_region(fixture, SIM_QUEUE);

  for (uint32_t lap = 0; lap < LAPS; lap++) {
    const uint32_t blocks = 8 + lap, offset = 4096u * (lap % 4) + 4u * lap;
    fill(memory + offset, (size_t)blocks * BLOCK, lap);
    do_request(fixture,
               (struct spate_io){.op = SPATE_WRITE, .lba = 64u * lap, .blocks = blocks, .offset_bytes = offset});
    assert_filled(medium(fixture, 64u * lap), (size_t)blocks * BLOCK, lap);
    fill(medium(fixture, 2048 + lap), (size_t)blocks * BLOCK, 100 + lap);
    do_request(fixture,
               (struct spate_io){.op = SPATE_READ, .lba = 2048 + lap, .blocks = blocks, .offset_bytes = offset});
    assert_filled(memory + offset, (size_t)blocks * BLOCK, 100 + lap);
  }
}

static void test_data_that_the_processor_wrote(void **state) {
  struct fixture *fixture = *state;
  uint8_t *memory = take_region(fixture, SIM_CACHED);

  for (uint32_t lap = 0; lap < LAPS; lap++) {
    const struct spate_io io = {
        .op = SPATE_WRITE, .flags = SPATE_IO_CPU, .lba = 100, .blocks = 40, .offset_bytes = (uint64_t)LINE * lap};
    fill(memory + LINE * lap, 40 * BLOCK, lap);
    do_request(fixture, io);
    assert_filled(medium(fixture, 100), 40 * BLOCK, lap);
  }
}

/* The processor has used that memory before: its lines are dirty. The neighbouring lines stay dirty. */
static void test_data_that_the_processor_reads(void **state) {
  struct fixture *fixture = *state;
  uint8_t *memory = take_region(fixture, SIM_CACHED);

  for (uint32_t lap = 0; lap < LAPS; lap++) {
    const size_t at = LINE * (lap + 1u), bytes = 8u * BLOCK;
    memset(memory, 0xee - (int)lap, REGION_BYTES);
    fill(medium(fixture, 700), bytes, 200 + lap);
    do_request(fixture,
               (struct spate_io){.op = SPATE_READ, .flags = SPATE_IO_CPU, .lba = 700, .blocks = 8, .offset_bytes = at});
    assert_filled(memory + at, bytes, 200 + lap);
    for (size_t byte = 0; byte < REGION_BYTES; byte++)
      if (byte < at || byte >= at + bytes) assert_int_equal(memory[byte], 0xee - (int)lap);
  }
}

/* The lines are clean, and were loaded before the drive stored its data. */
static void test_lines_that_were_fetched_too_early(void **state) {
  struct fixture *fixture = *state;
  uint8_t *memory = take_region(fixture, SIM_CACHED);

  for (uint32_t lap = 0; lap < LAPS; lap++) {
    fill(medium(fixture, 700), 8 * BLOCK, 300 + lap);
    do_request(fixture, (struct spate_io){.op = SPATE_READ, .flags = SPATE_IO_CPU, .lba = 700, .blocks = 8});
    assert_filled(memory, 8 * BLOCK, 300 + lap);
  }
}

#define on_a_core(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      on_a_core(test_uncached_memory),
      on_a_core(test_data_that_the_processor_wrote),
      on_a_core(test_data_that_the_processor_reads),
      on_a_core(test_lines_that_were_fetched_too_early),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
