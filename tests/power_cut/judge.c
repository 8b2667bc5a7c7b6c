/* SPDX-License-Identifier: Apache-2.0 */
#include "judge.h"

#include "keep.h"
#include "pc.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_BLOCKS 16u
#define WINDOW_BYTES 8192u
#define PARTS        64u
#define PC_CHANGES   8u /* for each state */
#define AFTER_EVERY  4u

/* The record's file has this many clusters of 512 bytes. A cut while it is made may leak them once. */
#define RECORD_CLUSTERS (SPATE_EXFAT_CLIPS_MAX + 1u)

/* A host that restarts after the cut. */
struct judge_memory {
  struct ram_observer observer;
  struct ram_block drives[JOURNAL_DRIVES_MAX];
  struct spate_exfat volume;
  struct spate_exfat_block blocks[CACHE_BLOCKS];
  struct spate_stripe stripe;
  struct spate_stripe_part parts[PARTS];
  struct journal journal; /* of the current recovery */
  _Alignas(64) uint8_t cache[CACHE_BLOCKS * 4096u];
  _Alignas(64) uint8_t bitmap[WINDOW_BYTES];
  _Alignas(64) uint8_t scratch[4096];
};

void judge_open(struct judge *judge) {
  size_t bytes = (sizeof *judge->memory + 63u) & ~(size_t)63;
  judge->memory = aligned_alloc(64, bytes);
  judge->oracle = malloc(sizeof *judge->oracle);
  if (judge->memory == NULL || judge->oracle == NULL) abort();
}

void judge_close(struct judge *judge) {
  before_free(&judge->before);
  free(judge->memory);
  free(judge->oracle);
}

/* ---- the host ---- */

static unsigned number_of(const struct judge *judge, const struct ram_block *ram) {
  return (unsigned)(ram - judge->memory->drives);
}

static void taken(void *context, struct ram_block *ram, const struct spate_io *io) {
  struct judge *judge = context;
  if (io->op == SPATE_READ) return;
  uint32_t scale = judge->block_bytes / judge->medium->block_bytes;
  if (io->op != SPATE_FLUSH)
    medium_keep(judge->medium, number_of(judge, ram) * judge->medium->drive_blocks + io->lba * scale,
                io->blocks * scale);
  (void)journal_taken(&judge->memory->journal, number_of(judge, ram), ram, io);
}

static void over(void *context, struct ram_block *ram, const struct spate_io *io) {
  struct judge *judge = context;
  (void)ram;
  journal_over(&judge->memory->journal, io);
}

static void dropped(void *context, struct ram_block *ram) {
  (void)context;
  (void)ram;
}

static enum spate_error open_device(struct judge *judge, const struct ram_observer *observer, uint64_t random,
                                    struct spate_block **block) {
  struct judge_memory *memory = judge->memory;
  const struct medium *medium = judge->medium;
  struct spate_block *members[JOURNAL_DRIVES_MAX] = {NULL};
  uint64_t bytes = medium->drive_blocks * medium->block_bytes;
  for (unsigned i = 0; i < medium->drives; i++) {
    ram_block_open_memory(&memory->drives[i], medium_at(medium, i * medium->drive_blocks), bytes, judge->block_bytes,
                          medium->fd);
    memory->drives[i].order = RAM_RANDOM;
    memory->drives[i].random = random;
    memory->drives[i].block.volatile_cache = judge->volatile_cache;
    memory->drives[i].observer = observer;
    members[i] = &memory->drives[i].block;
  }
  *block = members[0];
  if (!judge->striped) return SPATE_OK;
  struct spate_stripe_config config = {.members = members,
                                       .member_count = (uint8_t)medium->drives,
                                       .parts = memory->parts,
                                       .part_count = PARTS,
                                       .scratch = memory->scratch};
  *block = &memory->stripe.block;
  return spate_stripe_open(&memory->stripe, &config);
}

