/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/* Random recordings by two streams, on a drive that loses power and has bad blocks: each byte that was pushed is in a
 * closed clip, or counted as lost. SEEDS=1000 in the environment makes more of them. */
#include "recorder/internal.h"
#include "recorder_fixture.h"

#define STEPS      600u
#define PAIR       2u
#define TURNS_MAX  20000u
#define SEEDS      40u
#define FIRST_SEED 260u

/* One recording. */
struct run {
  struct fixture *fixture;
  uint64_t seed;
  uint64_t random;
  uint64_t closed_bytes[PAIR];
  uint32_t cut_chance; /* the drive loses power in one of so many turns of waiting; 0: never */
  uint32_t names;
};

static struct run run;
static unsigned power_losses, bad_runs, clips;

static uint32_t below(uint32_t count) { return (uint32_t)(ram_random(&run.random) % count); }

static void cut(void) {
  cut_the_drives_power(run.fixture);
  power_losses++;
}

/* Whatever a call of the recorder answers: the accounts are checked, not the answers. */
static void any_answer(enum spate_error error) { (void)error; }

static void note_closed(void *context, struct spate_stream *stream, enum spate_event event, uint64_t value) {
  (void)context;
  if (event == SPATE_EVENT_LOST) assert_true(value <= 1000 * MIB); /* it does not wrap */
  if (event != SPATE_EVENT_CLIP_CLOSED) return;
  run.closed_bytes[stream == &run.fixture->sources[0].stream ? 0 : 1] += value;
  clips++;
}

static void cut_and_push_while_waiting(void *context) {
  (void)context;
  if (run.cut_chance > 0 && below(run.cut_chance) == 0) cut();
  if (below(4) > 0) return;
  for (unsigned i = 0; i < PAIR; i++)
    any_answer(push(&run.fixture->sources[i], PIECE));
}

static void add_bad_blocks(void) {
  const uint64_t lba = (12 + below(60)) * MIB / 512 + below(2048);

  ram_block_fault(&run.fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                        .first_lba = lba,
                                                        .last_lba = lba + below(4000),
                                                        .times = below(3) == 0 ? RAM_ALWAYS : 1 + below(3),
                                                        .error = SPATE_E_MEDIA});
  bad_runs++;
}

static void begin(uint64_t seed) {
  run = (struct run){.fixture = open_fixture(512, VOLUME_MIB), .seed = seed, .random = seed * 7919 + 1};
  struct ram_block *ram = &run.fixture->ram;
  struct spate_recorder *recorder = &run.fixture->recorder;

  recorder->config.event = note_closed;
  recorder->config.while_waiting = cut_and_push_while_waiting;
  recorder->config.checkpoint_ms = 1;
  recorder->period_ticks = 1000000;
  ram->keep_log = true;
  ram->order = RAM_RANDOM;
  ram->random = seed;
  ram->delay_polls = below(6);
  ram->block.volatile_cache = below(8) != 0;
  for (unsigned i = 0; i < PAIR; i++)
    open_source(run.fixture, &run.fixture->sources[i], seed + i, below(2) == 0, below(2) == 0 ? 2 * MIB : 0);
  run.cut_chance = below(3) == 0 ? 0 : 40 + below(400);
  if (below(2) == 0) add_bad_blocks();
}

static void arm_any(struct source *source) {
  char path[32];

  (void)snprintf(path, sizeof path, "F%u.RAW", run.names++);
  any_answer(spate_stream_arm(&source->stream, path, (1 + below(3)) * MIB));
}

static void do_anything(void) {
  struct source *source = &run.fixture->sources[below(PAIR)];
  const uint32_t what = below(12);

  if (what < 2)
    arm_any(source);
  else if (what == 2 && below(4) == 0)
    any_answer(spate_stream_cut(&source->stream));
  else if (what == 3 && run.cut_chance > 0 && below(30) == 0)
    cut();
  else if (what == 4)
    clock_ns += below(3000000);
  else if (what > 4)
    any_answer(push(source, PIECE));
}

