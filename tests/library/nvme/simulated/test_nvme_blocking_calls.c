/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call that waits for the drive, with a fault between any two of its steps. The steps are what the call was seen
 * to write to the drive's registers when nothing failed: at each of these times, and half-way to the next, the drive
 * fails, is reset, loses power, drops its link or falls silent.
 *
 * What must hold afterwards is asked of the drive: a cache that is on is never taken for one that is off, a shutdown
 * that succeeded was one, and what had completed before it is on the media. The machine reports what the specification
 * forbids, for example an enable without admin queues.
 */
#include "nvme_fixture.h"
#include <stdio.h>

#define CACHE_FEATURE   6
#define GET_FEATURES    0x0a
#define FORMATTED_BYTES 4096u
#define WRITES          6u
#define BLOCKS          8u
#define STEPS_MAX       512u
#define BOUND_S         200u /* a recovery waits for a link 10 s at most, and a call for SPATE_NVME_RECOVERIES_MAX of them */

/* ---- the calls ---- */

static enum spate_error cache_off(struct fixture *f) { return spate_nvme_write_cache_set(&f->nvme, false); }
static enum spate_error cache_on(struct fixture *f) { return spate_nvme_write_cache_set(&f->nvme, true); }
static enum spate_error shut_down(struct fixture *f) { return spate_nvme_shutdown(&f->nvme); }
static enum spate_error health(struct fixture *f) { return spate_nvme_health_read(&f->nvme); }
static enum spate_error power_state(struct fixture *f) { return spate_nvme_power_state_set(&f->nvme, 1); }
static enum spate_error flush(struct fixture *f) { return spate_block_flush(&f->queue.block); }
static enum spate_error open_second(struct fixture *f) { return fixture_queue_open(f, &f->second, 0, 4); }
static enum spate_error close_first(struct fixture *f) { return spate_nvme_queue_close(&f->nvme, &f->queue); }

static enum spate_error cache_get(struct fixture *f) {
  bool on;

  return spate_nvme_write_cache_get(&f->nvme, &on);
}

static enum spate_error cache_off_and_on(struct fixture *f) {
  const enum spate_error error = cache_off(f);

  return error == SPATE_OK ? cache_on(f) : error;
}

static enum spate_error power_state_get(struct fixture *f) {
  uint8_t power;

  return spate_nvme_power_state_get(&f->nvme, &power);
}

static enum spate_error namespaces(struct fixture *f) {
  uint32_t nsids[4];
  unsigned count;

  return spate_nvme_namespaces(&f->nvme, nsids, 4, &count);
}

static enum spate_error namespace_of(struct fixture *f) {
  struct spate_nvme_namespace found;

  return spate_nvme_namespace(&f->nvme, 1, &found);
}

static enum spate_error format(struct fixture *f) {
  return spate_nvme_format(&f->nvme, 1, FORMATTED_BYTES, SPATE_NVME_ERASE_NONE, 5000);
}

static enum spate_error sanitize(struct fixture *f) { return spate_nvme_sanitize(&f->nvme, SPATE_NVME_SANITIZE_BLOCK); }

static enum spate_error sanitize_status(struct fixture *f) {
  struct spate_nvme_sanitize_status status;

  return spate_nvme_sanitize_status(&f->nvme, &status);
}

static void note_end(struct spate_nvme_admin_request *request) { (*(unsigned *)request->context)++; }

/* It ends once. */
static enum spate_error request(struct fixture *f) {
  unsigned ends = 0;
  struct spate_nvme_admin_request get = {
      .opcode = GET_FEATURES, .dwords_10_15 = {CACHE_FEATURE}, .timeout_ms = 1000, .done = note_end, .context = &ends};
  const enum spate_error error = spate_nvme_admin_submit(&f->nvme, &get);

  if (error != SPATE_OK) return error;
  fixture_poll_ms(f, 15000);
  assert_int_equal(ends, 1);
  return get.error;
}

static enum spate_error open_both(struct fixture *f) {
  const enum spate_error error = spate_nvme_open(&f->nvme, &f->config);

  return error == SPATE_OK ? fixture_queue_open(f, &f->queue, 0, 4) : error;
}

enum start { RUNNING, NO_QUEUE, NOT_OPEN };

static const struct call {
  const char *name;
  enum spate_error (*call)(struct fixture *f);
  enum start start;
} calls[] = {
    {"cache off", cache_off, RUNNING},
    {"cache on", cache_on, RUNNING},
    {"cache off and on", cache_off_and_on, RUNNING},
    {"cache get", cache_get, RUNNING},
    {"shutdown", shut_down, RUNNING},
    {"health", health, RUNNING},
    {"power", power_state, RUNNING},
    {"power get", power_state_get, RUNNING},
    {"flush", flush, RUNNING},
    {"queue open", open_second, RUNNING},
    {"queue close", close_first, RUNNING},
    {"namespaces", namespaces, RUNNING},
    {"namespace", namespace_of, RUNNING},
    {"request", request, RUNNING},
    {"format", format, NO_QUEUE},
    {"sanitize", sanitize, NO_QUEUE},
    {"sanitize status", sanitize_status, NO_QUEUE},
    {"open", open_both, NOT_OPEN},
};
#define CALLS (sizeof calls / sizeof calls[0])

