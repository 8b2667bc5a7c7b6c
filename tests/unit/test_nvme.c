/* SPDX-License-Identifier: Apache-2.0 */
/* Bring-up, the block interface and shutdown on a drive that works. */
#include "nvme_fixture.h"
#include <spate/bytes.h>
#include <spate/port.h>

/* ---- bring-up ---- */

static void test_open_decodes_identity(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 16);
  const struct spate_nvme_identity *identity = spate_nvme_identity(&f->nvme);
  assert_string_equal(identity->serial, "FAKE0001");
  assert_string_equal(identity->model, "Spate fake drive");
  assert_string_equal(identity->firmware, "1.0");
  assert_int_equal(identity->version, 0x00010400);
  assert_int_equal(identity->namespaces_max, 8);
  assert_int_equal(identity->transfer_bytes_max, 131072);
  assert_int_equal(identity->ready_timeout_ms, 2000);
  assert_int_equal(identity->queue_entries_max, 64);
  assert_int_equal(identity->doorbell_stride_bytes, 4);
  assert_int_equal(identity->warning_temperature_k, 343);
  assert_int_equal(identity->critical_temperature_k, 353);
  assert_int_equal(identity->power_states, 5);
  assert_true(identity->volatile_cache && identity->can_trim && identity->can_zero && identity->can_format);
  assert_int_equal(spate_nvme_health(&f->nvme)->temperature_c, 41);
  assert_int_equal(spate_nvme_health(&f->nvme)->power_cycles, 17);
  assert_int_equal(spate_nvme_queues_max(&f->nvme), 4);
  fixture_free(f);
  (void)state;
}

static void test_absurd_mdts_is_no_limit(void **state) {
  for (unsigned mdts = 20; mdts < 256; mdts += 5) {
    struct fixture *f = fixture_make(9);
    f->drive.controller_page[77] = (uint8_t)mdts;
    fixture_open(f, 4);
    assert_int_equal(spate_nvme_identity(&f->nvme)->transfer_bytes_max, 0);
    assert_int_equal(f->queue.block.command_bytes_max, SPATE_REGION_COMMAND_BYTES);
    fixture_free(f);
  }
  (void)state;
}

static void test_unprintable_text_is_replaced(void **state) {
  struct fixture *f = fixture_make(9);
  memcpy(f->drive.controller_page + 24, "A\x1b[2J\xff", 6);
  fixture_open(f, 4);
  assert_string_equal(spate_nvme_identity(&f->nvme)->model, "A?[2J?fake drive");
  fixture_free(f);
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

static void expect_open(struct fixture *f, enum spate_error expected) {
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), expected);
  fixture_free(f);
}

static void test_open_refuses_what_it_cannot_use(void **state) {
  struct fixture *f = fixture_make(9);
  f->drive.cap &= ~(UINT64_C(1) << 37);
  expect_open(f, SPATE_E_COMMAND_SET);
  f = fixture_make(9);
  f->drive.cap |= UINT64_C(1) << 48; /* 8 KiB at least */
  expect_open(f, SPATE_E_PAGE_SIZE);
  f = fixture_make(9);
  f->drive.cap = (f->drive.cap & ~UINT64_C(0xffff)) | 1;
  expect_open(f, SPATE_E_UNSUPPORTED);
  f = fixture_make(9);
  f->drive.cap |= UINT64_C(15) << 32; /* doorbells 128 KiB apart */
  expect_open(f, SPATE_E_UNSUPPORTED);
  f = fixture_make(9);
  f->drive.gone = true;
  expect_open(f, SPATE_E_GONE);
  f = fixture_make(9);
  f->arena.bytes = f->arena.used_bytes + 8192;
  expect_open(f, SPATE_E_MEMORY);
  (void)state;
}

static void test_open_ends_within_the_stated_time(void **state) {
  struct fixture *f = fixture_make(9);
  f->drive.never_ready = true;
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_TIMEOUT);
  assert_in_range(f->drive.ticks, 2000000, 3500000);
  fixture_free(f);
  f = fixture_make(9);
  f->drive.fatal_on_enable = true;
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_FATAL);
  fixture_free(f);
  f = fixture_make(9);
  f->drive.cc = 0x00460001; /* left running by a boot loader, and stuck */
  f->drive.csts = 1;
  f->drive.never_disabled = true;
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_TIMEOUT);
  assert_in_range(f->drive.ticks, 2000000, 6000000);
  fixture_free(f);
  (void)state;
}

