/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/*
 * Several misbehaviours in one clip, from a seed: the next may happen while the driver recovers from the last. On one
 * drive and on two, with and without retained pieces, on drives that forget unflushed data. A host that restarts must
 * find what the recorder reported, to the byte. SPATE_STORM_SEED=N runs one seed.
 */
#include "hostile_clip.h"

#define SEEDS      150u
#define FAULTS_MAX 5u
#define PIECES     120u

static uint64_t state;
static unsigned silent_storms, capped_storms, unclosed_storms;

static uint32_t below(uint32_t limit) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(state >> 33) % limit;
}

static void plant(struct sim_stack *stack) {
  for (unsigned left = 1 + below(FAULTS_MAX); left > 0; left--) {
    const struct misbehaviour *what = &misbehaviours[below(MISBEHAVIOURS)];
    const bool admin = below(4) == 0;
    struct sim_fault fault = fault_of(what, admin, -1, below(admin ? 20 : 160));
    if (what->action == SIM_GARBAGE) continue; /* silent corruption: nobody can notice it */
    if (fault.count == ALWAYS) fault.count = 1 + below(12);
    sim_drive_fault(stack->drives[below(stack->config.drives)].drive, fault);
  }
}

/* The result reports no error. */
static bool is_silent(enum spate_error error) {
  const struct recording *r = &recording;
  return error == SPATE_OK && r->stream.error == SPATE_OK && r->errors == 0 && r->ended == SPATE_OK;
}

/* A stack from the seed, and a clip recorded through the planted faults. Returns the first error. */
static enum spate_error record(const char *name, uint64_t seed) {
  struct sim_stack_config config = hostile_config(seed);
  config.machine.coherent = seed % 4 != 0; /* mostly coherent, because that is faster */
  config.command_timeout_ms = 1000;
  config.options.journal = true;
  config.options.shuffle = below(2) != 0;
  config.drives = 1 + below(2);
  config.chunk_bytes = 65536;
  recording_begin(name, &config, 64, 1000, below(2) != 0);
  if (below(4) == 0) plant(recording.stack); /* from arming on */
  const enum spate_error armed = recording_arm();
  plant(recording.stack);
  if (armed != SPATE_OK) return armed;
  const enum spate_error streamed = recording_stream(PIECES);
  const enum spate_error finished = recording_finish();
  return streamed != SPATE_OK ? streamed : finished;
}

static void expect_consistent_report(bool silent, uint64_t durable, uint64_t bytes) {
  const struct recording *r = &recording;
  const bool closed = r->closed != 0;
  if (closed && bytes != r->closed_bytes) fail_msg("%s: closed with another length", r->name);
  if (closed && r->closed_bytes + r->lost_bytes != r->pushed_bytes) fail_msg("%s: bytes went unreported", r->name);
  if (closed && bytes < durable) fail_msg("%s: durable bytes are gone", r->name);
  if (bytes > r->pushed_bytes) fail_msg("%s: more in the file than was pushed", r->name);
  if (silent && bytes != r->pushed_bytes) fail_msg("%s: the file is short, and no error was reported", r->name);
}

static void one_storm(uint64_t seed) {
  static char name[64];
  const struct recording *r = &recording;
  state = seed * UINT64_C(0x9e3779b97f4a7c15);
  (void)snprintf(name, sizeof name, "seed %u", (unsigned)seed);
  const bool silent = is_silent(record(name, seed));
  silent_storms += silent;
  capped_storms += r->closed != 0 && r->lost_bytes != 0;
  unclosed_storms += r->closed == 0;
  const uint64_t durable = r->stream.counters.durable_bytes;
  expect_consistent_report(silent, durable, recording_read_back());
  recording_end();
}

static void test_storms(void **unused) {
  (void)unused;
  const char *wanted = getenv("SPATE_STORM_SEED");
  const char *most = getenv("SPATE_STORM_SEEDS");
  const uint64_t seeds = most != NULL ? strtoull(most, NULL, 0) : SEEDS;
  if (wanted != NULL) {
    one_storm(strtoull(wanted, NULL, 0));
    return;
  }
  for (uint64_t seed = 1; seed <= seeds; seed++)
    one_storm(seed);
  print_message("%u storms: %u lost nothing, %u clips were capped, %u could not be closed\n", hostile_cases,
                silent_storms, capped_storms, unclosed_storms);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_storms)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