/* The next mount, with a journal of its writes. */
static void recover(struct judge *judge, uint64_t random) {
  struct judge_memory *memory = judge->memory;
  struct spate_block *block;
  journal_init(&memory->journal, judge->medium->block_bytes, judge->medium->drive_blocks);
  memory->observer = (struct ram_observer){taken, over, dropped, judge};
  judge->mounted = open_device(judge, &memory->observer, random, &block);
  if (judge->mounted != SPATE_OK) return;
  struct spate_exfat_config config = {.block = block,
                                      .first_lba = judge->first_lba,
                                      .blocks = judge->blocks,
                                      .cache = memory->cache,
                                      .cache_bytes = CACHE_BLOCKS * judge->block_bytes,
                                      .cache_blocks = memory->blocks,
                                      .cache_block_count = CACHE_BLOCKS,
                                      .bitmap = memory->bitmap,
                                      .bitmap_bytes = WINDOW_BYTES,
                                      .salvage = judge->salvage};
  judge->mounted = spate_exfat_mount(&memory->volume, &config, &judge->found);
  if (judge->mounted != SPATE_OK) return;
  judge->serial = memory->volume.serial;
  judge->mounted = memory->volume.failed;
}

/* ---- the volume ---- */

static const uint8_t *volume_start(const struct judge *judge) {
  return judge->medium->view + judge->first_lba * judge->block_bytes;
}

static uint64_t volume_bytes(const struct judge *judge) { return judge->blocks * judge->block_bytes; }

static void check_structure(struct judge *judge, bool recovered) {
  const struct oracle *oracle = judge->oracle;
  struct promises *promises = judge->promises;
  /* There is no record on a volume of others until there is room for it. */
  bool recorded = oracle_find(oracle, ".spate") != NULL;
  uint32_t leaked_max = judge->leaked + (recorded ? 0 : RECORD_CLUSTERS);
  bool damaged = judge->cross_linked > 0 || judge->overlong > 0;
  if (oracle->unallocated > 0)
    promises_broken(promises, "%u owned clusters are free in the bitmap", oracle->unallocated);
  if (oracle->boot_torn) promises_broken(promises, "the boot sector came before its region");
  /* The record exists before the flag is set and after it is cleared, so a volume of ours never stays dirty. */
  if (recovered && oracle->dirty && !judge->foreign_dirty && !damaged && recorded)
    promises_broken(promises, "recovered, and marked dirty");
  const bool unfinished = oracle->dirty || (promises->by_pc.marks_clean != 0 && !recovered);
  if (unfinished && !(recovered && recorded)) return;
  if (oracle->cross_linked > judge->cross_linked) promises_broken(promises, "%u cross-linked", oracle->cross_linked);
  if (oracle->overlong > judge->overlong) promises_broken(promises, "%u chains too long", oracle->overlong);
  if (oracle->strays > 0) promises_broken(promises, "%u stray entries", oracle->strays);
  /* Clusters that were being freed and that a PC has linked to another file cannot be identified any more. */
  if (promises->by_pc.written[0] != '\0') leaked_max = UINT32_MAX;
  if (oracle->leaked > leaked_max) promises_broken(promises, "%u clusters leaked", oracle->leaked);
}

/* A mount changes no byte of a file. */
static void check_before(struct judge *judge) {
  const char *written = judge->promises->by_pc.written;
  const char *changed = before_changed(&judge->before, judge->oracle);
  if (written[0] != '\0' && oracle_find(judge->oracle, written) == NULL)
    promises_broken(judge->promises, "%s, which a PC has written, is lost", written);
  if (changed != NULL) promises_broken(judge->promises, "%s: a mount has changed its bytes", changed);
}

