/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the kind of source by its name, and owns its memory and its thread. */
#include "source.h"

#include "../text/fail.h"
#include "event.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const struct source_kind *const kinds[] = {&source_synthetic, &source_udp, &source_ring, &source_file,
                                                  &source_stream};

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

void source_memory(struct source *source, const struct memory_supply *supply) {
  source->supply = supply;
  if (source->kind->memory == NULL) shrink(source);
  if (source->kind->memory != NULL) source->kind->memory(source);
  if (source->memory == NULL)
    source->memory = memory_take_ring(supply, (size_t)source->config.slots * source->config.slot_bytes);
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

bool source_can_wait(const struct source *source) {
  return source->kind == &source_file || source->kind == &source_stream ||
         (source->kind == &source_synthetic && source->config.rate <= 0);
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
  if (!source->threadless) memory_give(source->supply, source->memory);
  free(source->bytes);
}
