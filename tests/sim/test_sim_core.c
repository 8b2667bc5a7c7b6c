/* SPDX-License-Identifier: Apache-2.0 */
/* The machine without a drive: its clock, its events, the cost of reading the clock, its random numbers, and
 * violations. */
#include "machine/internal.h"
#include <setjmp.h>
#include <signal.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LOOKS_MOST 16u /* a completion is found within as many, and until then time does not jump to the next event */

static struct sim *make(const struct sim_host *host) {
  struct sim_config config = {.seed = 7, .coherent = true};

  if (host != NULL) config.host = *host;
  struct sim *sim = sim_new(&config);
  sim_use(sim);
  return sim;
}

/* ---- events ---- */

#define EVENTS 1000u

struct seen {
  struct sim *sim;
  uint64_t at_ps[EVENTS], number[EVENTS];
  unsigned count;
};

static void note(void *context, uint64_t number) {
  struct seen *seen = context;

  assert_true(seen->count < EVENTS);
  seen->at_ps[seen->count] = sim_now_ps(seen->sim);
  seen->number[seen->count++] = number;
}

static void test_events_happen_in_their_order(void **state) {
  (void)state;
  struct sim *sim = make(NULL);
  static struct seen seen;
  static uint64_t asked[EVENTS];

  seen = (struct seen){.sim = sim};
  for (unsigned i = 0; i < EVENTS; i++) { /* many at the same time */
    asked[i] = sim_random(sim) % 100;
    sim_at(sim, asked[i], note, &seen, i);
  }
  sim_spend(sim, 1000);
  assert_int_equal(seen.count, EVENTS);
  assert_int_equal(sim_now_ps(sim), 1000);
  for (unsigned i = 0; i < EVENTS; i++) {
    assert_int_equal(seen.at_ps[i], asked[seen.number[i]]);
    if (i == 0) continue;
    assert_true(seen.at_ps[i - 1] <= seen.at_ps[i]);
    if (seen.at_ps[i - 1] == seen.at_ps[i]) assert_true(seen.number[i - 1] < seen.number[i]);
  }
  sim_free(sim);
}

static void ask_again(void *context, uint64_t number) {
  struct seen *seen = context;

  note(context, number);
  /* in the past: it happens immediately, but after the others */
  if (number > 0) sim_at(seen->sim, 0, ask_again, context, number - 1);
}

static void test_events_that_an_event_asks_for(void **state) {
  (void)state;
  struct sim *sim = make(NULL);
  static struct seen seen;

  seen = (struct seen){.sim = sim};
  sim_at(sim, 10, ask_again, &seen, 2);
  sim_at(sim, 10, note, &seen, 100);
  sim_at(sim, 11, note, &seen, 200);
  sim_spend(sim, 10);
  assert_int_equal(seen.count, 4);
  assert_int_equal(seen.number[0], 2);
  assert_int_equal(seen.number[1], 100);
  assert_int_equal(seen.number[2], 1);
  assert_int_equal(seen.number[3], 0);
  assert_int_equal(sim_now_ps(sim), 10);
  sim_free(sim);
}

static void test_idle_ends_at_the_next_event(void **state) {
  (void)state;
  struct sim *sim = make(NULL);
  static struct seen seen;

  seen = (struct seen){.sim = sim};
  sim_at(sim, 50, note, &seen, 1);
  sim_at(sim, 50, note, &seen, 2);
  sim_at(sim, 60, note, &seen, 3);
  sim_idle(sim, 20);
  assert_int_equal(sim_now_ps(sim), 20);
  sim_idle(sim, 1000);
  assert_int_equal(sim_now_ps(sim), 50);
  assert_int_equal(seen.count, 2);
  assert_int_equal(sim_busy_ps(sim), 0);
  sim_free(sim);
}

/* ---- reads of the clock ---- */

static const struct sim_host host = {
    .clock_mhz = 1000,
    .instructions_per_100_cycles = 100,
    .submit_instructions = 50,
    .complete_instructions = 20,
    .poll_instructions = 10,
    .write_ns = 30,
    .read_ns = 70,
};

static void test_polling_in_vain_jumps_to_the_next_event(void **state) {
  (void)state;
  struct sim *sim = make(&host);
  static struct seen seen;

  seen = (struct seen){.sim = sim};
  sim_at(sim, 1000000 * SIM_PS_PER_NS, note, &seen, 0);
  const uint64_t before_ns = spate_port_ticks(); /* no event for a long time: deadlines pass nevertheless */
  assert_int_equal(spate_port_ticks() - before_ns, 100010);
  spate_port_relax();
  assert_int_equal(spate_port_ticks() - before_ns, 300030);
  while (seen.count == 0)
    (void)spate_port_ticks();
  assert_int_equal(sim_now_ps(sim), 1000000 * SIM_PS_PER_NS);
  assert_int_equal(sim_busy_ps(sim), 0);
  sim_free(sim);
}

