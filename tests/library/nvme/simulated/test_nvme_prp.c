/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/* PRPs checked by an independent reader (the virtual drive's), for buffers at odd addresses and of odd lengths. */
#include "nvme_fixture.h"
#include <sys/mman.h>

static uint32_t seed = 2463534242u;

static uint32_t random_below(uint32_t limit) {
  seed ^= seed << 13;
  seed ^= seed >> 17;
  seed ^= seed << 5;
  return seed % limit;
}

/* A drive with any MDTS that follows the last entry of a list page as a pointer, whatever it is. */
static struct fixture *huge_drive(unsigned shift, uint8_t mdts, unsigned depth) {
  struct fixture *f =
      fixture_make_with((struct sim_drive_options){.block_shift = (uint8_t)shift, .follows_last_entry = true}, 1);
  controller_page(f)[77] = mdts;
  fixture_open(f, depth);
  return f;
}

/* The media holds a pattern, which the caller frees. */
static uint8_t *patterned_media(struct fixture *f, size_t bytes, uint32_t pattern) {
  uint8_t *media = malloc(bytes);

  assert_non_null(media);
  fill_pattern(media, bytes, pattern);
  media_write(f, 0, media, bytes);
  return media;
}

static void random_transfers(unsigned shift, uint8_t mdts, bool on_region, unsigned count) {
  struct fixture *f = huge_drive(shift, mdts, 16);
  const uint32_t blocks_max =
      f->queue.block.request_blocks_max < (6u << 20 >> shift) ? f->queue.block.request_blocks_max : 6u << 20 >> shift;
  uint8_t *media = patterned_media(f, FIXTURE_DRIVE_BYTES, 1);
  for (unsigned i = 0; i < count; i++) {
    const uint32_t blocks = 1 + random_below(random_below(4) == 0 ? blocks_max : blocks_max / 16 + 1);
    const uint64_t lba = random_below((8u << 20 >> shift) - blocks_max);
    uint64_t offset = random_below(9u << 20) & ~3u;
    if (random_below(4) == 0) offset &= ~UINT64_C(4095);
    /* As spate/block.h promises. */
    const uint32_t most_blocks = offset % (1u << shift) == 0 ? blocks_max : f->queue.block.request_blocks_max / 2;
    struct spate_io io = {.op = SPATE_READ, .lba = lba, .blocks = blocks < most_blocks ? blocks : most_blocks};
    if (on_region) {
      io.region = &f->ring;
      io.offset_bytes = offset;
    } else {
      io.buffer = f->ring_memory + offset;
    }
    const uint64_t bytes = (uint64_t)io.blocks << shift;
    uint8_t *start = f->ring_memory + offset;
    start[-4 + (offset < 4 ? 4 : 0)] = 0x77;
    start[bytes] = 0x77;
    assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
    assert_memory_equal(start, media + (lba << shift), bytes);
    assert_int_equal(start[bytes], 0x77);
    if (offset >= 4) assert_int_equal(start[-4], 0x77);
  }
  free(media);
  fixture_free(f);
}

static void test_random_buffers(void **state) {
  const uint8_t mdts[] = {1, 2, 5, 9, 10, 0};
  for (unsigned i = 0; i < sizeof mdts; i++)
    for (unsigned shift = 9; shift <= 12; shift += 3)
      random_transfers(shift, mdts[i], false, 400);
  (void)state;
}

static void test_random_regions(void **state) {
  const uint8_t mdts[] = {1, 2, 5, 9, 10, 0};
  for (unsigned i = 0; i < sizeof mdts; i++)
    for (unsigned shift = 9; shift <= 12; shift += 3)
      random_transfers(shift, mdts[i], true, 400);
  (void)state;
}

/* Every length around the boundaries where the form of the PRPs changes, at every dword offset that matters. */
static void test_edges_of_pages_and_lists(void **state) {
  struct fixture *f = huge_drive(9, 0, 8);
  const uint32_t lengths[] = {1, 7, 8, 9, 15, 16, 17, 4087, 4088, 4089, 4095, 4096, 4097, 8175, 8176, 8184, 8192};
  const uint32_t offsets[] = {0, 4, 512, 2048, 3584, 3588, 4092, 4096 * 511, 4096 * 511 + 4, 4096 * 512 - 4};
  for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    for (unsigned j = 0; j < sizeof offsets / sizeof offsets[0]; j++) {
      struct spate_io io = {.op = SPATE_WRITE, .blocks = lengths[i], .buffer = f->ring_memory + offsets[j]};
      fill_pattern(io.buffer, 4096, i * 100 + j);
      assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
      expect_media(f, 0, f->ring_memory + offsets[j], (size_t)lengths[i] * 512);
      io = (struct spate_io){
          .op = SPATE_READ, .blocks = lengths[i], .region = &f->ring, .offset_bytes = 4096 * 2048 + offsets[j] % 8192};
      assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
      expect_media(f, 0, f->ring_memory + io.offset_bytes, (size_t)lengths[i] * 512);
    }
  }
  fixture_free(f);
  (void)state;
}

