/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated sensor that cannot be stopped. It makes chunks (spate/chunk.h), one in each slot, at a given rate. If the
 * ring is full, a chunk is lost and counted. The number in the header counts the recorded chunks, as salvage requires.
 * The first word of the data counts all chunks of the sensor, including lost ones. Without a rate, it fills the ring as
 * fast as slots become free.
 */
#include "source.h"

#include <spate/chunk.h>
#include <string.h>
#include <time.h>

#define STOP_LOOK_NS        100000000L
#define SYNTHETIC_BYTES_MIN (SPATE_CHUNK_HEADER_BYTES + sizeof(uint64_t)) /* of a recording's last chunk */

/* Fills all slots once with pseudo-random data. A chunk then changes only the header and the first word of the data. */
static void paint(struct source *source) {
  uint64_t *words = (uint64_t *)(void *)source->memory;
  const size_t count = (size_t)source->config.slots * source->config.slot_bytes / sizeof *words;
  uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

  for (size_t i = 0; i < count; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    words[i] = state;
  }
}

/* TAI never repeats a second, and PTP sets this clock. Without PTP it is the machine's own clock. */
static uint64_t time_ns(void) {
  struct timespec time;

  if (clock_gettime(CLOCK_TAI, &time) != 0) return 0;
  return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static void make(struct source *source, uint8_t *slot, uint64_t count, uint32_t bytes) {
  const uint64_t number = atomic_load(&source->filled);

  memcpy(slot + SPATE_CHUNK_HEADER_BYTES, &count, sizeof count);
  spate_chunk_seal_counted(slot, source->config.stream, number, bytes, count - number);
  spate_chunk_stamp(slot, time_ns());
  source_publish(source, bytes);
}

/* Sleeps until the chunk is due, in short steps, so that it sees a stop. */
static bool wait_until(struct source *source, const struct timespec *begin, double seconds) {
  struct timespec due = *begin;

  due.tv_sec += (time_t)seconds;
  due.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
  if (due.tv_nsec >= 1000000000L) {
    due.tv_sec++;
    due.tv_nsec -= 1000000000L;
  }
  while (!atomic_load(&source->stop)) {
    struct timespec now, step;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t left_ns = (due.tv_sec - now.tv_sec) * INT64_C(1000000000) + (due.tv_nsec - now.tv_nsec);
    if (left_ns <= 0) return true;
    step = (struct timespec){.tv_nsec = left_ns < STOP_LOOK_NS ? (long)left_ns : STOP_LOOK_NS};
    (void)nanosleep(&step, NULL);
  }
  return false;
}

static void *run(void *opaque) {
  struct source *source = opaque;
  const struct source_config *config = &source->config;
  const uint64_t bytes = config->bytes > 0 ? config->bytes : UINT64_MAX;
  struct timespec begin;

  paint(source);
  (void)clock_gettime(CLOCK_MONOTONIC, &begin);
  for (uint64_t count = 0, made = 0; made + SYNTHETIC_BYTES_MIN <= bytes && !atomic_load(&source->stop); count++) {
    const uint32_t now_bytes = bytes - made < config->slot_bytes ? (uint32_t)(bytes - made) : config->slot_bytes;
    made += now_bytes;
    if (config->rate > 0 && !wait_until(source, &begin, (double)made / config->rate)) break;
    uint8_t *slot = source_claim(source, config->rate <= 0); /* waits only if there is no rate to keep */
    if (slot != NULL)
      make(source, slot, count, now_bytes);
    else if (config->rate > 0)
      atomic_fetch_add(&source->lost_bytes, now_bytes);
  }
  atomic_store(&source->ended, true);
  return NULL;
}

static bool is(const char *name) { return strcmp(name, "synthetic") == 0; }

static void open_nothing(struct source *source) { (void)source; }

const struct source_kind source_synthetic = {.is = is, .open = open_nothing, .run = run};