static void test_open_takes_over_a_running_controller(void **state) {
  struct fixture *f = fixture_make(9);
  f->drive.cc = 0x00464001; /* shut down, but still enabled */
  f->drive.csts = 0x9;
  fixture_open(f, 4);
  fixture_free(f);
  f = fixture_make(9);
  f->drive.cc = 0x00460001; /* enabled a moment ago, not ready yet */
  f->drive.ready_at_ticks = 5000;
  fixture_open(f, 4);
  fixture_free(f);
  (void)state;
}

static void test_open_reports_a_refused_command(void **state) {
  struct fixture *f = fixture_make(9);
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_STATUS, true, 0x06, 0, 1, 0x4006});
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_COMMAND);
  assert_string_equal(spate_nvme_status_name(spate_nvme_last_status(&f->nvme)), "Internal Error");
  fixture_free(f);
  (void)state;
}

/* A drive that has everything to set up: retry delays, a wish for host memory, a volatile cache. */
static struct fixture *fixture_make_rich(void) {
  struct fixture *f = fixture_make(9);
  spate_put16(f->drive.controller_page + 128, 1);
  spate_put32(f->drive.controller_page + 272, 32);
  f->drive.controller_page[525] = 1;
  f->config.host_buffer = f->ring_memory;
  f->config.host_buffer_bytes = 128u << 10;
  return f;
}

static void test_open_can_do_without_optional_features(void **state) {
  const struct {
    int opcode;
    unsigned skip;
    enum spate_error error;
  } refused[] = {{0x09, 0, SPATE_OK} /* ACRE */,        {0x09, 1, SPATE_E_COMMAND} /* number of queues */,
                 {0x09, 2, SPATE_OK} /* host memory */, {0x09, 3, SPATE_OK} /* events */,
                 {0x0a, 0, SPATE_OK} /* cache */,       {0x02, 0, SPATE_OK} /* health */};

  for (unsigned i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    struct fixture *f = fixture_make_rich();
    fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_STATUS, true, refused[i].opcode, refused[i].skip, 1, 0x4002});
    assert_int_equal(spate_nvme_open(&f->nvme, &f->config), refused[i].error);
    assert_string_equal(spate_nvme_status_name(spate_nvme_last_status(&f->nvme)), "Invalid Field in Command");
    if (refused[i].error == SPATE_OK) {
      assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->queue, 0, 4), SPATE_OK);
      assert_true(f->queue.block.volatile_cache);
      assert_int_equal(f->drive.host_buffer[0], i == 2 ? 0 : 1);
      const unsigned features_set = f->drive.admin_count[0x09];
      assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
      assert_int_equal(f->drive.admin_count[0x09], features_set + (i == 2 ? 0 : 1)); /* what was lent is taken back */
    }
    fixture_free(f);
  }
  (void)state;
}

static void test_open_ends_when_an_admin_command_is_lost(void **state) {
  struct fixture *f = fixture_make(9);
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_LOSE, true, 0x09, 0, 1, 0});
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_TIMEOUT);
  fixture_free(f);
  (void)state;
}

/* ---- namespaces and queues ---- */

static void test_namespaces_are_listed(void **state) {
  struct fixture *f = fixture_make(9);
  uint32_t nsids[2];
  unsigned count;
  f->drive.namespaces[0] = 2;
  f->drive.namespaces[1] = 5;
  f->drive.namespaces[2] = 7;
  fixture_open(f, 4);
  assert_int_equal(f->queue.nsid, 2);
  assert_int_equal(spate_nvme_namespaces(&f->nvme, nsids, 2, &count), SPATE_OK);
  assert_int_equal(count, 3);
  assert_int_equal(nsids[1], 5);
  fixture_free(f);
  (void)state;
}

static enum spate_error open_queue_on(struct fixture *f, uint32_t nsid) {
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  return spate_nvme_queue_open(&f->nvme, &f->queue, nsid, 4);
}

