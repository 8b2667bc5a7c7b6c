/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces and the queues on them: which are listed, which are refused, and what limits a queue. */
#include "nvme_fixture.h"

static void test_namespaces_are_listed(void **state) {
  struct fixture *f = fixture_make(9);
  uint32_t nsids[2];
  unsigned count;
  sim_drive_namespaces(f->drive)[0] = 2;
  sim_drive_namespaces(f->drive)[1] = 5;
  sim_drive_namespaces(f->drive)[2] = 7;
  fixture_open(f, 4);
  assert_int_equal(f->queue.nsid, 2);
  assert_int_equal(spate_nvme_namespaces(&f->nvme, nsids, 2, &count), SPATE_OK);
  assert_int_equal(count, 3);
  assert_int_equal(nsids[1], 5);
  fixture_fault(f, SIM_GONE, true, 0x06, 0, 1, 0); /* a drive that is gone has none */
  assert_int_not_equal(spate_nvme_namespaces(&f->nvme, nsids, 2, &count), SPATE_OK);
  assert_int_equal(count, 0);
  fixture_free(f);
  (void)state;
}

static unsigned refused;

static void ask_meanwhile(void *context, uint64_t number) {
  struct fixture *f = context;
  struct spate_nvme_namespace namespace;
  (void)number;
  assert_int_equal(spate_nvme_namespace(&f->nvme, 1, &namespace), SPATE_E_BUSY);
  refused++;
}

/* spate_port_relax() may let another task run: it cannot ask as long as the first one waits for an answer. */
static void test_one_asks_at_a_time(void **state) {
  struct fixture *f = fixture_make(9);
  uint32_t nsids[2];
  unsigned count;
  fixture_open(f, 4);
  refused = 0;
  sim_at(f->sim, sim_now_ps(f->sim) + SIM_PS_PER_US, ask_meanwhile, f, 0);
  assert_int_equal(spate_nvme_namespaces(&f->nvme, nsids, 2, &count), SPATE_OK);
  assert_int_equal(refused, 1);
  assert_int_equal(count, 1);
  fixture_free(f);
  (void)state;
}

/* The driver does not ask a drive of NVMe 1.0 for a list. */
static void test_namespaces_without_a_list(void **state) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.version = 0x00010000}, 1);
  uint32_t nsids[3];
  unsigned count;
  spate_put32(controller_page(f) + 516, 9); /* NN */
  sim_drive_namespaces(f->drive)[0] = 2;
  sim_drive_namespaces(f->drive)[1] = 5;
  sim_drive_namespaces(f->drive)[2] = 9;
  fixture_open(f, 4);
  assert_int_equal(f->queue.nsid, 2);
  assert_int_equal(spate_nvme_namespaces(&f->nvme, nsids, 2, &count), SPATE_OK);
  assert_int_equal(count, 3);
  assert_int_equal(nsids[1], 5);
  sim_drive_namespaces(f->drive)[0] = 0;
  assert_int_equal(spate_nvme_namespaces(&f->nvme, nsids, 2, &count), SPATE_E_NO_NAMESPACE);
  fixture_free(f);
  f = fixture_make(9); /* a drive of a later version refuses the list: Invalid Field */
  fixture_fault(f, SIM_STATUS, true, 0x06, 1, 1, 0x4002);
  fixture_open(f, 4);
  assert_int_equal(f->queue.nsid, 1);
  fixture_free(f);
  (void)state;
}

