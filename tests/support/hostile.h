/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of misbehaviours of drives, and a stack with one such drive, for the tests of hostile drives (cmocka). Each
 * case is one misbehaviour at one command. In every case the memory around the buffers stays as it was, and everything
 * ends within the time that its part of the library states.
 */
#ifndef SPATE_TESTS_HOSTILE_H
#define SPATE_TESTS_HOSTILE_H

#include "machine/stack.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HOSTILE_BYTES  (UINT64_C(64) << 20) /* of the drive */
#define HOSTILE_DEPTH  16u
#define HOSTILE_CANARY 0xc5u
#define ALWAYS         UINT32_MAX

/* The permitted outcomes of the affected command and its neighbours. */
enum consequence {
  RECOVERED, /* the library has to recover: nothing fails */
  REPORTED,  /* recovery is impossible: the request or the call ends with an error */
  EITHER,    /* depends on the command */
  DECEIVED,  /* the drive reports success: the library cannot notice it. Nothing else may be affected */
};

struct misbehaviour {
  const char *name;
  enum sim_action action;
  uint32_t count;
  uint32_t value;
  enum consequence io; /* of an I/O command */
};

static const struct misbehaviour misbehaviours[] = {
    {"retryable error, once", SIM_STATUS, 1, 0x0006, RECOVERED},
    {"retryable error, always", SIM_STATUS, ALWAYS, 0x0006, REPORTED},
    {"error not to be retried, once", SIM_STATUS, 1, 0x4006, REPORTED},
    {"error not to be retried, always", SIM_STATUS, ALWAYS, 0x4006, REPORTED},
    {"delayed retry", SIM_STATUS, 1, 0x0806, RECOVERED},
    {"invalid field", SIM_STATUS, 1, 0x4002, REPORTED},
    {"media error", SIM_STATUS, 1, 0x4281, REPORTED},
    {"vendor's status", SIM_STATUS, 1, 0x47ff, REPORTED},
    {"lost, once", SIM_LOSE, 1, 0, RECOVERED},
    {"lost, always", SIM_LOSE, ALWAYS, 0, REPORTED},
    {"stalled", SIM_STALL, 1, 0, RECOVERED},
    {"doubled", SIM_DOUBLE, 1, 0, RECOVERED},
    {"doubled, always", SIM_DOUBLE, 8, 0, RECOVERED},
    {"late", SIM_LATE, 1, 700, RECOVERED},
    {"late by seconds", SIM_LATE, 1, 4000, RECOVERED},
    {"late by more than its time", SIM_LATE, 1, 13000, RECOVERED},
    {"wrong id: other slot", SIM_WRONG_ID, 1, 0x0001, RECOVERED},
    {"wrong id: other generation", SIM_WRONG_ID, 1, 0x0100, RECOVERED},
    {"wrong id: no slot", SIM_WRONG_ID, 1, 0x00f0, RECOVERED},
    {"wrong id: all bits", SIM_WRONG_ID, 1, 0xffff, RECOVERED},
    {"wrong queue", SIM_WRONG_QUEUE, 1, 0, RECOVERED},
    {"wrong phase", SIM_WRONG_PHASE, 1, 0, RECOVERED},
    {"fatal status, once", SIM_FATAL, 1, 0, RECOVERED},
    {"fatal status, always", SIM_FATAL, ALWAYS, 0, REPORTED},
    {"resets itself", SIM_RESET, 1, 0, RECOVERED},
    {"resets itself, always", SIM_RESET, ALWAYS, 0, REPORTED},
    {"loses power", SIM_POWER_CUT, 1, 0, RECOVERED},
    {"link drops for 1 ms", SIM_LINK_DROP, 1, 1, RECOVERED},
    {"link drops for 300 ms", SIM_LINK_DROP, 1, 300, RECOVERED},
    {"link drops for 5 s", SIM_LINK_DROP, 1, 5000, RECOVERED},
    {"link drops again and again", SIM_LINK_DROP, ALWAYS, 20, REPORTED},
    {"off the bus", SIM_GONE, 1, 0, REPORTED},
    {"garbage", SIM_GARBAGE, 1, 0, DECEIVED},
    {"garbage, always", SIM_GARBAGE, ALWAYS, 0, DECEIVED},
    {"zeros", SIM_ZEROS, 1, 0, DECEIVED},
    {"zeros, always", SIM_ZEROS, ALWAYS, 0, DECEIVED},
    {"held", SIM_HOLD, 1, 5, RECOVERED},
    {"held past the whole queue", SIM_HOLD, 1, HOSTILE_DEPTH - 1, RECOVERED},
};
#define MISBEHAVIOURS (sizeof misbehaviours / sizeof misbehaviours[0])

static unsigned hostile_cases; /* since it was set to 0 */

static inline struct sim_fault fault_of(const struct misbehaviour *what, bool admin, int opcode, uint32_t skip) {
  return (struct sim_fault){.action = what->action,
                            .admin = admin,
                            .opcode = (int16_t)opcode,
                            .skip = skip,
                            .count = what->count,
                            .value = what->value};
}

static inline struct sim_stack_config hostile_config(uint64_t seed) {
  return (struct sim_stack_config){
      .machine = {.seed = seed}, .options = {.bytes = HOSTILE_BYTES, .link = {0}}, .depth = HOSTILE_DEPTH};
}

static inline struct sim_stack *hostile_stack(uint64_t seed) {
  const struct sim_stack_config config = hostile_config(seed);
  return sim_stack_new(&config);
}

static inline uint64_t now_ms(const struct sim_stack *stack) { return sim_now_ps(stack->sim) / SIM_PS_PER_MS; }

/* No specification violation by the host. Not called where the drive's own misbehaviour causes the report. */
static inline void no_violations(struct sim_stack *stack, const char *where) {
  const char *first = NULL;
  if (sim_take_violations(stack->sim, &first) != 0) fail_msg("%s: %s", where, first);
}

static inline void put_canary(uint8_t *at, size_t bytes) { memset(at, HOSTILE_CANARY, bytes); }

static inline void check_canary(const uint8_t *at, size_t bytes, const char *where) {
  for (size_t i = 0; i < bytes; i++)
    if (at[i] != HOSTILE_CANARY) fail_msg("%s: memory outside the buffers was written", where);
}

/* Different contents in each block, and at each place in it. */
static inline void put_pattern(uint8_t *at, size_t bytes, uint64_t seed) {
  for (size_t i = 0; i < bytes; i += sizeof seed) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t word = seed ^ seed >> 29;
    memcpy(at + i, &word, sizeof word);
  }
}

/* The present contents of a drive's media, read without the library. */
static inline void read_medium(struct sim_stack *stack, uint64_t lba, uint8_t *to, uint64_t bytes) {
  struct sim_drive *drive = stack->drives[0].drive;
  sim_store_read(sim_drive_store(drive), lba << sim_drive_block_shift(drive), to, bytes);
}

#endif
