/* SPDX-License-Identifier: Apache-2.0 */
/* The block interface on a drive that works: requests, their limits, and cache maintenance. */
#include "nvme_fixture.h"
#include <spate/port.h>

static void test_write_and_read_back_on_a_region(void **state) {
  for (unsigned shift = 9; shift <= 12; shift += 3) {
    struct fixture *f = fixture_make(shift);
    fixture_open(f, 16);
    const uint32_t sizes[] = {1u << shift, 4096, 8192, 12288, 65536, 131072, 262144, 1u << 20};
    uint64_t offset = 0;
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
      const uint32_t blocks = sizes[i] >> shift;
      fill_pattern(f->ring_memory + offset, sizes[i], i);
      struct spate_io io = {
          .op = SPATE_WRITE, .lba = 100, .blocks = blocks, .region = &f->ring, .offset_bytes = offset};
      assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
      expect_media(f, (100u << shift), f->ring_memory + offset, sizes[i]);
      io.op = SPATE_READ;
      io.offset_bytes = 8u << 20;
      memset(f->ring_memory + io.offset_bytes, 0, sizes[i]);
      assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
      assert_memory_equal(f->ring_memory + io.offset_bytes, f->ring_memory + offset, sizes[i]);
      offset += (sizes[i] + 4095u) & ~UINT64_C(4095);
    }
    fixture_free(f);
  }
  (void)state;
}

static void test_blocks_beyond_2_tib(void **state) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.bytes = UINT64_C(3) << 40}, 1);
  fixture_open(f, 4);
  assert_int_equal(fixture_do(f, write_of(f, UINT64_C(0x100000005), 8), NULL), SPATE_OK);
  assert_int_equal(io_command(f, 0)->dwords[10], 5);
  assert_int_equal(io_command(f, 0)->dwords[11], 1);
  fixture_free(f);
  (void)state;
}

static void test_one_doorbell_for_a_batch(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcomes[8];
  fixture_open(f, 16);
  spend_us(f, 1000);
  const uint64_t before = sim_drive_counters(f->drive)->doorbells;
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(
        fixture_submit(f, &outcomes[i],
                       (struct spate_io){.op = SPATE_WRITE, .blocks = 8, .region = &f->ring, .lba = 8 * i}),
        SPATE_OK);
  assert_int_equal(sim_drive_counters(f->drive)->doorbells, before);
  spate_block_kick(&f->queue.block);
  spate_block_kick(&f->queue.block);
  spend_us(f, 1000);
  assert_int_equal(sim_drive_counters(f->drive)->doorbells, before + 1);
  assert_int_equal(spate_block_poll(&f->queue.block, 32), 8);
  spend_us(f, 1000);
  assert_int_equal(sim_drive_counters(f->drive)->doorbells, before + 2);
  assert_int_equal(spate_nvme_counters(&f->nvme)->commands, 8);
  assert_int_equal(spate_nvme_counters(&f->nvme)->completions, 8);
  fixture_free(f);
  (void)state;
}

static void test_poll_rings_pending_doorbells(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcome;
  fixture_open(f, 4);
  assert_int_equal(fixture_submit(f, &outcome, (struct spate_io){.op = SPATE_READ, .blocks = 1, .region = &f->ring}),
                   SPATE_OK);
  assert_true(fixture_wait(f, &outcome, 1));
  fixture_free(f);
  (void)state;
}

static void test_poll_reaps_no_more_than_asked(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcomes[10];
  fixture_open(f, 16);
  for (unsigned i = 0; i < 10; i++)
    assert_int_equal(
        fixture_submit(f, &outcomes[i], (struct spate_io){.op = SPATE_READ, .blocks = 1, .region = &f->ring}),
        SPATE_OK);
  spate_block_kick(&f->queue.block);
  spend_us(f, 1000);
  assert_int_equal(spate_block_poll(&f->queue.block, 3), 3);
  assert_int_equal(spate_block_poll(&f->queue.block, 0), 0);
  assert_int_equal(spate_block_poll(&f->queue.block, 100), 7);
  fixture_free(f);
  (void)state;
}

static void test_full_is_an_answer_and_ends(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcomes[5];
  fixture_open(f, 4);
  const struct spate_io io = {.op = SPATE_WRITE, .blocks = 1, .region = &f->ring};
  for (unsigned i = 0; i < 4; i++)
    assert_int_equal(fixture_submit(f, &outcomes[i], io), SPATE_OK);
  assert_int_equal(fixture_submit(f, &outcomes[4], io), SPATE_E_FULL);
  assert_true(fixture_wait(f, &outcomes[0], 10));
  assert_int_equal(fixture_submit(f, &outcomes[4], io), SPATE_OK);
  assert_true(fixture_wait(f, &outcomes[4], 10));
  fixture_free(f);
  (void)state;
}

