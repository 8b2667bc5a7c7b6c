/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main() of the example, from the bridge to the volume that may be switched off, on a model of an XDMA, a model of AXI
 * DMA and the virtual drive. What a BSP does is here: output, and three calls of spate_vitis.h that need a processor.
 */
#include "../s2mm_model.h"
#include "machine/memory.h"
#include "machine/stack.h"
#include <design.h>
#include <setjmp.h>
#include <spate/exfat.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recorded_file.h"

/* The host's port has a log of its own. */
#define spate_port_log vitis_port_log
void vitis_port_log(const char *text, uint64_t value);
#include "spate_vitis.c"
#undef spate_port_log

/* All of its objects are private to the file, and its memory must be known to the machine. */
#define main example_main
int example_main(void);
#include "example/main.c"
#undef main

#define MIB          (UINT64_C(1) << 20)
#define DRIVE_BYTES  (4096u * MIB)
#define CLIP_PIECES  40u /* more than the ring has */
#define SHORT_BYTES  4096u
#define PERIOD_PS    (1000 * SIM_PS_PER_US)
#define OUTPUT_BYTES 4096u

#define OK(call) assert_int_equal(call, SPATE_OK)

uint8_t design_queue[DESIGN_QUEUE_BYTES] __attribute__((aligned(4096)));
uint8_t design_ring[DESIGN_RING_BYTES] __attribute__((aligned(4096)));

/* ---- the BSP, and what needs the processor ---- */

static char output[OUTPUT_BYTES];
static unsigned opened;
static uint64_t not_cached_bytes;

void xil_printf(const char *format, ...) {
  const size_t at = strlen(output);
  va_list arguments;

  va_start(arguments, format);
  (void)vsnprintf(output + at, sizeof output - at, format, arguments);
  va_end(arguments);
}

void spate_vitis_open(void) { opened++; }

enum spate_error spate_vitis_not_cached(uintptr_t start, uint64_t bytes) {
  assert_int_equal(opened, 1);
  if (start == DESIGN_QUEUE || start == DESIGN_RING) not_cached_bytes += bytes;
  return SPATE_OK;
}

/* ---- the board ---- */

static const struct sim_bridge_config xdma = {.family = SIM_BRIDGE_PG194};

/* Power on: the program's memory is as it was loaded. */
static void load(void) {
  host = (struct spate_pcie_host){0};
  pcie_bus = (struct spate_nvme_pcie){0};
  controller = (struct spate_nvme){0};
  queue = (struct spate_nvme_queue){0};
  memset(queue_slots, 0, sizeof queue_slots);
  ring = (struct spate_region){0};
  volume = (struct spate_exfat){0};
  recorder = (struct spate_recorder){0};
  stream = (struct spate_stream){0};
  dma = (struct s2mm){0};
  queue_memory.used_bytes = 0;
  output[0] = '\0';
  opened = 0;
  not_cached_bytes = 0;
}

/* A drive that a PC has formatted. */
static struct sim_stack *board(struct s2mm_model *model) {
  const struct sim_stack_config config = {
      .machine = {.seed = 5, .coherent = true}, .options = {.bytes = DRIVE_BYTES}, .bridge = xdma};
  const struct spate_exfat_format format = {.serial = 1};
  struct sim_stack *stack = sim_stack_new(&config);

  OK(sim_stack_open(stack));
  struct spate_exfat_config whole = sim_stack_exfat(stack);
  OK(spate_exfat_format(&whole, &format));
  OK(sim_stack_close(stack));
  sim_memory_give(stack->sim, design_queue, sizeof design_queue, SIM_QUEUE);
  sim_memory_give(stack->sim, design_ring, sizeof design_ring, SIM_QUEUE);
  sim_memory_give(stack->sim, cache, sizeof cache, SIM_CACHED);
  sim_memory_give(stack->sim, bitmap, sizeof bitmap, SIM_CACHED);
  model->piece_bytes = PIECE_BYTES;
  model->period_ps = PERIOD_PS;
  s2mm_model_open(model, stack->sim);
  load();
  return stack;
}

