/* SPDX-License-Identifier: Apache-2.0 */
/* The core as a block device: resets, losses of power, a core that fails, and shutdown. */
#include "gateware_requests.h"

static void a_command_that_a_reset_ended_is_sent_again(void **state) {
  (void)state;
  _Alignas(SPATE_DMA_ALIGN) static uint8_t buffer[4096];

  open_fake(BLOCKS, 9);
  open_backend();
  memset(buffer, 0x77, sizeof buffer);
  fake.faults[0] = (struct fake_gateware_fault){.op = 1, .source = 2, .lba = 9, .times = 3, .status = 0x8005};
  OK(spate_block_write(&gateware.block, 9, 8, buffer, 0));
  assert_memory_equal(fake.medium + 9 * 512, buffer, sizeof buffer);
  fake.faults[0].times = 4;
  GIVES(SPATE_E_TIMEOUT, spate_block_write(&gateware.block, 9, 8, buffer, 0));
  OK(spate_block_write(&gateware.block, 9, 8, buffer, 0));
  fake_gateware_close(&fake);
}

/* A flush after the drive lost its power must not be taken for one that made earlier data durable. */
static void a_power_loss_is_known_before_the_flush_after_it(enum fake_power power) {
  struct spate_io flush = {.op = SPATE_FLUSH, .done = count_done};

  open_fake(BLOCKS, 9);
  open_backend();
  done_count = 0;
  OK(spate_block_submit(&gateware.block, &flush));
  spate_block_kick(&gateware.block);
  for (int i = 0; i < 100; i++)
    fake_gateware_step(&fake);
  fake_gateware_reset(&fake, power);
  for (int i = 0; i < 2000; i++) {
    spate_block_poll(&gateware.block, 4);
    host_relax();
  }
  assert_int_equal(fake.flushes, 1); /* it is done, ... */
  assert_int_equal(done_count, 0);   /* ... but not reported yet: was power lost? */
  fake_gateware_return(&fake);
  wait_for(1);
  assert_int_equal(flush.error, SPATE_OK);
  assert_int_equal(gateware.block.power_losses, power == FAKE_POWER_LOST ? 1 : 0);
  assert_int_equal(gateware.block.power_unknown, power == FAKE_POWER_UNKNOWN ? 1 : 0);
  assert_int_equal(gateware.recoveries, 1);
  fake_gateware_close(&fake);
}

static void power_losses_are_reported_in_time(void **state) {
  (void)state;
  a_power_loss_is_known_before_the_flush_after_it(FAKE_POWER_LOST);
  a_power_loss_is_known_before_the_flush_after_it(FAKE_POWER_UNKNOWN);
  a_power_loss_is_known_before_the_flush_after_it(FAKE_POWER_KEPT);
}

/* A log that came only when the drive was ready again, and shows a loss; or a reset before this program began. */
static void a_loss_is_counted_whenever_the_core_sees_it(void **state) {
  (void)state;

  open_fake(BLOCKS, 9);
  fake_gateware_verdict(&fake, FAKE_POWER_LOST);
  fake_gateware_verdict(&fake, FAKE_POWER_UNKNOWN);
  open_backend();
  OK(spate_block_flush(&gateware.block));
  assert_int_equal(gateware.block.power_losses, 0);
  assert_int_equal(gateware.block.power_unknown, 0);
  fake.losses = UINT16_MAX; /* the counts wrap */
  fake.unknown = UINT16_MAX;
  open_backend();
  fake_gateware_verdict(&fake, FAKE_POWER_LOST);
  OK(spate_block_flush(&gateware.block));
  assert_int_equal(gateware.block.power_losses, 1);
  fake_gateware_verdict(&fake, FAKE_POWER_UNKNOWN);
  OK(spate_block_flush(&gateware.block));
  assert_int_equal(gateware.block.power_losses, 1);
  assert_int_equal(gateware.block.power_unknown, 1);
  fake_gateware_close(&fake);
}

/* All ones of a core that vanishes between two reads are no counts. */
static void a_core_that_vanishes_has_lost_no_power(void **state) {
  (void)state;
  for (uint32_t reads = 1; reads < 40; reads++) {
    struct spate_io flush = {.op = SPATE_FLUSH, .done = count_done};
    open_fake(BLOCKS, 9);
    open_backend();
    done_count = 0;
    OK(spate_block_submit(&gateware.block, &flush));
    fake_gateware_reset(&fake, FAKE_POWER_UNKNOWN);
    fake_gateware_return(&fake);
    fake.reads_left = reads;
    wait_for(1);
    assert_int_equal(gateware.block.power_losses, 0);
    assert_in_range(gateware.block.power_unknown, 0, 1);
    fake_gateware_close(&fake);
  }
}

/* The shutdown flushes, but too late for what was lost before. */
static void a_shutdown_after_a_loss_tells_of_it(void **state) {
  (void)state;

  open_fake(BLOCKS, 9);
  open_backend();
  fake_gateware_verdict(&fake, FAKE_POWER_LOST);
  GIVES(SPATE_E_POWER_LOST, spate_gateware_shutdown(&gateware));
  assert_int_equal(fake.shutdowns, 1);
  fake_gateware_close(&fake);
}