static void test_unsuitable_namespaces_are_refused(void **state) {
  struct fixture *f = fixture_make(9);
  f->drive.namespaces[0] = 0;
  assert_int_equal(open_queue_on(f, 0), SPATE_E_NO_NAMESPACE);
  assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->queue, 3, 4), SPATE_E_NO_NAMESPACE);
  assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->queue, 99, 4), SPATE_E_NO_NAMESPACE);
  fixture_free(f);
  f = fixture_make(9);
  f->drive.namespace_page[26] = 1; /* 8 bytes of metadata */
  assert_int_equal(open_queue_on(f, 1), SPATE_E_METADATA);
  fixture_free(f);
  f = fixture_make(9);
  f->drive.namespace_page[29] = 1; /* protection information */
  assert_int_equal(open_queue_on(f, 1), SPATE_E_METADATA);
  fixture_free(f);
  const uint8_t sizes[] = {0, 8, 10, 11, 13, 31, 64, 255};
  for (unsigned i = 0; i < sizeof sizes; i++) {
    f = fixture_make(9);
    f->drive.namespace_page[130] = sizes[i];
    assert_int_equal(open_queue_on(f, 1), SPATE_E_BLOCK_SIZE);
    fixture_free(f);
  }
  f = fixture_make(9);
  f->drive.namespace_page[26] = 9; /* a format beyond the last */
  assert_int_equal(open_queue_on(f, 1), SPATE_E_BLOCK_SIZE);
  fixture_free(f);
  f = fixture_make(9);
  spate_put64(f->drive.namespace_page, UINT64_MAX);
  assert_int_equal(open_queue_on(f, 1), SPATE_E_UNSUPPORTED);
  fixture_free(f);
  f = fixture_make(9);
  spate_put64(f->drive.namespace_page, 0);
  assert_int_equal(open_queue_on(f, 1), SPATE_E_NO_NAMESPACE);
  fixture_free(f);
  (void)state;
}

static void test_queues_up_to_the_drives_limit(void **state) {
  struct fixture *f = fixture_make(9);
  struct spate_nvme_queue *more = calloc(4, sizeof *more);
  fixture_open(f, 4);
  for (unsigned i = 0; i < 3; i++)
    assert_int_equal(spate_nvme_queue_open(&f->nvme, &more[i], 0, 4), SPATE_OK);
  assert_int_equal(spate_nvme_queue_open(&f->nvme, &more[3], 0, 4), SPATE_E_FULL);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_false(f->drive.hot_shutdown);
  free(more);
  fixture_free(f);
  (void)state;
}

static void test_doorbells_stay_in_the_bar(void **state) {
  struct fixture *f = fixture_make(9);
  f->drive.cap |= UINT64_C(8) << 32; /* 1 KiB apart: queue 2's are at 2000h and 2400h */
  f->drive.registers_bytes = f->config.registers_bytes = 0x2000;
  fixture_open(f, 4);
  struct spate_nvme_queue *second = calloc(1, sizeof *second);
  assert_int_equal(spate_nvme_queue_open(&f->nvme, second, 0, 4), SPATE_E_FULL);
  free(second);
  fixture_free(f);
  (void)state;
}

static void test_depth_is_bounded_by_the_drive(void **state) {
  struct fixture *f = fixture_make(9);
  f->drive.cap = (f->drive.cap & ~UINT64_C(0xffff)) | 98; /* 99 entries: a ring of 64 */
  fixture_open(f, 255);
  assert_int_equal(f->queue.block.depth, 63);
  assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->queue, 0, 1), SPATE_E_INVALID);
  assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->queue, 0, 256), SPATE_E_INVALID);
  fixture_free(f);
  (void)state;
}

static void test_failed_queue_gives_its_identifier_back(void **state) {
  struct fixture *f = fixture_make(9);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_STATUS, true, 0x01, 0, 1, 0x4006});
  assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->queue, 0, 4), SPATE_E_COMMAND);
  assert_int_equal(spate_nvme_last_status(&f->nvme), 0x4006);
  assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->queue, 0, 4), SPATE_OK);
  fixture_free(f);
  (void)state;
}

static void test_memory_macros_are_enough_and_no_more_than_a_page_too_much(void **state) {
  const unsigned depths[] = {2, 3, 4, 31, 32, 63, 64, 127, 128, 255};
  for (unsigned i = 0; i < sizeof depths / sizeof depths[0]; i++) {
    struct fixture *f = fixture_make(9);
    f->drive.cap |= 0xffff;
    f->arena = (struct spate_arena){.start = f->memory + 1, .bytes = SPATE_NVME_CONTROLLER_MEMORY_BYTES};
    assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
    f->arena = (struct spate_arena){.start = f->memory + 65537, .bytes = SPATE_NVME_QUEUE_MEMORY_BYTES(depths[i])};
    assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->queue, 0, depths[i]), SPATE_OK);
    assert_int_equal(f->queue.block.depth, depths[i]);
    assert_true(f->arena.bytes - f->arena.used_bytes <= SPATE_PAGE_BYTES * 2);
    fixture_free(f);
  }
  (void)state;
}

/* ---- host memory buffer and write cache ---- */

