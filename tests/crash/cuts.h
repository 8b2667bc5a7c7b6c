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
 */
#ifndef SPATE_TESTS_CUTS_H
#define SPATE_TESTS_CUTS_H

#include "journal.h"
#include "medium.h"

struct cuts {
  struct medium *medium; /* as it was when the journal began; ends up as at its end if everything was durable */
  const struct journal *journal;
  uint64_t seed;
  uint32_t tear_blocks; /* the atomic unit */
  uint64_t states_max;  /* of more than these a share, drawn by the seed */
  uint64_t only;        /* judge this state alone; 0: all */
  bool taken_back;      /* leave the medium as it was: for a recovery, which is cut in the middle of other cuts */
  /* A state, after event `at`. What it changes on the medium it has to medium_keep(). False: stop. */
  bool (*judge)(void *context, uint64_t at, uint64_t random);
  void *context;
  /* what came of it */
  uint64_t states; /* judged */
  uint64_t number; /* of the present state */
};

/* False: the judge stopped it, at state `number`. */
bool cuts_run(struct cuts *cuts);

#endif