/* With two free slots, a request of three commands takes none of them. */
static void test_request_in_parts_is_accepted_whole_or_not_at_all(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcomes[3];
  fixture_open(f, 4);
  const struct spate_io small = {.op = SPATE_WRITE, .blocks = 1, .region = &f->ring};
  const struct spate_io large = {.op = SPATE_WRITE, .blocks = 768, .region = &f->ring};
  assert_int_equal(fixture_submit(f, &outcomes[0], small), SPATE_OK);
  assert_int_equal(fixture_submit(f, &outcomes[1], small), SPATE_OK);
  assert_int_equal(fixture_submit(f, &outcomes[2], large), SPATE_E_FULL);
  assert_true(fixture_wait(f, &outcomes[1], 10));
  assert_int_equal(io_count(f), 2);
  assert_int_equal(fixture_submit(f, &outcomes[2], large), SPATE_OK);
  assert_true(fixture_wait(f, &outcomes[2], 10));
  assert_int_equal(outcomes[2].calls, 1);
  assert_int_equal(io_count(f), 5);
  fixture_free(f);
  (void)state;
}

static void test_largest_request_fits_an_idle_queue_at_any_offset(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 8);
  const uint32_t blocks = f->queue.block.request_blocks_max;
  for (uint64_t offset = 0; offset < 262144; offset += 4092) {
    struct spate_io io = {.op = SPATE_READ, .blocks = blocks, .region = &f->ring, .offset_bytes = offset};
    assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
    io.region = NULL;
    io.buffer = f->ring_memory + offset;
    assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
  }
  const struct spate_io more = {.op = SPATE_READ, .blocks = blocks + 1, .region = &f->ring};
  assert_int_equal(fixture_do(f, more, NULL), SPATE_E_INVALID);
  fixture_free(f);
  (void)state;
}

static void test_invalid_requests(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 8);
  const uint64_t end = f->queue.block.blocks;
  const struct spate_region *ring = &f->ring;
  const struct spate_io bad[] = {
      {.op = SPATE_READ, .blocks = 0, .region = ring},
      {.op = SPATE_WRITE, .blocks = 0, .region = ring, .offset_bytes = 4096, .lba = 5},
      {.op = SPATE_WRITE, .lba = end, .blocks = 1, .region = ring},
      {.op = SPATE_WRITE, .lba = end - 1, .blocks = 2, .region = ring},
      {.op = SPATE_WRITE, .lba = end - 255, .blocks = 256, .region = ring},
      {.op = SPATE_WRITE, .lba = UINT64_MAX, .blocks = 1, .region = ring},
      {.op = SPATE_WRITE, .lba = UINT64_MAX, .blocks = 2, .region = ring},
      {.op = SPATE_WRITE, .blocks = 1, .region = ring, .offset_bytes = 2},
      {.op = SPATE_WRITE, .blocks = 1, .region = ring, .offset_bytes = FIXTURE_RING_BYTES},
      {.op = SPATE_WRITE, .blocks = 16, .region = ring, .offset_bytes = FIXTURE_RING_BYTES - 4096},
      {.op = SPATE_WRITE, .blocks = 1, .region = ring, .offset_bytes = UINT64_MAX - 4095},
      {.op = SPATE_WRITE, .blocks = 256, .region = ring, .offset_bytes = UINT64_MAX - 65535},
      {.op = SPATE_WRITE, .blocks = 1, .region = ring, .offset_bytes = UINT64_C(1) << 63},
      {.op = SPATE_WRITE, .blocks = UINT32_MAX, .region = ring},
      {.op = SPATE_WRITE, .blocks = 1},
      {.op = SPATE_WRITE, .blocks = 1, .buffer = f->ring_memory + 1},
      {.op = SPATE_FLUSH, .blocks = 1},
      {.op = SPATE_FLUSH, .lba = 1},
      {.op = SPATE_TRIM, .lba = end - 1, .blocks = 2},
      {.op = SPATE_ZERO, .blocks = 0},
      {.op = SPATE_ZERO + 1, .blocks = 1, .region = ring},
  };
  for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(fixture_do(f, bad[i], NULL), SPATE_E_INVALID);
  assert_int_equal(io_count(f), 0);
  const struct spate_io good = {.op = SPATE_WRITE, .lba = end - 1, .blocks = 1, .region = ring};
  assert_int_equal(fixture_do(f, good, NULL), SPATE_OK);
  fixture_free(f);
  (void)state;
}

