/* SPDX-License-Identifier: Apache-2.0 */
#include "witness_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KEPT_BYTES_MAX (UINT64_C(1) << 20) /* of a file from before: of longer ones only the length is promised */
#define AGAIN_EVERY    8u
#define AGAIN_STATES   12u

struct witness witness;

/* Of the program, not of one volume. */
static unsigned volumes;
static uint64_t states, recoveries;
static struct number_set distinct; /* images */
static bool tally;
static struct promise_loss loss;

static uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text != NULL ? strtoull(text, NULL, 0) : otherwise;
}

uint64_t witness_seed(void) { return setting("SPATE_SEED", 1); }
bool witness_on(void) { return setting("SPATE_CUTS", 0) > 0; }

void witness_lost(const char *path, uint64_t bytes) {
  const struct promise *last = promises_last(&witness.promises, path);
  if (!witness.watching || last == NULL) return;
  struct promise less = *last;
  witness_progress();
  less.since = witness.journal.now;
  if (less.bytes_min > bytes) less.bytes_min = bytes;
  promises_add(&witness.promises, path, less);
}

void witness_pc(void) { witness.judge.pc = witness.watching; }

bool witness_is_kept(const char *path) {
  for (size_t i = 0; i < witness.kept_count; i++)
    if (strcmp(witness.kept[i], path) == 0) return true;
  return false;
}

void witness_kept(const char *path) {
  if (!witness.watching || witness_is_kept(path)) return;
  if (witness.kept_count == PATHS_KEPT_MAX) fail_msg("too many paths to keep");
  (void)snprintf(witness.kept[witness.kept_count++], sizeof witness.kept[0], "%s", path);
}

void witness_changes(const char *path) {
  if (witness_on()) promises_changes(&witness.promises, path);
}

void witness_after(const char *(*after)(void *context, struct spate_exfat *volume, uint64_t at), void *context) {
  witness.judge.after = after;
  witness.judge.after_context = context;
}

uint64_t witness_now(void) { return witness_last_event(); }

void witness_tally(void) { tally = true; }

const struct promise_loss *witness_loss(void) { return &loss; }

/* ---- the progress of the clips and the recorder ---- */

uint64_t witness_ticks(void) { return witness.recorder != NULL ? witness.recorder->now_ticks : 0; }

uint64_t witness_last_event(void) {
  if (witness.machine.drives > 0) witness.journal.now = witness.machine.now(witness.machine.context);
  return witness.journal.now;
}

struct promise witness_promise(enum presence presence, uint64_t bytes_min, struct content *content) {
  return (struct promise){.since = witness_last_event(),
                          .presence = presence,
                          .bytes_min = bytes_min,
                          .bytes_max = UINT64_MAX,
                          .content = content,
                          .twin = UINT32_MAX,
                          .folder = UINT32_MAX};
}

const struct spate_stream_clip *witness_clip(const struct spate_exfat_clip *clip) {
  for (uint32_t i = 0; witness.recorder != NULL && i < witness.recorder->stream_count; i++)
    for (unsigned n = 0; n < 2; n++)
      if (&witness.recorder->streams[i]->clips[n].file == clip) return &witness.recorder->streams[i]->clips[n];
  return NULL;
}

static void record_clip(struct tracked *tracked) {
  const struct spate_stream_clip *clip = witness_clip(tracked->clip);
  if (tracked->clip->published_bytes != tracked->published_bytes) {
    tracked->published_bytes = tracked->clip->published_bytes;
    promises_add(&witness.promises, tracked->path,
                 witness_promise(PRESENT, tracked->published_bytes, tracked->content));
  }
  if (clip == NULL) return;
  content_step(tracked->content, (struct content_step){.since = witness.journal.now,
                                                       .ticks = witness_ticks(),
                                                       .pushed_bytes = clip->progress.pushed_bytes,
                                                       .completed_bytes = clip->progress.completed_bytes});
}

static void record_recorder(const struct spate_recorder *recorder) {
  if (witness.ticks_before != 0 && recorder->now_ticks - witness.ticks_before > witness.turn_ticks_max)
    witness.turn_ticks_max = recorder->now_ticks - witness.ticks_before;
  witness.ticks_before = recorder->now_ticks;
  if (recorder->counters.checkpoint_ticks_max > witness.checkpoint_ticks_max)
    witness.checkpoint_ticks_max = recorder->counters.checkpoint_ticks_max;
  if (recorder->period_ticks > witness.period_ticks) witness.period_ticks = recorder->period_ticks;
  witness.unbounded |= recorder->counters.checkpoint_failures > 0;
}

