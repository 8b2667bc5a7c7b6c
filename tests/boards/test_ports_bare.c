/* SPDX-License-Identifier: Apache-2.0 */
/* What ports/common provides on top of a bare board's functions (ports/bare.h): memory, arguments, random numbers,
 * log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../ports/bare.h"
#include <spate/port.h>

/* Each copy has its own state, like each boot of a board: at another time, or at the same time. */
uint64_t boot_one(void);
uint64_t boot_a_second_later(void);
uint64_t boot_a_tick_later(void);
uint64_t boot_one_again(void);

static uint64_t ticks;
#define spate_port_ticks() ticks
#define board_random       boot_one
#include "../../ports/common/random.c"
#undef board_random
#define board_random boot_a_second_later
#include "../../ports/common/random.c"
#undef board_random
#define board_random boot_a_tick_later
#include "../../ports/common/random.c"
#undef board_random
#define board_random boot_one_again
#include "../../ports/common/random.c"
#undef board_random
#undef spate_port_ticks

#include "../../ports/common/arguments.c"
#include "../../ports/common/bring_up.c"
#include "../../ports/common/memory.c"
#include "../../ports/common/print.c"
#define spate_port_log board_log /* the host's port has one */
#include "../../ports/common/log.c"
#undef spate_port_log

#define PAGE     4096u
#define RING     (4u * PAGE)
#define WORDS_AT (BOARD_WORDS_BYTES - sizeof "size=12")

static _Alignas(PAGE) uint8_t queue_bytes[8 * PAGE], memory_bytes[2 * PAGE], ring_bytes[RING];
static char console[256];
static struct spate_exfat_time wall_clock;

const struct board_layout board_layout = {
    .queue = {queue_bytes, sizeof queue_bytes},
    .memory = {memory_bytes, sizeof memory_bytes},
    .ring = {ring_bytes, sizeof ring_bytes},
};

void board_write(const char *text, size_t bytes) { strncat(console, text, bytes); }

void board_now(void *context, struct spate_exfat_time *time) {
  (void)context;
  *time = wall_clock;
}

static void each_kind_of_memory_is_the_layouts(void **state) {
  (void)state;
  assert_ptr_equal(board_queue_memory(), board_queue_memory());
  assert_ptr_equal(board_memory(), board_memory());
  assert_ptr_equal(spate_arena_take(board_memory(), PAGE, PAGE), memory_bytes);
  assert_ptr_equal(spate_arena_take(board_memory(), PAGE, PAGE), memory_bytes + PAGE);
  assert_null(spate_arena_take(board_memory(), 1, 1));
  assert_ptr_equal(spate_arena_take(board_queue_memory(), PAGE, PAGE), queue_bytes);
}

enum spate_error board_pcie_open(struct spate_pcie_host *host, uint64_t *perst_released_ticks) {
  (void)host;
  (void)perst_released_ticks;
  return SPATE_E_UNSUPPORTED;
}

static enum spate_error own_perst(void *context) { return context == NULL ? SPATE_OK : SPATE_E_BUSY; }

static void the_boards_perst_is_a_drives_last_reset(void **state) {
  (void)state;
  struct spate_pcie_device device = {0};
  struct spate_nvme_pcie pcie_bus = {.device = &device}, own = {.device = &device, .perst = own_perst};

  (void)board_nvme_bus(&pcie_bus);
  (void)board_nvme_bus(&own);
  assert_ptr_equal(pcie_bus.perst, board_perst);
  assert_ptr_equal(own.perst, own_perst);
  assert_int_equal(board_perst(NULL), SPATE_E_UNSUPPORTED); /* this board has none */
}

static void the_ring_has_its_table_in_queue_memory(void **state) {
  (void)state;
  struct spate_region ring;
  const size_t used = board_queue_memory()->used_bytes;
  assert_int_equal(board_ring_open(&ring), SPATE_OK);
  assert_ptr_equal(ring.start, ring_bytes);
  assert_int_equal(ring.bytes, RING);
  assert_true(board_queue_memory()->used_bytes > used);
}

static void words_are_arguments(void **state) {
  (void)state;
  assert_string_equal(board_argument("size", "1"), "1"); /* no arguments at all */
  memcpy(board_words, "name\0erase=1 trim=0", sizeof "name\0erase=1 trim=0");
  assert_string_equal(board_argument("erase", "0"), "1");
  assert_string_equal(board_argument("trim", "1"), "0");
  assert_string_equal(board_argument("size", "1"), "1");
  memcpy(board_words + WORDS_AT, "size=12", sizeof "size=12"); /* the last position that fits */
  assert_string_equal(board_argument("size", "1"), "12");
}

static void boots_differ_by_the_clock_and_by_the_ticks(void **state) {
  (void)state;
  wall_clock = (struct spate_exfat_time){.year = 2026, .month = 11, .day = 23, .hour = 12, .minute = 30, .second = 1};
  ticks = 5;
  const uint64_t first = boot_one();
  assert_true(first == boot_one_again());
  const uint64_t second = boot_one(), third = boot_one(); /* the clock did not advance */
  assert_true(second != first && third != first && third != second);
  ticks = 6;
  const uint64_t tick_later = boot_a_tick_later();
  ticks = 5;
  wall_clock.second++;
  const uint64_t second_later = boot_a_second_later();
  assert_true(first != tick_later);
  assert_true(first != second_later);
  assert_true(tick_later != second_later);
}

static void an_event_is_a_line(void **state) {
  (void)state;
  board_log("controller reset", UINT64_C(12345678901));
  assert_string_equal(console, "spate: controller reset 12345678901\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_kind_of_memory_is_the_layouts),
      cmocka_unit_test(the_boards_perst_is_a_drives_last_reset),
      cmocka_unit_test(the_ring_has_its_table_in_queue_memory),
      cmocka_unit_test(words_are_arguments),
      cmocka_unit_test(boots_differ_by_the_clock_and_by_the_ticks),
      cmocka_unit_test(an_event_is_a_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