static void test_flush_fua_zero_trim(void **state) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.deallocated = 1}, 1);
  fixture_open(f, 8);
  memset(f->ring_memory, 0x5a, 1u << 20);
  media_write(f, 0, f->ring_memory, 1u << 20);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_FLUSH}, NULL), SPATE_OK);
  assert_int_equal(io_command(f, 0)->dwords[0] & 0xff, 0);
  const struct spate_io fua = {.op = SPATE_WRITE, .flags = SPATE_IO_FUA, .blocks = 8, .region = &f->ring, .lba = 64};
  assert_int_equal(fixture_do(f, fua, NULL), SPATE_OK);
  assert_int_equal(io_command(f, 1)->dwords[12], 7u | 1u << 30);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_ZERO, .lba = 10, .blocks = 20}, NULL), SPATE_OK);
  assert_int_equal(media_byte(f, 10 * 512 - 1), 0x5a);
  assert_int_equal(media_byte(f, 10 * 512), 0);
  assert_int_equal(media_byte(f, 30 * 512 - 1), 0);
  assert_int_equal(media_byte(f, 30 * 512), 0x5a);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_TRIM, .lba = 50, .blocks = 3}, NULL), SPATE_OK);
  assert_int_equal(media_byte(f, 50 * 512), 0xff);
  assert_int_equal(media_byte(f, 53 * 512), 0x5a);
  fixture_free(f);
  (void)state;
}

static struct fixture *drive_that_reads_4k_of_ranges(unsigned depth) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.deallocated = 1, .reads_4k_of_ranges = true}, 1);

  fixture_open(f, depth);
  return f;
}

/* Several at once: each has its turn with the one range, which begins a page of zeros. */
static void test_concurrent_trims(void **state) {
  struct fixture *f = drive_that_reads_4k_of_ranges(8);
  struct outcome outcomes[8];
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(
        fixture_submit(f, &outcomes[i], (struct spate_io){.op = SPATE_TRIM, .lba = 100u * i, .blocks = i + 1}),
        SPATE_OK);
  fixture_poll_ms(f, 1);
  for (unsigned i = 0; i < 800; i++)
    assert_int_equal(media_byte(f, i * 512u), i % 100 <= i / 100 ? 0xff : 0);
  fixture_free(f);
  (void)state;
}

struct trims {
  struct fixture *f;
  struct spate_io io;
  unsigned left;
};

/* Submits the next TRIM from `done`, before any that waits is sent. */
static void trim_again(struct spate_io *io) {
  struct trims *trims = io->context;

  assert_int_equal(io->error, SPATE_OK);
  if (trims->left == 0) return;
  trims->left--;
  assert_int_equal(spate_block_submit(&trims->f->queue.block, &trims->io), SPATE_OK);
}

/* A TRIM that waits has its turn beside a program that submits the next one from `done`. */
static void test_each_trim_has_its_turn(void **state) {
  struct fixture *f = drive_that_reads_4k_of_ranges(8);
  struct trims trims = {.f = f, .left = 1000};
  struct outcome waiting[6];

  trims.io = (struct spate_io){.op = SPATE_TRIM, .lba = 1000, .blocks = 8, .done = trim_again, .context = &trims};
  assert_int_equal(spate_block_submit(&f->queue.block, &trims.io), SPATE_OK);
  for (unsigned i = 0; i < 6; i++)
    assert_int_equal(
        fixture_submit(f, &waiting[i], (struct spate_io){.op = SPATE_TRIM, .lba = 100u * i, .blocks = i + 1}),
        SPATE_OK);
  for (unsigned i = 0; i < 6; i++)
    assert_true(fixture_wait(f, &waiting[i], 1000));
  assert_true(trims.left > 900);
  fixture_poll_ms(f, 1000);
  assert_int_equal(trims.left, 0);
  fixture_free(f);
  (void)state;
}