static void test_after_an_event_each_read_takes_its_time(void **state) {
  (void)state;
  struct sim *sim = make(&host);
  static struct seen seen;

  seen = (struct seen){.sim = sim};
  sim_at(sim, 5000 * SIM_PS_PER_NS, note, &seen, 0);
  while (seen.count == 0)
    (void)spate_port_ticks();
  sim_at(sim, 6000 * SIM_PS_PER_NS, note, &seen, 0);
  const uint64_t event_ps = sim_now_ps(sim);
  for (unsigned i = 1; i <= LOOKS_MOST; i++) {
    spate_port_relax();
    assert_int_equal(sim_now_ps(sim), event_ps + i * 10 * SIM_PS_PER_NS);
  }
  (void)spate_port_ticks();
  assert_int_equal(sim_now_ps(sim), 6000 * SIM_PS_PER_NS);
  sim_free(sim);
}

struct poster {
  struct sim *sim;
  volatile uint64_t *entry;
  uint64_t posted_ps;
};

static void post(void *context, uint64_t number) {
  struct poster *poster = context;
  const uint64_t entry[2] = {number, number};

  assert_true(
      sim_memory_store_completion(poster->sim, spate_port_dma_address((void *)(uintptr_t)poster->entry), entry));
  poster->posted_ps = sim_now_ps(poster->sim);
}

/* However often the caller's loop reads the clock before it reads its queue, time does not jump past an entry that is
 * there. There is always a next event that it could jump to. */
static void test_a_completion_is_seen_when_it_is_there(void **state) {
  (void)state;
  for (unsigned looks = 1; looks < LOOKS_MOST; looks++) {
    struct sim *sim = make(&host);
    struct poster poster = {.sim = sim, .entry = sim_memory_take(sim, 4096, SIM_QUEUE)};
    static struct seen seen;
    seen = (struct seen){.sim = sim};
    sim_at(sim, 70003 * SIM_PS_PER_NS, post, &poster, 1);
    for (unsigned i = 0; i < EVENTS; i++)
      sim_at(sim, (70100 + i * 1000) * SIM_PS_PER_NS, note, &seen, i);
    while (poster.entry[1] == 0)
      for (unsigned i = 0; i < looks; i++)
        (void)spate_port_ticks();
    assert_int_equal(poster.posted_ps, 70003 * SIM_PS_PER_NS);
    assert_true(sim_now_ps(sim) - poster.posted_ps <= looks * 10 * SIM_PS_PER_NS);
    assert_int_equal(sim_busy_ps(sim), 10 * SIM_PS_PER_NS); /* the read that found it */
    sim_free(sim);
  }
}

static void read_clock(void *context, uint64_t number) {
  (void)number;
  struct sim *sim = context;
  const uint64_t now_ps = sim_now_ps(sim);

  assert_int_equal(spate_port_ticks(), now_ps / SIM_PS_PER_NS);
  assert_int_equal(sim_now_ps(sim), now_ps);
}

/* A source pushes from within an event: the library reads the time, and none passes. */
static void test_no_time_passes_within_an_event(void **state) {
  (void)state;
  struct sim *sim = make(&host);

  sim_at(sim, 100, read_clock, sim, 0);
  sim_at(sim, 200, read_clock, sim, 0);
  sim_spend(sim, 1000);
  assert_int_equal(sim_now_ps(sim), 1000);
  sim_free(sim);
}

/* ---- random numbers and violations ---- */

static void test_the_seed_decides(void **state) {
  (void)state;
  struct sim *one = sim_new(&(struct sim_config){.seed = 5}), *same = sim_new(&(struct sim_config){.seed = 5});
  struct sim *other = sim_new(&(struct sim_config){.seed = 6});
  unsigned equal = 0;

  for (unsigned i = 0; i < 100; i++) {
    const uint64_t value = sim_random(one);
    assert_int_equal(value, sim_random(same));
    equal += value == sim_random(other);
  }
  assert_int_equal(equal, 0);
  assert_int_equal(sim_seed(other), 6);
  sim_free(one);
  sim_free(same);
  sim_free(other);
}

static void test_violations_are_counted_and_the_first_is_kept(void **state) {
  (void)state;
  struct sim *sim = make(NULL);
  const char *first = "";

  assert_int_equal(sim_take_violations(sim, &first), 0);
  assert_null(first);
  sim_violate(sim, "number %u", 1u);
  sim_violate(sim, "number %u", 2u);
  assert_int_equal(sim_take_violations(sim, &first), 2);
  assert_string_equal(first, "number 1");
  assert_int_equal(sim_take_violations(sim, NULL), 0);
  sim_free(sim);
}

static void test_a_violation_that_no_test_collects_ends_the_program(void **state) {
  (void)state;
  const pid_t child = fork();
  int status = 0;

  assert_true(child >= 0);
  if (child == 0) {
    (void)signal(SIGABRT, SIG_DFL);
    (void)close(STDERR_FILENO);
    struct sim *sim = make(NULL);
    sim_violate(sim, "forgotten");
    sim_free(sim);
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_events_happen_in_their_order),
      cmocka_unit_test(test_events_that_an_event_asks_for),
      cmocka_unit_test(test_idle_ends_at_the_next_event),
      cmocka_unit_test(test_polling_in_vain_jumps_to_the_next_event),
      cmocka_unit_test(test_after_an_event_each_read_takes_its_time),
      cmocka_unit_test(test_a_completion_is_seen_when_it_is_there),
      cmocka_unit_test(test_no_time_passes_within_an_event),
      cmocka_unit_test(test_the_seed_decides),
      cmocka_unit_test(test_violations_are_counted_and_the_first_is_kept),
      cmocka_unit_test(test_a_violation_that_no_test_collects_ends_the_program),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
