/* SPDX-License-Identifier: Apache-2.0 */
#include "filling.h"

#include <string.h>

#define LIMIT_MS 500

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

bool filling_begin(struct filling *filling, struct source *source) {
  *filling = (struct filling){.source = source, .left = source->config.bytes > 0 ? source->config.bytes : UINT64_MAX};
  return claim(filling);
}

bool filling_add(struct filling *filling, uint32_t bytes) {
  filling->bytes += bytes;
  filling->left -= bytes;
  if (filling->bytes < filling->source->config.slot_bytes) return true;
  source_publish(filling->source, filling->bytes);
  return claim(filling);
}

/* Bytes that are told do not change any more: those that come later are after them. */
static void tell_rest(const struct filling *filling) {
  const uint64_t filled = atomic_load(&filling->source->filled);

  if (filling->bytes > 0) atomic_store(&filling->source->tail, SOURCE_TAIL(filled, filling->bytes));
}

/* The part that ends gets all that is there. */
static bool cut(struct filling *filling) {
  struct source *source = filling->source;
  const bool any = filling->bytes > 0;

  if (any) source_publish(source, filling->bytes);
  source->cut_slot = atomic_load(&source->filled);
  atomic_store(&source->cut_asked, false);
  return !any || claim(filling);
}

/* Publishes the whole pages of the slot, and copies the rest to the next slot. */
static bool hand_over_old(struct filling *filling) {
  const uint32_t whole = filling->bytes & ~(SOURCE_SLOT_ALIGN - 1u), rest = filling->bytes - whole;
  uint8_t kept[SOURCE_SLOT_ALIGN];

  if (ms_since(&filling->since) < LIMIT_MS) return true;
  if (whole == 0) {
    (void)clock_gettime(CLOCK_MONOTONIC, &filling->since);
    tell_rest(filling);
    return true;
  }
  memcpy(kept, filling->slot + whole, rest);
  source_publish(filling->source, whole);
  if (!claim(filling)) return false;
  memcpy(filling->slot, kept, rest);
  filling->bytes = rest;
  tell_rest(filling);
  return true;
}

bool filling_hand_over(struct filling *filling) {
  if (atomic_load(&filling->source->cut_asked) && !cut(filling)) return false;
  return hand_over_old(filling);
}

void filling_end(struct filling *filling) {
  if (filling->slot != NULL && filling->bytes > 0) source_publish(filling->source, filling->bytes);
  filling->slot = NULL;
}