/* TRIMs that fail, are retried or are sent again after a reset keep the range until they end. */
static void test_trims_through_faults(void **state) {
  static const enum sim_action actions[] = {SIM_STATUS, SIM_LOSE, SIM_LATE};

  for (unsigned i = 0; i < sizeof actions / sizeof actions[0]; i++) {
    struct fixture *f = drive_that_reads_4k_of_ranges(8);
    struct outcome outcomes[24];
    f->nvme.config.command_timeout_ms = 100;
    const unsigned times = actions[i] == SIM_LOSE ? 1 : 3; /* a TRIM that is lost twice is the last one */
    fixture_fault(f, actions[i], false, 9, 2, times, actions[i] == SIM_STATUS ? 0x06 : 20);
    for (unsigned j = 0; j < 24; j++) {
      const struct spate_io io = {.op = j % 3 == 0 ? SPATE_WRITE : SPATE_TRIM,
                                  .lba = 100u * j,
                                  .blocks = 8,
                                  .region = j % 3 == 0 ? &f->ring : NULL};
      while (fixture_submit(f, &outcomes[j], io) == SPATE_E_FULL)
        fixture_poll(f);
    }
    for (unsigned j = 0; j < 24; j++) {
      assert_true(fixture_wait(f, &outcomes[j], 60000));
      assert_int_equal(outcomes[j].io.error, SPATE_OK);
      if (j % 3 != 0) assert_int_equal(media_byte(f, 100u * j * 512u + 8 * 512 - 1), 0xff);
    }
    fixture_free(f);
  }
  (void)state;
}

/* Remains of an earlier use in a request do not matter, on each path. */
static void test_requests_are_reused(void **state) {
  static const uint8_t flags[] = {0, SPATE_IO_FUA};
  for (unsigned i = 0; i < sizeof flags; i++) {
    struct fixture *f = fixture_make(9);
    struct spate_io io = {.op = SPATE_WRITE, .flags = flags[i], .blocks = 8, .region = &f->ring};
    fixture_open(f, 4);
    io.error = SPATE_E_MEDIA;
    io.detail = 0x4281;
    io.parts_left = 7;
    uint16_t detail = 1;
    assert_int_equal(fixture_do(f, io, &detail), SPATE_OK);
    assert_int_equal(detail, 0);
    fixture_free(f);
  }
  (void)state;
}

/* A request may cover its whole region. No cache maintenance is done where the CPU does not access the data. */
static void test_requests_as_long_as_their_region(void **state) {
  struct fixture *f = fixture_make(9);
  struct spate_region small;
  fixture_open(f, 4);
  assert_int_equal(spate_region_init(&small, f->ring_memory, 8192, &f->arena), SPATE_OK);
  struct cache_calls calls = {0};
  sim_trace(f->sim, count_cache_calls, &calls);
  for (uint32_t offset = 0; offset <= 512; offset += 4) {
    const struct spate_io write = {
        .op = SPATE_WRITE, .flags = SPATE_IO_FUA, .blocks = 16, .region = &small, .offset_bytes = offset};
    assert_int_equal(fixture_do(f, write, NULL), offset == 0 ? SPATE_OK : SPATE_E_INVALID);
    const struct spate_io read = {.op = SPATE_READ, .blocks = 15, .region = &small, .offset_bytes = offset};
    assert_int_equal(fixture_do(f, read, NULL), SPATE_OK);
  }
  assert_int_equal(calls.cleans, 0);
  assert_int_equal(calls.invalidates, 0);
  fixture_free(f);
  (void)state;
}

static void test_long_zero_is_split_and_long_trim_is_not(void **state) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.bytes = UINT64_C(1) << 42}, 1);
  fixture_open(f, 4);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_ZERO, .lba = 7, .blocks = 150000}, NULL), SPATE_OK);
  assert_int_equal(io_count(f), 3);
  assert_int_equal(io_command(f, 2)->dwords[10], 7 + 131072);
  assert_int_equal(io_command(f, 2)->dwords[12], 150000 - 131072 - 1);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_ZERO, .blocks = 5u * 65536u}, NULL), SPATE_E_INVALID);
  fixture_fault(f, SIM_STATUS, false, 9, 0, 1, 0);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_TRIM, .blocks = UINT32_MAX}, NULL), SPATE_OK);
  assert_int_equal(io_count(f), 4);
  fixture_free(f);
  (void)state;
}

static void test_missing_operations_are_unsupported(void **state) {
  struct fixture *f = fixture_make(9);
  controller_page(f)[520] = 0;
  fixture_open(f, 4);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_TRIM, .blocks = 1}, NULL), SPATE_E_UNSUPPORTED);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_ZERO, .blocks = 1}, NULL), SPATE_E_UNSUPPORTED);
  fixture_free(f);
  (void)state;
}

