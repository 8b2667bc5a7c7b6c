/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings through the NVMe driver onto virtual drives: one drive, and arrays of two and three. The drives' journals
 * show what reached the media, and when the host saw it complete. The power is cut when SPATE_CUTS is set. */
#include "machine/internal.h" /* of the simulator: event numbers */
#include "machine/stack.h"
#include "witness.h"

#include <spate/port.h>
#include <spate/recorder.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PIECE_BYTES   16384u
#define PIECES        32u
#define STREAMS       2u
#define CHECKPOINT_MS 10u
#define PIECE_EVERY   (200 * SIM_PS_PER_US) /* 82 MB/s each */
#define RUN           (60 * SIM_PS_PER_MS)

#define OK(call) assert_int_equal(call, SPATE_OK)

struct source {
  struct spate_stream stream;
  struct spate_piece pieces[PIECES];
  struct spate_region *ring;
  uint32_t slot;
  uint64_t next_ps, random;
};

struct run {
  struct sim_stack *stack;
  struct spate_exfat volume;
  struct spate_exfat_config config;
  struct spate_recorder recorder;
  struct source sources[STREAMS];
};

/* ---- the witness's callbacks ---- */

static uint64_t now(void *context) {
  const struct run *run = context;
  return sim_next_sequence(run->stack->sim);
}

static void add_drive(const struct run *run, unsigned drive, struct journal *journal) {
  static const uint8_t ops[] = {[SIM_JOURNAL_WRITE] = SPATE_WRITE,
                                [SIM_JOURNAL_FLUSH] = SPATE_FLUSH,
                                [SIM_JOURNAL_TRIM] = SPATE_TRIM,
                                [SIM_JOURNAL_ZERO] = SPATE_ZERO};
  size_t count = 0;
  const struct sim_journal_entry *entries = sim_drive_journal(run->stack->drives[drive].drive, &count);
  for (size_t i = 0; i < count; i++) {
    struct journal_entry entry = {.op = ops[entries[i].op],
                                  .drive = (uint8_t)drive,
                                  .fua = entries[i].fua,
                                  .stream = entries[i].op == SIM_JOURNAL_WRITE && !entries[i].fua,
                                  .blocks = entries[i].blocks,
                                  .block = drive * journal->drive_blocks + entries[i].lba,
                                  .submitted = entries[i].submitted,
                                  .completed = entries[i].completed};
    size_t bytes = (size_t)entry.blocks * journal->block_bytes;
    if (entries[i].data != NULL) {
      entry.data = malloc(bytes);
      if (entry.data == NULL) abort();
      memcpy(entry.data, entries[i].data, bytes);
    }
    journal_add(journal, entry);
  }
}

static void add(void *context, struct journal *journal) {
  const struct run *run = context;
  for (unsigned i = 0; i < run->stack->config.drives; i++)
    add_drive(run, i, journal);
}

static void begin_watch(struct run *run) {
  const struct sim_stack *stack = run->stack;
  struct witness_machine machine = {.drives = stack->config.drives,
                                    .drive_blocks = sim_drive_blocks(stack->drives[0].drive),
                                    .config = &run->config,
                                    .now = now,
                                    .add = add,
                                    .context = run};
  if (stack->config.drives > 1) machine.stripe = &stack->stripe;
  for (unsigned i = 0; i < stack->config.drives && machine.stripe != NULL; i++)
    for (unsigned drive = 0; drive < stack->config.drives; drive++)
      if (stack->stripe.members[i].block == &stack->drives[drive].queue.block) machine.order[i] = (uint8_t)drive;
  OK(spate_block_flush(stack->block));
  witness_machine(&machine);
}

/* ---- the recording ---- */

