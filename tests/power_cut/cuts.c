/* SPDX-License-Identifier: Apache-2.0 */
#include "cuts.h"

#include <stdlib.h>
#include <string.h>

#define METADATA_BLOCKS_MAX 16u /* a longer write is data, or a structure that is made before anything points at it */
#define EXHAUSTIVE_MAX      10u /* all combinations of up to as many undecided units of metadata are tried */
#define SINGLES_MAX         40u
#define SAMPLES             4u
#define ROUNDS_MAX          6u

enum bulk { BULK_NONE, BULK_ALL, BULK_CHANCE, BULK_ALL_BUT_ONE, BULK_ONLY_ONE, BULK_MOST, BULK_CHOICES };
enum fate { OLD, NEW, NEW_ONES }; /* of a unit; trimmed blocks have two new versions */

struct event {
  uint64_t number;
  size_t entry;
  bool over;
};

/* A write that is not durable yet. */
struct undecided {
  const struct journal_entry *entry;
  uint8_t *dead; /* blocks that a newer durable write has replaced; NULL: none */
};

struct run {
  struct cuts *cuts;
  struct event *events;
  size_t event_count;
  struct undecided *open;
  size_t open_count;
  bool counting; /* only count the states */
  uint64_t planned;
  uint64_t from, to; /* this round tries those planned states whose seeded rank is in this interval */
};

static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t state = a ^ (b * UINT64_C(0xff51afd7ed558ccd));
  return ram_random(&state);
}

static bool is_metadata(const struct journal_entry *entry) {
  return entry->op == SPATE_WRITE && !entry->stream && entry->blocks <= METADATA_BLOCKS_MAX;
}

static uint32_t unit_of(const struct cuts *cuts, const struct journal_entry *entry, uint32_t i) {
  return (uint32_t)((entry->block + i) / cuts->tear_blocks - entry->block / cuts->tear_blocks);
}

static uint32_t units(const struct cuts *cuts, const struct journal_entry *entry) {
  return unit_of(cuts, entry, entry->blocks - 1) + 1;
}

static void put(struct medium *medium, const struct journal_entry *entry, uint32_t i, enum fate fate) {
  if (fate == OLD) return;
  const uint8_t *data = entry->op == SPATE_WRITE ? entry->data + (size_t)i * medium->block_bytes : NULL;
  medium_write(medium, entry->block + i, data, fate == NEW_ONES ? 0xff : 0);
}

/* ---- which writes become durable ---- */

static void mark_dead(struct undecided *older, const struct journal_entry *newer) {
  const struct journal_entry *entry = older->entry;
  if (newer->block >= entry->block + entry->blocks || entry->block >= newer->block + newer->blocks) return;
  if (older->dead == NULL) older->dead = calloc(entry->blocks, 1);
  if (older->dead == NULL) abort();
  for (uint32_t i = 0; i < entry->blocks; i++)
    if (entry->block + i - newer->block < newer->blocks) older->dead[i] = 1;
}

static void settle(struct run *run, size_t index) {
  struct cuts *cuts = run->cuts;
  struct undecided *open = &run->open[index];
  const struct journal_entry *entry = open->entry;
  uint64_t random = mix(cuts->seed, entry->submitted);
  if (!run->counting) medium_keep(cuts->medium, entry->block, entry->blocks);
  for (uint32_t i = 0; i < entry->blocks && !run->counting; i++) {
    enum fate fate = entry->op == SPATE_TRIM ? (enum fate)(ram_random(&random) % 3) : NEW;
    if (open->dead == NULL || !open->dead[i]) put(cuts->medium, entry, i, fate);
  }
  for (size_t i = 0; i < index; i++)
    mark_dead(&run->open[i], entry);
}

static void forget(struct run *run, size_t index) {
  free(run->open[index].dead);
  memmove(&run->open[index], &run->open[index + 1], (--run->open_count - index) * sizeof *run->open);
}

static void advance(struct run *run, const struct event *event) {
  const struct journal_entry *entry = &run->cuts->journal->entries[event->entry];
  if (entry->op == SPATE_FLUSH && !event->over) return;
  if (!event->over) {
    run->open[run->open_count++] = (struct undecided){.entry = entry};
    return;
  }
  for (size_t i = 0; i < run->open_count;) {
    const struct journal_entry *open = run->open[i].entry;
    bool dropped = open->gone == event->number;
    bool completed = open == entry && open->completed == event->number;
    bool durable = !dropped && ((completed && open->fua) || open->flushed_by == event->number);
    if (durable) settle(run, i);
    if (durable || dropped)
      forget(run, i);
    else
      i++;
  }
}

/* ---- states ---- */

