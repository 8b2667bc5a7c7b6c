/* SPDX-License-Identifier: Apache-2.0 */
/* Where the driver puts the memory that it shares with the drive: no areas overlap, all are in the caller's memory, and
 * each is where commands need it. This is a white-box test: an overlap has an effect only when both areas are in use at
 * once. */
#include "nvme_fixture.h"

#define PAGE        4096u
#define ADMIN_DEPTH 8u

struct area {
  const volatile void *start;
  size_t bytes, align;
  const char *name;
};

static void expect_apart(const struct fixture *f, const struct area *areas, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    const uintptr_t start = (uintptr_t)areas[i].start, end = start + areas[i].bytes;
    if (start < (uintptr_t)f->memory || end > (uintptr_t)f->memory + f->arena.used_bytes)
      fail_msg("%s is not in the memory taken from the arena", areas[i].name);
    if (start % areas[i].align != 0) fail_msg("%s is not aligned", areas[i].name);
    /* Described by one PRP entry, or by consecutive pages from the start of a page. */
    if (start % PAGE + areas[i].bytes > PAGE && start % PAGE != 0) fail_msg("%s crosses a page", areas[i].name);
    for (unsigned j = 0; j < i; j++)
      if (start < (uintptr_t)areas[j].start + areas[j].bytes && (uintptr_t)areas[j].start < end)
        fail_msg("%s overlaps %s", areas[i].name, areas[j].name);
  }
}

static void ended(struct spate_nvme_admin_request *request) { (void)request; }

/* They are taken by the first admin request whose buffer needs a list. */
static void take_request_lists(struct fixture *f) {
  struct spate_nvme_admin_request request = {.opcode = 0x02, /* Get Log Page, telemetry */
                                             .dwords_10_15 = {(3 * PAGE / 4 - 1) << 16 | 0x07},
                                             .buffer = f->ring_memory,
                                             .bytes = 3 * PAGE,
                                             .timeout_ms = 1000,
                                             .done = ended};
  assert_null(f->nvme.request_lists);
  assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
  fixture_poll_ms(f, 200);
  assert_null(f->nvme.request);
}

static void test_areas_do_not_overlap(void **state) {
  static const unsigned depths[] = {2, 3, 31, 32, 63};
  (void)state;
  for (unsigned i = 0; i < sizeof depths / sizeof depths[0]; i++) {
    struct fixture *f = fixture_make(9);
    fixture_open(f, depths[i]);
    take_request_lists(f);
    const struct spate_nvme *nvme = &f->nvme;
    const struct spate_nvme_queue *queue = &f->queue;
    const struct area areas[] = {
        {nvme->admin_sq, ADMIN_DEPTH * 64u, PAGE, "the admin submission queue"},
        {nvme->admin_cq, ADMIN_DEPTH * 16u, PAGE, "the admin completion queue"},
        {nvme->behavior, 512, 4, "Host Behavior Support"},
        {nvme->log, 512, 4, "the log"},
        {nvme->host_buffer_list, 16, 16, "the host memory buffer's list"},
        {nvme->data, PAGE, PAGE, "the data page"},
        {nvme->request_lists, 2u * PAGE, PAGE, "the lists of an admin request"},
        {queue->sq, queue->entries * 64u, PAGE, "a submission queue"},
        {queue->cq, queue->entries * 16u, PAGE, "a completion queue"},
        {queue->range, PAGE, PAGE, "the range of TRIM"},
        {queue->lists, SPATE_NVME_LIST_PAGES_MAX * (size_t)PAGE, PAGE, "the list pages"},
        {f->ring.list, SPATE_REGION_TABLE_BYTES(FIXTURE_RING_BYTES), PAGE, "a region's table"},
    };
    expect_apart(f, areas, sizeof areas / sizeof areas[0]);
    assert_true(queue->entries > depths[i]);
    assert_int_equal(queue->cq_end - queue->cq, queue->entries * 2u);
    fixture_free(f);
  }
}

/* A submission entry has words that no command writes. They are zero, though a smaller queue had the memory, and its
 * lists are in other places. */
