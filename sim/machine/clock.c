/* SPDX-License-Identifier: Apache-2.0 */
/* The clock, the event queue, random numbers, and violations. */
#include "state.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* When a processor polls without result, time advances to the next event, but by no more than this: deadlines of the
 * library must pass even if nothing happens. */
#define IDLE_MOST_PS (100 * SIM_PS_PER_US)

/*
 * How many looks at the clock follow any event before the processor counts as polling without result. One turn of a
 * loop may look several times (once for each member of a stripe, and once itself) before it reaches the code that finds
 * what happened. Time must not skip past that.
 */
#define LOOKS 16u

const struct sim_config *sim_config_of(const struct sim *sim) { return &sim->config; }
uint64_t sim_next_sequence(struct sim *sim) { return ++sim->sequence; }

void sim_fail(const struct sim *sim, const char *why) {
  (void)fprintf(stderr, "sim: seed %" PRIu64 ", at %" PRIu64 " ns: %s\n", sim->config.seed, sim->now_ps / SIM_PS_PER_NS,
                why);
  abort();
}

/* ---- time ---- */

static bool is_before(const struct event *a, const struct event *b) {
  return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->order < b->order;
}

void sim_at(struct sim *sim, uint64_t at_ps, void (*act)(void *context, uint64_t number), void *context,
            uint64_t number) {
  if (sim->events == sim->room) {
    sim->room = sim->room == 0 ? 64 : sim->room * 2;
    struct event *heap = realloc(sim->heap, sim->room * sizeof *heap);
    if (heap == NULL) sim_fail(sim, "no memory for events");
    sim->heap = heap;
  }
  const struct event event = {
      .at_ps = at_ps < sim->now_ps ? sim->now_ps : at_ps,
      .order = sim->order++,
      .act = act,
      .context = context,
      .number = number,
  };
  size_t hole = sim->events++;
  for (; hole > 0 && is_before(&event, &sim->heap[(hole - 1) / 2]); hole = (hole - 1) / 2)
    sim->heap[hole] = sim->heap[(hole - 1) / 2];
  sim->heap[hole] = event;
}

static struct event take_first(struct sim *sim) {
  struct event *heap = sim->heap;
  const struct event first = heap[0];
  const struct event last = heap[--sim->events];
  size_t hole = 0;

  for (;;) {
    size_t child = 2 * hole + 1;
    if (child + 1 < sim->events && is_before(&heap[child + 1], &heap[child])) child++;
    if (child >= sim->events || !is_before(&heap[child], &last)) break;
    heap[hole] = heap[child];
    hole = child;
  }
  heap[hole] = last;
  return first;
}

/* Runs all events that are due now, and those which they add for the same time. */
static void run_due_events(struct sim *sim) {
  while (sim->events != 0 && sim->heap[0].at_ps <= sim->now_ps) {
    const struct event event = take_first(sim);
    sim->acting = true;
    event.act(event.context, event.number);
    sim->acting = false;
    sim_active(sim);
  }
}

/* The time of the next event, or `end_ps` if that is earlier. */
static uint64_t next_ps(const struct sim *sim, uint64_t end_ps) {
  return sim->events != 0 && sim->heap[0].at_ps < end_ps ? sim->heap[0].at_ps : end_ps;
}

void sim_spend(struct sim *sim, uint64_t ps) {
  const uint64_t end_ps = sim->now_ps + ps;

  if (sim->acting) sim_fail(sim, "a device cannot spend the processor's time");
  do {
    sim->now_ps = next_ps(sim, end_ps);
    run_due_events(sim);
  } while (sim->now_ps < end_ps);
}

void sim_idle(struct sim *sim, uint64_t most_ps) { sim_spend(sim, next_ps(sim, sim->now_ps + most_ps) - sim->now_ps); }

void sim_work(struct sim *sim, uint64_t ps) {
  sim->busy_ps += ps;
  sim_spend(sim, ps);
}

uint64_t sim_instructions_ps(const struct sim *sim, uint64_t instructions) {
  const struct sim_host *host = &sim->config.host;

  if (host->clock_mhz == 0) return 0;
  return instructions * 100u * 1000000u / ((uint64_t)host->instructions_per_100_cycles * host->clock_mhz);
}

void sim_active(struct sim *sim) { sim->looks = LOOKS; }

void sim_completion_seen(struct sim *sim) {
  sim->found = true;
  sim_active(sim);
}

/* A look costs what a poll costs. It counts as work if it finds a completion. After enough looks without result, time
 * advances to the next event. A source may look from within an event: then no time passes. */
void sim_look(struct sim *sim) {
  if (sim->acting) return;
  const uint64_t poll_ps = sim_instructions_ps(sim, sim->config.host.poll_instructions);

  sim_spend(sim, poll_ps);
  if (sim->looks == 0)
    sim_idle(sim, IDLE_MOST_PS);
  else
    sim->looks--;
  if (sim->found) sim->busy_ps += poll_ps;
  sim->found = false;
}

uint64_t sim_now_ps(const struct sim *sim) { return sim->now_ps; }
uint64_t sim_busy_ps(const struct sim *sim) { return sim->busy_ps; }

/* ---- random numbers: Steele, Lea and Flood's SplitMix64 ---- */

uint64_t sim_random(struct sim *sim) {
  uint64_t mixed = sim->random += UINT64_C(0x9e3779b97f4a7c15);

  mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
  return mixed ^ mixed >> 31;
}

uint64_t sim_seed(const struct sim *sim) { return sim->config.seed; }

/* ---- trace and violations ---- */

void sim_trace(struct sim *sim, void (*seen)(void *context, const struct sim_access *access), void *context) {
  sim->seen = seen;
  sim->seen_context = context;
}

void sim_tell(struct sim *sim, enum sim_access_kind kind, uint64_t address, const void *data, uint64_t bytes) {
  if (sim->seen == NULL) return;
  const struct sim_access access = {
      .kind = kind, .at_ps = sim->now_ps, .address = address, .bytes = bytes, .data = data};
  sim->seen(sim->seen_context, &access);
}

void sim_violate(struct sim *sim, const char *format, ...) {
  if (sim->violations++ != 0) return;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(sim->first, sizeof sim->first, format, arguments);
  va_end(arguments);
}

unsigned sim_take_violations(struct sim *sim, const char **first) {
  const unsigned count = sim->violations;

  if (first != NULL) *first = count == 0 ? NULL : sim->first;
  sim->violations = 0;
  return count;
}