static struct run *start(unsigned drives, uint8_t block_shift, const char *profile) {
  const struct sim_stack_config config = {
      .machine = {.seed = witness_seed(), .coherent = true},
      .profile = profile,
      .drives = drives,
      .chunk_bytes = 65536,
      .options = {.block_shift = block_shift, .bytes = UINT64_C(16) << 20, .journal = true, .shuffle = true}};
  struct run *run = calloc(1, sizeof *run);
  assert_non_null(run);
  run->stack = sim_stack_new(&config);
  OK(sim_stack_open(run->stack));
  run->config = sim_stack_exfat(run->stack);
  const struct spate_exfat_format format = {.label = "TEST", .serial = 1, .cluster_bytes = 1u << 20};
  OK(spate_exfat_format(&run->config, &format));
  OK(spate_exfat_mount(&run->volume, &run->config, NULL));
  begin_watch(run);
  const struct spate_recorder_config recorder = {.checkpoint_ms = CHECKPOINT_MS};
  OK(spate_recorder_open(&run->recorder, &run->volume, &recorder));
  for (unsigned i = 0; i < STREAMS; i++) {
    struct source *source = &run->sources[i];
    source->random = i + 1;
    source->ring = sim_stack_region(run->stack, PIECES * PIECE_BYTES, SIM_LOGIC);
    const struct spate_stream_config stream = {.region = source->ring, .pieces = source->pieces, .piece_count = PIECES};
    OK(spate_stream_open(&run->recorder, &source->stream, &stream));
  }
  return run;
}

static void push(struct run *run, struct source *source) {
  uint64_t offset = (uint64_t)(source->slot % PIECES) * PIECE_BYTES;
  if (sim_now_ps(run->stack->sim) < source->next_ps) return;
  source->next_ps = sim_now_ps(run->stack->sim) + PIECE_EVERY;
  if (spate_stream_room(&source->stream) == 0) {
    spate_stream_overrun(&source->stream, PIECE_BYTES);
    return;
  }
  for (uint32_t i = 0; i < PIECE_BYTES; i += 8) {
    uint64_t word = ram_random(&source->random);
    memcpy(source->ring->start + offset + i, &word, sizeof word);
  }
  OK(spate_stream_push(&source->stream, offset, PIECE_BYTES));
  source->slot++;
}

static void turn(struct run *run) {
  OK(spate_recorder_work(&run->recorder));
  witness_look();
}

static void stream_for(struct run *run, uint64_t ps) {
  uint64_t until_ps = sim_now_ps(run->stack->sim) + ps;
  while (sim_now_ps(run->stack->sim) < until_ps) {
    for (unsigned i = 0; i < STREAMS; i++)
      if (run->sources[i].stream.current != NULL) push(run, &run->sources[i]);
    turn(run);
    sim_spend(run->stack->sim, 20 * SIM_PS_PER_US);
  }
}

static void end(struct run *run) {
  const char *first = NULL;
  OK(spate_recorder_finish(&run->recorder));
  witness_look();
  OK(spate_recorder_close(&run->recorder));
  OK(spate_exfat_unmount(&run->volume));
  witness_machine_end();
  if (sim_take_violations(run->stack->sim, &first) != 0) fail_msg("%s", first);
  OK(sim_stack_close(run->stack));
  sim_stack_free(run->stack);
  free(run);
}

static void record(unsigned drives, uint8_t block_shift, const char *profile) {
  struct run *run = start(drives, block_shift, profile);
  OK(spate_stream_arm(&run->sources[0].stream, "A.RAW", UINT64_C(5) << 20));
  stream_for(run, RUN / 4);
  OK(spate_stream_arm(&run->sources[1].stream, "B.RAW", UINT64_C(5) << 20));
  stream_for(run, RUN / 2);
  OK(spate_stream_cut(&run->sources[0].stream));
  stream_for(run, RUN / 8);
  OK(spate_exfat_delete(&run->volume, "A.RAW"));
  stream_for(run, RUN / 8);
  assert_true(run->sources[1].stream.counters.checkpoints >= 2);
  assert_int_equal(run->sources[1].stream.counters.overrun_bytes, 0);
  end(run);
}

static void test_one_drive(void **state) {
  (void)state;
  record(1, 9, "ideal");
  record(1, 12, "980pro");
}

static void test_two_drives(void **state) {
  (void)state;
  record(2, 9, "980pro");
  record(2, 12, "970evoplus");
}

static void test_three_drives(void **state) {
  (void)state;
  record(3, 9, "990pro");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_drive),
      cmocka_unit_test(test_two_drives),
      cmocka_unit_test(test_three_drives),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