void witness_progress(void) {
  if (!witness.watching) return;
  (void)witness_last_event();
  for (size_t i = 0; i < witness.tracked_count; i++)
    record_clip(&witness.tracked[i]);
  for (unsigned i = 0; i < witness.drive_count; i++) {
    if (witness.losses[i] == witness.drives[i]->block.power_losses) continue;
    witness.losses[i] = witness.drives[i]->block.power_losses;
    journal_power_lost(&witness.journal, i);
  }
  if (witness.recorder != NULL) record_recorder(witness.recorder);
  promises_tick(&witness.promises, witness.journal.now, witness_ticks());
}

struct tracked *witness_tracked(const struct spate_exfat_clip *clip) {
  for (size_t i = 0; i < witness.tracked_count; i++)
    if (witness.tracked[i].clip == clip) return &witness.tracked[i];
  return NULL;
}

void witness_untrack(const struct spate_exfat_clip *clip) {
  struct tracked *tracked = witness_tracked(clip);
  if (tracked != NULL) *tracked = witness.tracked[--witness.tracked_count];
}

/* ---- requests to the drives ---- */

static unsigned drive_of(const struct ram_block *ram) {
  for (unsigned i = 0; i < witness.drive_count; i++)
    if (witness.drives[i] == ram) return i;
  fail_msg("a drive that was not opened");
  return 0;
}

/* The clip whose clusters include this block of a drive or of the array. A write never crosses a clip's end. */
static struct tracked *clip_at(uint64_t lba, uint8_t block_shift) {
  for (size_t i = 0; i < witness.tracked_count; i++) {
    const struct spate_exfat_clip *clip = witness.tracked[i].clip;
    if (lba >= clip->first_lba && lba - clip->first_lba < clip->reserved_bytes >> block_shift)
      return &witness.tracked[i];
  }
  return NULL;
}

static void taken(void *context, struct ram_block *ram, const struct spate_io *io) {
  (void)context;
  if (!witness.watching) return;
  witness_progress();
  struct journal_entry *entry = journal_taken(&witness.journal, drive_of(ram), ram, io);
  if (entry == NULL) return;
  entry->stream = io->region != NULL;
  bool one_drive = witness.drive_count == 1; /* members of an array have other block numbers than the array */
  struct tracked *tracked = one_drive && io->op == SPATE_WRITE ? clip_at(io->lba, ram->block.block_shift) : NULL;
  if (tracked == NULL) return;
  entry->stream = true;
  if (!tracked->pushed)
    content_put(tracked->content, (io->lba - tracked->clip->first_lba) << ram->block.block_shift, entry->data,
                (uint64_t)io->blocks << ram->block.block_shift);
}

static void over(void *context, struct ram_block *ram, const struct spate_io *io) {
  (void)context;
  (void)ram;
  if (!witness.watching) return;
  witness_progress();
  journal_over(&witness.journal, io);
}

static void dropped(void *context, struct ram_block *ram) {
  (void)context;
  if (!witness.watching) return;
  witness_progress();
  journal_dropped(&witness.journal, drive_of(ram));
}

const struct ram_observer witness_observer = {taken, over, dropped, NULL};

/* ---- the start ---- */

static void use_array(const struct spate_stripe *stripe, const uint8_t *order) {
  medium_stripe(&witness.medium, stripe->members[0].data_lba << stripe->block.block_shift,
                UINT32_C(1) << (stripe->chunk_shift + stripe->block.block_shift), order);
  witness.judge.striped = true;
}

static void promise_files(void) {
  const struct oracle *oracle = witness.judge.oracle;
  for (uint32_t i = 0; i < oracle->file_count; i++) {
    const struct oracle_file *file = &oracle->files[i];
    struct content *content = NULL;
    if (strcmp(file->path, ".spate") == 0 || strchr(file->path, '?') != NULL) continue;
    if (!file->directory && file->bytes <= KEPT_BYTES_MAX) content = promises_content(&witness.promises);
    for (uint64_t at = 0; content != NULL && at < file->bytes; at++)
      content_put(content, at, oracle_at(oracle, file, at), 1);
    struct promise promise = witness_promise(PRESENT, file->directory ? 0 : file->bytes, content);
    if (!file->directory) promise.bytes_max = file->bytes;
    promises_add(&witness.promises, file->path, promise);
  }
}

