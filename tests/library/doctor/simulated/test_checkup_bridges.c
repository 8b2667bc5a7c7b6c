/* SPDX-License-Identifier: Apache-2.0 */
/* A checkup behind each Xilinx bridge that the simulator models: links that are late or never train, registers at a
 * wrong address, and a translation of addresses that the board does not know of. */
#include "../../pcie/simulated/bridge_fixture.h"

#include <spate/checkup.h>
#include <stdio.h>

#define LINK_TIMEOUT_MS 20u

/* How the board configures the bridge. All zeros: rightly. */
struct board {
  struct sim_bridge_config bridge;
  bool ignores_translation; /* it gives the window the same addresses on both sides */
  uint64_t bus_offset;      /* its bus address of the window is wrong by so much */
  uint32_t opened_ms;       /* when it opens the bridge; 0: at once */
};

static const struct board *board;
static struct sim_stack *stack;
static struct spate_checkup checkup;
static struct spate_doctor doctor;
static struct spate_doctor_finding findings[32];
static unsigned finding_count;
static char said[16384];

static void keep_fact(void *context, const struct spate_checkup_fact *fact) {
  (void)context;
  assert_true(strlen(said) + strlen(fact->text) + 40 < sizeof said);
  (void)sprintf(said + strlen(said), "%s: %s\n", fact->name, fact->text);
}

static void keep_finding(void *context, const struct spate_doctor_finding *finding) {
  (void)context;
  assert_true(finding_count < 32);
  findings[finding_count++] = *finding;
  (void)sprintf(said + strlen(said), "%s\n", spate_doctor_name(finding->code));
}

static enum spate_error open_board(void *context, struct spate_pcie_host *host) {
  struct spate_pcie_xilinx_config config = sim_stack_xilinx(&board->bridge);

  assert_null(context);
  while (now_ms(stack) < board->opened_ms)
    sim_spend(stack->sim, SIM_PS_PER_MS);
  config.link_timeout_ms = LINK_TIMEOUT_MS;
  if (board->ignores_translation) config.memory.bus_address = config.memory.cpu_address;
  config.memory.bus_address += board->bus_offset;
  config.prefetchable.bytes = 0;
  const enum spate_error error = spate_pcie_xilinx_open(host, &config);
  return error == SPATE_OK ? spate_pcie_enumerate(host, 1) : error;
}

static void check(const struct board *wrong) {
  board = wrong;
  stack = machine_with(&wrong->bridge);
  struct spate_arena queue_memory = {.start = sim_memory_take(stack->sim, SPATE_CHECKUP_QUEUE_MEMORY_BYTES, SIM_QUEUE),
                                     .bytes = SPATE_CHECKUP_QUEUE_MEMORY_BYTES};
  const struct spate_checkup_config config = {
      .open = open_board,
      .host = &stack->host,
      .ltssm = wrong->bridge.family == SIM_BRIDGE_PG055 ? SPATE_DOCTOR_LTSSM_PG054 : SPATE_DOCTOR_LTSSM_PG213,
      .queue_memory = &queue_memory,
      .buffer = sim_memory_take(stack->sim, SPATE_CHECKUP_BUFFER_BYTES_MIN, SIM_CACHED),
      .buffer_bytes = SPATE_CHECKUP_BUFFER_BYTES_MIN,
      .fact = keep_fact};

  doctor = (struct spate_doctor){.found = keep_finding};
  finding_count = 0;
  said[0] = '\0';
  assert_int_equal(spate_checkup(&checkup, &config, &doctor), SPATE_OK);
  sim_stack_free(stack);
}

/* cmocka cuts messages. */
static void fail_with(const char *what) {
  (void)fprintf(stderr, "family %d: %s\n%s", (int)board->bridge.family, what, said);
  fail();
}

static void assert_says(const char *text) {
  if (strstr(said, text) == NULL) fail_with(text);
}

/* This is the only error, and it ends the checkup. */
static void assert_only(enum spate_doctor_code code) {
  bool ended = false;
  unsigned errors = 0;

  for (unsigned i = 0; i < finding_count; i++) {
    ended |= findings[i].code == SPATE_DOCTOR_UNDONE_STEPS;
    if (spate_doctor_severity_of(findings[i].code) != SPATE_DOCTOR_ERROR) continue;
    errors++;
    if (findings[i].code != code) fail_with(spate_doctor_name(code));
  }
  if (errors != 1 || !ended) fail_with(spate_doctor_name(code));
}

