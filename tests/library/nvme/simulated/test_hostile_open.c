/* SPDX-License-Identifier: Apache-2.0 */
/* Drives that misbehave during bring-up. Open ends within its time: with an error, or with a queue that works. */
#include "hostile.h"
#include <spate/bytes.h>

/* The longest time for open: three times the drive's own time to become ready (half a second in these tests) plus half
 * a second, and 5 s for each command of the bring-up and of the queue. */
#define COMMANDS_MAX 16u
#define OPEN_MS_MAX  (3u * 1000u + COMMANDS_MAX * 5000u)

#define PAGES 8u /* of a region: canary, data, canary ... */

/* Write and read back through the queue. The pages between the two buffers must not change. */
static void expect_working(struct sim_stack *stack, const char *name) {
  struct spate_region *region = sim_stack_region(stack, PAGES * 4096, SIM_LOGIC);
  struct spate_block *block = stack->block;
  const uint32_t blocks = 4096u >> block->block_shift;
  put_canary(region->start, PAGES * 4096);
  put_pattern(region->start + 4096, 4096, 77);
  struct spate_io write = {.op = SPATE_WRITE, .lba = blocks, .blocks = blocks, .region = region, .offset_bytes = 4096};
  struct spate_io read = {
      .op = SPATE_READ, .lba = blocks, .blocks = blocks, .region = region, .offset_bytes = 3 * UINT64_C(4096)};
  const enum spate_error error = spate_block_do(block, &write);
  if (error != SPATE_OK) fail_msg("%s: open succeeds, and a write fails with %s", name, spate_error_name(error));
  assert_int_equal(spate_block_do(block, &read), SPATE_OK);
  if (memcmp(region->start + 4096, region->start + 3 * 4096, 4096) != 0) fail_msg("%s: other data read", name);
  check_canary(region->start, 4096, name);
  check_canary(region->start + 2 * 4096, 4096, name);
  check_canary(region->start + 4 * 4096, 4 * 4096, name);
}

static bool is_known(enum spate_error error) {
  switch (error) {
  case SPATE_E_GONE:
  case SPATE_E_FATAL:
  case SPATE_E_TIMEOUT:
  case SPATE_E_COMMAND:
  case SPATE_E_UNSUPPORTED:
  case SPATE_E_NO_NAMESPACE:
  case SPATE_E_BLOCK_SIZE:
  case SPATE_E_METADATA:
  case SPATE_E_FULL: return true;
  default: return false;
  }
}

/* Open, and check the result. Then the drive drops its faults: after a restart open must succeed. */
static enum spate_error open_one(struct sim_stack *stack, const char *name, uint64_t most_ms, bool comes_back) {
  const uint64_t start_ms = now_ms(stack);
  const enum spate_error error = sim_stack_open(stack);
  hostile_cases++;
  if (now_ms(stack) - start_ms > most_ms) fail_msg("%s: open took %u ms", name, (unsigned)(now_ms(stack) - start_ms));
  if (error != SPATE_OK && !is_known(error)) fail_msg("%s: open gives %s", name, spate_error_name(error));
  sim_drive_clear_faults(stack->drives[0].drive);
  if (error == SPATE_OK) expect_working(stack, name);
  if (error == SPATE_OK) assert_int_equal(sim_stack_close(stack), SPATE_OK);
  if (!comes_back) return error;
  sim_spend(stack->sim, 10000 * SIM_PS_PER_MS);
  sim_stack_restart(stack);
  const enum spate_error again = sim_stack_open(stack);
  if (again != SPATE_OK) fail_msg("%s: the next open gives %s", name, spate_error_name(again));
  expect_working(stack, name);
  assert_int_equal(sim_stack_close(stack), SPATE_OK);
  return error;
}

/* Open gives exactly this error, or a queue that works. The host violates no rule. */
static void open_gives(struct sim_stack *stack, const char *name, enum spate_error wanted) {
  const enum spate_error error = sim_stack_open(stack);
  if (error != wanted) fail_msg("%s: open gives %s", name, spate_error_name(error));
  if (error == SPATE_OK) {
    expect_working(stack, name);
    assert_int_equal(sim_stack_close(stack), SPATE_OK);
  }
  no_violations(stack, name);
}

/* The number of admin commands of an undisturbed open. */
static uint32_t commands_of_open(void) {
  struct sim_stack *stack = hostile_stack(0);
  uint32_t count = 0;
  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  for (unsigned opcode = 0; opcode < 256; opcode++)
    count += (uint32_t)sim_drive_counters(stack->drives[0].drive)->admin[opcode];
  sim_stack_free(stack);
  assert_in_range(count, 9, COMMANDS_MAX);
  return count;
}