/* False: the volume cannot even be read. */
static bool check_volume(struct judge *judge, uint64_t at, bool recovered) {
  bool whole = oracle_read(judge->oracle, volume_start(judge), volume_bytes(judge));
  if (!whole) promises_broken(judge->promises, "fault: %s", judge->oracle->fault);
  bool kept = judge->keep_folder != NULL && judge->depth == 0 && judge->states % judge->keep_every == 0;
  if (whole && kept)
    keep_state(judge->keep_folder, judge->keep_number, judge->states, recovered, judge->oracle, volume_bytes(judge));
  oracle_free(judge->oracle);
  if (!whole) return false;
  check_structure(judge, recovered);
  promises_check(judge->promises, judge->oracle, at, recovered);
  if (recovered || judge->depth > 0) check_before(judge); /* also in the middle of a recovery */
  return true;
}

static bool read_volume(struct judge *judge) {
  return oracle_read(judge->oracle, volume_start(judge), volume_bytes(judge));
}

/* Between the cut and the mount. Not where two owners, or an owner of free clusters, let a PC's change add damage of
 * its own: false. */
static bool use_pc(struct judge *judge, uint64_t random) {
  struct oracle *oracle = judge->oracle;
  struct pc pc = {judge->medium, judge->first_lba * judge->block_bytes, oracle, false};
  const bool usable = read_volume(judge) && oracle->cross_linked + oracle->unallocated == 0;
  pc.sound = oracle->overlong + oracle->strays == 0;
  if (usable) pc_change(&pc, random, &judge->promises->by_pc);
  oracle_free(oracle);
  judge->changed_by_pc += judge->promises->by_pc.from[0] != '\0' || judge->promises->by_pc.written[0] != '\0' ||
                          judge->promises->by_pc.formats != 0;
  return usable;
}

/* What the files hold when the mount begins. */
static void note_before(struct judge *judge) {
  judge->before.count = 0;
  if (read_volume(judge))
    before_note(&judge->before, judge->oracle);
  else
    promises_broken(judge->promises, "fault before the mount: %s", judge->oracle->fault);
  oracle_free(judge->oracle);
}

/* ---- cuts in the recovery ---- */

struct again {
  struct judge *judge;
  uint64_t at; /* of the first cut, whose promises apply */
};

static bool judge_again(void *context, uint64_t at, uint64_t random) {
  struct again *again = context;
  (void)at;
  return judge_state(again->judge, again->at, random);
}

/* A recovery changes no promise. */
static uint64_t promised_again(void *context, uint64_t at) {
  const struct again *again = context;
  (void)at;
  const struct promise_by_pc *by_pc = &again->judge->promises->by_pc;
  return judge_promised(again->judge, again->at) ^ image_block_hash(0, (const uint8_t *)by_pc, sizeof *by_pc / 8 * 8);
}

static void cut_recovery(struct judge *judge, struct medium_mark mark, uint64_t at, uint64_t random) {
  struct again again = {judge, at};
  struct journal journal = judge->memory->journal;
  struct cuts cuts = {.medium = judge->medium,
                      .journal = &journal,
                      .seed = random,
                      .tear_blocks = judge->tear_blocks,
                      .states_max = judge->again_states,
                      .judge = judge_again,
                      .images = judge->images,
                      .promised = promised_again,
                      .context = &again};
  judge->memory->journal = (struct journal){0};
  journal_finish(&journal);
  medium_undo(judge->medium, mark);
  judge->depth++;
  (void)cuts_run(&cuts);
  judge->depth--;
  judge->recoveries_cut += cuts.states;
  journal_free(&journal);
}

uint64_t judge_promised(void *context, uint64_t at) {
  struct judge *judge = context;
  if (judge->promised_at != at) judge->promised = promises_hash(judge->promises, at);
  judge->promised_at = at;
  return judge->promised;
}

/* A program continues with the volume. */
static void go_on(struct judge *judge, uint64_t at) {
  const char *wrong = judge->after(judge->after_context, &judge->memory->volume, at);
  if (wrong != NULL) promises_broken(judge->promises, "afterwards: %s", wrong);
  if (wrong != NULL) return;
  if (read_volume(judge))
    check_structure(judge, true);
  else
    promises_broken(judge->promises, "afterwards: fault: %s", judge->oracle->fault);
  oracle_free(judge->oracle);
}

