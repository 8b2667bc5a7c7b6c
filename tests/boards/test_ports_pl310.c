/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The barriers and the maintenance of spate/port/pl310.h on a model of a Cortex-A9 with a PL310, where all that the
 * manuals leave open happens at the worst moment: an operation that no barrier has waited for takes effect late or at
 * once, a prefetch brings every line that is not in a cache from the level below after each step, and the inner cache
 * evicts its dirty lines to make room for others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LINES      4u
#define LINE_BYTES 32u
#define BASE       0x1000u
#define QUEUED     64u

struct line {
  bool valid, dirty;
  uint32_t value;
};

enum kind { L1_CLEAN, L1_INVALIDATE, OUTER_CLEAN, OUTER_INVALIDATE, OUTER_SYNC, DOORBELL };

struct operation {
  enum kind kind;
  uint32_t line;
};

static struct machine {
  bool l1_late, outer_late, prefetch, evict; /* what the manuals leave open */
  struct line l1[LINES], outer[LINES];
  struct line processor_buffer[LINES], outer_buffer[LINES]; /* stores under way; `valid` alone counts */
  uint32_t memory[LINES];
  struct operation queue[QUEUED];
  unsigned queued;
  uint32_t seen_by_drive; /* line 0, when the doorbell rang */
  bool ordered;           /* a barrier came first */
} machine;

static uint32_t number_of(uintptr_t address) {
  assert_true(address >= BASE && address < BASE + LINES * LINE_BYTES);
  return (uint32_t)(address - BASE) / LINE_BYTES;
}

/* ---- caches ---- */

static void prefetch(void) {
  for (unsigned i = 0; machine.prefetch && i < LINES; i++) {
    if (!machine.outer[i].valid) machine.outer[i] = (struct line){true, false, machine.memory[i]};
    if (!machine.l1[i].valid) machine.l1[i] = (struct line){true, false, machine.outer[i].value};
  }
}

static void drain_outer_buffer(void) {
  for (unsigned i = 0; i < LINES; i++)
    if (machine.outer_buffer[i].valid) machine.memory[i] = machine.outer_buffer[i].value;
  for (unsigned i = 0; i < LINES; i++)
    machine.outer_buffer[i].valid = false;
}

static void leave_processor(void) {
  for (unsigned i = 0; i < LINES; i++) {
    if (machine.processor_buffer[i].valid) machine.outer_buffer[i] = machine.processor_buffer[i];
    machine.processor_buffer[i].valid = false;
  }
}

static void clean_l1(unsigned i) {
  if (machine.l1[i].valid && machine.l1[i].dirty) {
    machine.outer[i] = (struct line){true, true, machine.l1[i].value};
    machine.l1[i].dirty = false;
  }
}

/* To the outer cache, which evicts a line itself only later. */
static void evict(void) {
  for (unsigned i = 0; machine.evict && i < LINES; i++)
    if (machine.l1[i].dirty) {
      clean_l1(i);
      machine.l1[i].valid = false;
    }
}

static void clean_outer(unsigned i) {
  if (machine.outer[i].valid && machine.outer[i].dirty) {
    machine.outer_buffer[i] = (struct line){true, true, machine.outer[i].value};
    machine.outer[i].dirty = false;
  }
}

/* ---- what the processor has begun ---- */

static void take_effect(struct operation operation) {
  switch (operation.kind) {
  case L1_CLEAN: clean_l1(operation.line); break;
  case L1_INVALIDATE: machine.l1[operation.line] = (struct line){0}; break;
  case OUTER_CLEAN: clean_outer(operation.line); break;
  case OUTER_INVALIDATE: machine.outer[operation.line] = (struct line){0}; break;
  case OUTER_SYNC: drain_outer_buffer(); break;
  case DOORBELL: machine.seen_by_drive = machine.memory[0]; break;
  }
  evict();
  prefetch();
}

static void begin(enum kind kind, uint32_t line) {
  const bool late = kind <= L1_INVALIDATE ? machine.l1_late : kind != DOORBELL && machine.outer_late;
  const struct operation operation = {kind, line};
  if (!late) {
    take_effect(operation);
    return;
  }
  assert_true(machine.queued < QUEUED);
  machine.queue[machine.queued++] = operation;
}

/* Everything has ended that began before. */
static void barrier(void) {
  machine.ordered = true;
  leave_processor();
  for (unsigned i = 0; i < machine.queued; i++)
    take_effect(machine.queue[i]);
  machine.queued = 0;
}

/* ---- what pl310.h uses ---- */

static void spate_armv7_dsb(void) { barrier(); }
static void spate_armv7_dsb_st(void) { barrier(); }
static void spate_armv7_dmb(void) {}

/* Without a barrier ahead, the Cortex-A9's erratum 764369 may skip the operation. */
static void spate_armv7_l1_clean(uintptr_t line) {
  if (machine.ordered) begin(L1_CLEAN, number_of(line));
}