static void test_host_buffer_is_lent_and_given_back(void **state) {
  struct fixture *f = fixture_make(9);
  spate_put32(f->drive.controller_page + 272, 64); /* wants 256 KiB */
  spate_put32(f->drive.controller_page + 276, 16);
  f->config.host_buffer = f->ring_memory;
  f->config.host_buffer_bytes = 128u << 10;
  fixture_open(f, 4);
  assert_int_equal(f->drive.host_buffer[0], 1);
  assert_int_equal(f->drive.host_buffer[1], 32);
  assert_int_equal(f->drive.host_buffer[4], 1);
  assert_int_equal(f->drive.host_buffer_descriptor[0], (uintptr_t)f->ring_memory);
  assert_int_equal(f->drive.host_buffer_descriptor[1], 32);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(f->drive.host_buffer[0], 0);
  fixture_free(f);
  (void)state;
}

static void test_host_buffer_comes_back_from_a_drive_that_keeps_its_queues(void **state) {
  struct fixture *f = fixture_make_rich();
  fixture_open(f, 4);
  assert_int_equal(f->drive.host_buffer[0], 1);
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_STATUS, true, 0x00, 0, 1, 0x4101});
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(f->drive.host_buffer[0], 0);
  fixture_free(f);
  (void)state;
}

static void test_host_buffer_below_the_minimum_is_not_lent(void **state) {
  struct fixture *f = fixture_make(9);
  spate_put32(f->drive.controller_page + 272, UINT32_MAX);
  spate_put32(f->drive.controller_page + 276, 33);
  f->config.host_buffer = f->ring_memory;
  f->config.host_buffer_bytes = 128u << 10;
  fixture_open(f, 4);
  assert_int_equal(f->drive.host_buffer[0], 0);
  fixture_free(f);
  (void)state;
}

static void test_misaligned_host_buffer_is_refused(void **state) {
  struct fixture *f = fixture_make(9);
  f->config.host_buffer = f->ring_memory + 512;
  f->config.host_buffer_bytes = 128u << 10;
  expect_open(f, SPATE_E_INVALID);
  (void)state;
}

static void test_write_cache_is_known_and_set(void **state) {
  struct fixture *f = fixture_make(9);
  bool on;
  f->drive.write_cache = false;
  fixture_open(f, 4);
  assert_false(f->queue.block.volatile_cache);
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, true), SPATE_OK);
  assert_true(f->queue.block.volatile_cache && f->drive.write_cache);
  assert_int_equal(spate_nvme_write_cache_get(&f->nvme, &on), SPATE_OK);
  assert_true(on);
  fixture_free(f);
  f = fixture_make(9);
  f->drive.controller_page[525] = 0;
  fixture_open(f, 4);
  assert_false(f->queue.block.volatile_cache);
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, true), SPATE_E_UNSUPPORTED);
  fixture_free(f);
  (void)state;
}

/* What the cache holds when it is turned off is not durable by that: it is flushed while it counts as on. */
static void test_write_cache_is_flushed_when_it_is_turned_off(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open_two(f, 4);
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, true), SPATE_OK);
  assert_int_equal(f->drive.journal_count, 0);
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_STATUS, false, 0, 0, 1, 0x4006});
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, false), SPATE_E_COMMAND);
  assert_false(f->drive.write_cache); /* first off, so that nothing gets into it any more; then flushed */
  assert_true(f->queue.block.volatile_cache && f->second.block.volatile_cache);
  const unsigned start = f->drive.journal_count;
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, false), SPATE_OK);
  assert_false(f->queue.block.volatile_cache || f->second.block.volatile_cache);
  assert_int_equal(f->drive.journal_count, start + 2);
  for (unsigned i = start; i < start + 2; i++)
    assert_int_equal(f->drive.journal[i].dwords[0] & 0xff, 0);
  assert_int_not_equal(f->drive.journal[start].queue, f->drive.journal[start + 1].queue);
  fixture_free(f);
  (void)state;
}

static void test_power_state(void **state) {
  struct fixture *f = fixture_make(9);
  uint8_t power;
  fixture_open(f, 4);
  assert_int_equal(spate_nvme_power_state_set(&f->nvme, 3), SPATE_OK);
  assert_int_equal(spate_nvme_power_state_get(&f->nvme, &power), SPATE_OK);
  assert_int_equal(power, 3);
  assert_int_equal(spate_nvme_power_state_set(&f->nvme, 5), SPATE_E_INVALID);
  fixture_free(f);
  (void)state;
}

static void test_format_picks_the_best_format(void **state) {
  struct fixture *f = fixture_make(9);
  struct spate_nvme_namespace namespace;
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  assert_int_equal(spate_nvme_format(&f->nvme, 1, 4096, SPATE_NVME_ERASE_USER, 60000), SPATE_OK);
  assert_int_equal(spate_nvme_namespace(&f->nvme, 1, &namespace), SPATE_OK);
  assert_int_equal(namespace.block_bytes, 4096);
  assert_int_equal(namespace.format, 2);
  assert_false(namespace.metadata);
  assert_int_equal(spate_nvme_format(&f->nvme, 1, 1024, SPATE_NVME_ERASE_NONE, 60000), SPATE_E_INVALID);
  assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->queue, 1, 4), SPATE_OK);
  assert_int_equal(spate_nvme_format(&f->nvme, 1, 512, SPATE_NVME_ERASE_NONE, 60000), SPATE_E_BUSY);
  fixture_free(f);
  (void)state;
}