/*
 * Around the multiples of 2 MiB in a region, and around the lengths at which a list needs another page: each command's
 * list is read by the drive, for which an address of data in the last entry of a page is a violation.
 */
static void lists_of(struct fixture *f, const struct spate_region *region, unsigned shift) {
  static const uint32_t pages[] = {0, 1, 509, 510, 511, 512, 513, 1023};
  static const uint32_t in_page[] = {0, 4, 512, 2048, 3584, 4092};
  static const uint32_t lengths[] = {1, 2, 3, 510, 511, 512, 513, 514, 1022, 1023, 1024};
  const uint32_t blocks_per_page = 4096u >> shift;

  for (unsigned i = 0; i < sizeof pages / sizeof pages[0]; i++)
    for (unsigned j = 0; j < sizeof in_page / sizeof in_page[0]; j++)
      for (unsigned k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        for (uint32_t less = 0; less < blocks_per_page; less += blocks_per_page - (blocks_per_page > 1)) {
          struct spate_io io = {.op = SPATE_WRITE, .blocks = lengths[k] * blocks_per_page - less};
          const uint64_t offset = pages[i] * UINT64_C(4096) + in_page[j];
          io.region = region;
          io.offset_bytes = offset;
          if (region == NULL) {
            io.offset_bytes = 0;
            io.buffer = f->ring_memory + offset;
          }
          assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
        }
}

static void test_no_list_ends_a_page_with_data(void **state) {
  for (unsigned shift = 9; shift <= 12; shift += 3) {
    struct fixture *f = huge_drive(shift, 0, 16);
    lists_of(f, &f->ring, shift);
    lists_of(f, NULL, shift);
    fixture_free(f);
  }
  (void)state;
}

/* 4 MiB less a page if it starts a page, otherwise one block less: 1023 pages. */
static void test_four_mebibytes_in_one_command(void **state) {
  for (uint32_t offset = 0; offset <= 4092; offset += 4092) {
    struct fixture *f = huge_drive(9, 10, 4);
    const struct spate_io io = {.op = SPATE_READ, .blocks = 8184, .buffer = f->ring_memory + offset};
    uint8_t *media = patterned_media(f, 4u << 20, 9);
    assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
    assert_int_equal(io_command(f, 0)->dwords[12] + 1u, 8184u - (offset == 0 ? 0u : 8u));
    assert_int_equal(io_count(f), offset == 0 ? 1 : 2);
    assert_memory_equal(f->ring_memory + offset, media, 8184u * 512u);
    free(media);
    fixture_free(f);
  }
  (void)state;
}

static void test_split_at_mdts(void **state) {
  struct fixture *f = huge_drive(9, 5, 16);
  const struct spate_io io = {.op = SPATE_READ, .blocks = 1000, .region = &f->ring, .lba = 77};
  assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
  assert_int_equal(io_count(f), 4);
  uint32_t next = 77;
  for (unsigned i = 0; i < 4; i++) {
    assert_int_equal(io_command(f, i)->dwords[10], next);
    next += (io_command(f, i)->dwords[12] & 0xffff) + 1;
  }
  assert_int_equal(next, 1077);
  fixture_free(f);
  (void)state;
}

/* More commands with lists than list pages exist: they take turns, and all end. */
static void test_list_pages_are_shared(void **state) {
  struct fixture *f = huge_drive(9, 5, 32);
  struct outcome outcomes[32];
  fixture_fault(f, SIM_LATE, false, -1, 0, UINT32_MAX, 3);
  for (unsigned i = 0; i < 32; i++) {
    fill_pattern(f->ring_memory + i * 131072u, 131072, i);
    assert_int_equal(
        fixture_submit(f, &outcomes[i],
                       (struct spate_io){
                           .op = SPATE_WRITE, .lba = 256 * i, .blocks = 256, .buffer = f->ring_memory + i * 131072u}),
        SPATE_OK);
  }
  fixture_poll_ms(f, 100);
  for (unsigned i = 0; i < 32; i++) {
    assert_int_equal(outcomes[i].calls, 1);
    assert_int_equal(outcomes[i].io.error, SPATE_OK);
  }
  expect_media(f, 0, f->ring_memory, 32 * 131072);
  fixture_free(f);
  (void)state;
}

/* Scattered pages: the region's table determines the addresses. */
static uint64_t scattered_page(void *context, uint64_t page) {
  return *(const uint64_t *)context + ((page * 37) % 1024) * 4096;
}

static void test_scattered_region(void **state) {
  struct fixture *f = huge_drive(9, 6, 8);
  struct spate_region scattered;
  uint8_t *expected = malloc(1024 * 4096);
  uint64_t ring = sim_memory_address(f->sim, f->ring_memory);
  assert_int_equal(spate_region_init_scattered(&scattered, NULL, 1024 * 4096, scattered_page, &ring, &f->arena),
                   SPATE_OK);
  fill_pattern(f->ring_memory, 1024 * 4096, 3);
  for (uint64_t i = 0; i < 1024; i++)
    memcpy(expected + 4096 * i, f->ring_memory + ((i * 37) % 1024) * 4096, 4096);
  for (unsigned i = 0; i < 300; i++) {
    const bool plain = i % 2 == 0; /* one command of few pages, which begins at the start of a page */
    const uint32_t blocks = 1 + random_below(plain ? 30 : 1500);
    const uint64_t offset = random_below(1024 * 4096 - 1500 * 512) & (plain ? ~UINT64_C(4095) : ~UINT64_C(3));
    const struct spate_io io = {.op = SPATE_WRITE, .blocks = blocks, .region = &scattered, .offset_bytes = offset};
    assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
    expect_media(f, 0, expected + offset, (size_t)blocks * 512);
  }
  free(expected);
  fixture_free(f);
  (void)state;
}

/*
 * The table of a region is in uncached memory, where a load may cost a processor more than a submission. If the pages
 * are consecutive, submission does not load from it: here the table cannot be read while requests are submitted.
 */
static void test_submitting_does_not_read_the_table(void **state) {
  static const uint32_t pages[] = {1, 2, 3, 32, 256, 512};
  const size_t table_bytes = SPATE_REGION_TABLE_BYTES(FIXTURE_RING_BYTES);
  struct fixture *f = huge_drive(12, 9, 8);
  uint8_t *table = sim_memory_take(f->sim, table_bytes, SIM_QUEUE), *media = patterned_media(f, 4u << 20, 8);
  struct spate_arena arena = {.start = table, .bytes = table_bytes};
  struct spate_region region;
  struct outcome outcomes[6];

  assert_int_equal(spate_region_init(&region, f->ring_memory, FIXTURE_RING_BYTES, &arena), SPATE_OK);
  assert_int_equal(mprotect(table, table_bytes, PROT_NONE), 0);
  for (unsigned i = 0; i < 6; i++) {
    const struct spate_io io = {
        .op = SPATE_READ, .blocks = pages[i], .lba = i, .region = &region, .offset_bytes = i * UINT64_C(2097152)};
    assert_int_equal(fixture_submit(f, &outcomes[i], io), SPATE_OK);
  }
  assert_int_equal(mprotect(table, table_bytes, PROT_READ | PROT_WRITE), 0); /* now the drive reads it */
  for (unsigned i = 0; i < 6; i++) {
    assert_true(fixture_wait(f, &outcomes[i], 1000));
    assert_memory_equal(f->ring_memory + i * (size_t)2097152, media + i * (size_t)4096, pages[i] * 4096u);
  }
  assert_int_equal(io_count(f), 6);
  free(media);
  fixture_free(f);
  (void)state;
}

static void test_tiny_namespace(void **state) {
  struct fixture *f = fixture_make(9);
  spate_put64(namespace_page(f), 5);
  fixture_open(f, 4);
  const struct spate_io all = {.op = SPATE_READ, .blocks = 5, .region = &f->ring};
  const struct spate_io more = {.op = SPATE_READ, .blocks = 6, .region = &f->ring};
  assert_int_equal(fixture_do(f, all, NULL), SPATE_OK);
  assert_int_equal(fixture_do(f, more, NULL), SPATE_E_INVALID);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_buffers),
      cmocka_unit_test(test_random_regions),
      cmocka_unit_test(test_edges_of_pages_and_lists),
      cmocka_unit_test(test_no_list_ends_a_page_with_data),
      cmocka_unit_test(test_four_mebibytes_in_one_command),
      cmocka_unit_test(test_split_at_mdts),
      cmocka_unit_test(test_list_pages_are_shared),
      cmocka_unit_test(test_scattered_region),
      cmocka_unit_test(test_submitting_does_not_read_the_table),
      cmocka_unit_test(test_tiny_namespace),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