/* `change`: 0: no PC has the volume. */
static bool judge_once(struct judge *judge, uint64_t at, uint64_t random, unsigned change) {
  struct promises *promises = judge->promises;
  const struct promise_loss loss = promises->loss;
  if (judge->depth == 0) {
    promises->broken[0] = '\0';
    promises->short_of = promises->foreign = false;
    promises->by_pc = (struct promise_by_pc){0};
  }
  if (change == 0) (void)check_volume(judge, at, false);
  if (change > 0 && !use_pc(judge, random + change)) return true;
  if (judge->pc && judge->depth == 0) note_before(judge);
  const struct medium_mark mark = medium_mark(judge->medium);
  recover(judge, random);
  if (judge->mounted != SPATE_OK) promises_broken(promises, "mount: %s", spate_error_name(judge->mounted));
  bool readable = judge->mounted == SPATE_OK && check_volume(judge, at, true);
  bool whole = promises->broken[0] == '\0';
  if (whole && judge->again_every > 0 && random % judge->again_every == 0 && judge->depth < JUDGE_DEPTH_MAX)
    cut_recovery(judge, mark, at, random);
  else if (whole && judge->after != NULL && judge->depth == 0 && random % AFTER_EVERY == 1)
    go_on(judge, at);
  journal_free(&judge->memory->journal);
  whole = promises->broken[0] == '\0';
  if (judge->depth > 0) promises->loss = loss; /* a cut counts once, however often its recovery is cut */
  if (judge->tally && judge->depth == 0) {
    promises->loss.broken_short += promises->short_of;
    promises->loss.broken_foreign += promises->foreign;
    promises->loss.broken_volume += !readable || judge->oracle->unallocated > 0 || judge->oracle->cross_linked > 0;
    promises->loss.unmountable += judge->mounted != SPATE_OK;
  }
  return whole || judge->tally;
}

bool judge_state(void *context, uint64_t at, uint64_t random) {
  struct judge *judge = context;
  const unsigned changes = judge->pc && judge->depth == 0 ? PC_CHANGES : 0;
  bool good = true;
  if (judge->depth == 0) judge->states++;
  for (unsigned change = 0; good && change <= changes; change++) {
    const struct medium_mark mark = medium_mark(judge->medium);
    good = judge_once(judge, at, random, change);
    if (changes > 0) medium_undo(judge->medium, mark);
  }
  return good;
}

/* ---- a volume that is being formatted ---- */

bool judge_format(struct judge *judge, uint64_t at, uint64_t done, uint32_t fresh_serial) {
  struct promises *promises = judge->promises;
  const struct oracle *oracle = judge->oracle;
  promises->broken[0] = '\0';
  recover(judge, at);
  journal_free(&judge->memory->journal);
  if (judge->mounted == SPATE_E_NOT_EXFAT && at < done) return true;
  if (judge->mounted != SPATE_OK) promises_broken(promises, "mount: %s", spate_error_name(judge->mounted));
  if (!oracle_read(judge->oracle, volume_start(judge), volume_bytes(judge)))
    promises_broken(promises, "fault: %s", oracle->fault);
  oracle_free(judge->oracle);
  if (promises->broken[0] != '\0') return false;
  if (oracle->serial != fresh_serial) {
    if (at >= done) promises_broken(promises, "the new volume does not exist");
    promises_check(promises, oracle, 0, true);
    return promises->broken[0] == '\0';
  }
  if (oracle->serial != judge->serial) promises_broken(promises, "mount took another boot region");
  if (!oracle->backup_whole) promises_broken(promises, "a new volume without a backup boot region");
  if (oracle->leaked + oracle->unallocated + oracle->cross_linked + oracle->overlong + oracle->strays > 0)
    promises_broken(promises, "a new volume that is not clean");
  if (oracle->file_count != 1 || oracle_find(oracle, ".spate") == NULL)
    promises_broken(promises, "a new volume that is not empty");
  return promises->broken[0] == '\0';
}