static void spate_armv7_l1_invalidate(uintptr_t line) {
  if (machine.ordered) begin(L1_INVALIDATE, number_of(line));
}

/* The offsets are those of DDI 0246, table 3-2. */
static void spate_armv7_pl310_write(uint32_t offset, uint32_t value) {
  switch (offset) {
  case 0x730:
    assert_int_equal(value, 0);
    begin(OUTER_SYNC, 0);
    break;
  case 0x770: begin(OUTER_INVALIDATE, number_of(value)); break;
  case 0x7b0: begin(OUTER_CLEAN, number_of(value)); break;
  default: fail_msg("an unexpected register: 0x%x", offset);
  }
}

#include "../../include/spate/port/pl310.h"

/* ---- the tests ---- */

static void each_behaviour(void (*test)(void)) {
  for (unsigned i = 0; i < 16; i++) {
    machine = (struct machine){.l1_late = i & 1u, .outer_late = i & 2u, .prefetch = i & 4u, .evict = i & 8u};
    test();
  }
}

static void store_not_cached(uint32_t line, uint32_t value) {
  machine.processor_buffer[line] = (struct line){true, true, value};
}

static void ring_with_barrier(void) {
  store_not_cached(0, 7);
  spate_port_dma_write_barrier();
  begin(DOORBELL, 0);
  assert_int_equal(machine.seen_by_drive, 7);
}

static void the_drive_finds_the_entry_when_the_doorbell_rings(void **state) {
  (void)state;
  each_behaviour(ring_with_barrier);
}

/* Lines 1 and 2 are dirty in the inner cache, 1 in the outer one as well; neither operation goes beyond its lines. */
static void clean_two_lines(void) {
  for (uint32_t i = 0; i < LINES; i++)
    machine.l1[i] = (struct line){true, true, 10 + i};
  machine.outer[1] = (struct line){true, true, 5};
  spate_port_cache_clean((void *)(uintptr_t)(BASE + LINE_BYTES), 2 * LINE_BYTES);
  assert_int_equal(machine.memory[1], 11);
  assert_int_equal(machine.memory[2], 12);
  assert_int_equal(machine.memory[0], 0);
  assert_int_equal(machine.memory[3], 0);
}

static void what_is_cleaned_is_in_memory(void **state) {
  (void)state;
  each_behaviour(clean_two_lines);
}

/* The range begins and ends within a line. */
static void clean_parts_of_lines(void) {
  machine.l1[1] = (struct line){true, true, 11};
  machine.l1[2] = (struct line){true, true, 12};
  spate_port_cache_clean((void *)(uintptr_t)(BASE + LINE_BYTES + 31), 2);
  assert_int_equal(machine.memory[1], 11);
  assert_int_equal(machine.memory[2], 12);
}

static void a_part_of_a_line_is_a_line(void **state) {
  (void)state;
  each_behaviour(clean_parts_of_lines);
}

static uint32_t load(uint32_t line) {
  if (!machine.l1[line].valid) {
    if (!machine.outer[line].valid) machine.outer[line] = (struct line){true, false, machine.memory[line]};
    machine.l1[line] = (struct line){true, false, machine.outer[line].value};
  }
  return machine.l1[line].value;
}

/* Both caches have the lines as they were before the drive wrote them. */
static void invalidate_two_lines(void) {
  for (uint32_t i = 0; i < LINES; i++) {
    machine.l1[i] = machine.outer[i] = (struct line){true, false, i};
    machine.memory[i] = 20 + i;
  }
  spate_port_cache_invalidate((void *)(uintptr_t)(BASE + LINE_BYTES), 2 * LINE_BYTES);
  assert_int_equal(load(1), 21);
  assert_int_equal(load(2), 22);
  assert_int_equal(load(0), 0);
  assert_int_equal(load(3), 3);
}

static void what_is_invalidated_comes_from_memory(void **state) {
  (void)state;
  each_behaviour(invalidate_two_lines);
}

/* Before the drive writes: the processor's own stores must not reach memory any more, or they overwrite the drive's. */
static void invalidate_dirty_lines(void) {
  for (uint32_t i = 1; i < 3; i++)
    machine.l1[i] = (struct line){true, true, 10 + i};
  machine.outer[2] = (struct line){true, true, 5};
  spate_port_cache_invalidate((void *)(uintptr_t)(BASE + LINE_BYTES), 2 * LINE_BYTES);
  assert_false(machine.l1[1].dirty || machine.l1[2].dirty);
  assert_false(machine.outer[1].dirty || machine.outer[2].dirty);
}

static void what_is_invalidated_is_not_written_later(void **state) {
  (void)state;
  each_behaviour(invalidate_dirty_lines);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_drive_finds_the_entry_when_the_doorbell_rings),
      cmocka_unit_test(what_is_cleaned_is_in_memory),
      cmocka_unit_test(a_part_of_a_line_is_a_line),
      cmocka_unit_test(what_is_invalidated_comes_from_memory),
      cmocka_unit_test(what_is_invalidated_is_not_written_later),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