/* ---- the faults ---- */

static void fatal(struct fixture *f) { sim_drive_fail(f->drive); }
static void reset(struct fixture *f) { sim_drive_reset(f->drive); }
static void power_cut(struct fixture *f) { sim_drive_power_cut(f->drive); }
static void link_drop(struct fixture *f) { sim_drive_link_drop(f->drive, 20); }
static void off_the_bus(struct fixture *f) { sim_drive_link_drop(f->drive, UINT32_MAX); }

static void speak(void *context, uint64_t number) {
  sim_drive_silence(((struct fixture *)context)->drive, false);
  (void)number;
}

static void silence(struct fixture *f) {
  sim_drive_silence(f->drive, true);
  sim_at(f->sim, sim_now_ps(f->sim) + 300 * SIM_PS_PER_MS, speak, f, 0);
}

static const struct what {
  const char *name;
  void (*act)(struct fixture *f);
  bool ends; /* the drive never comes back */
} faults[] = {{"fatal", fatal, false},         {"reset", reset, false},     {"power cut", power_cut, false},
              {"link drop", link_drop, false}, {"silence", silence, false}, {"off the bus", off_the_bus, true}};
#define FAULTS (sizeof faults / sizeof faults[0])

/* ---- one run ---- */

struct steps {
  uint64_t at_ps[STEPS_MAX]; /* since the call began */
  unsigned count;
};

struct run {
  struct fixture *f;
  struct steps *seen; /* NULL: not recorded */
  const struct what *what;
  uint64_t start_ps;
};

/* For sim_trace(): a write to the drive. */
static void note_step(void *context, const struct sim_access *access) {
  struct run *run = context;

  if (access->kind != SIM_ACCESS_WRITE || access->address - SIM_WINDOW >= SIM_WINDOW_BYTES) return;
  assert_true(run->seen->count < STEPS_MAX);
  run->seen->at_ps[run->seen->count++] = access->at_ps - run->start_ps;
}

static void act(void *context, uint64_t number) {
  struct run *run = context;

  run->what->act(run->f);
  (void)number;
}

static void enumerate(struct fixture *f) {
  fixture_enumerate(f);
  f->config.bus = spate_nvme_pcie_bus(&f->pcie_bus);
}

static struct fixture *prepared(enum start start) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.journal = true}, 1);

  enumerate(f);
  sim_drive_slow_shutdown(f->drive, 3);
  if (start == NOT_OPEN) return f;
  fixture_open(f, 4);
  fill_pattern(f->ring_memory, WRITES * BLOCKS * 512, 5);
  for (unsigned i = 0; i < WRITES; i++) {
    struct spate_io io = write_of(f, i * BLOCKS, BLOCKS);
    io.offset_bytes = (uint64_t)i * BLOCKS * 512;
    assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
  }
  if (start == NO_QUEUE) assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_OK);
  return f;
}

static bool drive_caches(const struct fixture *f) { return (sim_drive_feature(f->drive, CACHE_FEATURE) & 1u) != 0; }

/* The drive has stopped. What had completed before is on the media, unless the call said that it is not. */
static void check_stopped(struct fixture *f, const char *name, enum spate_error error) {
  const uint64_t unsafe = sim_drive_counters(f->drive)->unsafe_shutdowns;

  sim_drive_power_cut(f->drive);
  if (sim_drive_counters(f->drive)->unsafe_shutdowns != unsafe) fail_msg("%s: the drive was not shut down", name);
  if (sim_drive_counters(f->drive)->hot_shutdowns != 0) fail_msg("%s: it was shut down with queues", name);
  if (error == SPATE_OK) expect_media(f, 0, f->ring_memory, WRITES * BLOCKS * 512);
}

static void check_running(struct fixture *f, const char *name, enum spate_error error, const struct call *call,
                          uint32_t mark) {
  struct spate_io io = write_of(f, 100, 1);

  if (f->nvme.queues == NULL) return; /* the only one was closed */
  struct spate_block *block = &f->nvme.queues->block;
  if (spate_block_do(block, &io) != SPATE_OK) fail_msg("%s: a write fails afterwards", name);
  if (drive_caches(f) && !block->volatile_cache) fail_msg("%s: the drive's cache is on, unknown to the driver", name);
  if (call->call == cache_off && error != SPATE_OK) fail_msg("%s: %s", name, spate_error_name(error));
  if (call->call == cache_off && drive_caches(f)) fail_msg("%s: the cache is on", name);
  if (error != SPATE_OK && !block->volatile_cache) fail_msg("%s: the cache is taken for off after an error", name);
  const bool flushes = call->call == cache_off || call->call == flush;
  if (!flushes || error != SPATE_OK || spate_block_power_mark(block) != mark) return;
  sim_drive_power_cut(f->drive); /* all is on the media */
  expect_media(f, 0, f->ring_memory, WRITES * BLOCKS * 512);
}