/* FLBAS has the upper two bits of the index in bits 6:5. Drives with up to 16 formats do not use these bits. */
static void test_format_above_15(void **state) {
  for (unsigned formats = 16; formats <= 64; formats += 48) {
    struct fixture *f = fixture_make(9);
    struct spate_nvme_namespace namespace;
    uint8_t *page = namespace_page(f);
    page[25] = (uint8_t)(formats - 1);
    page[26] = 1 << 5 | 3 << 0; /* 19, or 3 */
    for (unsigned i = 0; i < formats; i++)
      spate_put32(page + 128 + 4 * i, UINT32_C(13) << 16);
    spate_put32(page + 128 + 4 * (formats > 16 ? 19 : 3), UINT32_C(12) << 16);
    assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
    assert_int_equal(spate_nvme_namespace(&f->nvme, 1, &namespace), SPATE_OK);
    assert_int_equal(namespace.formats, formats);
    assert_int_equal(namespace.format, formats > 16 ? 19 : 3);
    assert_int_equal(namespace.block_bytes, 4096);
    fixture_free(f);
  }
  (void)state;
}

static void test_queue_describes_namespace(void **state) {
  for (unsigned shift = 9; shift <= 12; shift += 3) {
    struct fixture *f = fixture_make(shift);
    fixture_open(f, 16);
    const struct spate_block *block = &f->queue.block;
    assert_int_equal(block->block_shift, shift);
    assert_int_equal(block->blocks, (8u << 20) >> shift);
    assert_int_equal(block->depth, 16);
    assert_int_equal(block->command_bytes_max, 131072);
    assert_int_equal(block->request_blocks_max, 15u * (131072u >> shift));
    assert_true(block->volatile_cache && block->can_trim && block->can_zero);
    fixture_free(f);
  }
  (void)state;
}

static enum spate_error open_queue_on(struct fixture *f, uint32_t nsid) {
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  return fixture_queue_open(f, &f->queue, nsid, 4);
}

static void test_unsuitable_namespaces_are_refused(void **state) {
  struct fixture *f = fixture_make(9);
  sim_drive_namespaces(f->drive)[0] = 0;
  assert_int_equal(open_queue_on(f, 0), SPATE_E_NO_NAMESPACE);
  assert_int_equal(fixture_queue_open(f, &f->queue, 3, 4), SPATE_E_NO_NAMESPACE);
  assert_int_equal(fixture_queue_open(f, &f->queue, 99, 4), SPATE_E_NO_NAMESPACE);
  fixture_free(f);
  f = fixture_make(9);
  spate_put16(namespace_page(f) + 128, 8); /* bytes of metadata */
  assert_int_equal(open_queue_on(f, 1), SPATE_E_METADATA);
  fixture_free(f);
  for (unsigned type = 1; type <= 4; type *= 2) {
    f = fixture_make(9);
    namespace_page(f)[29] = (uint8_t)type; /* protection information: the field has three bits */
    assert_int_equal(open_queue_on(f, 1), SPATE_E_METADATA);
    fixture_free(f);
  }
  const uint8_t sizes[] = {0, 8, 10, 11, 13, 31, 64, 255};
  for (unsigned i = 0; i < sizeof sizes; i++) {
    f = fixture_make(9);
    namespace_page(f)[130] = sizes[i];
    assert_int_equal(open_queue_on(f, 1), SPATE_E_BLOCK_SIZE);
    fixture_free(f);
  }
  f = fixture_make(9);
  namespace_page(f)[26] = 9; /* a format beyond the last */
  assert_int_equal(open_queue_on(f, 1), SPATE_E_BLOCK_SIZE);
  fixture_free(f);
  f = fixture_make(9);
  spate_put64(namespace_page(f), UINT64_MAX);
  assert_int_equal(open_queue_on(f, 1), SPATE_E_UNSUPPORTED);
  fixture_free(f);
  f = fixture_make(9);
  spate_put64(namespace_page(f), 0);
  assert_int_equal(open_queue_on(f, 1), SPATE_E_NO_NAMESPACE);
  fixture_free(f);
  (void)state;
}

