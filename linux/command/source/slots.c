/* SPDX-License-Identifier: Apache-2.0 */
/* How the filler and the taker pass slots to each other. The kinds of sources call this file, so it names none of them.
 */
#include "event.h"
#include "source.h"

#include <poll.h>
#include <stddef.h>

#define ROOM_LIMIT_MS 100
#define THREADLESS_MS 1

/* ---- the taker ---- */

uint64_t source_filled(struct source *source) {
  if (source->threadless) source->kind->look(source);
  return atomic_load(&source->filled);
}

/* Waking a thread costs more than handling many slots. So the taker is woken when a quarter of the ring was filled, and
 * the filler when half of it is free. */
static uint64_t quarter(const struct source *source) {
  return source->config.slots > 4u ? source->config.slots / 4u : 1u;
}

bool source_has_room(const struct source *source) {
  return atomic_load(&source->filled) - atomic_load(&source->released) <= source->config.slots / 4u;
}

void source_wait(struct source *source, int other_fd, int limit_ms) {
  struct pollfd events[] = {{.fd = source->filled_event, .events = POLLIN}, {.fd = other_fd, .events = POLLIN}};

  if (source->threadless && limit_ms > THREADLESS_MS) limit_ms = THREADLESS_MS;
  /* The filler increments `filled` and then reads taker_sleeps; this thread sets taker_sleeps and then reads `filled`.
   * So one of the two sees the other. */
  atomic_store(&source->taker_sleeps, true);
  if (atomic_load(&source->filled) - source->seen < quarter(source)) {
    (void)poll(events, 2, limit_ms); /* a signal ends the sleep, so that the caller sees the signal at once */
    if (events[0].revents != 0) event_clear(source->filled_event);
  }
  atomic_store(&source->taker_sleeps, false);
  source->seen = atomic_load(&source->filled);
}

void source_release(struct source *source, uint64_t released) {
  if (atomic_load(&source->released) == released) return;
  atomic_store(&source->released, released);
  if (source->threadless)
    source->kind->release(source);
  else if (atomic_load(&source->filler_sleeps) && atomic_load(&source->filled) - released <= source->config.slots / 2u)
    event_raise(source->room_event);
}

void source_cut(struct source *source) {
  source->cut_slot = source_filled(source);
  atomic_store(&source->cut_asked, source->kind->cuts);
}

void source_cut_at(struct source *source, uint64_t slot) {
  source->cut_slot = slot;
  atomic_store(&source->cut_asked, false);
}

bool source_cut_slot(const struct source *source, uint64_t *slot) {
  const bool asked = atomic_load(&source->cut_asked);

  if (asked && !atomic_load(&source->ended)) return false;
  /* A thread that ended without looking has handed over its last slot since: it is of the part that ends. The recorder
   * may have written a tail of it there. */
  *slot = asked ? atomic_load(&source->filled) : source->cut_slot;
  return true;
}

/* ---- the filler ---- */

static bool has_room(struct source *source) {
  return atomic_load(&source->filled) - atomic_load(&source->released) < source->config.slots;
}

static void wait_for_room(struct source *source) {
  struct pollfd room = {.fd = source->room_event, .events = POLLIN};

  atomic_store(&source->filler_sleeps, true);
  if (!has_room(source)) {
    (void)poll(&room, 1, ROOM_LIMIT_MS);
    if (room.revents != 0) event_clear(source->room_event);
  }
  atomic_store(&source->filler_sleeps, false);
}

uint8_t *source_claim(struct source *source, bool wait) {
  while (!has_room(source)) {
    if (!wait || atomic_load(&source->abandoned)) return NULL;
    wait_for_room(source);
  }
  return source->memory + (size_t)source_slot(source, atomic_load(&source->filled)) * source->config.slot_bytes;
}

uint32_t source_free_slots(const struct source *source) {
  const uint64_t filled = atomic_load(&source->filled);
  const uint32_t free_slots = source->config.slots - (uint32_t)(filled - atomic_load(&source->released));
  const uint32_t to_end = source->config.slots - source_slot(source, filled);

  return free_slots < to_end ? free_slots : to_end;
}

void source_publish(struct source *source, uint32_t bytes) {
  const uint64_t filled = atomic_load(&source->filled);

  source->bytes[source_slot(source, filled)] = bytes;
  atomic_store(&source->filled, filled + 1u);
  if (atomic_load(&source->taker_sleeps) && filled + 1u - source->seen >= quarter(source))
    event_raise(source->filled_event);
}