/* The answer itself is correct and comes in time. */
static bool does_no_harm(const struct misbehaviour *what) {
  return what->action == SIM_DOUBLE || what->action == SIM_WRONG_ID || what->action == SIM_WRONG_QUEUE ||
         (what->action == SIM_LATE && what->value < 5000);
}

static void test_every_admin_command(void **state) {
  (void)state;
  const uint32_t commands = commands_of_open();
  unsigned opened = 0;
  hostile_cases = 0;
  for (unsigned i = 0; i < MISBEHAVIOURS; i++) {
    const struct misbehaviour *what = &misbehaviours[i];
    for (uint32_t position = 0; position < commands; position++) {
      struct sim_stack *stack = hostile_stack(i * 100 + position);
      char name[96];
      (void)snprintf(name, sizeof name, "%s at admin command %u", what->name, position);
      sim_drive_fault(stack->drives[0].drive, fault_of(what, true, -1, position));
      const enum spate_error error = open_one(stack, name, OPEN_MS_MAX, what->action != SIM_GONE);
      if (does_no_harm(what) && error != SPATE_OK) fail_msg("%s: open gives %s", name, spate_error_name(error));
      opened += error == SPATE_OK;
      no_violations(stack, name);
      sim_stack_free(stack);
    }
  }
  print_message("%u cases, %u of them opened\n", hostile_cases, opened);
}

static void test_never_ready_never_disabled_fatal(void **state) {
  (void)state;
  static const struct {
    bool never_ready, never_disabled, fatal;
    enum spate_error error;
  } cases[] = {{true, false, false, SPATE_E_TIMEOUT}, {false, false, true, SPATE_E_FATAL}};
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sim_stack *stack = hostile_stack(i);
    sim_drive_stick(stack->drives[0].drive, cases[i].never_ready, cases[i].never_disabled, cases[i].fatal);
    assert_int_equal(open_one(stack, "stuck", 20000, false), cases[i].error);
    no_violations(stack, "stuck");
    sim_drive_stick(stack->drives[0].drive, false, false, false);
    sim_stack_restart(stack);
    assert_int_equal(sim_stack_open(stack), SPATE_OK);
    expect_working(stack, "no longer stuck");
    no_violations(stack, "no longer stuck");
    /* A host that starts again finds it running, and cannot stop it by CC.EN. A function-level reset stops it. */
    const uint32_t *resets = &sim_drive_counters(stack->drives[0].drive)->hard_resets[SIM_RESET_FUNCTION];
    const uint32_t before = *resets;
    sim_drive_stick(stack->drives[0].drive, false, true, false);
    sim_stack_restart(stack);
    assert_int_equal(open_one(stack, "not to be stopped", 20000, false), SPATE_OK);
    assert_int_equal(*resets, before + 1u);
    no_violations(stack, "not to be stopped");
    sim_stack_free(stack);
  }
}

/* ---- contents of the registers ---- */

struct capability {
  const char *name;
  uint64_t clear, set;
  enum spate_error error;
};

static void test_absurd_capabilities(void **state) {
  (void)state;
  static const struct capability cases[] = {
      {"one queue entry", 0xffff, 0, SPATE_E_UNSUPPORTED},
      {"two queue entries", 0xffff, 1, SPATE_E_UNSUPPORTED},
      {"three queue entries", 0xffff, 2, SPATE_E_UNSUPPORTED},
      {"four queue entries", 0xffff, 3, SPATE_OK},
      {"five queue entries", 0xffff, 4, SPATE_OK},
      {"64 Ki queue entries", 0xffff, 0xffff, SPATE_OK},
      {"no time to get ready", UINT64_C(0xff) << 24, 0, SPATE_OK},
      {"two minutes to get ready", UINT64_C(0xff) << 24, UINT64_C(0xff) << 24, SPATE_OK},
      {"doorbells beyond the BAR", UINT64_C(0xf) << 32, UINT64_C(0xf) << 32, SPATE_E_UNSUPPORTED},
      {"no NVM command set", UINT64_C(1) << 37, 0, SPATE_E_COMMAND_SET},
      {"pages of 8 KiB at least", 0, UINT64_C(1) << 48, SPATE_E_PAGE_SIZE},
      {"all ones", 0, UINT64_MAX, SPATE_E_GONE},
      {"all zeros", UINT64_MAX, 0, SPATE_E_COMMAND_SET},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sim_stack *stack = hostile_stack(i);
    uint64_t *cap = sim_drive_cap(stack->drives[0].drive);
    *cap = (*cap & ~cases[i].clear) | cases[i].set;
    open_gives(stack, cases[i].name, cases[i].error);
    sim_stack_free(stack);
  }
}