/* ---- requests ---- */

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
      assert_memory_equal(f->drive.media + (100u << shift), f->ring_memory + offset, sizes[i]);
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

static void test_one_doorbell_for_a_batch(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcomes[8];
  fixture_open(f, 16);
  const unsigned before = f->drive.doorbells;
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(
        fixture_submit(f, &outcomes[i],
                       (struct spate_io){.op = SPATE_WRITE, .blocks = 8, .region = &f->ring, .lba = 8 * i}),
        SPATE_OK);
  assert_int_equal(f->drive.doorbells, before);
  spate_block_kick(&f->queue.block);
  spate_block_kick(&f->queue.block);
  assert_int_equal(f->drive.doorbells, before + 1);
  fake_nvme_advance(&f->drive, 1000);
  assert_int_equal(spate_block_poll(&f->queue.block, 32), 8);
  assert_int_equal(f->drive.doorbells, before + 2);
  assert_int_equal(spate_nvme_counters(&f->nvme)->commands, 8);
  assert_int_equal(spate_nvme_counters(&f->nvme)->completions, 8);
  fixture_free(f);
  (void)state;
}

static void test_poll_kicks_what_was_forgotten(void **state) {
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
  fake_nvme_advance(&f->drive, 1000);
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

/* All or nothing: with two slots left, a request of three commands takes none. */
static void test_request_in_parts_is_taken_whole_or_not(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcomes[3];
  fixture_open(f, 4);
  const struct spate_io small = {.op = SPATE_WRITE, .blocks = 1, .region = &f->ring};
  const struct spate_io large = {.op = SPATE_WRITE, .blocks = 768, .region = &f->ring};
  assert_int_equal(fixture_submit(f, &outcomes[0], small), SPATE_OK);
  assert_int_equal(fixture_submit(f, &outcomes[1], small), SPATE_OK);
  assert_int_equal(fixture_submit(f, &outcomes[2], large), SPATE_E_FULL);
  assert_true(fixture_wait(f, &outcomes[1], 10));
  assert_int_equal(f->drive.journal_count, 2);
  assert_int_equal(fixture_submit(f, &outcomes[2], large), SPATE_OK);
  assert_true(fixture_wait(f, &outcomes[2], 10));
  assert_int_equal(outcomes[2].calls, 1);
  assert_int_equal(f->drive.journal_count, 5);
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
  assert_int_equal(f->drive.journal_count, 0);
  const struct spate_io good = {.op = SPATE_WRITE, .lba = end - 1, .blocks = 1, .region = ring};
  assert_int_equal(fixture_do(f, good, NULL), SPATE_OK);
  fixture_free(f);
  (void)state;
}

static void test_flush_fua_zero_trim(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 8);
  memset(f->drive.media, 0x5a, 1u << 20);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_FLUSH}, NULL), SPATE_OK);
  assert_int_equal(f->drive.journal[0].dwords[0] & 0xff, 0);
  const struct spate_io fua = {.op = SPATE_WRITE, .flags = SPATE_IO_FUA, .blocks = 8, .region = &f->ring, .lba = 64};
  assert_int_equal(fixture_do(f, fua, NULL), SPATE_OK);
  assert_int_equal(f->drive.journal[1].dwords[12], 7u | 1u << 30);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_ZERO, .lba = 10, .blocks = 20}, NULL), SPATE_OK);
  assert_int_equal(f->drive.media[10 * 512 - 1], 0x5a);
  assert_int_equal(f->drive.media[10 * 512], 0);
  assert_int_equal(f->drive.media[30 * 512 - 1], 0);
  assert_int_equal(f->drive.media[30 * 512], 0x5a);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_TRIM, .lba = 50, .blocks = 3}, NULL), SPATE_OK);
  assert_int_equal(f->drive.media[50 * 512], 0xdd);
  assert_int_equal(f->drive.media[53 * 512], 0x5a);
  fixture_free(f);
  (void)state;
}

