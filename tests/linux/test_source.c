/* SPDX-License-Identifier: Apache-2.0 */
/* The two threads of a source wake each other when a quarter of the ring is filled, and when half of it is free. The
 * test sets which thread sleeps, and checks the events. It uses no threads and no clock. */
#include "../../linux/command/source/event.c"
#include "../../linux/command/source/slots.c"
#include "../../linux/command/source/source.c"
#include "../../linux/command/text/fail.c"
#include "../../linux/command/text/failure.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SLOTS 8u

static const struct memory_supply all_memory;

void *memory_take_ring(const struct memory_supply *supply, size_t bytes) {
  (void)supply;
  return malloc(bytes);
}
void memory_give(const struct memory_supply *supply, void *memory) {
  (void)supply;
  free(memory);
}

static bool is_any(const char *name) { return name != NULL; }
static void open_nothing(struct source *source) { source->fd = -1; }

const struct source_kind source_synthetic = {.is = is_any, .open = open_nothing};
const struct source_kind source_stream = {.is = is_any}, source_udp = {.is = is_any}, source_ring = {.is = is_any},
                         source_file = {.is = is_any};

static void open_source(struct source *source) {
  const struct source_config config = {.slot_bytes = 65536, .slots = SLOTS};

  source_open(source, "any", &config);
  source_memory(source, &all_memory);
}

static void publish(struct source *source, unsigned slots) {
  for (unsigned i = 0; i < slots; i++)
    source_publish(source, source->config.slot_bytes);
}

/* Also clears the event. */
static bool is_raised(int event) {
  uint64_t count;

  return read(event, &count, sizeof count) == (ssize_t)sizeof count;
}

static void the_taker_is_woken_for_a_quarter(void **state) {
  struct source source;

  (void)state;
  open_source(&source);
  atomic_store(&source.taker_sleeps, true);
  publish(&source, SLOTS / 4 - 1);
  assert_false(is_raised(source.filled_event));
  publish(&source, 1);
  assert_true(is_raised(source.filled_event));
  source_close(&source);
}

static void a_thread_that_is_awake_is_not_woken(void **state) {
  struct source source;

  (void)state;
  open_source(&source);
  publish(&source, SLOTS);
  source_release(&source, SLOTS);
  assert_false(is_raised(source.filled_event));
  assert_false(is_raised(source.room_event));
  source_close(&source);
}

/* It does not sleep if a quarter is filled already, and the next quarter counts from then on. */
static void the_taker_looks_before_it_sleeps(void **state) {
  struct source source;

  (void)state;
  open_source(&source);
  publish(&source, SLOTS / 4);
  source_wait(&source, -1, -1); /* would never return if it slept */
  assert_int_equal(source.seen, SLOTS / 4);
  atomic_store(&source.taker_sleeps, true);
  publish(&source, SLOTS / 4 - 1);
  assert_false(is_raised(source.filled_event));
  publish(&source, 1);
  assert_true(is_raised(source.filled_event));
  source_close(&source);
}

static void the_filler_is_woken_for_half(void **state) {
  struct source source;

  (void)state;
  open_source(&source);
  publish(&source, SLOTS);
  atomic_store(&source.filler_sleeps, true);
  source_release(&source, SLOTS / 2 - 1);
  assert_false(is_raised(source.room_event));
  source_release(&source, SLOTS / 2);
  assert_true(is_raised(source.room_event));
  source_close(&source);
}

static void room_is_three_quarters(void **state) {
  struct source source;

  (void)state;
  open_source(&source);
  publish(&source, SLOTS / 4);
  assert_true(source_has_room(&source));
  publish(&source, 1);
  assert_false(source_has_room(&source));
  assert_non_null(source_claim(&source, true));
  publish(&source, SLOTS - SLOTS / 4 - 1);
  assert_null(source_claim(&source, false));
  source_close(&source);
}

/* What a filler may fill by one read: up to the ring's end, and to what the taker still holds. */
static void free_slots_follow_each_other(void **state) {
  struct source source;

  (void)state;
  open_source(&source);
  assert_int_equal(source_free_slots(&source), SLOTS);
  publish(&source, 5);
  assert_int_equal(source_free_slots(&source), SLOTS - 5);
  source_release(&source, 4);
  assert_int_equal(source_free_slots(&source), SLOTS - 5);
  publish(&source, SLOTS - 5);
  assert_int_equal(source_free_slots(&source), 4);
  publish(&source, 4);
  assert_int_equal(source_free_slots(&source), 0);
  source_close(&source);
}

/* The ring is no larger than the recording: two slots at least. */
static void a_short_recording_has_a_small_ring(void **state) {
  static const struct {
    uint64_t bytes;
    uint32_t slots;
  } cases[] = {{0, SLOTS},          {1, 2},           {2 * 65536, 2},
               {2 * 65536 + 1, 4},  {4 * 65536, 4},   {4 * 65536 + 1, SLOTS},
               {UINT64_MAX, SLOTS}, {1u << 30, SLOTS}};

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct source_config config = {.slot_bytes = 65536, .slots = SLOTS, .bytes = cases[i].bytes};
    struct source source;
    source_open(&source, "any", &config);
    source_memory(&source, &all_memory);
    assert_int_equal(source.config.slots, cases[i].slots);
    source_close(&source);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_taker_is_woken_for_a_quarter),
      cmocka_unit_test(a_thread_that_is_awake_is_not_woken),
      cmocka_unit_test(the_taker_looks_before_it_sleeps),
      cmocka_unit_test(the_filler_is_woken_for_half),
      cmocka_unit_test(room_is_three_quarters),
      cmocka_unit_test(free_slots_follow_each_other),
      cmocka_unit_test(a_short_recording_has_a_small_ring),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
