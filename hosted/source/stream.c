/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard input, a file or a FIFO. It blocks while there is no room, and loses nothing. What has come for half a
 * second without filling a slot goes on in whole pages, so that a slow source is on the drive as soon as a fast one.
 */
#include "source.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_MS 500

struct filling {
  struct source *source;
  uint8_t *slot;
  uint32_t bytes; /* in it */
  uint64_t left;  /* of what is wanted in all */
  struct timespec since;
};

static int64_t ms_since(const struct timespec *begin) {
  struct timespec now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - begin->tv_sec) * 1000 + (now.tv_nsec - begin->tv_nsec) / 1000000;
}

static bool claim(struct filling *filling) {
  filling->slot = source_claim(filling->source, true);
  filling->bytes = 0;
  (void)clock_gettime(CLOCK_MONOTONIC, &filling->since);
  return filling->slot != NULL;
}

/* Hands over the whole pages, and begins the next slot with the rest. */
static bool hand_over_pages(struct filling *filling) {
  const uint32_t whole = filling->bytes & ~(SOURCE_SLOT_ALIGN - 1u), rest = filling->bytes - whole;
  uint8_t kept[SOURCE_SLOT_ALIGN];

  if (whole == 0) {
    (void)clock_gettime(CLOCK_MONOTONIC, &filling->since);
    return true;
  }
  memcpy(kept, filling->slot + whole, rest);
  source_publish(filling->source, whole);
  if (!claim(filling)) return false;
  memcpy(filling->slot, kept, rest);
  filling->bytes = rest;
  return true;
}

/* True: there is something to read, or the end. */
static bool wait_for_input(struct filling *filling) {
  struct pollfd input = {.fd = filling->source->fd, .events = POLLIN};

  return poll(&input, 1, 100) != 0;
}

/* Bytes that were read, 0 at the end, −1 on an error. */
static ssize_t read_some(struct filling *filling) {
  const uint64_t room = filling->source->config.slot_bytes - filling->bytes;
  const size_t wanted = (size_t)(filling->left < room ? filling->left : room);
  ssize_t got;

  do
    got = read(filling->source->fd, filling->slot + filling->bytes, wanted);
  while (got < 0 && errno == EINTR);
  return got;
}

static int fill(struct filling *filling) {
  struct source *source = filling->source;
  int error = 0;

  if (!claim(filling)) return 0;
  while (filling->left > 0 && !atomic_load(&source->stop)) {
    if (ms_since(&filling->since) >= LIMIT_MS && !hand_over_pages(filling)) return 0;
    if (!wait_for_input(filling)) continue;
    const ssize_t got = read_some(filling);
    if (got < 0) error = errno;
    if (got <= 0) break;
    filling->bytes += (uint32_t)got;
    filling->left -= (uint64_t)got;
    if (filling->bytes < source->config.slot_bytes) continue;
    source_publish(source, filling->bytes);
    if (!claim(filling)) return 0;
  }
  if (filling->bytes > 0) source_publish(source, filling->bytes);
  return error;
}

void *source_stream_run(void *opaque) {
  struct source *source = opaque;
  struct filling filling = {.source = source, .left = source->config.bytes > 0 ? source->config.bytes : UINT64_MAX};

  source->error = fill(&filling);
  atomic_store(&source->ended, true);
  return NULL;
}