static void test_long_zero_is_split_and_long_trim_is_not(void **state) {
  struct fixture *f = fixture_make(9);
  fake_nvme_geometry(&f->drive, UINT64_C(1) << 33, 9);
  f->drive.media = realloc(f->drive.media, 200000u * 512u);
  fixture_open(f, 4);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_ZERO, .lba = 7, .blocks = 150000}, NULL), SPATE_OK);
  assert_int_equal(f->drive.journal_count, 3);
  assert_int_equal(f->drive.journal[2].dwords[10], 7 + 131072);
  assert_int_equal(f->drive.journal[2].dwords[12], 150000 - 131072 - 1);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_ZERO, .blocks = 5u * 65536u}, NULL), SPATE_E_INVALID);
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_STATUS, false, 9, 0, 1, 0});
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_TRIM, .blocks = UINT32_MAX}, NULL), SPATE_OK);
  assert_int_equal(f->drive.journal_count, 4);
  fixture_free(f);
  (void)state;
}

static void test_missing_operations_are_unsupported(void **state) {
  struct fixture *f = fixture_make(9);
  f->drive.controller_page[520] = 0;
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
  const uint64_t cleans = fake_port_cache.cleans, invalidates = fake_port_cache.invalidates;
  assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
  assert_int_equal(fake_port_cache.cleans, cleans + 1);
  assert_int_equal(fake_port_cache.invalidates, invalidates);
  assert_ptr_equal(fake_port_cache.start, f->ring_memory + 8192);
  assert_int_equal(fake_port_cache.bytes, 1536);
  io = (struct spate_io){.op = SPATE_READ, .flags = SPATE_IO_CPU, .blocks = 600, .buffer = f->ring_memory};
  assert_int_equal(fixture_do(f, io, NULL), SPATE_OK);
  assert_int_equal(fake_port_cache.cleans, cleans + 1);
  assert_int_equal(fake_port_cache.invalidates, invalidates + 2); /* before, and once after the last part */
  assert_int_equal(fake_port_cache.bytes, 600 * 512);
  f->ring.start = NULL;
  io = (struct spate_io){.op = SPATE_WRITE, .flags = SPATE_IO_CPU, .blocks = 3, .region = &f->ring};
  assert_int_equal(fixture_do(f, io, NULL), SPATE_E_INVALID);
  fixture_free(f);
  (void)state;
}

/* To invalidate part of a cache line is to lose what the CPU wrote beside it. */
static void test_cpu_requests_are_of_whole_cache_lines(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  for (unsigned op = SPATE_READ; op <= SPATE_WRITE; op++)
    for (uint64_t offset_bytes = 4; offset_bytes <= 128; offset_bytes += 4) {
      const uint64_t invalidates = fake_port_cache.invalidates, cleans = fake_port_cache.cleans;
      const bool whole = offset_bytes % SPATE_DMA_ALIGN == 0;
      struct spate_io io = {.op = (uint8_t)op, .flags = SPATE_IO_CPU, .blocks = 2};
      io.region = &f->ring;
      io.offset_bytes = offset_bytes;
      assert_int_equal(fixture_do(f, io, NULL), whole ? SPATE_OK : SPATE_E_INVALID);
      io.region = NULL;
      io.buffer = f->ring_memory + offset_bytes;
      assert_int_equal(fixture_do(f, io, NULL), whole ? SPATE_OK : SPATE_E_INVALID);
      assert_true(whole || (fake_port_cache.invalidates == invalidates && fake_port_cache.cleans == cleans));
      io.flags = 0; /* for devices alone, dwords will do */
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

/* ---- health, events, shutdown ---- */

static void test_health_arrives_while_polling(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  const uint32_t sequence = spate_nvme_health(&f->nvme)->sequence;
  spate_put16(f->drive.health_page + 1, 273 - 5);
  spate_put64(f->drive.health_page + 48 + 8, 1); /* beyond 64 bits */
  assert_int_equal(spate_nvme_health_start(&f->nvme), SPATE_OK);
  assert_int_equal(spate_nvme_health_start(&f->nvme), SPATE_E_BUSY);
  fixture_poll_ms(f, 150);
  assert_int_equal(spate_nvme_health(&f->nvme)->sequence, sequence + 1);
  assert_int_equal(spate_nvme_health(&f->nvme)->temperature_c, -5);
  assert_true(spate_nvme_health(&f->nvme)->written_units == UINT64_MAX);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_OK);
  assert_int_equal(spate_nvme_health(&f->nvme)->sequence, sequence + 2);
  fixture_free(f);
  (void)state;
}

static void test_health_is_decoded(void **state) {
  struct fixture *f = fixture_make(9);
  uint8_t *page = f->drive.health_page;
  fixture_open(f, 4);
  page[0] = 5;
  spate_put16(page + 1, 300);
  page[3] = 90, page[4] = 10, page[5] = 42;
  for (unsigned i = 32; i <= 160; i += 16)
    spate_put64(page + i, UINT64_C(0x1122334400000000) + i);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_OK);
  const struct spate_nvme_health *health = spate_nvme_health(&f->nvme);
  assert_int_equal(health->critical_warning, 5);
  assert_int_equal(health->temperature_c, 27);
  assert_int_equal(health->spare_percent, 90);
  assert_int_equal(health->spare_threshold_percent, 10);
  assert_int_equal(health->used_percent, 42);
  assert_int_equal(health->read_units, UINT64_C(0x1122334400000000) + 32);
  assert_int_equal(health->written_units, UINT64_C(0x1122334400000000) + 48);
  assert_int_equal(health->power_cycles, UINT64_C(0x1122334400000000) + 112);
  assert_int_equal(health->power_on_hours, UINT64_C(0x1122334400000000) + 128);
  assert_int_equal(health->unsafe_shutdowns, UINT64_C(0x1122334400000000) + 144);
  assert_int_equal(health->media_errors, UINT64_C(0x1122334400000000) + 160);
  fixture_free(f);
  (void)state;
}

