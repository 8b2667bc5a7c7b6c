/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library on memory in which data passes between processor and drive only through the port's calls. Everything that
 * it moves is compared on the other side. tests/library/nvme/simulated/test_barrier_mutations.py removes each of those
 * calls from the library in turn, and then this program has to fail.
 */
#include "machine/internal.h"
#include "machine/stack.h"
#include <setjmp.h>
#include <spate/bytes.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BLOCK             512u
#define DRIVE_BYTES       (UINT64_C(64) << 20)
#define BUFFER_BYTES      (256u * 1024u)
#define HOST_BUFFER_BYTES (64u * 1024u)
#define QUEUE_PAIRS       5u
#define POLLS_MAX         200000u
#define LINE              SPATE_DMA_ALIGN

struct fixture {
  struct sim_stack *stack;
  struct sim_drive *drive;
  struct spate_nvme *nvme;
  struct spate_block *block;
  uint8_t expected[BUFFER_BYTES], actual[BUFFER_BYTES];
};

static void assert_no_violation(struct fixture *fixture) {
  const char *first;

  if (sim_take_violations(fixture->stack->sim, &first) != 0) fail_msg("%s", first);
}

/* No two fills have the same byte at the same place, so that stale data shows. */
static void fill(uint8_t *to, uint32_t bytes, uint32_t seed) {
  for (uint32_t i = 0; i < bytes; i++)
    to[i] = (uint8_t)(seed * 29u + i + i / 251u + 1u);
}

/* The drive asks for a host memory buffer. The processor used that memory before, and its cache lines are dirty. */
static int set_up(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  const struct sim_stack_config config = {
      .machine = {.seed = 3, .host = sim_host_a53},
      .options = {.bytes = DRIVE_BYTES, .queue_pairs = QUEUE_PAIRS, .serial = "SPATE-BARRIERS"},
      .depth = 16,
      .host_buffer_bytes = HOST_BUFFER_BYTES,
  };

  assert_non_null(fixture);
  fixture->stack = sim_stack_new(&config);
  fixture->drive = fixture->stack->drives[0].drive;
  fixture->nvme = &fixture->stack->drives[0].nvme;
  spate_put32(sim_drive_identify_controller(fixture->drive) + 272, HOST_BUFFER_BYTES / 4096u); /* HMPRE */
  spate_put32(sim_drive_identify_controller(fixture->drive) + 276, 1);                         /* HMMIN */
  memset(fixture->stack->drives[0].host_buffer, 0xd1, HOST_BUFFER_BYTES);
  spate_put64(sim_drive_smart(fixture->drive) + 128, 4711); /* power on hours */
  assert_int_equal(sim_stack_open(fixture->stack), SPATE_OK);
  fixture->block = fixture->stack->block;
  *state = fixture;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;

  assert_int_equal(sim_stack_close(fixture->stack), SPATE_OK);
  assert_no_violation(fixture);
  sim_stack_free(fixture->stack);
  free(fixture);
  return 0;
}

/* ---- requests ---- */

struct request {
  struct spate_io io;
  struct fixture *fixture;
  uint8_t *data; /* where the processor sees it */
  uint32_t seed; /* of the expected contents, which are compared when the request is done */
  bool check, done;
};

static void done(struct spate_io *io) {
  struct request *request = io->context;
  struct fixture *fixture = request->fixture;

  request->done = true;
  assert_int_equal(io->error, SPATE_OK);
  if (!request->check) return;
  fill(fixture->expected, io->blocks * BLOCK, request->seed);
  assert_memory_equal(request->data, fixture->expected, (size_t)io->blocks * BLOCK);
}

static void submit(struct fixture *fixture, struct request *request) {
  request->io.done = done;
  request->io.context = request;
  request->fixture = fixture;
  assert_int_equal(fixture->block->ops->submit(fixture->block, &request->io), SPATE_OK);
}

static void wait_for(struct fixture *fixture, const struct request *request) {
  for (unsigned i = 0; i < POLLS_MAX && !request->done; i++)
    (void)fixture->block->ops->poll(fixture->block, 16);
  assert_true(request->done);
}

static void do_request(struct fixture *fixture, struct request *request) {
  submit(fixture, request);
  wait_for(fixture, request);
}

/* ---- the media's contents, without the library ---- */

static void put_on_medium(struct fixture *fixture, uint64_t lba, uint32_t blocks, uint32_t seed) {
  fill(fixture->expected, blocks * BLOCK, seed);
  for (uint32_t at = 0; at < blocks * BLOCK; at += SIM_PAGE)
    (void)sim_store_write(sim_drive_store(fixture->drive), lba * BLOCK + at, fixture->expected + at,
                          blocks * BLOCK - at < SIM_PAGE ? blocks * BLOCK - at : SIM_PAGE);
}