static void check_counters(const struct spate_stream *stream, const char *when) {
  const struct spate_stream_counters *counters = &stream->counters;
  const uint64_t counted_bytes = counters->completed_bytes + counters->lost_bytes;

  if (counters->lost_bytes > counters->pushed_bytes || counted_bytes > counters->pushed_bytes)
    fail_msg("seed %u, %s: %llu bytes lost and %llu completed of %llu", (unsigned)run.seed, when,
             (unsigned long long)counters->lost_bytes, (unsigned long long)counters->completed_bytes,
             (unsigned long long)counters->pushed_bytes);
  for (unsigned i = 0; i < 2; i++)
    if (stream->clips[i].state == CLIP_STUCK)
      fail_msg("seed %u, %s: stuck: %s", (unsigned)run.seed, when, spate_error_name(stream->clips[i].error));
}

static void record(void) {
  for (unsigned step = 0; step < STEPS; step++) {
    do_anything();
    const enum spate_error error = spate_recorder_work(&run.fixture->recorder);
    if (error != SPATE_OK && error != SPATE_E_MEDIA)
      fail_msg("seed %u, step %u: %s", (unsigned)run.seed, step, spate_error_name(error));
    for (unsigned i = 0; i < PAIR; i++)
      check_counters(&run.fixture->sources[i].stream, "recording");
  }
}

static bool is_active(void) {
  return spate_stream_active(&run.fixture->sources[0].stream) || spate_stream_active(&run.fixture->sources[1].stream) ||
         run.fixture->recorder.checkpoint != CHECKPOINT_IDLE;
}

static void finish(void) {
  run.cut_chance = 0;
  for (unsigned i = 0; i < PAIR; i++)
    any_answer(spate_stream_stop(&run.fixture->sources[i].stream));
  for (unsigned turn = 0; is_active(); turn++) {
    if (turn == TURNS_MAX) fail_msg("seed %u: the streams do not end", (unsigned)run.seed);
    any_answer(spate_recorder_work(&run.fixture->recorder));
  }
}

static void check_accounts(unsigned which) {
  const struct spate_stream *stream = &run.fixture->sources[which].stream;
  const struct spate_stream_counters *counters = &stream->counters;

  check_counters(stream, "at the end");
  if (run.closed_bytes[which] != counters->completed_bytes ||
      counters->completed_bytes + counters->lost_bytes != counters->pushed_bytes)
    fail_msg("seed %u, stream %u: %llu bytes in clips; %llu completed and %llu lost of %llu", (unsigned)run.seed, which,
             (unsigned long long)run.closed_bytes[which], (unsigned long long)counters->completed_bytes,
             (unsigned long long)counters->lost_bytes, (unsigned long long)counters->pushed_bytes);
  if (stream->config.retain && run.fixture->ram.fault_count == 0 && counters->lost_bytes > 0)
    fail_msg("seed %u: a stream that retains its pieces lost %llu bytes without a bad block", (unsigned)run.seed,
             (unsigned long long)counters->lost_bytes);
  if (run.fixture->ram.block.volatile_cache && counters->durable_bytes != counters->completed_bytes)
    fail_msg("seed %u: %llu bytes durable of %llu", (unsigned)run.seed, (unsigned long long)counters->durable_bytes,
             (unsigned long long)counters->completed_bytes);
}

/* The volume can be mounted again, whatever happened. */
static void end(void) {
  struct fixture *fixture = run.fixture;

  OK(spate_recorder_close(&fixture->recorder));
  const enum spate_error failed = fixture->volume.failed;
  GIVES(failed, spate_exfat_unmount(&fixture->volume));
  host_starts_again(&fixture->ram.block);
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  OK(spate_exfat_unmount(&fixture->volume));
  free_fixture(fixture);
}

static void what_is_pushed_is_in_a_clip_or_lost(void **state) {
  (void)state;
  const char *wanted = getenv("SEEDS");
  const uint64_t seeds = wanted != NULL ? strtoull(wanted, NULL, 10) : SEEDS;

  for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++) {
    begin(seed);
    record();
    finish();
    for (unsigned i = 0; i < PAIR; i++)
      check_accounts(i);
    end();
  }
  print_message("%u power losses, %u recordings with bad blocks, %u clips\n", power_losses, bad_runs, clips);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_pushed_is_in_a_clip_or_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