static void test_events_are_counted_read_and_armed_again(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  const uint32_t sequence = spate_nvme_health(&f->nvme)->sequence;
  assert_int_equal(f->drive.features[0x0b], 0x1f);
  f->drive.health_page[0] = 2;
  for (unsigned i = 1; i <= 3; i++) {
    assert_true(fake_nvme_event(&f->drive, 0x00020101)); /* health: temperature; log page 2 */
    fixture_poll_ms(f, 300);
    assert_int_equal(spate_nvme_counters(&f->nvme)->events, i);
    assert_int_equal(spate_nvme_health(&f->nvme)->sequence, sequence + i);
    assert_int_equal(spate_nvme_health(&f->nvme)->critical_warning, 2);
  }
  fixture_free(f);
  (void)state;
}

/* An event while the log is being read: it is read again. */
static void test_event_during_a_log_read_is_not_lost(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  const uint32_t sequence = spate_nvme_health(&f->nvme)->sequence;
  f->drive.latency_ticks = 150000;
  assert_int_equal(spate_nvme_health_start(&f->nvme), SPATE_OK);
  f->drive.latency_ticks = 20;
  assert_true(fake_nvme_event(&f->drive, 0x00020101));
  fixture_poll_ms(f, 1000);
  assert_int_equal(spate_nvme_health(&f->nvme)->sequence, sequence + 2);
  fixture_free(f);
  (void)state;
}

static void test_shutdown_waits_for_requests_and_is_orderly(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcome;
  fixture_open(f, 4);
  f->drive.latency_ticks = 500000;
  assert_int_equal(fixture_submit(f, &outcome, (struct spate_io){.op = SPATE_WRITE, .blocks = 1, .region = &f->ring}),
                   SPATE_OK);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(outcome.calls, 1);
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(f->drive.shutdowns, 1);
  assert_false(f->drive.hot_shutdown);
  assert_int_equal(f->drive.admin_count[0x00], 1);
  assert_int_equal(f->drive.admin_count[0x04], 1);
  assert_int_not_equal(fixture_submit(f, &outcome, (struct spate_io){.op = SPATE_FLUSH}), SPATE_OK);
  fixture_free(f);
  (void)state;
}

/* "In progress" is not "complete": a drive that is writing back its cache needs its power still. */
static void test_shutdown_waits_for_the_drive(void **state) {
  const struct {
    uint32_t stated_us;
    uint64_t takes_ms;
    enum spate_error error;
    uint64_t least_ms, most_ms;
  } drives[] = {
      {0, 0, SPATE_OK, 0, 100},
      {0, 5000, SPATE_OK, 5000, 5100},
      {0, 9900, SPATE_OK, 9900, 10000}, /* nothing stated, or too little: ten seconds */
      {1000, 9900, SPATE_OK, 9900, 10000},
      {1000, 1000000, SPATE_E_TIMEOUT, 10000, 11000},
      {20000000, 19000, SPATE_OK, 19000, 19100},
      {20000000, 1000000, SPATE_E_TIMEOUT, 20000, 22000},
      {UINT32_MAX, 59000, SPATE_OK, 59000, 59100},
      {UINT32_MAX, 1000000, SPATE_E_TIMEOUT, 60000, 63000}, /* and never more than a minute */
  };

  for (unsigned i = 0; i < sizeof drives / sizeof drives[0]; i++) {
    struct fixture *f = fixture_make(9);
    spate_put32(f->drive.controller_page + 88, drives[i].stated_us);
    f->drive.shutdown_ticks = drives[i].takes_ms * (FAKE_TICKS_PER_SECOND / 1000);
    fixture_open(f, 4);
    const uint64_t before = f->drive.ticks;
    assert_int_equal(spate_nvme_shutdown(&f->nvme), drives[i].error);
    assert_in_range(f->drive.ticks - before, drives[i].least_ms * (FAKE_TICKS_PER_SECOND / 1000),
                    drives[i].most_ms * (FAKE_TICKS_PER_SECOND / 1000));
    assert_int_equal(f->drive.csts & 0xc, drives[i].error == SPATE_OK ? 8 : 4);
    fixture_free(f);
  }
  (void)state;
}

