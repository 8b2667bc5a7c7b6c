/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects bytes that come in any amounts into slots, for the threads of source/stream.c and source/udp.c. If a slot is
 * not full after half a second, its whole pages are published, and the taker is told of the rest. So data of a slow
 * source do not wait for a full slot, nor for a full page.
 */
#ifndef SPATE_COMMAND_FILLING_H
#define SPATE_COMMAND_FILLING_H

#include "source.h"

#include <time.h>

struct filling {
  struct source *source;
  uint8_t *slot;
  uint32_t bytes; /* in the slot */
  uint64_t left;  /* bytes until the limit of the recording */
  struct timespec since;
};

/* These three wait while the ring is full. They return false if the recorder takes no more slots. */
bool filling_begin(struct filling *filling, struct source *source);
/* Adds `bytes` that the caller has stored in the slot. */
bool filling_add(struct filling *filling, uint32_t bytes);
/* Publishes all of the slot if the taker asked for a cut; if the slot is half a second old, its whole pages, and tells
 * of the rest. Call it often. */
bool filling_hand_over(struct filling *filling);
/* Publishes the rest. Nothing may follow. */
void filling_end(struct filling *filling);

#endif