/* How a state is made: which units of metadata are new, by their number, and which other units are. */
struct plan {
  uint64_t metadata; /* bit i: unit i is new */
  bool chance;       /* by random numbers instead */
  uint32_t alone;    /* only this unit is new, or only this one old; UINT32_MAX: use `metadata` */
  bool alone_new;
  enum bulk bulk;
  uint64_t spared; /* the one unit of BULK_ALL_BUT_ONE and BULK_ONLY_ONE */
  uint64_t random;
};

struct count {
  uint32_t metadata;
  uint64_t bulk;
};

static struct count count_units(const struct run *run) {
  struct count count = {0};
  for (size_t i = 0; i < run->open_count; i++) {
    const struct journal_entry *entry = run->open[i].entry;
    if (is_metadata(entry))
      count.metadata += units(run->cuts, entry);
    else
      count.bulk += units(run->cuts, entry);
  }
  return count;
}

static enum fate fate_of(struct plan *plan, bool metadata, uint64_t unit, uint8_t op) {
  bool new = true;
  if (metadata && plan->alone != UINT32_MAX) {
    new = (unit == plan->alone) == plan->alone_new;
  } else if (metadata) {
    new = plan->chance ? (ram_random(&plan->random) & 1u) != 0 : (plan->metadata >> unit & 1u) != 0;
  } else {
    switch (plan->bulk) {
    case BULK_NONE: new = false; break;
    case BULK_CHANCE: new = (ram_random(&plan->random) & 1u) != 0; break;
    case BULK_MOST: new = (ram_random(&plan->random) & 7u) != 0; break;
    case BULK_ALL_BUT_ONE: new = unit != plan->spared; break;
    case BULK_ONLY_ONE: new = unit == plan->spared; break;
    default: break;
    }
  }
  if (!new) return OLD;
  return op == SPATE_TRIM && (ram_random(&plan->random) & 1u) != 0 ? NEW_ONES : NEW;
}

/* Has an earlier unit decided the same block? Then another plan makes the same state. */
static bool decided_before(const struct run *run, size_t index, uint64_t block, const bool *chosen) {
  for (size_t i = 0; i < index; i++) {
    const struct journal_entry *entry = run->open[i].entry;
    if (chosen[i] && is_metadata(entry) && block - entry->block < entry->blocks) return true;
  }
  return false;
}

/* False: another plan makes the same state. */
static bool apply(struct run *run, struct plan *plan) {
  struct medium *medium = run->cuts->medium;
  uint64_t at[2] = {0, 0}; /* units of bulk and metadata so far */
  bool fresh = true;
  bool *chosen = calloc(run->open_count + 1, sizeof *chosen);
  if (chosen == NULL) abort();
  for (size_t n = 0; n < run->open_count; n++) {
    const struct undecided *open = &run->open[n];
    const struct journal_entry *entry = open->entry;
    bool metadata = is_metadata(entry);
    uint32_t last = UINT32_MAX;
    enum fate fate = OLD;
    for (uint32_t i = 0; i < entry->blocks; i++) {
      uint32_t unit = unit_of(run->cuts, entry, i);
      if (unit != last) fate = fate_of(plan, metadata, at[metadata] + unit, entry->op);
      last = unit;
      bool dead = open->dead != NULL && open->dead[i];
      if (fate == OLD) continue;
      if (metadata && (dead || decided_before(run, n, entry->block + i, chosen))) fresh = false;
      chosen[n] = true;
      if (dead) continue;
      medium_keep(medium, entry->block + i, 1);
      put(medium, entry, i, fate);
    }
    at[metadata] += units(run->cuts, entry);
  }
  free(chosen);
  return fresh || plan->chance || plan->alone != UINT32_MAX;
}

static uint64_t states_of(struct count count) {
  if (count.metadata == 0) return count.bulk > 0 ? BULK_CHOICES : 1;
  if (count.metadata <= EXHAUSTIVE_MAX) return (UINT64_C(1) << count.metadata) * (count.bulk > 0 ? 2 : 1);
  return 2 + SAMPLES + 2 * (count.metadata < SINGLES_MAX ? count.metadata : SINGLES_MAX);
}

static struct plan plan_of(struct count count, uint64_t state, uint64_t random) {
  struct plan plan = {.alone = UINT32_MAX, .random = random};
  plan.bulk = (enum bulk)(ram_random(&plan.random) % BULK_CHOICES);
  plan.spared = count.bulk > 0 ? ram_random(&plan.random) % count.bulk : 0;
  if (count.metadata == 0) {
    plan.bulk = (enum bulk)state;
  } else if (count.metadata <= EXHAUSTIVE_MAX) {
    plan.metadata = state;
  } else if (state < 2) {
    plan.alone = count.metadata; /* none, or all */
    plan.alone_new = state == 0;
  } else if (state < 2 + SAMPLES) {
    plan.chance = true;
  } else {
    uint32_t which = (uint32_t)(state - 2 - SAMPLES);
    plan.alone = count.metadata - 1 - which / 2;
    plan.alone_new = which % 2 == 0;
  }
  return plan;
}