/* The drive is off the bus for good: nothing that is asked of it afterwards is a success. */
static void check_gone(struct fixture *f, const char *name) {
  struct spate_io io = write_of(f, 0, 1);

  if (spate_nvme_health_read(&f->nvme) == SPATE_OK) fail_msg("%s: a drive that is not there has a log", name);
  if (f->nvme.queues != NULL && spate_block_do(&f->nvme.queues->block, &io) == SPATE_OK)
    fail_msg("%s: a drive that is not there takes a write", name);
}

/* A queue can be opened, and has the blocks that the drive now has. */
static void check_opens(struct fixture *f, const char *name, enum spate_error error, const struct call *call) {
  struct spate_io io = write_of(f, 0, 1);
  const bool erased = call->call == sanitize; /* the drive may be at it: then it refuses the write */
  const bool begun = erased && error == SPATE_OK;
  struct spate_nvme_sanitize_status status;

  if (call->start == NOT_OPEN && error != SPATE_OK) enumerate(f);
  if (call->start == NO_QUEUE || error != SPATE_OK)
    error = call->start == NO_QUEUE ? fixture_queue_open(f, &f->queue, 0, 4) : open_both(f);
  if (error != SPATE_OK) fail_msg("%s: nothing can be opened afterwards: %s", name, spate_error_name(error));
  if (f->queue.block.block_shift != sim_drive_block_shift(f->drive)) fail_msg("%s: blocks of another size", name);
  if (drive_caches(f) && !f->queue.block.volatile_cache) fail_msg("%s: the drive's cache is unknown", name);
  if (!erased && fixture_do(f, io, NULL) != SPATE_OK) fail_msg("%s: a write fails afterwards", name);
  if (spate_nvme_sanitize_status(&f->nvme, &status) != SPATE_OK) fail_msg("%s: no sanitize status", name);
  if (begun && status.state == SPATE_NVME_SANITIZE_NEVER) fail_msg("%s: it was not begun", name);
}

static void call_with(const struct call *call, const struct what *what, uint64_t at_ps) {
  char name[100];
  const char *violation = NULL;
  struct fixture *f = prepared(call->start);
  struct run run = {.f = f, .what = what, .start_ps = sim_now_ps(f->sim)};
  const uint32_t mark = call->start == RUNNING ? spate_block_power_mark(&f->queue.block) : 0;
  (void)snprintf(name, sizeof name, "%s, %s after %llu ps", call->name, what->name, (unsigned long long)at_ps);

  sim_at(f->sim, run.start_ps + at_ps, act, &run, 0);
  const enum spate_error error = call->call(f);
  const uint64_t took_ps = sim_now_ps(f->sim) - run.start_ps;
  if (took_ps > BOUND_S * 1000 * SIM_PS_PER_MS)
    fail_msg("%s: took %llu s", name, (unsigned long long)(took_ps / 1000 / SIM_PS_PER_MS));
  spend_us(f, 400000); /* the fault may come after the end of the call */
  if (error == SPATE_E_POWER_LOST && what->act != power_cut) fail_msg("%s: no power was lost", name);
  if (call->call == shut_down && (error == SPATE_OK || error == SPATE_E_POWER_LOST))
    check_stopped(f, name, error);
  else if (!what->ends && call->start != RUNNING)
    check_opens(f, name, error, call);
  else if (!what->ends && call->call != shut_down)
    check_running(f, name, error, call, mark);
  else if (what->ends && f->queue.controller != NULL)
    check_gone(f, name);
  else if (!what->ends)
    fail_msg("%s: %s", name, spate_error_name(error));
  if (sim_take_violations(f->sim, &violation) != 0) fail_msg("%s: %s", name, violation);
  fixture_free(f);
}

static struct steps steps_of(const struct call *call) {
  struct steps steps = {.count = 0};
  struct fixture *f = prepared(call->start);
  struct run run = {.f = f, .seen = &steps, .start_ps = sim_now_ps(f->sim)};

  sim_trace(f->sim, note_step, &run);
  assert_int_equal(call->call(f), SPATE_OK);
  sim_trace(f->sim, NULL, NULL);
  assert_true(steps.count < STEPS_MAX);
  steps.at_ps[steps.count++] = sim_now_ps(f->sim) - run.start_ps;
  fixture_free(f);
  return steps;
}

static void test_every_call_survives_every_fault_at_every_step(void **state) {
  unsigned count = 0;
  (void)state;
  for (unsigned i = 0; i < CALLS; i++) {
    const struct steps steps = steps_of(&calls[i]);
    assert_true(steps.count >= 2);
    for (unsigned step = 0; step + 1 < steps.count; step++) {
      const uint64_t at_ps = steps.at_ps[step], next_ps = steps.at_ps[step + 1];
      for (unsigned j = 0; j < FAULTS; j++) {
        call_with(&calls[i], &faults[j], at_ps);
        call_with(&calls[i], &faults[j], at_ps + (next_ps - at_ps) / 2);
        call_with(&calls[i], &faults[j], next_ps - 1000);
        count += 3;
      }
    }
  }
  print_message("%u calls with a fault\n", count);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_call_survives_every_fault_at_every_step)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
