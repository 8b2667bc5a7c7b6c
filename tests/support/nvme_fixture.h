/* SPDX-License-Identifier: Apache-2.0 */
/* A driver on a fake drive, with memory around it, for the test programs of the NVMe driver (cmocka). */
#ifndef NVME_FIXTURE_H
#define NVME_FIXTURE_H

#include "fake_nvme_port.h"
#include <setjmp.h>
#include <spate/nvme.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FIXTURE_QUEUE_BYTES (2u << 20)
#define FIXTURE_RING_BYTES  (16u << 20)

struct fixture {
  struct fake_nvme drive;
  struct spate_nvme nvme;
  struct spate_nvme_queue queue, second; /* the second where a test opens it */
  struct spate_arena arena;
  struct spate_nvme_config config;
  struct spate_region ring;
  uint8_t *memory, *ring_memory;
};

/* What became of a request. */
struct outcome {
  struct spate_io io;
  unsigned calls;
};

static inline void outcome_done(struct spate_io *io) {
  struct outcome *outcome = io->context;
  outcome->calls++;
  if (io->error == SPATE_OK) fake_nvme_retired(fake_port_drive);
}

static inline struct fixture *fixture_make(unsigned block_shift) {
  struct fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  fake_nvme_init(&f->drive, block_shift);
  fake_port_drive = &f->drive;
  f->memory = aligned_alloc(4096, FIXTURE_QUEUE_BYTES);
  f->ring_memory = aligned_alloc(4096, FIXTURE_RING_BYTES);
  f->arena = (struct spate_arena){.start = f->memory, .bytes = FIXTURE_QUEUE_BYTES};
  f->config = (struct spate_nvme_config){
      .registers = FAKE_REGISTERS, .registers_bytes = f->drive.registers_bytes, .queue_memory = &f->arena};
  assert_int_equal(spate_region_init(&f->ring, f->ring_memory, FIXTURE_RING_BYTES, &f->arena), SPATE_OK);
  return f;
}

static inline void fixture_open(struct fixture *f, unsigned depth) {
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->queue, 0, depth), SPATE_OK);
}

/* A queue that has taken all but `before_wrap` of the commands that its count has room for. */
static inline void fixture_age_queue(struct spate_nvme_queue *queue, uint32_t before_wrap) {
  assert_int_equal(before_wrap % queue->entries, 0);
  queue->sq_tail = queue->sq_rung = 0u - before_wrap;
}

/* Two queues on one namespace, not young any more. */
static inline void fixture_open_two(struct fixture *f, unsigned depth) {
  fixture_open(f, depth);
  assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->second, 0, depth), SPATE_OK);
  fixture_age_queue(&f->queue, f->queue.entries);
  fixture_age_queue(&f->second, f->second.entries);
}

static inline void fixture_free(struct fixture *f) {
  if (f->drive.violations != 0) fail_msg("the drive was mistreated: %s", f->drive.violation);
  fake_nvme_free(&f->drive);
  free(f->memory);
  free(f->ring_memory);
  free(f);
}

/* Submit; the outcome is known later. */
static inline enum spate_error fixture_submit_to(struct spate_nvme_queue *queue, struct outcome *outcome,
                                                 struct spate_io io) {
  *outcome = (struct outcome){.io = io};
  outcome->io.done = outcome_done;
  outcome->io.context = outcome;
  return spate_block_submit(&queue->block, &outcome->io);
}

static inline enum spate_error fixture_submit(struct fixture *f, struct outcome *outcome, struct spate_io io) {
  return fixture_submit_to(&f->queue, outcome, io);
}

static inline void fixture_poll(struct fixture *f) {
  (void)spate_block_poll(&f->queue.block, 32);
  if (f->second.controller != NULL) (void)spate_block_poll(&f->second.block, 32);
  host_relax();
}

/* Poll until the request is done, for at most `ms` of the drive's time. */
static inline bool fixture_wait(struct fixture *f, const struct outcome *outcome, uint64_t ms) {
  const uint64_t end = f->drive.ticks + ms * (FAKE_TICKS_PER_SECOND / 1000);
  while (outcome->calls == 0 && f->drive.ticks < end) {
    fixture_poll(f);
  }
  return outcome->calls == 1;
}

static inline void fixture_poll_ms(struct fixture *f, uint64_t ms) {
  const uint64_t end = f->drive.ticks + ms * (FAKE_TICKS_PER_SECOND / 1000);
  while (f->drive.ticks < end) {
    fixture_poll(f);
  }
}

/* Submit and wait, at most a minute of the drive's time. */
static inline enum spate_error fixture_do(struct fixture *f, struct spate_io io, uint16_t *detail) {
  struct outcome outcome;
  const enum spate_error error = fixture_submit(f, &outcome, io);
  if (error != SPATE_OK) return error;
  assert_true(fixture_wait(f, &outcome, 60000));
  if (detail != NULL) *detail = outcome.io.detail;
  return outcome.io.error;
}

static inline void fill_pattern(uint8_t *at, size_t bytes, uint32_t seed) {
  for (size_t i = 0; i < bytes; i++) {
    seed = seed * 1664525u + 1013904223u;
    at[i] = (uint8_t)(seed >> 24);
  }
}

#endif