static bool wanted(const struct run *run, uint64_t number) {
  const struct cuts *cuts = run->cuts;
  if (cuts->only != 0) return number == cuts->only;
  uint64_t place = mix(cuts->seed, number) % run->planned;
  return place >= run->from && place < run->to;
}

/* Was this image judged before, under the promises of event `at`? */
static bool judged_before(const struct cuts *cuts, uint64_t at) {
  return cuts->images != NULL && !images_add(cuts->images, cuts->medium->hash, cuts->promised(cuts->context, at));
}

static bool cut(struct run *run, uint64_t at) {
  struct cuts *cuts = run->cuts;
  struct count count = count_units(run);
  uint64_t states = states_of(count);
  if (run->counting) {
    run->planned += states;
    return true;
  }
  for (uint64_t state = 0; state < states; state++) {
    if (!wanted(run, ++cuts->number)) continue;
    uint64_t random = mix(cuts->seed, ~cuts->number);
    struct plan plan = plan_of(count, state, random);
    struct medium_mark mark = medium_mark(cuts->medium);
    bool good = true;
    if (apply(run, &plan) && !judged_before(cuts, at)) {
      cuts->states++;
      good = cuts->judge(cuts->context, at, random);
    }
    medium_undo(cuts->medium, mark);
    if (!good) return false;
  }
  return true;
}

static bool go_through(struct run *run, bool counting) {
  bool good = true;
  run->counting = counting;
  run->open_count = 0;
  for (size_t i = 0; good && i < run->event_count; i++) {
    const struct event *event = &run->events[i];
    advance(run, event);
    bool more = i + 1 < run->event_count && run->events[i + 1].number == event->number;
    bool flush_taken = run->cuts->journal->entries[event->entry].op == SPATE_FLUSH && !event->over;
    if (!more && !flush_taken) good = cut(run, event->number);
  }
  while (run->open_count > 0)
    forget(run, run->open_count - 1);
  return good;
}

/* Extend the round by as many states as it probably takes until states_max were judged. False: they were, or none is
 * left. */
static bool more_to_try(struct run *run) {
  const struct cuts *cuts = run->cuts;
  if (!cuts->replaced || cuts->only != 0 || run->to >= run->planned || cuts->states >= cuts->states_max) return false;
  uint64_t each = cuts->states > 0 ? (run->to + cuts->states - 1) / cuts->states : run->to;
  uint64_t more = (cuts->states_max - cuts->states) * each;
  run->from = run->to;
  run->to = more < run->planned - run->to ? run->to + more : run->planned;
  return true;
}

static int by_number(const void *a, const void *b) {
  const struct event *one = a;
  const struct event *two = b;
  if (one->number != two->number) return one->number < two->number ? -1 : 1;
  if (one->entry != two->entry) return one->entry < two->entry ? -1 : 1;
  return one->over - two->over;
}

bool cuts_run(struct cuts *cuts) {
  const struct journal *journal = cuts->journal;
  struct run run = {.cuts = cuts};
  struct medium_mark mark = medium_mark(cuts->medium);
  run.events = malloc((3 * journal->count + 1) * sizeof *run.events);
  run.open = malloc((journal->count + 1) * sizeof *run.open);
  if (run.events == NULL || run.open == NULL) abort();
  for (size_t i = 0; i < journal->count; i++) {
    const struct journal_entry *entry = &journal->entries[i];
    run.events[run.event_count++] = (struct event){entry->submitted, i, false};
    if (entry->completed != UINT64_MAX) run.events[run.event_count++] = (struct event){entry->completed, i, true};
    bool later = entry->gone != UINT64_MAX && entry->gone != entry->completed;
    if (later) run.events[run.event_count++] = (struct event){entry->gone, i, true};
  }
  if (run.event_count > 0) qsort(run.events, run.event_count, sizeof *run.events, by_number);
  cuts->states = 0;
  (void)go_through(&run, true);
  run.to = run.planned < cuts->states_max ? run.planned : cuts->states_max;
  bool good = true;
  for (unsigned round = 0; good && round < ROUNDS_MAX; round++) {
    cuts->number = 0;
    good = go_through(&run, false);
    medium_undo(cuts->medium, mark);
    if (!more_to_try(&run)) break;
  }
  free(run.events);
  free(run.open);
  return good;
}
