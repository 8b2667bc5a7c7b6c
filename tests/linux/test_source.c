/* SPDX-License-Identifier: Apache-2.0 */
/* When the two threads of a source wake each other: for a quarter of the ring, and for half of it. */
#include "../../hosted/source/source.c"
#include "../../hosted/text/fail.c"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

#define SLOTS    8u
#define LIMIT_MS 60

void *memory_take_ring(size_t bytes) { return malloc(bytes); }

void *source_stream_run(void *opaque) { return opaque; }

/* Waits for room for one slot more, and says when there was. */
void *source_synthetic_run(void *opaque) {
  struct source *source = opaque;

  if (source_claim(source, true) != NULL) atomic_store(&source->ended, true);
  return NULL;
}

static int64_t now_ms(void) {
  struct timespec now;

  assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t wait_ms(struct source *source) {
  const int64_t begin_ms = now_ms();

  source_wait(source, -1, LIMIT_MS);
  return now_ms() - begin_ms;
}

static void open_source(struct source *source) {
  const struct source_config config = {.slot_bytes = 65536, .slots = SLOTS};

  source_open(source, "synthetic", &config);
  source_memory(source);
}

static void publish(struct source *source, unsigned slots) {
  for (unsigned i = 0; i < slots; i++)
    source_publish(source, source->config.slot_bytes);
}

static void close_source(struct source *source) {
  uint8_t *memory = source->memory;

  source_close(source);
  free(memory);
}

static void the_taker_sleeps_until_a_quarter_is_filled(void **state) {
  struct source source;

  (void)state;
  open_source(&source);
  publish(&source, SLOTS / 4 - 1);
  assert_true(wait_ms(&source) >= LIMIT_MS - 1);
  publish(&source, SLOTS / 4);
  assert_true(wait_ms(&source) < LIMIT_MS / 2);
  assert_true(wait_ms(&source) >= LIMIT_MS - 1); /* nothing more has come */
  close_source(&source);
}

static void room_is_three_quarters(void **state) {
  struct source source;

  (void)state;
  open_source(&source);
  publish(&source, SLOTS / 4);
  assert_true(source_has_room(&source));
  publish(&source, 1);
  assert_false(source_has_room(&source));
  close_source(&source);
}

/* Within half of the time that the filler looks after by itself. */
static bool goes_on(struct source *source) {
  const int64_t begin_ms = now_ms();
  const struct timespec step = {.tv_nsec = 1000000};

  while (!atomic_load(&source->ended) && now_ms() - begin_ms < ROOM_LIMIT_MS / 2)
    (void)nanosleep(&step, NULL);
  return atomic_load(&source->ended);
}

static void the_filler_sleeps_until_half_is_free(void **state) {
  struct source source;
  const struct timespec step = {.tv_nsec = 1000000};

  (void)state;
  open_source(&source);
  publish(&source, SLOTS);
  assert_int_equal(source_start(&source), 0);
  while (!atomic_load(&source.filler_sleeps))
    (void)nanosleep(&step, NULL);
  (void)nanosleep(&step, NULL); /* it has looked for room, and is in poll() */
  source_release(&source, SLOTS / 2 - 1);
  assert_false(goes_on(&source));
  source_release(&source, SLOTS / 2);
  assert_true(goes_on(&source));
  close_source(&source);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_taker_sleeps_until_a_quarter_is_filled),
      cmocka_unit_test(room_is_three_quarters),
      cmocka_unit_test(the_filler_sleeps_until_half_is_free),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
