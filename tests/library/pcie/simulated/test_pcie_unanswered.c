/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/*
 * Host bridges that answer, each in its own way, for a drive that does not. In each mode a drive is brought up,
 * removed, dropped and restored, and reset. The table in docs/use/porting.md lists the results, and each of its rows is
 * checked here.
 */
#include "bus/unanswered.h"
#include "machine/stack.h"
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REQUESTS 32u
#define BLOCKS   64u
#define SEEDS    40u

static const char *const mode_names[SIM_UNANSWERED_MODES] = {
    [SIM_UNANSWERED_ONES] = "all ones",
    [SIM_UNANSWERED_ZEROS] = "zeros",
    [SIM_UNANSWERED_ABORT] = "abort, and the port yields all ones",
    [SIM_UNANSWERED_ARBITRARY] = "arbitrary data",
    [SIM_UNANSWERED_NEVER] = "none, and a firewall yields all ones",
    [SIM_UNANSWERED_PG194] = "registers: abort; configuration: zeros",
};

struct run {
  struct sim_stack *stack;
  const struct spate_region *region;
  struct spate_io ios[REQUESTS];
  unsigned ended, failed;
  enum spate_error error; /* the last error */
};

static void done(struct spate_io *io) {
  struct run *run = io->context;

  run->ended++;
  if (io->error == SPATE_OK) return;
  run->failed++;
  run->error = io->error;
}

static struct run *prepared(enum sim_unanswered mode, uint64_t seed, enum sim_stack_bus bus) {
  struct run *run = calloc(1, sizeof *run);

  assert_non_null(run);
  run->stack = sim_stack_new(&(struct sim_stack_config){
      .machine = {.seed = seed}, .depth = 8, .options = {.bytes = UINT64_C(64) << 20}, .bus = bus});
  run->region = sim_stack_region(run->stack, REQUESTS * BLOCKS * 512u, SIM_LOGIC);
  sim_set_unanswered(run->stack->sim, mode);
  return run;
}

static void end(struct run *run) {
  (void)sim_take_violations(run->stack->sim, NULL); /* checked where it matters */
  sim_stack_free(run->stack);
  free(run);
}

static uint64_t now_ms(const struct run *run) { return sim_now_ps(run->stack->sim) / SIM_PS_PER_MS; }

/* Write all requests, within `most_ms`. A request that the queue refuses counts as ended. Returns how long it took. */
static uint64_t stream(struct run *run, uint64_t most_ms) {
  const uint64_t start_ms = now_ms(run);
  unsigned submitted = 0;

  run->ended = run->failed = 0;
  while (run->ended < REQUESTS) {
    assert_in_range(now_ms(run) - start_ms, 0, most_ms);
    for (; submitted < REQUESTS; submitted++) {
      struct spate_io *io = &run->ios[submitted];
      *io = (struct spate_io){.op = SPATE_WRITE,
                              .lba = (uint64_t)BLOCKS * submitted,
                              .blocks = BLOCKS,
                              .region = run->region,
                              .offset_bytes = (uint64_t)BLOCKS * 512u * submitted,
                              .done = done,
                              .context = run};
      io->error = spate_block_submit(run->stack->block, io);
      if (io->error == SPATE_E_FULL) break;
      if (io->error != SPATE_OK) done(io);
    }
    (void)spate_block_poll(run->stack->block, 8);
    host_relax();
  }
  return now_ms(run) - start_ms;
}

/* ---- the columns of the table ---- */

/* The link came up a moment ago, and the drive is not ready for configuration requests yet. */
static const char *brought_up(enum sim_unanswered mode, enum sim_stack_bus bus) {
  struct run *run = prepared(mode, 1, bus);

  sim_drive_link_drop(run->stack->drives[0].drive, 20);
  const enum spate_error error = sim_stack_open(run->stack);
  const char *result = spate_error_name(error);
  if (error == SPATE_OK) assert_int_equal(sim_stack_close(run->stack), SPATE_OK);
  end(run);
  return result;
}

static const char *no_drive(enum sim_unanswered mode, enum sim_stack_bus bus) {
  struct run *run = prepared(mode, 1, bus);

  sim_drive_link_drop(run->stack->drives[0].drive, UINT32_MAX);
  const char *result = spate_error_name(sim_stack_open(run->stack));
  end(run);
  return result;
}

/* The drive is removed while it writes, and does not come back: the error, if it came within a second for each seed. */
static const char *pulled(enum sim_unanswered mode, enum sim_stack_bus bus) {
  const char *result = NULL;

  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct run *run = prepared(mode, seed, bus);
    assert_int_equal(sim_stack_open(run->stack), SPATE_OK);
    sim_spend(run->stack->sim, seed * 17 * SIM_PS_PER_MS);
    sim_drive_link_drop(run->stack->drives[0].drive, UINT32_MAX);
    const uint64_t took_ms = stream(run, 60000);
    const char *this = took_ms < 1000 && run->failed == REQUESTS ? spate_error_name(run->error) : "late";
    result = result == NULL || strcmp(result, this) == 0 ? this : "any error";
    end(run);
  }
  return result;
}