static void nothing_is_wrong_behind_a_sound_bridge(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES; i++) {
    check(&(struct board){.bridge = {.family = families[i], .training_ms = 10}});
    if (doctor.worst != SPATE_DOCTOR_NOTE) fail_with("it is sound");
    assert_says("bridge: opening it\nbridge: OK: 1 bridge, 1 device, 0 left out\n");
    assert_says("link: up, ");
    assert_says("end: shutdown: OK");
  }
}

/* The states change all the time. Watched for too short a time, each link would be in Detect. */
static void it_is_told_how_far_a_link_gets(void **state) {
  static const enum spate_doctor_code codes[] = {SPATE_DOCTOR_LINK_NO_RECEIVER, SPATE_DOCTOR_LINK_POLLING,
                                                 SPATE_DOCTOR_LINK_CONFIGURATION};

  (void)state;
  for (unsigned i = 0; i < 3 * FAMILIES; i++) {
    check(&(struct board){.bridge = {.family = families[i / 3], .training = SIM_BRIDGE_STUCK_IN_DETECT + i % 3}});
    assert_only(codes[i % 3]);
    assert_says("bridge: LINK_DOWN\n");
  }
}

/* A link that came up after the board had given it up is neither a sound one nor the drive's fault. */
static void a_late_link_is_told(void **state) {
  (void)state;
  for (unsigned i = 0; i < 2 * FAMILIES; i++) {
    check(&(struct board){.bridge = {.family = families[i / 2], .training_ms = 20000, .reports_link = i % 2 == 0},
                          .opened_ms = 19900});
    assert_only(SPATE_DOCTOR_LINK_LATE);
  }
}

/* Where the board looks for the bridge's own registers there are zeros. That is not a port without a receiver. */
static void registers_at_a_wrong_address_are_no_missing_receiver(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES; i++) {
    if (families[i] != SIM_BRIDGE_QDMA && families[i] != SIM_BRIDGE_CPM5) continue; /* the others have one region */
    check(&(struct board){.bridge = {.family = families[i], .registers = SIM_BRIDGE_READS_ZEROS}});
    assert_only(SPATE_DOCTOR_LINK_STATE_ZERO);
  }
}

/* An AXI BAR translates, and the board names another address on the bus, or the processor's address for both sides. On
 * UltraScale+ the processor's is above 4 GiB here, and such a window is refused. */
static void a_translation_that_the_board_does_not_know_is_told(void **state) {
  static const enum sim_bridge_family translating[] = {SIM_BRIDGE_PG055, SIM_BRIDGE_PG194};
  char advice[SPATE_DOCTOR_SENTENCE_BYTES];

  (void)state;
  for (unsigned i = 0; i < 2; i++) {
    const struct sim_bridge_config bridge = {.family = translating[i], .translates = true};
    check(&(struct board){.bridge = bridge});
    if (doctor.worst != SPATE_DOCTOR_NOTE) fail_with("it is sound");
    check(&(struct board){.bridge = bridge, .bus_offset = UINT64_C(0x10000000)});
    assert_only(SPATE_DOCTOR_WINDOW_TRANSLATED);
    check(&(struct board){.bridge = bridge, .ignores_translation = true});
    assert_only(i == 0 ? SPATE_DOCTOR_REGISTERS_UNREACHED : SPATE_DOCTOR_NOT_ENUMERATED);
  }
  (void)spate_doctor_advice(advice, sizeof advice, SPATE_DOCTOR_REGISTERS_UNREACHED, NULL);
  assert_non_null(strstr(advice, "translation"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_wrong_behind_a_sound_bridge),
      cmocka_unit_test(it_is_told_how_far_a_link_gets),
      cmocka_unit_test(a_late_link_is_told),
      cmocka_unit_test(registers_at_a_wrong_address_are_no_missing_receiver),
      cmocka_unit_test(a_translation_that_the_board_does_not_know_is_told),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
