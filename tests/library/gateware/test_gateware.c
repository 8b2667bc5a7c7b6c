/* SPDX-License-Identifier: Apache-2.0 */
/* The core as a block device: requests reach the core, and only valid responses are accepted. */
#include "gateware_requests.h"

/* ---- open ---- */

static void open_knows_a_core_and_its_drive(void **state) {
  (void)state;
  struct spate_gateware_health health;

  open_fake(BLOCKS, 12);
  open_backend();
  assert_int_equal(gateware.block.blocks, BLOCKS);
  assert_int_equal(gateware.block.block_shift, 12);
  assert_true(gateware.block.volatile_cache && gateware.block.can_trim && !gateware.block.can_zero);
  assert_non_null(spate_gateware_region(&gateware));
  assert_true(spate_gateware_health(&gateware, &health));
  assert_int_equal(health.temperature_c, 27);
  assert_int_equal(health.spare_percent, 100);
  assert_int_equal(health.unsafe_shutdowns, 7);
  fake.health_valid = false;
  assert_false(spate_gateware_health(&gateware, &health));
  fake_gateware_close(&fake);
}

static void open_reports_what_is_wrong(void **state) {
  (void)state;
  static const struct {
    uint8_t code;
    enum spate_error error;
  } failures[] = {{2, SPATE_E_LINK_DOWN},     {3, SPATE_E_NO_DEVICE},   {11, SPATE_E_PAGE_SIZE},
                  {20, SPATE_E_NO_NAMESPACE}, {21, SPATE_E_BLOCK_SIZE}, {200, SPATE_E_GONE}};
  const struct spate_gateware_config config = {.registers = REGISTERS, .ready_timeout_ms = 100};
  struct spate_gateware_failure failure;

  open_fake(BLOCKS, 9);
  fake.vanished = true;
  GIVES(SPATE_E_NO_BRIDGE, spate_gateware_open(&gateware, &config));
  fake.vanished = false;
  for (uint32_t major = 0; major < 3; major++) { /* minor 0 does not count losses of power */
    fake.version = major << SPATE_REGS_VERSION_MAJOR_SHIFT;
    GIVES(SPATE_E_UNSUPPORTED, spate_gateware_open(&gateware, &config));
  }
  fake.version = 1u << SPATE_REGS_VERSION_MAJOR_SHIFT | 2u;
  OK(spate_gateware_open(&gateware, &config));
  fake.ready = false;
  const uint64_t began_ns = clock_ns;
  GIVES(SPATE_E_TIMEOUT, spate_gateware_open(&gateware, &config));
  assert_in_range(clock_ns - began_ns, 100000000, 101000000);
  spate_gateware_failure(&gateware, &failure);
  assert_int_equal(failure.error, 0);
  fake.gone = true;
  fake.step = 12;
  fake.error_detail = 0xabcd;
  for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
    fake.error = failures[i].code;
    GIVES(failures[i].error, spate_gateware_open(&gateware, &config));
  }
  spate_gateware_failure(&gateware, &failure);
  assert_int_equal(failure.step, 12);
  assert_int_equal(failure.detail, 0xabcd);
  fake_gateware_close(&fake);
}

/* The processor was restarted and the core was not: responses to commands from before belong to no present command. */
static void responses_from_before_a_restart_are_ignored(void **state) {
  (void)state;
  struct spate_io io;

  open_fake(BLOCKS, 9);
  fake_gateware_answer(&fake, 0x1280, 0);
  open_backend();
  assert_int_equal(fake.response_count, 0);
  fake.unanswering = true;
  fake.flow_bytes = UINT64_MAX;
  io = stream_write(0, 8);
  done_count = 0;
  OK(spate_block_submit(&gateware.block, &io));
  for (uint32_t uses = 0; uses < 256; uses++) {
    const uint16_t tag = (uint16_t)(uses << 8);
    if (tag != fake.data[0].tag) fake_gateware_answer(&fake, tag, 0x4281);
    spate_block_poll(&gateware.block, 1);
  }
  assert_int_equal(done_count, 0);
  fake.unanswering = false;
  wait_for(1);
  assert_int_equal(io.error, SPATE_OK);
  fake_gateware_close(&fake);
}