static void assert_on_medium(struct fixture *fixture, uint64_t lba, uint32_t blocks, uint32_t seed) {
  fill(fixture->expected, blocks * BLOCK, seed);
  sim_store_read(sim_drive_store(fixture->drive), lba * BLOCK, fixture->actual, (uint64_t)blocks * BLOCK);
  assert_memory_equal(fixture->actual, fixture->expected, (size_t)blocks * BLOCK);
}

/* ---- bring-up, and data that drives report ---- */

static void test_identity_and_features_arrive(void **state) {
  struct fixture *fixture = *state;
  const struct spate_nvme_identity *identity = spate_nvme_identity(fixture->nvme);
  struct spate_nvme_namespace namespace;

  assert_string_equal(identity->serial, "SPATE-BARRIERS");
  assert_int_equal(identity->host_buffer_wanted_bytes, HOST_BUFFER_BYTES);
  assert_int_equal(spate_nvme_queues_max(fixture->nvme), QUEUE_PAIRS); /* dword 0 of a completion */
  assert_int_equal(spate_nvme_namespace(fixture->nvme, 1, &namespace), SPATE_OK);
  assert_int_equal(namespace.blocks, DRIVE_BYTES / BLOCK);
}

static void test_each_health_log_is_a_fresh_one(void **state) {
  struct fixture *fixture = *state;

  assert_int_equal(spate_nvme_health(fixture->nvme)->power_on_hours, 4711);
  for (unsigned i = 0; i < 100; i++) { /* more commands than the admin rings have entries */
    spate_put64(sim_drive_smart(fixture->drive) + 128, 5000 + i);
    assert_int_equal(spate_nvme_health_read(fixture->nvme), SPATE_OK);
    assert_int_equal(spate_nvme_health(fixture->nvme)->power_on_hours, 5000 + i);
  }
}

/* Dirty cache lines of that memory must not be written back over the drive's data. */
static void test_the_host_memory_buffer_belongs_to_the_drive(void **state) {
  struct fixture *fixture = *state;
  const uint64_t address = spate_port_dma_address(fixture->stack->drives[0].host_buffer);

  assert_true(fixture->nvme->host_buffer_lent);
  fill(fixture->expected, HOST_BUFFER_BYTES, 99);
  assert_true(sim_memory_store(fixture->stack->sim, address, fixture->expected, HOST_BUFFER_BYTES));
  assert_memory_equal(sim_memory_device(fixture->stack->sim, address, HOST_BUFFER_BYTES), fixture->expected,
                      HOST_BUFFER_BYTES);
}

/* ---- a program's admin requests, in cached memory ---- */

#define SET_FEATURES      0x09u
#define GET_FEATURES      0x0au
#define FEATURE_TIMESTAMP 0x0eu

static void admin_done(struct spate_nvme_admin_request *request) {
  bool *ended = request->context;

  assert_int_equal(request->error, SPATE_OK);
  *ended = true;
}

static void timestamp(struct fixture *fixture, uint8_t opcode, uint8_t *buffer) {
  bool ended = false;
  struct spate_nvme_admin_request request = {.opcode = opcode,
                                             .dwords_10_15 = {FEATURE_TIMESTAMP},
                                             .buffer = buffer,
                                             .bytes = 8,
                                             .timeout_ms = 1000,
                                             .done = admin_done,
                                             .context = &ended};

  assert_int_equal(spate_nvme_admin_submit(fixture->nvme, &request), SPATE_OK);
  for (unsigned i = 0; i < POLLS_MAX && !ended; i++)
    (void)fixture->block->ops->poll(fixture->block, 16);
  assert_true(ended);
}

/* The value that is set and the buffer that is read are in different memory: neither may be mistaken for the other. */
static void test_admin_requests_in_cached_memory(void **state) {
  struct fixture *fixture = *state;
  uint8_t *set = sim_memory_take(fixture->stack->sim, 4096, SIM_CACHED), *got = set + 2048;

  sim_drive_identify_controller(fixture->drive)[520] |= 0x40u; /* ONCS: Timestamp */
  for (unsigned i = 1; i < 5; i++) {
    const uint64_t set_ms = UINT64_C(0x10000000000) * i;
    spate_put64(set, set_ms);
    timestamp(fixture, SET_FEATURES, set);
    memset(got, 0xa0 + (int)i, LINE); /* dirty */
    timestamp(fixture, GET_FEATURES, got);
    assert_in_range(spate_get64(got) & UINT64_C(0xffffffffffff), set_ms, set_ms + 1000);
    assert_int_equal(spate_get64(got) >> 48, 0x2); /* set by the host */
  }
}