static void stream_writes_under_a_power_loss_fail(void **state) {
  (void)state;
  struct spate_io before;
  struct spate_io under;
  struct spate_io after;

  open_fake(BLOCKS, 9);
  open_backend();
  before = stream_write(0, 100);
  under = stream_write(100, 100);
  after = stream_write(200, 100);
  done_count = 0;
  OK(spate_block_submit(&gateware.block, &before));
  OK(spate_block_submit(&gateware.block, &under));
  fake.flow_bytes = 130 * 512;
  wait_for(1);
  fake_gateware_reset(&fake, FAKE_POWER_LOST);
  fake_gateware_return(&fake);
  fake.flow_bytes = UINT64_MAX;
  wait_for(2);
  OK(spate_block_submit(&gateware.block, &after));
  wait_for(3);
  assert_int_equal(before.error, SPATE_OK); /* power_losses tells that the data may be gone */
  assert_int_equal(under.error, SPATE_E_POWER_LOST);
  assert_int_equal(after.error, SPATE_OK);
  fake_gateware_close(&fake);
}

static void every_request_ends_when_the_core_does(void **state) {
  (void)state;
  enum { UNANSWERING, VANISHED, GONE, ENDS };
  static const enum spate_error errors[ENDS] = {SPATE_E_TIMEOUT, SPATE_E_GONE, SPATE_E_LINK_DOWN};
  _Alignas(SPATE_DMA_ALIGN) static uint8_t buffer[4096];

  for (int end = UNANSWERING; end < ENDS; end++) {
    struct spate_io stream;
    struct spate_io io[3];
    open_fake(BLOCKS, 9);
    open_backend();
    done_count = 0;
    stream = stream_write(0, 8);
    OK(spate_block_submit(&gateware.block, &stream));
    for (int i = 0; i < 3; i++) {
      io[i] =
          (struct spate_io){.op = SPATE_READ, .flags = SPATE_IO_CPU, .blocks = 8, .buffer = buffer, .done = count_done};
      OK(spate_block_submit(&gateware.block, &io[i]));
    }
    spate_block_kick(&gateware.block);
    fake.unanswering = end == UNANSWERING;
    fake.vanished = end == VANISHED;
    if (end == GONE) {
      fake.gone = true;
      fake.ready = false;
      fake.error = 26;
      fake.interrupts |= SPATE_REGS_INTERRUPT_STATUS_GONE;
    }
    for (int i = 0; i < 100 && done_count < 4; i++) {
      spate_block_poll(&gateware.block, 4);
      clock_ns += 1000000000;
    }
    assert_int_equal(done_count, 4);
    assert_int_equal(stream.error, errors[end]);
    for (int i = 0; i < 3; i++) {
      assert_int_equal(io[i].error, errors[end]);
      if (end != GONE) assert_int_equal(io[i].detail, 0); /* no drive returned a status */
    }
    GIVES(errors[end], spate_block_submit(&gateware.block, &io[0]));
    if (end == GONE) {
      assert_string_equal(log_text, "gateware: the drive is gone, error");
      assert_int_equal(log_value, errors[end]);
    }
    fake_gateware_close(&fake);
  }
}

static void a_stream_may_wait_for_ever(void **state) {
  (void)state;
  struct spate_io io;

  open_fake(BLOCKS, 9);
  open_backend();
  io = stream_write(0, 8);
  done_count = 0;
  OK(spate_block_submit(&gateware.block, &io));
  for (int i = 0; i < 100; i++) {
    spate_block_poll(&gateware.block, 4);
    clock_ns += UINT64_C(100000000000);
  }
  assert_int_equal(done_count, 0);
  fake.flow_bytes = UINT64_MAX;
  wait_for(1);
  assert_int_equal(io.error, SPATE_OK);
  fake_gateware_close(&fake);
}

static void shutdown_shuts_down_the_drive(void **state) {
  (void)state;
  struct spate_io io;

  open_fake(BLOCKS, 9);
  open_backend();
  io = stream_write(0, 8);
  done_count = 0;
  OK(spate_block_submit(&gateware.block, &io));
  GIVES(SPATE_E_BUSY, spate_gateware_shutdown(&gateware));
  fake.flow_bytes = UINT64_MAX;
  wait_for(1);
  OK(spate_gateware_shutdown(&gateware));
  assert_int_equal(fake.shutdowns, 1);
  GIVES(SPATE_E_GONE, spate_block_submit(&gateware.block, &io));
  GIVES(SPATE_E_GONE, spate_gateware_shutdown(&gateware));
  fake_gateware_close(&fake);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_command_that_a_reset_ended_is_sent_again),
      cmocka_unit_test(power_losses_are_reported_in_time),
      cmocka_unit_test(a_loss_is_counted_whenever_the_core_sees_it),
      cmocka_unit_test(a_core_that_vanishes_has_lost_no_power),
      cmocka_unit_test(a_shutdown_after_a_loss_tells_of_it),
      cmocka_unit_test(stream_writes_under_a_power_loss_fail),
      cmocka_unit_test(every_request_ends_when_the_core_does),
      cmocka_unit_test(a_stream_may_wait_for_ever),
      cmocka_unit_test(shutdown_shuts_down_the_drive),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