/* ---- requests ---- */

/* Random requests of all sizes, compared with a copy; several at a time, on separate blocks. */
static void written_data_is_read_back(uint8_t shift) {
  enum { LANES = 4, BLOCKS_MAX = 40 };
  uint64_t seed = 42;
  uint64_t *copy = calloc(BLOCKS, sizeof *copy); /* each word of a block is the block's number */
  uint8_t *buffers[LANES];
  struct spate_io ios[LANES];

  open_fake(BLOCKS, shift);
  open_backend();
  assert_non_null(copy);
  for (int i = 0; i < LANES; i++)
    buffers[i] = aligned_alloc(SPATE_DMA_ALIGN, (size_t)BLOCKS_MAX << shift);
  for (int round = 0; round < 60; round++) {
    done_count = 0;
    for (uint32_t i = 0; i < LANES; i++) {
      const uint64_t random = ram_random(&seed);
      const uint32_t blocks = 1u + (uint32_t)(random % BLOCKS_MAX);
      const uint64_t lba = i * (BLOCKS / LANES) + (random >> 32) % (BLOCKS / LANES - BLOCKS_MAX);
      ios[i] = (struct spate_io){.op = (random >> 20 & 1u) != 0 ? SPATE_WRITE : SPATE_READ,
                                 .flags = SPATE_IO_CPU,
                                 .lba = lba,
                                 .blocks = blocks,
                                 .buffer = buffers[i],
                                 .done = count_done};
      for (uint32_t block = 0; block < blocks && ios[i].op == SPATE_WRITE; block++) {
        copy[lba + block] = ram_random(&seed);
        for (size_t at = (size_t)block << shift; at < (size_t)(block + 1u) << shift; at += 8)
          memcpy(buffers[i] + at, &copy[lba + block], 8);
      }
      OK(spate_block_submit(&gateware.block, &ios[i]));
    }
    spate_block_kick(&gateware.block);
    wait_for(LANES);
    for (uint32_t i = 0; i < LANES; i++) {
      assert_int_equal(ios[i].error, SPATE_OK);
      for (size_t at = 0; at < (size_t)ios[i].blocks << shift && ios[i].op == SPATE_READ; at += 8)
        assert_memory_equal(buffers[i] + at, &copy[ios[i].lba + (at >> shift)], 8);
    }
  }
  for (int i = 0; i < LANES; i++)
    free(buffers[i]);
  free(copy);
  fake_gateware_close(&fake);
}

static void written_data_is_read_back_512(void **state) {
  (void)state;
  written_data_is_read_back(9);
}

static void written_data_is_read_back_4096(void **state) {
  (void)state;
  written_data_is_read_back(12);
}

static void flags_and_operations_arrive(void **state) {
  (void)state;
  _Alignas(SPATE_DMA_ALIGN) static uint8_t buffer[8192];
  struct spate_io trim = {.op = SPATE_TRIM, .lba = 100, .blocks = 50};
  struct spate_io zero = {.op = SPATE_ZERO, .lba = 100, .blocks = 50};

  open_fake(BLOCKS, 9);
  open_backend();
  memset(buffer, 0x5a, sizeof buffer);
  OK(spate_block_write(&gateware.block, 100, 16, buffer, SPATE_IO_FUA));
  assert_int_equal(fake.fua_writes, 2); /* 4 KiB each */
  assert_memory_equal(fake.durable + 100 * 512, buffer, sizeof buffer);
  fake.mailbox[512 / 4] = UINT32_C(0x0b5e55ed);
  OK(spate_block_write(&gateware.block, 200, 1, buffer, 0));
  assert_int_equal(fake.mailbox[512 / 4], UINT32_C(0x0b5e55ed)); /* no word beyond the block is read or written */
  assert_int_equal(fake.durable[200 * 512], 0);
  OK(spate_block_flush(&gateware.block));
  assert_int_equal(fake.durable[200 * 512], 0x5a);
  OK(spate_block_do(&gateware.block, &trim));
  assert_int_equal(fake.trims, 1);
  assert_int_equal(fake.medium[100 * 512], 0);
  GIVES(SPATE_E_UNSUPPORTED, spate_block_do(&gateware.block, &zero));
  fake.faults[0] = (struct fake_gateware_fault){.op = 3, .lba = 100, .times = 1, .status = 0x4001};
  GIVES(SPATE_E_UNSUPPORTED, spate_block_do(&gateware.block, &trim));
  assert_false(gateware.block.can_trim);
  GIVES(SPATE_E_UNSUPPORTED, spate_block_do(&gateware.block, &trim));
  assert_int_equal(fake.trims, 1);
  fake_gateware_close(&fake);
}

