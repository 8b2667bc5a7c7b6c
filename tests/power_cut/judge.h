/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cut left, judged twice: as a PC finds it, which must be able to use the volume without harm; and after the
 * library's next mount, which must leave nothing to be desired. Some recoveries are themselves cut, at each of their
 * events, and so are some of the recoveries from that.
 */
#ifndef SPATE_TESTS_JUDGE_H
#define SPATE_TESTS_JUDGE_H

#include "cuts.h"
#include "promises.h"

#include <spate/exfat.h>
#include <spate/stripe.h>

#define JUDGE_DEPTH_MAX 2u /* cuts in a recovery from a cut in a recovery */

struct judge {
  struct medium *medium;
  struct promises *promises;
  struct oracle *oracle;
  uint32_t block_bytes;       /* of the device: the medium's may be smaller */
  uint64_t first_lba, blocks; /* of the volume, on its device */
  enum spate_error (*salvage)(struct spate_exfat *volume, struct spate_exfat_mounted *found);
  const char *keep_folder; /* for images of some states: keep.h; NULL: none */
  uint64_t keep_every;
  unsigned keep_number; /* of the volume */
  bool striped, volatile_cache, foreign_dirty;
  uint32_t cross_linked, overlong, leaked; /* what others had left before the first cut: it does not grow */
  uint32_t again_every;                    /* one recovery in so many is cut; 0: none */
  uint32_t again_states;                   /* by so many cuts */
  bool pc;    /* in half of the states a PC changes the volume before the library mounts it: pc.h */
  bool tally; /* go on after a broken promise: they are counted */
  uint32_t tear_blocks;
  struct images *images; /* judged so far, and not judged again; NULL: each state is */
  uint64_t recoveries_cut;
  uint64_t changed_by_pc;           /* states */
  struct spate_exfat_mounted found; /* by the last mount */
  uint32_t serial;                  /* of the volume that it mounted */
  enum spate_error mounted;         /* what it came to */
  /* private */
  unsigned depth;
  uint64_t states;
  uint64_t promised_at, promised; /* the last that was asked for */
  struct judge_memory *memory;
};

void judge_open(struct judge *judge);
void judge_close(struct judge *judge);

/* For struct cuts. */
bool judge_state(void *context, uint64_t at, uint64_t random);
uint64_t judge_promised(void *context, uint64_t at);
/* The same for a cut while a volume is made: the old volume, or none, or the new one, never a mixture. `fresh_serial`
 * is the new one's; `done`: the event from which on it must be there. */
bool judge_format(struct judge *judge, uint64_t at, uint64_t done, uint32_t fresh_serial);

#endif