static void test_words_that_no_command_writes_stay_zero(void **state) {
  (void)state;
  struct fixture *f = fixture_make_with((struct sim_drive_options){.queue_pairs = 1}, 1);
  *sim_drive_cap(f->drive) |= 0xff; /* MQES: 256 entries */
  fixture_open(f, 255);
  const struct spate_io listed = {.op = SPATE_WRITE, .blocks = 64, .buffer = f->ring_memory};
  const struct spate_io plain = {.op = SPATE_WRITE, .blocks = 1, .region = &f->ring};
  assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_OK);
  assert_int_equal(fixture_queue_open(f, &f->queue, 0, 3), SPATE_OK);
  for (unsigned i = 0; i < 20; i++)
    assert_int_equal(fixture_do(f, listed, NULL), SPATE_OK);
  assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_OK);
  assert_int_equal(fixture_queue_open(f, &f->queue, 0, 255), SPATE_OK);
  for (unsigned i = 0; i < 256; i++)
    assert_int_equal(fixture_do(f, plain, NULL), SPATE_OK);
  for (unsigned i = 0; i < io_count(f); i++)
    for (unsigned dword = 2; dword < 6; dword++)
      assert_int_equal(io_command(f, i)->dwords[dword], 0);
  fixture_free(f);
}

/* A namespace smaller than the longest command: blocks beyond its end are refused, blocks in it are not. */
static void test_a_small_namespace_is_used_to_its_end(void **state) {
  static const uint64_t sizes[] = {1, 2, 7, 100, 256, 257, 4095, 4096, 4097};
  (void)state;
  for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    struct fixture *f = fixture_make(9);
    const uint64_t blocks = sizes[i];
    controller_page(f)[77] = 0; /* no MDTS */
    spate_put64(namespace_page(f), blocks);
    fixture_open(f, 4);
    assert_in_range(f->queue.block.command_bytes_max, 512, blocks * 512);
    for (uint64_t lba = blocks < 3 ? 0 : blocks - 3; lba < blocks + 2; lba++) {
      for (uint32_t count = 1; count < 5; count++) {
        const struct spate_io io = {.op = SPATE_WRITE, .lba = lba, .blocks = count, .region = &f->ring};
        assert_int_equal(fixture_do(f, io, NULL), lba + count <= blocks ? SPATE_OK : SPATE_E_INVALID);
      }
    }
    fixture_free(f);
  }
}

/* Requests of 128 KiB are one command where MDTS is 128 KiB. */
static void test_commands_are_as_long_as_mdts(void **state) {
  (void)state;
  for (uint8_t mdts = 0; mdts < 12; mdts++) {
    struct fixture *f = fixture_make(9);
    controller_page(f)[77] = mdts;
    fixture_open(f, 4);
    const uint32_t most = mdts == 0 || mdts > 9 ? SPATE_REGION_COMMAND_BYTES : 4096u << mdts;
    assert_int_equal(f->queue.block.command_bytes_max, most);
    fixture_free(f);
  }
}

/* The requested namespace is used; numbers beyond what the driver supports do not exist. */
static void test_the_namespace_asked_for_is_used(void **state) {
  static const uint32_t active[] = {1, 5, 0x3fffffff, 0x40000000, 0xfffffffe};
  (void)state;
  struct fixture *f = fixture_make(9);
  memcpy(sim_drive_namespaces(f->drive), active, sizeof active);
  memset(controller_page(f) + 516, 0xff, 4);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  for (unsigned i = 0; i < sizeof active / sizeof active[0]; i++) {
    const bool fits = active[i] < 0x40000000;
    assert_int_equal(fixture_queue_open(f, &f->queue, active[i], 4), fits ? SPATE_OK : SPATE_E_NO_NAMESPACE);
    if (!fits) continue;
    assert_int_equal(f->queue.nsid, active[i]);
    assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_OK);
  }
  fixture_free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_areas_do_not_overlap),
      cmocka_unit_test(test_words_that_no_command_writes_stay_zero),
      cmocka_unit_test(test_a_small_namespace_is_used_to_its_end),
      cmocka_unit_test(test_commands_are_as_long_as_mdts),
      cmocka_unit_test(test_the_namespace_asked_for_is_used),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
