/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges twice what a cut has left. First as a PC finds it: a PC must be able to use the volume without damage. Then
 * after the library's next mount: nothing may be wrong any more. Some recoveries are themselves cut, after each of
 * their events, and so are some of the recoveries from these cuts.
 */
#ifndef SPATE_TESTS_JUDGE_H
#define SPATE_TESTS_JUDGE_H

#include "before.h"
#include "cuts.h"
#include "promises.h"

#include <spate/exfat.h>
#include <spate/stripe.h>

#define JUDGE_DEPTH_MAX 2u /* a cut in the recovery from a cut in a recovery */

struct judge {
  struct medium *medium;
  struct promises *promises;
  struct oracle *oracle;
  uint32_t block_bytes;       /* of the device; the media's blocks may be smaller */
  uint64_t first_lba, blocks; /* of the volume, on its device */
  enum spate_error (*salvage)(struct spate_exfat *volume, struct spate_exfat_mounted *found);
  /* After the mount, in one state of AFTER_EVERY: NULL, or what is wrong. Then the structure is judged again. */
  const char *(*after)(void *context, struct spate_exfat *volume, uint64_t at);
  void *after_context;
  const char *keep_folder; /* for images of some states: keep.h; NULL: none */
  uint64_t keep_every;
  unsigned keep_number; /* of the volume */
  bool striped, volatile_cache, foreign_dirty;
  /* counts before the first cut, on a volume that others damaged: they must not grow */
  uint32_t cross_linked, overlong, leaked;
  uint32_t again_every;  /* one recovery in this number is cut; 0: none */
  uint32_t again_states; /* into at most this number of states */
  bool pc;               /* a PC changes the volume before the mount, each state in several ways: pc.h */
  bool tally;            /* continue after a broken promise, and count them */
  uint32_t tear_blocks;
  struct images *images; /* judged so far, and not judged again; NULL: each state is */
  uint64_t recoveries_cut;
  uint64_t changed_by_pc;           /* mounts after a change */
  struct spate_exfat_mounted found; /* by the last mount */
  uint32_t serial;                  /* of the volume that it mounted */
  enum spate_error mounted;         /* the result of that mount */
  /* private */
  unsigned depth;
  uint64_t states;
  uint64_t promised_at, promised; /* the last hash that was computed */
  struct judge_memory *memory;
  struct before before; /* the PC's change, or none */
};

void judge_open(struct judge *judge);
void judge_close(struct judge *judge);

/* For struct cuts. */
bool judge_state(void *context, uint64_t at, uint64_t random);
uint64_t judge_promised(void *context, uint64_t at);
/* The same for a cut during format: the old volume (or none) or the new one must be there, never a mixture.
 * `fresh_serial` is the new volume's; `done`: the event from which on the new volume must be there. */
bool judge_format(struct judge *judge, uint64_t at, uint64_t done, uint32_t fresh_serial);

#endif
