/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same seed gives the same run to the byte: each register access and each store of a device, with its time, address
 * and data. This holds within one process, and in another process, whose memory has other addresses.
 */
#include "machine/internal.h"
#include "machine/stack.h"
#include <inttypes.h>
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REQUESTS   400u
#define AT_ONCE    24u
#define PIECE      (64u * 1024u)
#define POLLS_MAX  1000000u
#define HASH_START UINT64_C(0xcbf29ce484222325) /* offset basis of FNV-1a (Fowler, Noll and Vo) */
#define HASH_PRIME UINT64_C(0x100000001b3)

struct trace {
  uint64_t hash, accesses;
};

static void mix(struct trace *trace, uint64_t value) { trace->hash = (trace->hash ^ value) * HASH_PRIME; }

static void seen(void *context, const struct sim_access *access) {
  struct trace *trace = context;

  trace->accesses++;
  mix(trace, access->kind);
  mix(trace, access->at_ps);
  mix(trace, access->address);
  mix(trace, access->bytes);
  for (uint64_t i = 0; i < access->bytes; i++)
    mix(trace, ((const uint8_t *)access->data)[i]);
}

struct request {
  struct spate_io io;
  bool busy;
};

static void done(struct spate_io *io) {
  struct request *request = io->context;

  assert_int_equal(io->error, SPATE_OK);
  request->busy = false;
}

/* Any request of a stream and its file system, chosen by the machine's own random numbers. */
static void make_request(struct sim_stack *stack, const struct spate_region *region, struct request *request,
                         unsigned slot) {
  const uint64_t random = sim_random(stack->sim);
  const uint32_t blocks = 8u + (uint32_t)(random >> 8 & 0x3fu);

  request->io = (struct spate_io){.done = done, .context = request};
  request->io.op = (uint8_t)(random % 3u == 0 ? SPATE_READ : SPATE_WRITE);
  if (random % 13u == 0) request->io.op = SPATE_FLUSH;
  if (random % 17u == 0) request->io.op = SPATE_TRIM;
  if (request->io.op == SPATE_FLUSH) return;
  request->io.lba = (random >> 16) % (stack->block->blocks - blocks);
  request->io.blocks = blocks;
  if (request->io.op == SPATE_TRIM) return;
  request->io.flags = SPATE_IO_CPU | (request->io.op == SPATE_WRITE && random % 5u == 0 ? SPATE_IO_FUA : 0);
  request->io.region = region;
  request->io.offset_bytes = (uint64_t)slot * PIECE;
  memset(region->start + request->io.offset_bytes, (int)(random >> 40 & 0xffu), PIECE);
}

static struct trace run(uint64_t seed) {
  const struct sim_stack_config config = {
      .machine = {.seed = seed, .host = sim_host_a53},
      .options = {.bytes = UINT64_C(64) << 20, .shuffle = true},
      .depth = 16,
      .drives = 2,
  };
  struct sim_stack *stack = sim_stack_new(&config);
  struct trace trace = {.hash = HASH_START};
  struct request requests[AT_ONCE] = {0};

  sim_trace(stack->sim, seen, &trace);
  sim_drive_fault(stack->drives[0].drive,
                  (struct sim_fault){.action = SIM_STATUS, .opcode = -1, .skip = 100, .count = 3, .value = 0x281});
  sim_drive_fault(stack->drives[1].drive,
                  (struct sim_fault){.action = SIM_RESET, .opcode = -1, .skip = 200, .count = 1});
  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  const struct spate_region *region = sim_stack_region(stack, (uint64_t)AT_ONCE * PIECE, SIM_CACHED);
  unsigned submitted = 0, busy = 1;
  for (unsigned polls = 0; busy > 0 && polls < POLLS_MAX; polls++) {
    busy = 0;
    for (unsigned i = 0; i < AT_ONCE; i++) {
      if (!requests[i].busy && submitted < REQUESTS) {
        make_request(stack, region, &requests[i], i);
        requests[i].busy = stack->block->ops->submit(stack->block, &requests[i].io) == SPATE_OK;
        submitted += requests[i].busy;
      }
      busy += requests[i].busy;
    }
    (void)stack->block->ops->poll(stack->block, 8);
    busy += submitted < REQUESTS;
  }
  assert_int_equal(busy, 0);
  assert_int_equal(sim_stack_close(stack), SPATE_OK);
  mix(&trace, sim_now_ps(stack->sim));
  mix(&trace, sim_busy_ps(stack->sim));
  const char *first;
  if (sim_take_violations(stack->sim, &first) != 0) fail_msg("seed %" PRIu64 ": %s", seed, first);
  sim_stack_free(stack);
  return trace;
}

static void test_the_same_seed_gives_the_same_run(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    const struct trace one = run(seed), same = run(seed);
    assert_true(one.accesses > 2 * REQUESTS);
    assert_int_equal(one.accesses, same.accesses);
    assert_int_equal(one.hash, same.hash);
  }
}

static void test_another_seed_gives_another_run(void **state) {
  (void)state;
  assert_int_not_equal(run(1).hash, run(2).hash);
}

/* The addresses of the process must not matter: another process has others. */
static void test_another_process_gives_the_same_run(void **state) {
  (void)state;
  const struct trace here = run(4);
  FILE *other = popen("exec /proc/$PPID/exe 4", "r"); /* NOLINT(cert-env33-c): the shell's parent is this program */
  struct trace there = {0};

  assert_non_null(other);
  assert_int_equal(fscanf(other, "%" SCNx64 " %" SCNu64, &there.hash, &there.accesses), 2);
  assert_int_equal(pclose(other), 0);
  assert_int_equal(there.accesses, here.accesses);
  assert_int_equal(there.hash, here.hash);
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_same_seed_gives_the_same_run),
      cmocka_unit_test(test_another_seed_gives_another_run),
      cmocka_unit_test(test_another_process_gives_the_same_run),
  };
  if (count == 1) return cmocka_run_group_tests(tests, NULL, NULL);
  const struct trace trace = run(strtoull(words[1], NULL, 10));
  (void)printf("%" PRIx64 " %" PRIu64 "\n", trace.hash, trace.accesses);
  return 0;
}
