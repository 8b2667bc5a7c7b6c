/* SPDX-License-Identifier: Apache-2.0 */
/* A link that trained narrower or slower than both ends support: `hello`, the demo and the other applications print the
 * same warning, and continue. Here the virtual drive is their board. */
#include "machine/stack.h"

#define app_main hello_main
#include "../../../firmware/common/drive.c"
#include "../../../firmware/common/link.c"
#include "../../../firmware/hello/main.c"
#include "../../../ports/common/print.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define RING_BYTES (UINT64_C(1) << 20)
#define GENERATION 3u /* of drive and port, which have four lanes */
#define LANES      4u

/* ---- the board ---- */

static struct sim_stack *stack;
static char console[4096];
static size_t console_bytes;
static jmp_buf end_of_run;

const char *board_name(void) { return "the virtual drive"; }

void board_write(const char *text, size_t bytes) {
  assert_true(console_bytes + bytes < sizeof console);
  memcpy(console + console_bytes, text, bytes);
  console_bytes += bytes;
  console[console_bytes] = '\0';
}

const char *board_argument(const char *name, const char *fallback) {
  (void)name;
  return fallback;
}

void board_now(void *context, struct spate_exfat_time *time) {
  (void)context;
  *time = (struct spate_exfat_time){.year = 2026, .month = 11, .day = 23};
}

uint64_t board_random(void) { return 1; }
uintptr_t board_absent_register(void) { return SIM_WINDOW; }
bool board_provoke_late_error(const volatile void *address) {
  (void)address;
  return false;
}
struct spate_arena *board_queue_memory(void) {
  return &stack->drives[0].queue_memory;
}
struct spate_arena *board_memory(void) {
  return &stack->drives[0].queue_memory;
}
struct spate_nvme_bus board_nvme_bus(struct spate_nvme_pcie *pcie_bus) {
  return spate_nvme_pcie_bus(pcie_bus);
}

enum spate_error board_ring_open(struct spate_region *ring) {
  *ring = *sim_stack_region(stack, RING_BYTES, SIM_LOGIC);
  return SPATE_OK;
}

enum spate_error board_pcie_bring_up(struct spate_pcie_host *host) {
  const struct spate_pcie_ecam_config bridge = {
      .config_base = SIM_ECAM,
      .last_bus = SIM_ECAM_BUSES - 1u,
      .memory = {.cpu_address = SIM_WINDOW, .bus_address = SIM_WINDOW, .bytes = SIM_WINDOW_BYTES},
  };
  const enum spate_error error = spate_pcie_ecam_open(host, &bridge);

  return error == SPATE_OK ? spate_pcie_enumerate(host, 0) : error;
}

void board_exit(int status) { longjmp(end_of_run, status == 0 ? -1 : status); }

/* ---- two runs ---- */

static void start(unsigned generation, unsigned lanes) {
  stack = sim_stack_new(&(struct sim_stack_config){.profile = "970evoplus",
                                                   .options = {.bytes = UINT64_C(64) << 20,
                                                               .link = {.generation = (uint8_t)generation,
                                                                        .lanes = (uint8_t)lanes,
                                                                        .port_generation = GENERATION,
                                                                        .port_lanes = LANES,
                                                                        .payload_bytes = 256,
                                                                        .read_request_bytes = 512,
                                                                        .latency_ns = 250}}});
  console_bytes = 0;
}

/* The line with the warning, or NULL. It points into the console's text. */
static const char *warning(void) {
  char *line = strstr(console, "pcie   warning: ");

  if (line == NULL) return "";
  *strchr(line, '\n') = '\0';
  return line;
}

/* Does each of them continue, and what does it print? */
static bool hello_goes_on(char said[256]) {
  const int status = hello_main();

  assert_true((status == 0) == (strstr(console, "NVMe VS 0x00010400") != NULL));
  (void)print_into(said, 256, "%s", warning());
  sim_stack_free(stack);
  return status == 0;
}

static bool demo_goes_on(char said[256]) {
  static struct drive drive;
  const int status = setjmp(end_of_run);

  if (status == 0) drive_open(&drive, 8);
  assert_true((status == 0) == (strstr(console, "namespace 1: ") != NULL));
  (void)print_into(said, 256, "%s", warning());
  sim_stack_free(stack);
  return status == 0;
}

static void test_both_say_the_same_and_go_on(void **state) {
  (void)state;
  char sentence[256];
  (void)print_into(sentence, sizeof sentence, "pcie   warning: %s", spate_error_help(SPATE_E_LINK_DEGRADED));
  for (unsigned generation = 1; generation <= GENERATION; generation++) {
    for (unsigned lanes = 1; lanes <= LANES; lanes *= 2) {
      const bool degraded = generation < GENERATION || lanes < LANES;
      char hello_said[256], demo_said[256];
      start(generation, lanes);
      assert_true(hello_goes_on(hello_said));
      start(generation, lanes);
      assert_true(demo_goes_on(demo_said));
      assert_string_equal(hello_said, degraded ? sentence : "");
      assert_string_equal(demo_said, hello_said);
    }
  }
}

static void test_neither_goes_on_without_a_link(void **state) {
  (void)state;
  char said[256];
  start(GENERATION, LANES);
  sim_drive_link_drop(stack->drives[0].drive, UINT32_MAX);
  assert_false(hello_goes_on(said));
  start(GENERATION, LANES);
  sim_drive_link_drop(stack->drives[0].drive, UINT32_MAX);
  assert_false(demo_goes_on(said));
  assert_non_null(strstr(console, "LINK_DOWN"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_both_say_the_same_and_go_on),
      cmocka_unit_test(test_neither_goes_on_without_a_link),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