/* 512 and 4096 bytes, each with metadata and without; the formats of 4096 bytes have the better performance. */
static void four_formats(struct fixture *f) {
  uint8_t *page = namespace_page(f);

  page[25] = 3;
  spate_put32(page + 128, UINT32_C(9) << 16 | UINT32_C(2) << 24);
  spate_put32(page + 132, UINT32_C(9) << 16 | 8);
  spate_put32(page + 136, UINT32_C(12) << 16 | UINT32_C(1) << 24);
  spate_put32(page + 140, UINT32_C(12) << 16 | UINT32_C(0) << 24 | 64);
}

static void test_format_picks_the_best_format(void **state) {
  struct fixture *f = fixture_make(9);
  struct spate_nvme_namespace namespace;
  four_formats(f);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  assert_int_equal(spate_nvme_format(&f->nvme, 1, 4096, SPATE_NVME_ERASE_USER, 60000), SPATE_OK);
  assert_int_equal(spate_nvme_namespace(&f->nvme, 1, &namespace), SPATE_OK);
  assert_int_equal(namespace.block_bytes, 4096);
  assert_int_equal(namespace.format, 2);
  assert_false(namespace.metadata);
  assert_int_equal(spate_nvme_format(&f->nvme, 1, 1024, SPATE_NVME_ERASE_NONE, 60000), SPATE_E_INVALID);
  assert_int_equal(fixture_queue_open(f, &f->queue, 1, 4), SPATE_OK);
  assert_int_equal(spate_nvme_format(&f->nvme, 1, 512, SPATE_NVME_ERASE_NONE, 60000), SPATE_E_BUSY);
  fixture_free(f);
  (void)state;
}

static void test_format_with_blocks_that_the_drive_lacks(void **state) {
  struct fixture *f = fixture_make(9);
  uint8_t *page = namespace_page(f);
  page[25] = 1;
  spate_put32(page + 128, UINT32_C(9) << 16);
  spate_put32(page + 132, UINT32_C(12) << 16 | 8); /* 4096 bytes, with metadata only */
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  assert_int_equal(spate_nvme_format(&f->nvme, 1, 4096, SPATE_NVME_ERASE_NONE, 60000), SPATE_E_UNSUPPORTED);
  assert_int_equal(spate_nvme_format(&f->nvme, 1, 512, SPATE_NVME_ERASE_NONE, 60000), SPATE_OK);
  fixture_free(f);
  (void)state;
}

static void test_queues_up_to_the_drives_limit(void **state) {
  struct fixture *f = fixture_make(9);
  struct spate_nvme_queue *more = calloc(4, sizeof *more);
  fixture_open(f, 4);
  for (unsigned i = 0; i < 3; i++)
    assert_int_equal(fixture_queue_open(f, &more[i], 0, 4), SPATE_OK);
  assert_int_equal(fixture_queue_open(f, &more[3], 0, 4), SPATE_E_FULL);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(sim_drive_counters(f->drive)->hot_shutdowns, 0);
  free(more);
  fixture_free(f);
  (void)state;
}

static void test_doorbells_stay_in_the_bar(void **state) {
  /* 1 KiB apart: queue 2's are at 2000h and 2400h */
  struct fixture *f = fixture_make_with((struct sim_drive_options){.doorbell_stride = 8}, 1);
  f->config.registers_bytes = 0x2000;
  fixture_open(f, 4);
  struct spate_nvme_queue *second = calloc(1, sizeof *second);
  assert_int_equal(fixture_queue_open(f, second, 0, 4), SPATE_E_FULL);
  free(second);
  fixture_free(f);
  (void)state;
}

static void test_depth_is_bounded_by_the_drive(void **state) {
  struct fixture *f = fixture_make(9);
  *sim_drive_cap(f->drive) = (*sim_drive_cap(f->drive) & ~UINT64_C(0xffff)) | 98; /* 99 entries: a ring of 64 */
  fixture_open(f, 255);
  assert_int_equal(f->queue.block.depth, 63);
  assert_int_equal(fixture_queue_open(f, &f->queue, 0, 1), SPATE_E_INVALID);
  assert_int_equal(fixture_queue_open(f, &f->queue, 0, 256), SPATE_E_INVALID);
  fixture_free(f);
  (void)state;
}