static void test_cpu_requests_maintain_the_cache(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  struct spate_io io = {
      .op = SPATE_WRITE, .flags = SPATE_IO_CPU, .blocks = 3, .region = &f->ring, .offset_bytes = 8192};
  struct cache_calls calls = {0};
  sim_trace(f->sim, count_cache_calls, &calls);
  assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
  assert_int_equal(calls.cleans, 1);
  assert_int_equal(calls.invalidates, 0);
  assert_int_equal(calls.address, sim_memory_address(f->sim, f->ring_memory + 8192));
  assert_int_equal(calls.bytes, 1536);
  io = (struct spate_io){.op = SPATE_READ, .flags = SPATE_IO_CPU, .blocks = 600, .buffer = f->ring_memory};
  assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
  assert_int_equal(calls.cleans, 1);
  assert_int_equal(calls.invalidates, 2); /* before the transfer, and once after the last part */
  assert_int_equal(calls.bytes, 600 * 512);
  f->ring.start = NULL;
  io = (struct spate_io){.op = SPATE_WRITE, .flags = SPATE_IO_CPU, .blocks = 3, .region = &f->ring};
  assert_int_equal(fixture_do(f, io, NULL), SPATE_E_INVALID);
  fixture_free(f);
  (void)state;
}

/* Invalidating part of a cache line would lose what the CPU wrote next to it. */
static void test_cpu_requests_are_of_whole_cache_lines(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  for (unsigned op = SPATE_READ; op <= SPATE_WRITE; op++)
    for (uint64_t offset_bytes = 4; offset_bytes <= 128; offset_bytes += 4) {
      struct cache_calls calls = {0};
      const bool whole = offset_bytes % SPATE_DMA_ALIGN == 0;
      struct spate_io io = {.op = (uint8_t)op, .flags = SPATE_IO_CPU, .blocks = 2};
      sim_trace(f->sim, count_cache_calls, &calls);
      io.region = &f->ring;
      io.offset_bytes = offset_bytes;
      assert_int_equal(fixture_do(f, io, NULL), whole ? SPATE_OK : SPATE_E_INVALID);
      io.region = NULL;
      io.buffer = f->ring_memory + offset_bytes;
      assert_int_equal(fixture_do(f, io, NULL), whole ? SPATE_OK : SPATE_E_INVALID);
      assert_true(whole || (calls.invalidates == 0 && calls.cleans == 0));
      sim_trace(f->sim, NULL, NULL);
      io.flags = 0; /* dword alignment is enough for devices */
      assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
    }
  fixture_free(f);
  (void)state;
}

static void resubmit(struct spate_io *io) {
  struct outcome *outcome = io->context;
  if (++outcome->calls < 500)
    assert_int_equal(spate_block_submit((struct spate_block *)outcome->io.buffer, io), SPATE_OK);
}

static void test_done_may_submit(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcomes[4];
  fixture_open(f, 4);
  for (unsigned i = 0; i < 4; i++) {
    outcomes[i] = (struct outcome){.io = {.op = SPATE_READ, .blocks = 8, .region = &f->ring, .done = resubmit}};
    outcomes[i].io.context = &outcomes[i];
    outcomes[i].io.buffer = &f->queue.block;
    assert_int_equal(spate_block_submit(&f->queue.block, &outcomes[i].io), SPATE_OK);
  }
  fixture_poll_ms(f, 200);
  for (unsigned i = 0; i < 4; i++)
    assert_int_equal(outcomes[i].calls, 500);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_write_and_read_back_on_a_region),
      cmocka_unit_test(test_blocks_beyond_2_tib),
      cmocka_unit_test(test_one_doorbell_for_a_batch),
      cmocka_unit_test(test_poll_rings_pending_doorbells),
      cmocka_unit_test(test_poll_reaps_no_more_than_asked),
      cmocka_unit_test(test_full_is_an_answer_and_ends),
      cmocka_unit_test(test_request_in_parts_is_accepted_whole_or_not_at_all),
      cmocka_unit_test(test_largest_request_fits_an_idle_queue_at_any_offset),
      cmocka_unit_test(test_invalid_requests),
      cmocka_unit_test(test_flush_fua_zero_trim),
      cmocka_unit_test(test_concurrent_trims),
      cmocka_unit_test(test_each_trim_has_its_turn),
      cmocka_unit_test(test_trims_through_faults),
      cmocka_unit_test(test_requests_are_reused),
      cmocka_unit_test(test_requests_as_long_as_their_region),
      cmocka_unit_test(test_long_zero_is_split_and_long_trim_is_not),
      cmocka_unit_test(test_missing_operations_are_unsupported),
      cmocka_unit_test(test_cpu_requests_maintain_the_cache),
      cmocka_unit_test(test_cpu_requests_are_of_whole_cache_lines),
      cmocka_unit_test(test_done_may_submit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