/* The next host: the volume is clean, and the clip has so many bytes of the stream. */
static void check_and_free(struct sim_stack *stack, uint64_t bytes) {
  static struct spate_exfat mounted;
  struct spate_exfat_mounted found;
  struct spate_exfat_file file;
  const char *first;

  sim_stack_restart(stack);
  OK(sim_stack_open(stack));
  struct spate_exfat_config whole = sim_stack_exfat(stack);
  OK(spate_exfat_mount(&mounted, &whole, &found));
  assert_false(found.dirty);
  if (bytes == 0) {
    assert_int_not_equal(spate_exfat_open(&mounted, "CLIP.RAW", &file), SPATE_OK);
  } else {
    expect_file(&mounted, "CLIP.RAW", 0, bytes);
  }
  OK(spate_exfat_unmount(&mounted));
  OK(sim_stack_close(stack));
  if (sim_take_violations(stack->sim, &first) != 0) fail_msg("%s", first);
  sim_stack_free(stack);
}

/* ---- runs ---- */

static void test_the_example_records_a_clip(void **state) {
  struct s2mm_model model = {
      .variant = S2MM_SHORT_PACKET, .pieces = CLIP_PIECES + 1u, .at = CLIP_PIECES, .short_bytes = SHORT_BYTES};
  struct sim_stack *stack = board(&model);

  assert_int_equal(example_main(), 0);
  assert_string_equal(output, "40 MiB recorded, the ring was full 0 times\r\ndone: the drive may be switched off\r\n");
  assert_int_equal(not_cached_bytes, DESIGN_QUEUE_BYTES + DESIGN_RING_BYTES);
  check_and_free(stack, CLIP_PIECES * MIB + SHORT_BYTES);
  (void)state;
}

/* Each failure of the DMA has its sentence on the console, and leaves a clean volume. */
static void test_the_example_says_what_is_wrong_with_the_dma(void **state) {
  static const struct {
    enum s2mm_variant variant;
    enum s2mm_failure failure;
    uint32_t pieces; /* in the file */
  } cases[] = {
      {S2MM_ABSENT, S2MM_NO_RESET, 0},
      {S2MM_SIMPLE, S2MM_NOT_SG, 0},
      {S2MM_STAYS_HALTED, S2MM_NOT_STARTED, 0},
      {S2MM_DESCRIPTOR_ERROR, S2MM_DATA_ERROR, 5},
      {S2MM_HALTS, S2MM_HALTED, 5},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct s2mm_model model = {.variant = cases[i].variant, .pieces = CLIP_PIECES, .at = 5};
    struct sim_stack *stack = board(&model);
    assert_int_not_equal(example_main(), 0);
    char sentence[512];
    (void)snprintf(sentence, sizeof sentence, "AXI DMA: %s\r\n", s2mm_help(cases[i].failure));
    if (strstr(output, sentence) == NULL) fail_msg("not in the output: %s%s", sentence, output);
    assert_non_null(strstr(output, "failed\r\n"));
    assert_null(strstr(output, "done"));
    check_and_free(stack, cases[i].pieces * MIB);
  }
  (void)state;
}

/* The first step that fails ends the run. */
static void test_the_example_says_which_step_failed(void **state) {
  struct s2mm_model model = {.pieces = 0};
  struct sim_stack *stack = board(&model);

  sim_bridge_set_presence(stack->sim, SIM_BRIDGE_READS_ONES);
  assert_int_not_equal(example_main(), 0);
  assert_memory_equal(output, "bridge: ", strlen("bridge: "));
  assert_null(strstr(output, "AXI DMA"));
  assert_non_null(strstr(output, "failed\r\n"));
  sim_stack_free(stack);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_example_records_a_clip),
      cmocka_unit_test(test_the_example_says_what_is_wrong_with_the_dma),
      cmocka_unit_test(test_the_example_says_which_step_failed),
  };
  return cmocka_run_group_tests_name("vitis example", tests, NULL, NULL);
}
