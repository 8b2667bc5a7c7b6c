/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power cuts: makes from a journal what the drives may hold after each event, one state after the other.
 * A write with FUA is durable once it has completed. Any other write is durable once a flush of its drive has completed
 * that was submitted after the write had completed. Until then each unit of it (a block, or the drive's power-fail
 * atomic unit) may have reached the media or not, independently and in any order, whether completed or in flight.
 * Trimmed blocks read as what they held, as zeros or as ones, each independently. Once a newer write is durable, no
 * older version comes back.
 * After each event all combinations of undecided metadata units are tried while there are at most 2^10 of them.
 * Otherwise the two extremes, each unit alone, and some random ones are tried. A stream's undecided data are combined
 * with these: none, all, all but one unit, or at random.
 * Many of these states have the same image, because the later event has not changed the media yet. If the promises are
 * also the same, the state is not judged again, and another state is tried instead.
 */
#ifndef SPATE_TESTS_CUTS_H
#define SPATE_TESTS_CUTS_H

#include "images.h"
#include "journal.h"
#include "medium.h"

struct cuts {
  struct medium *medium; /* as it was when the journal began; the same again afterwards */
  const struct journal *journal;
  uint64_t seed;
  uint32_t tear_blocks; /* the atomic unit */
  uint64_t states_max;  /* of more states than these only a share is judged, drawn by the seed */
  bool replaced;        /* try another state for each one that was judged before, while there are any */
  uint64_t only;        /* judge this state alone; 0: all */
  /* Judges a state after event `at`. It must call medium_keep() for what it changes on the media. False: stop. */
  bool (*judge)(void *context, uint64_t at, uint64_t random);
  struct images *images; /* judged so far, and not judged again; NULL: each state is judged */
  uint64_t (*promised)(void *context, uint64_t at); /* with `images`: a hash of the promises after event `at` */
  void *context;
  /* results */
  uint64_t states; /* judged */
  uint64_t number; /* of the current state */
};

/* False: the judge stopped the run, at state `number`. */
bool cuts_run(struct cuts *cuts);

#endif