/* The media is loaded: from here on every request is recorded. */
static void watch(const struct spate_exfat_config *config, bool foreign_dirty) {
  uint32_t block_bytes = 1u << config->block->block_shift;
  witness.judge = (struct judge){.medium = &witness.medium,
                                 .promises = &witness.promises,
                                 .block_bytes = block_bytes,
                                 .first_lba = config->first_lba,
                                 .blocks = config->blocks,
                                 .salvage = config->salvage,
                                 .volatile_cache = config->block->volatile_cache,
                                 .foreign_dirty = foreign_dirty,
                                 .striped = witness.medium.view != witness.medium.memory,
                                 .again_every = AGAIN_EVERY,
                                 .again_states = AGAIN_STATES};
  judge_open(&witness.judge);
  if (!oracle_read(witness.judge.oracle, witness.medium.view + config->first_lba * block_bytes,
                   config->blocks * block_bytes))
    fail_msg("the volume has a fault before any cut: %s", witness.judge.oracle->fault);
  promise_files();
  witness.judge.cross_linked = witness.judge.oracle->cross_linked;
  witness.judge.overlong = witness.judge.oracle->overlong;
  witness.judge.leaked = witness.judge.oracle->leaked;
  oracle_free(witness.judge.oracle);
  witness.watching = true;
}

void witness_begin(const struct spate_exfat_config *config, bool foreign_dirty) {
  const struct ram_block *first = witness.drives[0];
  uint32_t block_bytes = 1u << first->block.block_shift;
  uint32_t unit_bytes = setting("SPATE_ATOMIC_BYTES", 0) == 512 ? 512 : block_bytes;
  uint64_t drive_units = first->block.blocks * (block_bytes / unit_bytes);
  medium_open(&witness.medium, witness.drive_count, drive_units, unit_bytes);
  journal_init(&witness.journal, unit_bytes, drive_units);
  for (unsigned i = 0; i < witness.drive_count; i++) {
    if (witness.drives[i]->bytes != first->bytes) fail_msg("drives of different sizes are not cut");
    medium_load(&witness.medium, i, witness.drives[i]->memory);
    witness.losses[i] = witness.drives[i]->block.power_losses;
  }
  if (config->block != &first->block) {
    const struct spate_stripe *stripe = (const struct spate_stripe *)config->block;
    uint8_t order[JOURNAL_DRIVES_MAX] = {0};
    for (unsigned i = 0; i < stripe->member_count; i++)
      order[i] = (uint8_t)drive_of((const struct ram_block *)stripe->members[i].block);
    use_array(stripe, order);
  }
  watch(config, foreign_dirty);
}

/* Journal entries from before this are part of the media's contents. */
static void load_machine(void) {
  struct journal before;
  struct medium *medium = &witness.medium;
  journal_init(&before, medium->block_bytes, medium->drive_blocks);
  witness.machine.add(witness.machine.context, &before);
  journal_finish(&before);
  for (size_t i = 0; i < before.count; i++) {
    const struct journal_entry *entry = &before.entries[i];
    const uint8_t *data = entry->op == SPATE_WRITE ? entry->data : NULL;
    for (uint32_t block = 0; block < entry->blocks && entry->op != SPATE_FLUSH; block++)
      medium_write(medium, entry->block + block, data != NULL ? data + (size_t)block * medium->block_bytes : NULL, 0);
  }
  journal_free(&before);
}

void witness_machine(const struct witness_machine *machine) {
  uint32_t block_bytes = 1u << machine->config->block->block_shift;
  if (!witness_on()) return;
  witness.machine = *machine;
  medium_open(&witness.medium, machine->drives, machine->drive_blocks, block_bytes);
  journal_init(&witness.journal, block_bytes, machine->drive_blocks);
  if (machine->stripe != NULL) use_array(machine->stripe, machine->order);
  load_machine();
  witness.machine_since = machine->now(machine->context);
  watch(machine->config, false);
}

void witness_look(void) { witness_progress(); }

void witness_format(const struct spate_exfat_config *config, uint32_t fresh_serial) {
  if (!witness_on()) return;
  witness.formatting = true;
  witness.fresh_serial = fresh_serial;
  witness_begin(config, false);
}

/* ---- the end ---- */

static void forget(void) {
  promises_free(&witness.promises);
  journal_free(&witness.journal);
  medium_close(&witness.medium);
  number_set_free(&witness.images.judged);
  number_set_free(&witness.images.distinct);
  judge_close(&witness.judge);
}

void witness_again(void) {
  if (!witness.watching) return;
  forget();
  struct witness next = {.drive_count = witness.drive_count};
  memcpy(next.drives, witness.drives, sizeof next.drives);
  witness = next;
}

static bool judge(void *context, uint64_t at, uint64_t random) {
  struct witness *now = context;
  if (now->formatting) return judge_format(&now->judge, at, now->formatted, now->fresh_serial);
  return judge_state(&now->judge, at, random);
}

static uint64_t promised(void *context, uint64_t at) {
  struct witness *now = context;
  return now->formatting ? at >= now->formatted : judge_promised(&now->judge, at);
}