/* The link drops for a moment, twice. */
static const char *dropped(enum sim_unanswered mode, enum sim_stack_bus bus) {
  const char *result = NULL;

  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct run *run = prepared(mode, seed, bus);
    assert_int_equal(sim_stack_open(run->stack), SPATE_OK);
    unsigned failed = 0;
    for (unsigned turn = 0; turn < 2; turn++) {
      sim_spend(run->stack->sim, seed * 13 * SIM_PS_PER_MS);
      sim_drive_link_drop(run->stack->drives[0].drive, turn == 0 ? 30 : 300);
      (void)stream(run, 60000);
      failed += run->failed;
    }
    const char *this = failed == 0 ? "continues" : "may fail";
    if (failed == 0) assert_int_equal(sim_stack_close(run->stack), SPATE_OK);
    result = result == NULL || strcmp(result, this) == 0 ? this : "may fail";
    end(run);
  }
  return result;
}

/* The controller resets itself, and then fails. Its registers answer all the time. */
static const char *recovered(enum sim_unanswered mode, enum sim_stack_bus bus) {
  struct run *run = prepared(mode, 3, bus);

  assert_int_equal(sim_stack_open(run->stack), SPATE_OK);
  sim_drive_fault(run->stack->drives[0].drive,
                  (struct sim_fault){.action = SIM_RESET, .opcode = -1, .skip = 5, .count = 1});
  sim_drive_fault(run->stack->drives[0].drive,
                  (struct sim_fault){.action = SIM_FATAL, .opcode = -1, .skip = 9, .count = 1});
  (void)stream(run, 60000);
  const char *result = run->failed == 0 ? "continues" : spate_error_name(run->error);
  assert_int_equal(spate_nvme_counters(&run->stack->drives[0].nvme)->resets, 2);
  end(run);
  return result;
}

/* ---- completions that had arrived before ---- */

#define ARRIVED 5u /* of 8 requests; the others do not end within a minute */
#define LATE_MS 60000u

static struct run *with_completions_that_were_not_polled(enum sim_unanswered mode, enum sim_stack_bus bus) {
  struct run *run = prepared(mode, 7, bus);
  struct sim_drive *drive = run->stack->drives[0].drive;

  assert_int_equal(sim_stack_open(run->stack), SPATE_OK);
  sim_drive_fault(drive, (struct sim_fault){
                             .action = SIM_LATE, .opcode = -1, .skip = ARRIVED, .count = UINT32_MAX, .value = LATE_MS});
  for (unsigned i = 0; i < 8; i++) {
    run->ios[i] = (struct spate_io){.op = SPATE_WRITE,
                                    .lba = (uint64_t)BLOCKS * i,
                                    .blocks = BLOCKS,
                                    .region = run->region,
                                    .offset_bytes = (uint64_t)BLOCKS * 512u * i,
                                    .done = done,
                                    .context = run};
    assert_int_equal(spate_block_submit(run->stack->block, &run->ios[i]), SPATE_OK);
  }
  spate_block_kick(run->stack->block);
  sim_spend(run->stack->sim, 200 * SIM_PS_PER_MS);
  assert_int_equal(run->ended, 0);
  return run;
}

/* The drive wrote these completions before it disappeared: the requests succeeded, whatever its registers read now. */
static void test_completions_that_had_arrived_count(void **state) {
  (void)state;
  for (unsigned mode = 0; mode < SIM_UNANSWERED_MODES; mode++) {
    for (enum sim_stack_bus bus = SIM_STACK_PCIE; bus <= SIM_STACK_ALONE; bus++) {
      struct run *run = with_completions_that_were_not_polled(mode, bus);
      sim_drive_link_drop(run->stack->drives[0].drive, UINT32_MAX);
      while (run->ended < 8) {
        (void)spate_block_poll(run->stack->block, 8);
        host_relax();
      }
      assert_int_equal(run->stack->drives[0].nvme.state, SPATE_NVME_DEAD);
      for (unsigned i = 0; i < 8; i++) {
        if ((run->ios[i].error == SPATE_OK) != (i < ARRIVED))
          fail_msg("%s, bus %u, request %u: %s", mode_names[mode], bus, i, spate_error_name(run->ios[i].error));
      }
      end(run);
    }
  }
}

/* ---- the table ---- */

static bool page_has(const char *line) {
  static char page[65536];
  FILE *file = fopen(SPATE_ROOT "/docs/use/porting.md", "r");

  assert_non_null(file);
  const size_t bytes = fread(page, 1, sizeof page - 1, file);
  assert_int_equal(fclose(file), 0);
  page[bytes] = '\0';
  return strstr(page, line) != NULL;
}

static void test_each_row_of_the_table(void **state) {
  (void)state;
  unsigned missing = 0;

  for (unsigned mode = 0; mode < SIM_UNANSWERED_MODES; mode++) {
    char row[256];
    (void)snprintf(row, sizeof row, "\n| %s | %s | %s | %s | %s | %s | %s | %s |\n", mode_names[mode],
                   brought_up(mode, SIM_STACK_RESTORES), no_drive(mode, SIM_STACK_RESTORES),
                   recovered(mode, SIM_STACK_RESTORES), pulled(mode, SIM_STACK_ALONE),
                   dropped(mode, SIM_STACK_RESTORES), pulled(mode, SIM_STACK_WATCHES), dropped(mode, SIM_STACK_PCIE));
    if (page_has(row)) continue;
    print_message("docs/use/porting.md has not got this row:%s", row);
    missing++;
  }
  assert_int_equal(missing, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_row_of_the_table),
      cmocka_unit_test(test_completions_that_had_arrived_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
