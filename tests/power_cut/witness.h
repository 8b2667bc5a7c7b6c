/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switch that runs a recording test under power cuts. A program that is linked with spate_crash and started with
 * SPATE_CUTS=N in its environment is watched: the requests to its drives (ram_block), the library's answers to its
 * caller, the data pushed, and the published length of each clip. Each of these answers is a promise. When the test
 * closes its drive, the power is cut after every event, in up to N states, and the result is compared with every
 * promise of that moment. The test's source needs no change: the linker directs its calls through here (the list is in
 * CMakeLists.txt).
 *
 *   SPATE_SEED=S    another share of the states, and other orders of completion in scenarios that call witness_seed()
 *   SPATE_STATE=W:K only state K of the program's W-th volume, as a failure prints it
 *   SPATE_KEEP=FOLDER, SPATE_KEEP_EVERY=N  write one state in N as image files, before and after recovery: keep.h
 *   SPATE_IMAGES=FILE  append the 64-bit hash of each judged image: for counts over several runs
 *   SPATE_ATOMIC_BYTES=512  on drives with larger blocks, a write is atomic only in units of this size
 *
 * A volume is watched from its first mount on. The files that it has at that moment are promised as well.
 */
#ifndef SPATE_TESTS_WITNESS_H
#define SPATE_TESTS_WITNESS_H

#include "judge.h"

/* The seed of this run: SPATE_SEED, or 1. */
uint64_t witness_seed(void);
/* Will this run be cut? */
bool witness_on(void);

/* For a test that formats over another volume: watch from now on, and judge by judge_format(). */
void witness_format(const struct spate_exfat_config *config, uint32_t fresh_serial);

/* The test has changed the media itself: drop the journal, and begin at the next mount. */
void witness_again(void);

/* Let a PC change something between the cuts of this volume and the mount, each state also without it: pc.h. For one
 * drive, and a volume without damage. */
void witness_pc(void);

/* From now on only the file's first `bytes` are promised: what is behind them is about to be lost, and told. */
void witness_lost(const char *path, uint64_t bytes);

/* From now on this file must not be deleted, whatever the library's caller is told. */
void witness_kept(const char *path);

/* The bytes of this file change in place: only its presence and its length are promised. Call it before the file is
 * made. `path` stays in place. */
void witness_changes(const char *path);

/* What a program does after the mount that follows a cut, on the volume of that mount, in some of the states. It
 * returns NULL, or what is wrong. Then the volume's structure is judged once more. */
void witness_after(const char *(*after)(void *context, struct spate_exfat *volume, uint64_t at), void *context);
/* The number of the last event: promises of `after` are true from then on. */
uint64_t witness_now(void);

/*
 * For drives that keep their own journal, as virtual ones do: watch from now on, with everything durable, until
 * witness_machine_end(), which makes the cuts. In between call witness_look() after each turn of the recorder.
 */
struct witness_machine {
  unsigned drives;
  uint64_t drive_blocks;
  const struct spate_exfat_config *config;
  const struct spate_stripe *stripe;                   /* NULL: one drive */
  uint8_t order[JOURNAL_DRIVES_MAX];                   /* of the stripe: which drive is member i */
  uint64_t (*now)(void *context);                      /* the number of the next event of the journals */
  void (*add)(void *context, struct journal *journal); /* all their entries, by journal_add() */
  void *context;
};
void witness_machine(const struct witness_machine *machine);
void witness_look(void);
void witness_machine_end(void);

/* Count what the cuts cost instead of failing: for figures. Call it before the volume is closed, and read the loss
 * afterwards. */
void witness_tally(void);
const struct promise_loss *witness_loss(void);

#endif