static void test_open_again_after_shutdown(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  fixture_open(f, 4);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_FLUSH}, NULL), SPATE_OK);
  fixture_free(f);
  (void)state;
}

static void test_status_names(void **state) {
  assert_string_equal(spate_nvme_status_name(0x4080), "LBA Out of Range");
  assert_string_equal(spate_nvme_status_name(0x7281), "Unrecovered Read Error");
  assert_string_equal(spate_nvme_status_name(0), "Successful Completion");
  for (unsigned status = 0; status < 0x10000; status++)
    assert_non_null(spate_nvme_status_name((uint16_t)status));
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_open_decodes_identity),
      cmocka_unit_test(test_absurd_mdts_is_no_limit),
      cmocka_unit_test(test_unprintable_text_is_replaced),
      cmocka_unit_test(test_queue_describes_namespace),
      cmocka_unit_test(test_open_refuses_what_it_cannot_use),
      cmocka_unit_test(test_open_ends_within_the_stated_time),
      cmocka_unit_test(test_open_takes_over_a_running_controller),
      cmocka_unit_test(test_open_reports_a_refused_command),
      cmocka_unit_test(test_open_can_do_without_optional_features),
      cmocka_unit_test(test_open_ends_when_an_admin_command_is_lost),
      cmocka_unit_test(test_namespaces_are_listed),
      cmocka_unit_test(test_unsuitable_namespaces_are_refused),
      cmocka_unit_test(test_queues_up_to_the_drives_limit),
      cmocka_unit_test(test_doorbells_stay_in_the_bar),
      cmocka_unit_test(test_depth_is_bounded_by_the_drive),
      cmocka_unit_test(test_failed_queue_gives_its_identifier_back),
      cmocka_unit_test(test_memory_macros_are_enough_and_no_more_than_a_page_too_much),
      cmocka_unit_test(test_host_buffer_is_lent_and_given_back),
      cmocka_unit_test(test_host_buffer_comes_back_from_a_drive_that_keeps_its_queues),
      cmocka_unit_test(test_host_buffer_below_the_minimum_is_not_lent),
      cmocka_unit_test(test_misaligned_host_buffer_is_refused),
      cmocka_unit_test(test_write_cache_is_known_and_set),
      cmocka_unit_test(test_write_cache_is_flushed_when_it_is_turned_off),
      cmocka_unit_test(test_power_state),
      cmocka_unit_test(test_format_picks_the_best_format),
      cmocka_unit_test(test_write_and_read_back_on_a_region),
      cmocka_unit_test(test_one_doorbell_for_a_batch),
      cmocka_unit_test(test_poll_kicks_what_was_forgotten),
      cmocka_unit_test(test_poll_reaps_no_more_than_asked),
      cmocka_unit_test(test_full_is_an_answer_and_ends),
      cmocka_unit_test(test_request_in_parts_is_taken_whole_or_not),
      cmocka_unit_test(test_largest_request_fits_an_idle_queue_at_any_offset),
      cmocka_unit_test(test_invalid_requests),
      cmocka_unit_test(test_flush_fua_zero_trim),
      cmocka_unit_test(test_long_zero_is_split_and_long_trim_is_not),
      cmocka_unit_test(test_missing_operations_are_unsupported),
      cmocka_unit_test(test_cpu_requests_maintain_the_cache),
      cmocka_unit_test(test_cpu_requests_are_of_whole_cache_lines),
      cmocka_unit_test(test_done_may_submit),
      cmocka_unit_test(test_health_arrives_while_polling),
      cmocka_unit_test(test_health_is_decoded),
      cmocka_unit_test(test_events_are_counted_read_and_armed_again),
      cmocka_unit_test(test_event_during_a_log_read_is_not_lost),
      cmocka_unit_test(test_shutdown_waits_for_requests_and_is_orderly),
      cmocka_unit_test(test_shutdown_waits_for_the_drive),
      cmocka_unit_test(test_open_again_after_shutdown),
      cmocka_unit_test(test_status_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
