/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include "../memory.h"
#include "../text/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM_LIMIT_MS 100

static bool is_synthetic(const char *name) { return strcmp(name, "synthetic") == 0; }

static int event_open(void) {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

  if (fd < 0) fail(EXIT_FAILED, "eventfd: %s", strerror(errno));
  return fd;
}

/* An eventfd takes a number unless it holds 2^64 − 2 already, and then its reader is awake. */
static void event_raise(int fd) {
  const uint64_t one = 1;
  const ssize_t written = write(fd, &one, sizeof one);
  (void)written;
}

static void event_clear(int fd) {
  uint64_t count;
  const ssize_t got = read(fd, &count, sizeof count); /* EAGAIN: it was clear */
  (void)got;
}

/* A file that grows is recorded as far as it is there now: that much will be reserved. */
static void limit_to_file(struct source *source) {
  struct stat status;

  if (source->fd < 0 || fstat(source->fd, &status) != 0 || !S_ISREG(status.st_mode)) return;
  const off_t at = lseek(source->fd, 0, SEEK_CUR);
  const uint64_t left = at >= 0 && status.st_size > at ? (uint64_t)(status.st_size - at) : 0;
  if (left > 0 && (source->config.bytes == 0 || left < source->config.bytes)) source->config.bytes = left;
}

void source_open(struct source *source, const char *name, const struct source_config *config) {
  *source = (struct source){.config = *config, .name = name, .fd = -1};
  if (strcmp(name, "-") == 0) {
    source->fd = STDIN_FILENO;
    if (isatty(source->fd))
      fail(EXIT_USAGE, "nothing is piped in: producer | spate record ..., or name a source with --from");
  } else if (!is_synthetic(name)) {
    /* A FIFO whose writer has not come yet would block here, and its writer may wait for another FIFO's reader. */
    source->fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (source->fd < 0 || fcntl(source->fd, F_SETFL, 0) != 0) fail(EXIT_FAILED, "%s: %s", name, strerror(errno));
  }
  limit_to_file(source);
  source->bytes = calloc(config->slots, sizeof *source->bytes);
  if (source->bytes == NULL) fail(EXIT_FAILED, "no memory");
  source->filled_event = event_open();
  source->room_event = event_open();
}

void source_memory(struct source *source) {
  source->memory = memory_take_ring((size_t)source->config.slots * source->config.slot_bytes);
}

/* Signals are the main thread's. */
int source_start(struct source *source) {
  sigset_t all, before;

  (void)sigfillset(&all);
  int error = pthread_sigmask(SIG_SETMASK, &all, &before);
  if (error == 0)
    error = pthread_create(&source->thread, NULL, is_synthetic(source->name) ? source_synthetic_run : source_stream_run,
                           source);
  source->started = error == 0;
  const int restored = pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error != 0 ? error : restored;
}

uint64_t source_size(const struct source *source) { return source->config.bytes; }

/* Whoever sleeps is not woken for a slot, as waking costs more than many slots do: the taker for a quarter of the ring,
 * the filler for half of it. */
static uint64_t quarter(const struct source *source) {
  return source->config.slots > 4u ? source->config.slots / 4u : 1u;
}

bool source_can_wait(const struct source *source) { return source->config.rate <= 0; }

bool source_has_room(const struct source *source) {
  return atomic_load(&source->filled) - atomic_load(&source->released) <= source->config.slots / 4u;
}

void source_wait(struct source *source, int other_fd, int limit_ms) {
  struct pollfd events[] = {{.fd = source->filled_event, .events = POLLIN}, {.fd = other_fd, .events = POLLIN}};

  /* Whoever fills looks at this after it has filled, and this looks at what is filled after it was set: one of the two
   * sees the other. */
  atomic_store(&source->taker_sleeps, true);
  if (atomic_load(&source->filled) - source->seen < quarter(source)) {
    (void)poll(events, 2, limit_ms); /* a signal ends it, so that the caller sees it at once */
    if (events[0].revents != 0) event_clear(source->filled_event);
  }
  atomic_store(&source->taker_sleeps, false);
  source->seen = atomic_load(&source->filled);
}

void source_release(struct source *source, uint64_t released) {
  if (atomic_load(&source->released) == released) return;
  atomic_store(&source->released, released);
  if (atomic_load(&source->filler_sleeps) && atomic_load(&source->filled) - released <= source->config.slots / 2u)
    event_raise(source->room_event);
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
  if (source->fd > STDIN_FILENO) (void)close(source->fd);
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
  return source->memory +
         (size_t)(atomic_load(&source->filled) & (source->config.slots - 1u)) * source->config.slot_bytes;
}

void source_publish(struct source *source, uint32_t bytes) {
  const uint64_t filled = atomic_load(&source->filled);

  source->bytes[filled & (source->config.slots - 1u)] = bytes;
  atomic_store(&source->filled, filled + 1u);
  if (atomic_load(&source->taker_sleeps) && filled + 1u - source->seen >= quarter(source))
    event_raise(source->filled_event);
}
