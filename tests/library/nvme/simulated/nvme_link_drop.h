/* SPDX-License-Identifier: Apache-2.0 */
/* A drive whose registers stop answering during a stream of writes, and a helper that brings it back (cmocka). */
#ifndef NVME_LINK_DROP_H
#define NVME_LINK_DROP_H

#include "nvme_fixture.h"

#define REQUESTS 64u
#define BLOCKS   16u

/* Brings the drive back, as a board's restore() does. */
struct helper {
  struct fixture *f;
  uint64_t back_us;       /* when the drive can be restored */
  uint64_t delay_us;      /* how long that takes from the first call; 0: at once */
  bool hasty;             /* answers OK from the first call on, although the drive is not back */
  enum spate_error error; /* if not OK, the answer to each call */
  unsigned calls;
  uint64_t seed; /* the machine's */
};

static inline enum spate_error bring_back(void *context) {
  struct helper *helper = context;
  helper->calls++;
  if (helper->error != SPATE_OK) return helper->error;
  if (helper->back_us == 0) helper->back_us = now_us(helper->f) + helper->delay_us;
  if (now_us(helper->f) < helper->back_us) return helper->hasty ? SPATE_OK : SPATE_E_BUSY;
  helper->back_us = 0;
  sim_drive_silence(helper->f->drive, false);
  return SPATE_OK;
}

static inline struct fixture *prepared(struct helper *helper) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.block_shift = 9}, helper->seed);
  helper->f = f;
  f->config.bus = (struct spate_nvme_bus){.restore = bring_back, .context = helper};
  fill_pattern(f->ring_memory, REQUESTS * BLOCKS * 512, 5);
  return f;
}

static inline struct spate_io write_number(const struct fixture *f, unsigned i) {
  return (struct spate_io){
      .op = SPATE_WRITE, .lba = BLOCKS * i, .blocks = BLOCKS, .region = &f->ring, .offset_bytes = BLOCKS * 512 * i};
}

static inline void go_at(struct fixture *f, bool admin, int opcode, unsigned skip) {
  fixture_fault(f, SIM_SILENCE, admin, opcode, skip, 1, 0);
}

/* Write all requests, within a minute of the drive's time. Returns how many failed. */
static inline unsigned stream(struct fixture *f, struct outcome *outcomes, enum spate_error *error) {
  const uint64_t end = now_us(f) + 60 * US_PER_S;
  unsigned submitted = 0, ended = 0, failed = 0;

  while (ended < REQUESTS) {
    assert_true(now_us(f) < end);
    while (submitted < REQUESTS) {
      const enum spate_error answer = fixture_submit(f, &outcomes[submitted], write_number(f, submitted));
      if (answer == SPATE_E_FULL) break;
      if (answer != SPATE_OK) { /* the controller is dead */
        *error = answer;
        outcomes[submitted].calls = 1;
        outcomes[submitted].io.error = answer;
      }
      submitted++;
    }
    fixture_poll(f);
    ended = 0;
    for (unsigned i = 0; i < submitted; i++)
      ended += outcomes[i].calls;
  }
  for (unsigned i = 0; i < REQUESTS; i++) {
    assert_int_equal(outcomes[i].calls, 1);
    if (outcomes[i].io.error == SPATE_OK) continue;
    *error = outcomes[i].io.error;
    failed++;
  }
  return failed;
}

static inline void expect_all_written(struct fixture *f) {
  struct outcome outcomes[REQUESTS];
  enum spate_error error = SPATE_OK;
  assert_int_equal(stream(f, outcomes, &error), 0);
  expect_media(f, 0, f->ring_memory, REQUESTS * BLOCKS * 512);
}

/* Nothing can bring the drive back: within the given time every request ends with that error. */
static inline void expect_gone(struct fixture *f, uint64_t least_ms, uint64_t most_ms) {
  struct outcome outcomes[REQUESTS], late;
  enum spate_error error = SPATE_OK;
  const uint64_t start = now_us(f);
  assert_int_not_equal(stream(f, outcomes, &error), 0);
  assert_int_equal(error, SPATE_E_GONE);
  assert_in_range((now_us(f) - start) / 1000, least_ms, most_ms);
  assert_int_equal(f->nvme.state, SPATE_NVME_DEAD);
  assert_int_equal(fixture_submit(f, &late, write_number(f, 0)), SPATE_E_GONE);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_E_GONE);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_E_GONE);
}

/* Counts accesses to the registers of a drive that does not answer. For sim_trace(). */
struct touched {
  const struct fixture *f;
  unsigned reads, writes;
};

static inline void count_touches(void *context, const struct sim_access *access) {
  struct touched *touched = context;

  if (!sim_drive_is_silent(touched->f->drive) ||
      access->address - touched->f->config.registers >= touched->f->config.registers_bytes)
    return;
  touched->reads += access->kind == SIM_ACCESS_READ;
  touched->writes += access->kind == SIM_ACCESS_WRITE;
}

#endif
