/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switch that runs a recording test under power cuts. A program that is linked with spate_crash and started with
 * SPATE_CUTS=N in its environment is watched: what its drives are asked (ram_block), what the library answers its
 * caller, what was pushed, and how far each clip is published. Each of these answers is a promise. When the test closes
 * its drive, the drive is cut after every event, in up to N states, and every promise of that moment is compared with
 * what is left. The test's source knows nothing of it: the linker leads its calls through here (CMakeLists.txt has the
 * list).
 *
 *   SPATE_SEED=S    another share of the states, and other orders of completion in scenarios that ask witness_seed()
 *   SPATE_STATE=W:K only state K of the program's W-th volume, as a failure prints it
 *   SPATE_KEEP=FOLDER, SPATE_KEEP_EVERY=N  write one state in N as image files, before and after recovery: keep.h
 *   SPATE_IMAGES=FILE  append the hash of each image that was judged, of 64 bits: for counts over several runs
 *   SPATE_ATOMIC_BYTES=512  on drives with larger blocks, pretend that they do not write a block at once
 *
 * Watched from a volume's first mount on; the files that it then has are promised as well.
 */
#ifndef SPATE_TESTS_WITNESS_H
#define SPATE_TESTS_WITNESS_H

#include "judge.h"

/* The seed of this run: 1 unless the environment says otherwise. */
uint64_t witness_seed(void);
/* Is this run to be cut? */
bool witness_on(void);

/* For a test that makes a volume over another one: watch from now on, and judge by judge_format(). */
void witness_format(const struct spate_exfat_config *config, uint32_t fresh_serial);

/* The test has changed the medium by hand: forget what came before, and begin at the next mount. */
void witness_again(void);

/* Between the cuts of this volume and the mount a PC changes something, in half of the states: pc.h. Of one drive. */
void witness_pc(void);

/*
 * For drives that keep their own journal, as virtual ones do: watch from now on, with everything durable, until
 * witness_machine_end(), which cuts. Between the two call witness_look() whenever the recorder was given a turn.
 */
struct witness_machine {
  unsigned drives;
  uint64_t drive_blocks;
  const struct spate_exfat_config *config;
  const struct spate_stripe *stripe;                   /* NULL: one drive */
  uint8_t order[JOURNAL_DRIVES_MAX];                   /* of the stripe: which drive is member i */
  uint64_t (*now)(void *context);                      /* the number of the next event of the journals */
  void (*add)(void *context, struct journal *journal); /* all that they hold, by journal_add() */
  void *context;
};
void witness_machine(const struct witness_machine *machine);
void witness_look(void);
void witness_machine_end(void);

/* Count what the cuts cost instead of failing: for figures. Call it before the volume is closed; ask afterwards. */
void witness_tally(void);
const struct promise_loss *witness_loss(void);

#endif
