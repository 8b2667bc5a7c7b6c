/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power cuts: from a journal, what the drives may hold after each event, one state after the other.
 *
 * A write with FUA is durable once it has completed; any other once a flush has completed on its drive that was
 * submitted after the write had completed. Until then each piece of it (a block, or the drive's power-fail atomic unit)
 * may have reached the medium or not, by itself and in any order, completed or not. Trimmed blocks read as what they
 * held, as zeros or as ones, each by itself. A newer write that is durable lets nothing older come back.
 *
 * After each event all combinations of undecided metadata are tried while there are at most 2^10 of them, and
 * otherwise the extremes, each write alone, and some by chance. A stream's undecided data come with each of them: none,
 * all, all but one piece, or by chance.
 *
 * Many of these leave the same image, because the later event changes nothing that is on the medium yet. Where the
 * promises are the same, too, there is nothing to judge again, and another state is tried instead.
 */
#ifndef SPATE_TESTS_CUTS_H
#define SPATE_TESTS_CUTS_H

#include "images.h"
#include "journal.h"
#include "medium.h"

struct cuts {
  struct medium *medium; /* as it was when the journal began; is so again afterwards */
  const struct journal *journal;
  uint64_t seed;
  uint32_t tear_blocks; /* the atomic unit */
  uint64_t states_max;  /* of more than these a share, drawn by the seed */
  bool replaced;        /* for each state that was judged before another one is tried, while there are any */
  uint64_t only;        /* judge this state alone; 0: all */
  /* A state, after event `at`. What it changes on the medium it has to medium_keep(). False: stop. */
  bool (*judge)(void *context, uint64_t at, uint64_t random);
  struct images *images; /* what was judged so far, and is not judged again; NULL: each state is judged */
  uint64_t (*promised)(void *context, uint64_t at); /* with images: a hash of what holds after event `at` */
  void *context;
  /* what came of it */
  uint64_t states; /* judged */
  uint64_t number; /* of the present state */
};

/* False: the judge stopped it, at state `number`. */
bool cuts_run(struct cuts *cuts);

#endif
