/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces the command's sensor (linux/command/source/synthetic.c) by one that costs nothing. Slots are full when they
 * are due, or, without a rate, as soon as they are free, as if logic had filled them. The remaining cost of a recording
 * is the recorder's, the target's, and that of one thread notifying the other. As logic would, it reports several slots
 * at a time.
 */
#include "source/source.h"

#include <string.h>
#include <time.h>

#define STEP_MS 16

static uint64_t now_ns(void) {
  struct timespec now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* True: all of it had room. */
static bool make(struct source *source, uint64_t *made, uint64_t until) {
  for (; *made < until; *made += source->config.slot_bytes) {
    if (source_claim(source, source->config.rate <= 0) == NULL) return false;
    source_publish(source, source->config.slot_bytes);
  }
  return true;
}

static void *run(void *opaque) {
  struct source *source = opaque;
  const struct source_config *config = &source->config;
  const uint64_t begin_ns = now_ns();
  uint64_t made = 0;

  while (made < config->bytes && !atomic_load(&source->stop)) {
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
    uint64_t due = config->bytes;
    if (config->rate > 0) {
      (void)nanosleep(&step, NULL);
      due = (uint64_t)((double)(now_ns() - begin_ns) / 1e9 * config->rate);
      if (due > config->bytes) due = config->bytes;
    }
    if (!make(source, &made, due) && config->rate > 0) {
      atomic_fetch_add(&source->lost_bytes, config->bytes - made);
      break;
    }
  }
  atomic_store(&source->ended, true);
  return NULL;
}

static bool is(const char *name) { return strcmp(name, "synthetic") == 0; }

static void open_nothing(struct source *source) { source->fd = -1; }

const struct source_kind source_synthetic = {.is = is, .open = open_nothing, .run = run};