/* ---- data ---- */

/* A ring in uncached memory, the same slots again and again: plain requests, many of them in the queue at once. */
static void test_plain_requests_on_a_region(void **state) {
  struct fixture *fixture = *state;
  const struct spate_region *region = sim_stack_region(fixture->stack, BUFFER_BYTES, SIM_QUEUE);
  const uint32_t blocks = 64, bytes = blocks * BLOCK;

  for (unsigned lap = 0; lap < 5; lap++) {
    struct request requests[8] = {0};
    for (unsigned i = 0; i < 8; i++) {
      const uint32_t seed = lap * 16 + i;
      const uint64_t lba = (uint64_t)seed * blocks;
      uint8_t *slot = region->start + (size_t)i * bytes;
      if (lap % 2 == 0)
        fill(slot, bytes, seed);
      else
        put_on_medium(fixture, lba, blocks, seed);
      requests[i] = (struct request){
          .io = {.op = lap % 2 == 0 ? SPATE_WRITE : SPATE_READ,
                 .lba = lba,
                 .blocks = blocks,
                 .region = region,
                 .offset_bytes = (uint64_t)i * bytes},
          .data = slot,
          .seed = seed,
          .check = true,
      };
      submit(fixture, &requests[i]);
    }
    for (unsigned i = 0; i < 8; i++) {
      wait_for(fixture, &requests[i]);
      assert_on_medium(fixture, (lap * 16 + i) * (uint64_t)blocks, blocks, lap * 16 + i);
    }
  }
}

/* One at a time, so that no barrier of another command can replace a command's own. */
static void test_plain_reads_one_by_one(void **state) {
  struct fixture *fixture = *state;
  const struct spate_region *region = sim_stack_region(fixture->stack, 16384, SIM_QUEUE);

  for (unsigned i = 0; i < 20; i++) {
    put_on_medium(fixture, 8ull * i, 8, 300 + i);
    struct request request = {.io = {.op = SPATE_READ, .lba = 8ull * i, .blocks = 8, .region = region},
                              .data = region->start,
                              .seed = 300 + i,
                              .check = true};
    do_request(fixture, &request);
  }
}

/* Cached memory that the processor fills. It is in a region, so that the commands take the shortest path. */
static void test_cpu_writes_from_a_region(void **state) {
  struct fixture *fixture = *state;
  const struct spate_region *region = sim_stack_region(fixture->stack, BUFFER_BYTES, SIM_CACHED);

  for (unsigned i = 0; i < 10; i++) {
    struct request request = {.io = {.op = SPATE_WRITE,
                                     .flags = SPATE_IO_CPU,
                                     .lba = 100,
                                     .blocks = 40,
                                     .region = region,
                                     .offset_bytes = LINE},
                              .data = region->start + LINE};
    fill(request.data, 40 * BLOCK, 400 + i);
    do_request(fixture, &request);
    assert_on_medium(fixture, 100, 40, 400 + i);
  }
}

/* The processor has used that memory before: its lines are dirty. The neighbouring lines stay dirty. */
static void test_cpu_reads_between_dirty_neighbours(void **state) {
  struct fixture *fixture = *state;
  uint8_t *memory = sim_memory_take(fixture->stack->sim, 16384, SIM_CACHED);

  for (unsigned i = 0; i < 10; i++) {
    const size_t at = LINE * (i + 1u), bytes = 8u * BLOCK;
    memset(memory, 0xee - (int)i, 16384);
    put_on_medium(fixture, 7000, 8, 500 + i);
    struct request request = {
        .io = {.op = SPATE_READ, .flags = SPATE_IO_CPU, .lba = 7000, .blocks = 8, .buffer = memory + at},
        .data = memory + at,
        .seed = 500 + i,
        .check = true};
    do_request(fixture, &request);
    for (size_t byte = 0; byte < 16384; byte++)
      if (byte < at || byte >= at + bytes) assert_int_equal(memory[byte], 0xee - i);
    spate_port_cache_clean(memory, 16384);
    assert_memory_equal(sim_memory_device(fixture->stack->sim, spate_port_dma_address(memory), 16384), memory, 16384);
  }
}

/* Without a region the page list comes from the queue's pool, and is built in memory that held another command's list
 * before. */