/* All states (0), one state, or none of this volume (UINT64_MAX). */
static uint64_t wanted_state(void) {
  const char *text = getenv("SPATE_STATE");
  char *end = NULL;
  if (text == NULL) return 0;
  bool this_volume = strtoull(text, &end, 0) == volumes;
  return this_volume && *end == ':' ? strtoull(end + 1, NULL, 0) : UINT64_MAX;
}

static void set_window(void) {
  /* A clip that is closed before its checkpoint is done sends a flush and a FUA write of its own. */
  uint64_t window = witness.period_ticks + witness.checkpoint_ticks_max + witness.close_ticks_max;
  window += 2 * witness.turn_ticks_max;
  witness.promises.window_ticks = witness.unbounded || witness.period_ticks == 0 ? UINT64_MAX : window;
}

static void write_images(void) {
  const struct number_set *images = &witness.images.distinct;
  const char *path = getenv("SPATE_IMAGES");
  FILE *file = path != NULL ? fopen(path, "ab") : NULL;
  if (path == NULL) return;
  if (file == NULL) fail_msg("%s cannot be written", path);
  for (size_t i = 0; i < images->capacity; i++)
    if (images->slots[i] != 0 && fwrite(&images->slots[i], sizeof images->slots[i], 1, file) != 1)
      fail_msg("%s cannot be written", path);
  if (fclose(file) != 0) fail_msg("%s cannot be written", path);
}

static void say_counts(uint64_t volume_states) {
  const struct number_set *images = &witness.images.distinct;
  const uint64_t volume_recoveries = witness.judge.recoveries_cut;
  const unsigned long long all_of_volume = volume_states + volume_recoveries;
  const unsigned long long all_of_program = states + recoveries;
  if (witness.judge.pc)
    (void)printf("cuts: volume %u: %llu changed by a PC\n", volumes, (unsigned long long)witness.judge.changed_by_pc);
  for (size_t i = 0; i < images->capacity; i++)
    if (images->slots[i] != 0) (void)number_set_add(&distinct, images->slots[i]);
  (void)printf(
      "cuts: volume %u: %llu states, of them %llu in recoveries, %zu images (program: %llu states, %zu images)\n",
      volumes, all_of_volume, (unsigned long long)volume_recoveries, images->count, all_of_program, distinct.count);
}

void witness_end(void) {
  static char broken[sizeof witness.promises.broken];
  bool coarse = volumes % 2 == 1 && getenv("SPATE_ATOMIC_BYTES") == NULL;
  uint32_t atomic_blocks = coarse ? 8192 / witness.medium.block_bytes : 1;
  struct cuts cuts = {.medium = &witness.medium,
                      .journal = &witness.journal,
                      .seed = witness_seed() * 1000 + volumes,
                      .tear_blocks = atomic_blocks,
                      .states_max = setting("SPATE_CUTS", 0),
                      .only = wanted_state(),
                      .replaced = true,
                      .judge = judge,
                      .images = tally ? NULL : &witness.images, /* figures count every instant */
                      .promised = promised,
                      .context = &witness};
  witness_progress();
  witness.watching = false;
  witness.judging = true;
  for (unsigned i = 0; i < witness.drive_count; i++)
    witness.drives[i]->observer = NULL;
  set_window();
  journal_finish(&witness.journal);
  witness.judge.tear_blocks = cuts.tear_blocks;
  witness.judge.tally = tally;
  witness.judge.images = cuts.images;
  witness.judge.keep_folder = getenv("SPATE_KEEP");
  witness.judge.keep_number = volumes;
  witness.judge.keep_every = setting("SPATE_KEEP_EVERY", 100);
  bool good = cuts_run(&cuts);
  states += cuts.states;
  recoveries += witness.judge.recoveries_cut;
  loss = witness.promises.loss;
  memcpy(broken, witness.promises.broken, sizeof broken);
  say_counts(cuts.states);
  write_images();
  forget();
  witness = (struct witness){0};
  unsigned volume = volumes++;
  if (!good)
    fail_msg("%s\nagain: SPATE_CUTS=%llu SPATE_SEED=%llu SPATE_STATE=%u:%llu", broken,
             (unsigned long long)cuts.states_max, (unsigned long long)witness_seed(), volume,
             (unsigned long long)cuts.number);
}

void witness_machine_end(void) {
  struct journal all;
  if (!witness.watching) return;
  witness_progress();
  journal_init(&all, witness.medium.block_bytes, witness.medium.drive_blocks);
  witness.machine.add(witness.machine.context, &all);
  for (size_t i = 0; i < all.count; i++) {
    if (all.entries[i].submitted < witness.machine_since) continue;
    journal_add(&witness.journal, all.entries[i]);
    all.entries[i].data = NULL; /* moved to the other journal */
  }
  journal_free(&all);
  witness_end();
}
