/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How bytes that come in any amounts become slots: for the threads of source/stream.c and source/udp.c. What has come
 * for half a second without filling a slot goes on in whole pages, so that a slow source is on the drive as soon as a
 * fast one.
 */
#ifndef SPATE_HOSTED_FILLING_H
#define SPATE_HOSTED_FILLING_H

#include "source.h"

#include <time.h>

struct filling {
  struct source *source;
  uint8_t *slot;
  uint32_t bytes; /* in it */
  uint64_t left;  /* of what is wanted in all */
  struct timespec since;
};

/* Each false: nothing is taken any more. They wait while there is no room. */
bool filling_begin(struct filling *filling, struct source *source);
/* `bytes` more are in the slot, and are wanted. */
bool filling_add(struct filling *filling, uint32_t bytes);
/* To be called now and then. */
bool filling_hand_over_if_old(struct filling *filling);
/* Nothing will follow. */
void filling_end(struct filling *filling);

#endif