static void invalid_requests_are_refused(void **state) {
  (void)state;
  _Alignas(SPATE_DMA_ALIGN) static uint8_t buffer[1024];
  const struct spate_io good = {
      .op = SPATE_WRITE, .flags = SPATE_IO_CPU, .blocks = 1, .buffer = buffer, .done = count_done};
  struct spate_io bad[7];

  open_fake(BLOCKS, 9);
  open_backend();
  for (int i = 0; i < 7; i++)
    bad[i] = good;
  bad[0].blocks = 0;
  bad[1].lba = BLOCKS;
  bad[2].lba = UINT64_MAX;
  bad[3].buffer = buffer + 4;
  bad[4].flags = 0; /* the CPU copies the data, so this flag is required */
  bad[5].buffer = NULL;
  bad[6].op = SPATE_ZERO + 1; /* the shutdown is reserved for the driver */
  for (int i = 0; i < 7; i++)
    GIVES(SPATE_E_INVALID, spate_block_submit(&gateware.block, &bad[i]));
  fake_gateware_close(&fake);
}

static void errors_are_named(void **state) {
  (void)state;
  _Alignas(SPATE_DMA_ALIGN) static uint8_t buffer[8192];
  static const struct {
    uint16_t status;
    enum spate_error error;
  } cases[] = {{0x0281, SPATE_E_MEDIA},
               {0x4002, SPATE_E_COMMAND},
               {0x8006, SPATE_E_BUSY},
               {0x8004, SPATE_E_GONE},
               {0x8007, SPATE_E_MEDIA}};

  open_fake(BLOCKS, 9);
  open_backend();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct spate_io io = {.op = SPATE_READ, .flags = SPATE_IO_CPU, .lba = 50, .blocks = 16, .buffer = buffer};
    fake.faults[0] =
        (struct fake_gateware_fault){.op = 2, .source = 2, .lba = 60, .times = 1, .status = cases[i].status};
    GIVES(cases[i].error, spate_block_do(&gateware.block, &io));
    assert_int_equal(io.detail, cases[i].status);
    OK(spate_block_do(&gateware.block, &io)); /* the next request succeeds */
  }
  fake_gateware_close(&fake);
}

static void streams_and_mailbox_do_not_wait_for_each_other(void **state) {
  (void)state;
  _Alignas(SPATE_DMA_ALIGN) static uint8_t buffer[4096];
  struct spate_io ios[SPATE_GATEWARE_DEPTH + 1];

  open_fake(BLOCKS, 9);
  open_backend();
  done_count = 0;
  for (uint32_t i = 0; i <= SPATE_GATEWARE_DEPTH; i++) {
    ios[i] = stream_write(1000 + i * 100, 100);
    enum spate_error error = spate_block_submit(&gateware.block, &ios[i]);
    GIVES(i < SPATE_GATEWARE_DEPTH ? SPATE_OK : SPATE_E_FULL, error);
  }
  /* No byte of the stream has arrived. */
  OK(spate_block_write(&gateware.block, 0, 8, buffer, SPATE_IO_FUA));
  OK(spate_block_flush(&gateware.block));
  assert_int_equal(gateware.flushed_blocks, 0);
  assert_int_equal(done_count, 0);
  fake.flow_bytes = 350 * 512;
  wait_for(3);
  OK(spate_block_flush(&gateware.block));
  assert_in_range(gateware.flushed_blocks, 300, 350);
  assert_int_equal(spate_gateware_written_blocks(&gateware), 350);
  fake.flow_bytes = UINT64_MAX;
  wait_for(SPATE_GATEWARE_DEPTH);
  for (uint64_t i = 0; i < SPATE_GATEWARE_DEPTH * 100 * 512; i++)
    assert_int_equal(fake.medium[1000 * 512 + i], fake_stream_byte(i));
  fake_gateware_close(&fake);
}