static void test_buffers_with_lists_from_the_pool(void **state) {
  struct fixture *fixture = *state;
  uint8_t *memory = sim_memory_take(fixture->stack->sim, BUFFER_BYTES + 8192, SIM_CACHED);

  for (unsigned i = 0; i < 12; i++) {
    const uint32_t blocks = BUFFER_BYTES / BLOCK - 16u * i;
    uint8_t *data = memory + LINE * (1u + 13u * i);
    struct request request = {
        .io = {.op = SPATE_WRITE, .flags = SPATE_IO_CPU, .lba = 20000, .blocks = blocks, .buffer = data}, .data = data};
    fill(data, blocks * BLOCK, 600 + i);
    do_request(fixture, &request);
    assert_on_medium(fixture, 20000, blocks, 600 + i);
    memset(memory, 0x11, BUFFER_BYTES + 8192);
    request = (struct request){
        .io = {.op = SPATE_READ, .flags = SPATE_IO_CPU, .lba = 20000, .blocks = blocks, .buffer = data},
        .data = data,
        .seed = 600 + i,
        .check = true};
    do_request(fixture, &request);
  }
}

static void test_trim_ranges_arrive(void **state) {
  struct fixture *fixture = *state;
  static const uint8_t zeros[16 * BLOCK];

  for (unsigned i = 0; i < 20; i++) {
    const uint64_t lba = 1000 + 64ull * i;
    put_on_medium(fixture, lba, 48, 700 + i);
    struct request request = {.io = {.op = SPATE_TRIM, .lba = lba + 16, .blocks = 16}};
    do_request(fixture, &request);
    assert_on_medium(fixture, lba, 16, 700 + i);
    sim_store_read(sim_drive_store(fixture->drive), (lba + 16) * BLOCK, fixture->actual, sizeof zeros);
    assert_memory_equal(fixture->actual, zeros, sizeof zeros);
  }
}

/* ---- recovery ---- */

/* Rings are initialised again in memory that is full of old entries. */
static void test_a_reset_in_the_middle(void **state) {
  struct fixture *fixture = *state;
  const struct spate_region *region = sim_stack_region(fixture->stack, BUFFER_BYTES, SIM_CACHED);

  for (unsigned lap = 0; lap < 3; lap++) {
    struct request requests[8] = {0};
    for (unsigned i = 0; i < 8; i++) {
      uint8_t *data = region->start + (size_t)i * 16384;
      requests[i].io = (struct spate_io){.op = SPATE_WRITE,
                                         .flags = SPATE_IO_CPU,
                                         .lba = 40000 + 32ull * i,
                                         .blocks = 32,
                                         .region = region,
                                         .offset_bytes = (uint64_t)i * 16384};
      fill(data, 16384, 800 + lap * 8 + i);
      submit(fixture, &requests[i]);
    }
    fixture->block->ops->kick(fixture->block);
    sim_spend(fixture->stack->sim, 2 * SIM_PS_PER_US);
    sim_drive_reset(fixture->drive);
    for (unsigned i = 0; i < 8; i++) {
      wait_for(fixture, &requests[i]);
      assert_on_medium(fixture, 40000 + 32ull * i, 32, 800 + lap * 8 + i);
    }
    assert_int_equal(spate_nvme_counters(fixture->nvme)->resets, lap + 1);
    assert_int_equal(spate_nvme_health_read(fixture->nvme), SPATE_OK);
  }
}

/* All of the above, on several drives in turn, each as the last run left it. */
static void test_a_restarted_host(void **state) {
  struct fixture *fixture = *state;

  for (unsigned i = 0; i < 2; i++) {
    sim_stack_restart(fixture->stack);
    memset(fixture->stack->drives[0].host_buffer, 0xd2, HOST_BUFFER_BYTES);
    assert_int_equal(sim_stack_open(fixture->stack), SPATE_OK);
    fixture->block = fixture->stack->block;
    test_identity_and_features_arrive(state);
    test_the_host_memory_buffer_belongs_to_the_drive(state);
    test_plain_reads_one_by_one(state);
  }
}

#define on_a_drive(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      on_a_drive(test_identity_and_features_arrive),
      on_a_drive(test_each_health_log_is_a_fresh_one),
      on_a_drive(test_the_host_memory_buffer_belongs_to_the_drive),
      on_a_drive(test_admin_requests_in_cached_memory),
      on_a_drive(test_plain_requests_on_a_region),
      on_a_drive(test_plain_reads_one_by_one),
      on_a_drive(test_cpu_writes_from_a_region),
      on_a_drive(test_cpu_reads_between_dirty_neighbours),
      on_a_drive(test_buffers_with_lists_from_the_pool),
      on_a_drive(test_trim_ranges_arrive),
      on_a_drive(test_a_reset_in_the_middle),
      on_a_drive(test_a_restarted_host),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