/* ---- contents of the Identify pages ---- */

struct wrong_field {
  const char *name;
  bool namespace;
  uint16_t at, bytes;
  uint64_t value;
  enum spate_error error;
};

static void test_wrong_values_in_identify(void **state) {
  (void)state;
  static const struct wrong_field cases[] = {
      {"no namespaces, and one that is listed", false, 516, 4, 0, SPATE_OK},
      {"4 Gi namespaces", false, 516, 4, 0xffffffff, SPATE_OK},
      {"transfers of one page", false, 77, 1, 0, SPATE_OK}, /* 0: no limit; the drive's own limit applies */
      {"no size", true, 0, 8, 0, SPATE_E_NO_NAMESPACE},
      {"more bytes than a number holds", true, 0, 8, UINT64_MAX, SPATE_E_UNSUPPORTED},
      {"a format that is not listed", true, 26, 1, 0xf, SPATE_E_BLOCK_SIZE},
      {"blocks of 1 byte", true, 128, 4, 0, SPATE_E_BLOCK_SIZE},
      {"blocks of 2 GiB", true, 128, 4, UINT64_C(31) << 16, SPATE_E_BLOCK_SIZE},
      {"blocks with metadata", true, 128, 4, UINT64_C(9) << 16 | 8, SPATE_E_METADATA},
      {"protection information", true, 29, 1, 1, SPATE_E_METADATA},
      {"no host buffer that could be lent", false, 276, 4, 0xffffffff, SPATE_OK},
      {"an hour to shut down", false, 88, 4, 0xd693a400, SPATE_OK},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sim_stack *stack = hostile_stack(i);
    struct sim_drive *drive = stack->drives[0].drive;
    uint8_t *page = cases[i].namespace ? sim_drive_identify_namespace(drive) : sim_drive_identify_controller(drive);
    uint8_t value[8];
    spate_put64(value, cases[i].value);
    memcpy(page + cases[i].at, value, cases[i].bytes);
    open_gives(stack, cases[i].name, cases[i].error);
    sim_stack_free(stack);
  }
}

/* Identify pages full of garbage, in all bytes or in some. What the library then does with the drive must stay in
 * bounds; it need not work. */
static void test_garbage_in_identify(void **state) {
  (void)state;
  unsigned opened = 0;
  hostile_cases = 0;
  for (uint64_t seed = 1; seed <= 400; seed++) {
    struct sim_stack *stack = hostile_stack(seed);
    struct sim_drive *drive = stack->drives[0].drive;
    uint8_t *pages[] = {sim_drive_identify_controller(drive), sim_drive_identify_namespace(drive)};
    const unsigned spoiled = seed % 8 == 0 ? 4096 : 1u << seed % 12;
    for (unsigned i = 0; i < spoiled; i++) {
      const uint64_t random = sim_random(stack->sim);
      pages[random & 1][random >> 8 & 0xfff] = (uint8_t)(random >> 32);
    }
    struct spate_region *region = sim_stack_region(stack, PAGES * 4096, SIM_LOGIC);
    put_canary(region->start, PAGES * 4096);
    const uint64_t start_ms = now_ms(stack);
    const enum spate_error error = sim_stack_open(stack);
    hostile_cases++;
    assert_in_range(now_ms(stack) - start_ms, 0, OPEN_MS_MAX);
    if (error != SPATE_OK && !is_known(error)) fail_msg("seed %u: %s", (unsigned)seed, spate_error_name(error));
    if (error == SPATE_OK) {
      opened++;
      const uint32_t blocks = 4096u >> stack->block->block_shift;
      struct spate_io write = {.op = SPATE_WRITE, .blocks = blocks, .region = region, .offset_bytes = 4096};
      (void)!spate_block_do(stack->block, &write);
      struct spate_io read = {.op = SPATE_READ, .blocks = blocks, .region = region, .offset_bytes = 4096};
      (void)!spate_block_do(stack->block, &read);
      (void)!sim_stack_close(stack);
    }
    check_canary(region->start, 4096, "garbage in Identify");
    check_canary(region->start + 2 * 4096, (PAGES - 2) * 4096, "garbage in Identify");
    (void)sim_take_violations(stack->sim, NULL);
    sim_stack_free(stack);
  }
  print_message("%u cases, %u of them opened\n", hostile_cases, opened);
  assert_true(opened > 20); /* otherwise nothing was tried beyond Identify */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_admin_command), cmocka_unit_test(test_never_ready_never_disabled_fatal),
      cmocka_unit_test(test_absurd_capabilities), cmocka_unit_test(test_wrong_values_in_identify),
      cmocka_unit_test(test_garbage_in_identify),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