static void addresses_have_all_their_bits(void **state) {
  (void)state;
  struct spate_io io;

  open_fake(BLOCKS, 9);
  fake.blocks = UINT64_C(1) << 39;
  fake.unanswering = true;
  open_backend();
  assert_int_equal(gateware.block.blocks, UINT64_C(1) << 39);
  io = stream_write((UINT64_C(0x12) << 32) + 5, 2097152);
  OK(spate_block_submit(&gateware.block, &io));
  assert_int_equal(fake.data[0].lba, (UINT64_C(0x12) << 32) + 5);
  assert_int_equal(fake.data[0].blocks, 2097152);
  io.blocks++;
  GIVES(SPATE_E_INVALID, spate_block_submit(&gateware.block, &io));
  fake_gateware_close(&fake);
}

static void memory_mode_transfers_memory(void **state) {
  (void)state;
  static uint64_t pages[4] = {0x4000, 0x5000, 0x9000, 0x3000};
  static uint8_t memory[0xa000];
  struct spate_region region = {.bytes = sizeof pages / 8 * SPATE_PAGE_BYTES, .list = pages};
  struct spate_io io = {
      .op = SPATE_WRITE, .lba = 77, .blocks = 20, .region = &region, .offset_bytes = 0x404, .done = count_done};

  open_fake(BLOCKS, 9);
  fake.memory_mode = true;
  fake.memory = memory;
  open_backend();
  assert_null(spate_gateware_region(&gateware));
  for (size_t i = 0; i < sizeof memory; i++)
    memory[i] = (uint8_t)(i * 7 >> 3);
  done_count = 0;
  OK(spate_block_submit(&gateware.block, &io));
  wait_for(1);
  assert_memory_equal(fake.medium + 77 * 512, memory + 0x3404, 20 * 512);
  assert_memory_not_equal(fake.durable + 77 * 512, memory + 0x3404, 20 * 512);
  io.flags = SPATE_IO_FUA;
  OK(spate_block_submit(&gateware.block, &io));
  wait_for(2);
  assert_memory_equal(fake.durable + 77 * 512, memory + 0x3404, 20 * 512);
  io.flags = 0;
  io.blocks = 24; /* would continue in a page that does not follow */
  GIVES(SPATE_E_INVALID, spate_block_submit(&gateware.block, &io));
  io.blocks = 20;
  io.op = SPATE_READ;
  memset(memory, 0, sizeof memory);
  OK(spate_block_submit(&gateware.block, &io));
  wait_for(3);
  assert_memory_equal(fake.medium + 77 * 512, memory + 0x3404, 20 * 512);
  fake_gateware_close(&fake);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(open_knows_a_core_and_its_drive),
      cmocka_unit_test(open_reports_what_is_wrong),
      cmocka_unit_test(responses_from_before_a_restart_are_ignored),
      cmocka_unit_test(written_data_is_read_back_512),
      cmocka_unit_test(written_data_is_read_back_4096),
      cmocka_unit_test(flags_and_operations_arrive),
      cmocka_unit_test(invalid_requests_are_refused),
      cmocka_unit_test(errors_are_named),
      cmocka_unit_test(streams_and_mailbox_do_not_wait_for_each_other),
      cmocka_unit_test(addresses_have_all_their_bits),
      cmocka_unit_test(memory_mode_transfers_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