static void test_failed_queue_gives_its_identifier_back(void **state) {
  struct fixture *f = fixture_make(9);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  fixture_fault(f, SIM_STATUS, true, 0x01, 0, 1, 0x4006);
  assert_int_equal(fixture_queue_open(f, &f->queue, 0, 4), SPATE_E_COMMAND);
  assert_int_equal(spate_nvme_last_status(&f->nvme), 0x4006);
  assert_int_equal(fixture_queue_open(f, &f->queue, 0, 4), SPATE_OK);
  fixture_free(f);
  (void)state;
}

/* An arena of this many bytes, in memory of the machine that has no more. */
static void take_arena(struct fixture *f, size_t bytes) {
  f->arena = (struct spate_arena){.start = sim_memory_take(f->sim, bytes, SIM_QUEUE), .bytes = bytes};
}

/* One byte less is refused, and nothing of it is taken. */
static void test_memory_macros_are_exact(void **state) {
  const unsigned depths[] = {2, 3, 4, 31, 32, 63, 64, 127, 128, 255};
  for (unsigned i = 0; i < sizeof depths / sizeof depths[0]; i++) {
    struct fixture *f = fixture_make(9);
    *sim_drive_cap(f->drive) |= 0xffff;
    take_arena(f, SPATE_NVME_CONTROLLER_MEMORY_BYTES);
    f->arena.bytes--;
    assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_MEMORY);
    f->arena.bytes++;
    assert_int_equal(f->arena.used_bytes, 0);
    assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
    assert_int_equal(f->arena.used_bytes, f->arena.bytes);

    const unsigned list_pages = 1 + i % SPATE_NVME_LIST_PAGES_MAX;
    take_arena(f, SPATE_NVME_QUEUE_MEMORY_BYTES(depths[i], list_pages));
    f->arena.bytes--;
    assert_int_equal(fixture_queue_open_with(f, &f->queue, 0, depths[i], list_pages), SPATE_E_MEMORY);
    f->arena.bytes++;
    assert_int_equal(f->arena.used_bytes, 0);
    assert_int_equal(fixture_queue_open_with(f, &f->queue, 0, depths[i], list_pages), SPATE_OK);
    assert_int_equal(f->queue.block.depth, depths[i]);
    assert_int_equal(f->arena.used_bytes, f->arena.bytes);
    fixture_free(f);
  }
  (void)state;
}

/* An arena that does not begin at a page needs up to a page more. */
static void test_an_arena_may_begin_anywhere(void **state) {
  struct fixture *f = fixture_make(9);
  f->arena = (struct spate_arena){.start = f->memory + 1, .bytes = SPATE_NVME_CONTROLLER_MEMORY_BYTES};
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_MEMORY);
  f->arena.bytes += SPATE_PAGE_BYTES - 1;
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  assert_int_equal(f->arena.used_bytes, f->arena.bytes);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_namespaces_are_listed),
      cmocka_unit_test(test_one_asks_at_a_time),
      cmocka_unit_test(test_namespaces_without_a_list),
      cmocka_unit_test(test_format_above_15),
      cmocka_unit_test(test_queue_describes_namespace),
      cmocka_unit_test(test_unsuitable_namespaces_are_refused),
      cmocka_unit_test(test_format_picks_the_best_format),
      cmocka_unit_test(test_format_with_blocks_that_the_drive_lacks),
      cmocka_unit_test(test_queues_up_to_the_drives_limit),
      cmocka_unit_test(test_doorbells_stay_in_the_bar),
      cmocka_unit_test(test_depth_is_bounded_by_the_drive),
      cmocka_unit_test(test_failed_queue_gives_its_identifier_back),
      cmocka_unit_test(test_memory_macros_are_exact),
      cmocka_unit_test(test_an_arena_may_begin_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
