/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include "../memory.h"
#include "../text/fail.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define ROOM_LIMIT_MS 100
#define THREADLESS_MS 1

static const struct source_kind *const kinds[] = {&source_synthetic, &source_udp, &source_ring, &source_file,
                                                  &source_stream};

static int event_open(void) {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

  if (fd < 0) fail(EXIT_FAILED, "eventfd: %s", strerror(errno));
  return fd;
}

/* A write to an eventfd fails only if it holds 2^64 − 2, and then its reader is already woken. */
static void event_raise(int fd) {
  const uint64_t one = 1;
  const ssize_t written = write(fd, &one, sizeof one);
  (void)written;
}

static void event_clear(int fd) {
  uint64_t count;
  const ssize_t got = read(fd, &count, sizeof count); /* EAGAIN: it was clear already */
  (void)got;
}

void source_open(struct source *source, const char *name, const struct source_config *config) {
  size_t i = 0;

  *source = (struct source){.config = *config, .name = name, .fd = -1};
  while (!kinds[i]->is(name))
    i++; /* the last kind accepts every name */
  source->kind = kinds[i];
  source->kind->open(source);
  source->filled_event = event_open();
  source->room_event = event_open();
}

/* No more than the source will ever fill: the kernel clears and pins all of it, which takes longer than a short
 * recording. */
static void shrink(struct source *source) {
  while (source->config.slots > 2 && source->config.bytes > 0 &&
         (uint64_t)source->config.slots / 2u * source->config.slot_bytes >= source->config.bytes)
    source->config.slots /= 2u;
}

void source_memory(struct source *source) {
  if (source->kind->memory == NULL) shrink(source);
  if (source->kind->memory != NULL) source->kind->memory(source);
  if (source->memory == NULL)
    source->memory = memory_take_ring((size_t)source->config.slots * source->config.slot_bytes);
  source->bytes = calloc(source->config.slots, sizeof *source->bytes);
  if (source->bytes == NULL) fail(EXIT_FAILED, "no memory");
}

/* Blocks all signals in the new thread: the main thread handles them. */
int source_start(struct source *source) {
  sigset_t all, before;

  int error = source->kind->start == NULL ? 0 : source->kind->start(source);
  if (error != 0 || source->threadless) return error;
  (void)sigfillset(&all);
  error = pthread_sigmask(SIG_SETMASK, &all, &before);
  if (error == 0) error = pthread_create(&source->thread, NULL, source->kind->run, source);
  source->started = error == 0;
  const int restored = pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error != 0 ? error : restored;
}

uint64_t source_size(const struct source *source) { return source->config.bytes; }

uint64_t source_filled(struct source *source) {
  if (source->threadless) source->kind->look(source);
  return atomic_load(&source->filled);
}

/* Waking a thread costs more than handling many slots. So the taker is woken when a quarter of the ring was filled, and
 * the filler when half of it is free. */
static uint64_t quarter(const struct source *source) {
  return source->config.slots > 4u ? source->config.slots / 4u : 1u;
}

bool source_can_wait(const struct source *source) {
  return source->kind == &source_file || source->kind == &source_stream ||
         (source->kind == &source_synthetic && source->config.rate <= 0);
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

void source_join(struct source *source) {
  atomic_store(&source->stop, true);
  atomic_store(&source->abandoned, true);
  event_raise(source->room_event);
  if (source->started) (void)pthread_join(source->thread, NULL);
  source->started = false;
}

void source_close(struct source *source) {
  source_join(source);
  (void)close(source->filled_event);
  (void)close(source->room_event);
  if (source->kind->close != NULL) source->kind->close(source);
  if (source->fd > STDIN_FILENO) (void)close(source->fd);
  if (!source->threadless) memory_give(source->memory);
  free(source->bytes);
}

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
