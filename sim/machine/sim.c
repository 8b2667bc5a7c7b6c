/* SPDX-License-Identifier: Apache-2.0 */
/* The clock, the event queue, random numbers, and violations. */
#include "internal.h"
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

#define MESSAGE_BYTES 256u

struct event {
  uint64_t at_ps, order;
  void (*act)(void *context, uint64_t number);
  void *context;
  uint64_t number;
};

struct sim {
  struct sim_config config;
  uint64_t now_ps, busy_ps;
  uint64_t random;
  uint64_t sequence;
  struct event *heap; /* the earliest is the first; children of i are 2i + 1 and 2i + 2 */
  size_t events, room;
  uint64_t order; /* events so far, for their order */
  bool acting;    /* true while an event runs */
  unsigned looks; /* left before the processor counts as idle */
  bool found;     /* its next look finds a completion */
  struct sim_drive *drives[SIM_DRIVES_MAX];
  unsigned drive_count;
  struct sim_memory *memory;
  struct sim_pcie *pcie;
  struct sim_port *port;
  struct sim_bridge *bridge;
  struct sim_unanswered_state unanswered;
  void (*seen)(void *context, const struct sim_access *access);
  void *seen_context;
  unsigned violations;
  char first[MESSAGE_BYTES];
};

/*
 * 52.0 instructions to submit a command and 0.66 for its share of a doorbell, 19.3 to complete one, 23 for a poll that
 * finds nothing: `make bench-instructions`. The processor's time for an access to a device's register is assumed: a
 * posted write leaves through the interconnect and the bridge of a Zynq UltraScale+ in tens of nanoseconds. A read
 * takes this path twice, in addition to the link's round trip.
 */
const struct sim_host sim_host_a53 = {
    .clock_mhz = 1200,
    .instructions_per_100_cycles = 100,
    .submit_instructions = 53,
    .complete_instructions = 19,
    .poll_instructions = 23,
    .write_ns = 60, /* assumed */
    .read_ns = 250, /* assumed */
};

__attribute__((noreturn)) static void fail(const struct sim *sim, const char *why) {
  (void)fprintf(stderr, "sim: seed %" PRIu64 ", at %" PRIu64 " ns: %s\n", sim->config.seed, sim->now_ps / SIM_PS_PER_NS,
                why);
  abort();
}

struct sim *sim_new(const struct sim_config *config) {
  struct sim *sim = calloc(1, sizeof *sim);

  if (sim == NULL) abort();
  sim->config = *config;
  sim->random = config->seed;
  sim->memory = sim_memory_new(sim);
  sim->pcie = sim_pcie_new(sim);
  sim->port = sim_port_new();
  return sim;
}

void sim_free(struct sim *sim) {
  if (sim == NULL) return;
  if (sim->violations != 0) fail(sim, sim->first);
  for (unsigned i = 0; i < sim->drive_count; i++)
    sim_drive_free(sim->drives[i]);
  sim_bridge_free(sim->bridge);
  sim_port_free(sim->port);
  sim_pcie_free(sim->pcie);
  sim_memory_free(sim->memory);
  free(sim->heap);
  free(sim);
}

unsigned sim_attach(struct sim *sim, struct sim_drive *drive) {
  const unsigned index = sim->drive_count;

  if (index == SIM_DRIVES_MAX) fail(sim, "more drives than root ports");
  sim->drives[sim->drive_count++] = drive;
  return index;
}

struct sim_drive *sim_drive_at(struct sim *sim, unsigned index) {
  return index < sim->drive_count ? sim->drives[index] : NULL;
}

struct sim_memory *sim_memory_of(struct sim *sim) {
  return sim->memory;
}
struct sim_pcie *sim_pcie_of(struct sim *sim) {
  return sim->pcie;
}
struct sim_port *sim_port_of(struct sim *sim) {
  return sim->port;
}
struct sim_bridge *sim_bridge_of(struct sim *sim) {
  return sim->bridge;
}
struct sim_unanswered_state *sim_unanswered_of(struct sim *sim) {
  return &sim->unanswered;
}
void sim_set_bridge(struct sim *sim, struct sim_bridge *bridge) { sim->bridge = bridge; }
const struct sim_config *sim_config_of(const struct sim *sim) { return &sim->config; }
uint64_t sim_next_sequence(struct sim *sim) { return ++sim->sequence; }

/* ---- time ---- */

static bool is_before(const struct event *a, const struct event *b) {
  return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->order < b->order;
}

void sim_at(struct sim *sim, uint64_t at_ps, void (*act)(void *context, uint64_t number), void *context,
            uint64_t number) {
  if (sim->events == sim->room) {
    sim->room = sim->room == 0 ? 64 : sim->room * 2;
    struct event *heap = realloc(sim->heap, sim->room * sizeof *heap);
    if (heap == NULL) fail(sim, "no memory for events");
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

  if (sim->acting) fail(sim, "a device cannot spend the processor's time");
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
