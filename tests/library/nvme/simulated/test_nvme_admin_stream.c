/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/* Admin commands of the caller during a stream of writes to the same drive. */
#include "machine/stack.h"
#include <setjmp.h>
#include <spate/bytes.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../../ports/host/host_port.h"

#define GET_LOG      0x02u
#define GET_FEATURES 0x0au
#define TELEMETRY    0x07u
#define STREAM_IOS   4u
#define IO_BLOCKS    32u
#define TURN_US      20u /* a pause after each turn: without it the stream moves 3 GB/s, and the tests take minutes */
#define LOG_BYTES    (UINT32_C(128) << 10)

struct fixture {
  struct sim_stack *stack;
  struct sim_stack_drive *drive;
  struct spate_region *ring, *log;
  struct spate_io ios[STREAM_IOS];
  bool busy[STREAM_IOS];
  uint64_t written, errors, next;
  struct spate_nvme_admin_request request;
  unsigned ended;
};

static struct fixture *fixture_open(void) {
  struct fixture *fixture = calloc(1, sizeof *fixture);

  assert_non_null(fixture);
  fixture->stack = sim_stack_new(&(struct sim_stack_config){
      .machine = {.seed = 5}, .depth = 8, .options = {.bytes = UINT64_C(128) << 20, .log_commands = true}});
  fixture->drive = &fixture->stack->drives[0];
  sim_drive_identify_controller(fixture->drive->drive)[77] = 10; /* MDTS: 4 MiB */
  assert_int_equal(sim_stack_open(fixture->stack), SPATE_OK);
  fixture->ring = sim_stack_region(fixture->stack, STREAM_IOS * IO_BLOCKS * 512u, SIM_LOGIC);
  fixture->log = sim_stack_region(fixture->stack, UINT64_C(4) << 20, SIM_CACHED);
  return fixture;
}

static void fixture_end(struct fixture *fixture) {
  const char *why = NULL;

  assert_int_equal(sim_stack_close(fixture->stack), SPATE_OK);
  if (sim_take_violations(fixture->stack->sim, &why) != 0) fail_msg("%s", why);
  sim_stack_free(fixture->stack);
  free(fixture);
}

static void written(struct spate_io *io) {
  struct fixture *fixture = io->context;

  fixture->busy[io - fixture->ios] = false;
  fixture->written++;
  fixture->errors += io->error != SPATE_OK;
}

/* Advance the stream: each free slot is submitted again. */
static void stream(struct fixture *fixture) {
  for (unsigned i = 0; i < STREAM_IOS; i++) {
    if (fixture->busy[i]) continue;
    fixture->ios[i] = (struct spate_io){.op = SPATE_WRITE,
                                        .lba = fixture->next % 500u * IO_BLOCKS,
                                        .blocks = IO_BLOCKS,
                                        .region = fixture->ring,
                                        .offset_bytes = (uint64_t)i * IO_BLOCKS * 512u,
                                        .done = written,
                                        .context = fixture};
    const enum spate_error error = spate_block_submit(fixture->stack->block, &fixture->ios[i]);
    if (error == SPATE_E_FULL) break;
    assert_int_equal(error, SPATE_OK);
    fixture->busy[i] = true;
    fixture->next++;
  }
  (void)spate_block_poll(fixture->stack->block, 8);
  sim_spend(fixture->stack->sim, TURN_US * SIM_PS_PER_US);
}

static uint64_t now_ms(const struct fixture *fixture) { return sim_now_ps(fixture->stack->sim) / SIM_PS_PER_MS; }

/* Nothing here takes longer. */
static void expect_in_time(const struct fixture *fixture, uint64_t start_ms) {
  if (now_ms(fixture) - start_ms > 5000) fail_msg("the request does not end within five seconds of the drive's time");
}

static void stream_ends(struct fixture *fixture) {
  const uint64_t start_ms = now_ms(fixture);

  for (unsigned busy = 1; busy > 0;) {
    busy = 0;
    expect_in_time(fixture, start_ms);
    (void)spate_block_poll(fixture->stack->block, 8);
    for (unsigned i = 0; i < STREAM_IOS; i++)
      busy += fixture->busy[i];
    host_relax();
  }
  assert_int_equal(fixture->errors, 0);
}

static void ended(struct spate_nvme_admin_request *request) {
  struct fixture *fixture = request->context;

  fixture->ended++;
}

static struct spate_nvme_admin_request log_request(struct fixture *fixture, uint64_t at, uint32_t bytes) {
  return (struct spate_nvme_admin_request){
      .opcode = GET_LOG,
      .nsid = UINT32_MAX,
      .dwords_10_15 = {(bytes / 4u - 1u) << 16 | TELEMETRY, (bytes / 4u - 1u) >> 16},
      .buffer = fixture->log->start + at,
      .bytes = bytes,
      .timeout_ms = 5000,
      .done = ended,
      .context = fixture};
}

/* Submit the request and stream until it ends; returns how many ms that took. */
static uint64_t carry_out(struct fixture *fixture) {
  const uint64_t start_ms = now_ms(fixture);

  fixture->ended = 0;
  assert_int_equal(spate_nvme_admin_submit(&fixture->drive->nvme, &fixture->request), SPATE_OK);
  while (fixture->ended == 0) {
    stream(fixture);
    expect_in_time(fixture, start_ms);
  }
  return now_ms(fixture) - start_ms;
}

static void expect_log(const struct fixture *fixture, uint64_t at, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i += 4u)
    if (spate_get32(fixture->log->start + at + i) != i) fail_msg("byte %u of the log is wrong", i);
}

static void a_long_log_is_read_beside_a_stream(void **state) {
  static const struct {
    uint64_t at;
    uint32_t bytes;
  } shapes[] = {{0, LOG_BYTES}, {64, LOG_BYTES}, {4032, 68},    {128, 4096},
                {0, 4},         {192, 8192},     {0, 3u << 20}, {64, 3u << 20}};
  (void)state;
  struct fixture *fixture = fixture_open();

  for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    memset(fixture->log->start, 0xa7, (size_t)fixture->log->bytes);
    fixture->request = log_request(fixture, shapes[i].at, shapes[i].bytes);
    (void)carry_out(fixture);
    assert_int_equal(fixture->request.error, SPATE_OK);
    expect_log(fixture, shapes[i].at, shapes[i].bytes);
    if (shapes[i].at > 0) assert_int_equal(fixture->log->start[shapes[i].at - 1u], 0xa7);
    assert_int_equal(fixture->log->start[(shapes[i].at + shapes[i].bytes + 63u) / 64u * 64u], 0xa7);
  }
  stream_ends(fixture);
  fixture_end(fixture);
}

/* The command takes 600 ms, less than its timeout, and the stream is not disturbed. */
static void a_slow_command_does_not_delay_the_stream(void **state) {
  (void)state;
  struct fixture *fixture = fixture_open();

  for (unsigned i = 0; i < 1000; i++)
    stream(fixture);
  fixture->request = log_request(fixture, 0, LOG_BYTES);
  sim_drive_fault(fixture->drive->drive, (struct sim_fault){SIM_LATE, true, GET_LOG, 0, 0, 0, 1, 600});
  sim_drive_clear_counters(fixture->drive->drive);
  const uint64_t before = fixture->written;
  const uint64_t ms = carry_out(fixture);
  assert_in_range(ms, 600, 800);
  assert_int_equal(fixture->request.error, SPATE_OK);
  expect_log(fixture, 0, LOG_BYTES);
  assert_true(fixture->written - before > 1000);
  assert_true(sim_drive_counters(fixture->drive->drive)->data_gap_ps_max < 2 * SIM_PS_PER_MS);
  assert_int_equal(spate_nvme_counters(&fixture->drive->nvme)->timeouts, 0);
  stream_ends(fixture);
  fixture_end(fixture);
}

/* The Abort command ends the expired command, and nothing is reset. */
static void an_expired_command_is_aborted(void **state) {
  (void)state;
  struct fixture *fixture = fixture_open();

  sim_drive_fault(fixture->drive->drive, (struct sim_fault){SIM_STALL, true, GET_LOG, 0, 0, 0, 1, 0});
  fixture->request = log_request(fixture, 0, LOG_BYTES);
  fixture->request.timeout_ms = 300;
  assert_in_range(carry_out(fixture), 300, 600);
  assert_int_equal(fixture->request.error, SPATE_E_TIMEOUT);
  assert_int_equal(spate_nvme_counters(&fixture->drive->nvme)->aborts, 1);
  assert_int_equal(spate_nvme_counters(&fixture->drive->nvme)->resets, 0);
  fixture->request = log_request(fixture, 0, LOG_BYTES);
  (void)carry_out(fixture);
  assert_int_equal(fixture->request.error, SPATE_OK);
  stream_ends(fixture);
  fixture_end(fixture);
}

/* The drive does not find the command. A second later the controller is reset, and the stream continues without an
 * error. */
static void a_command_that_never_ends_costs_a_reset(void **state) {
  (void)state;
  struct fixture *fixture = fixture_open();

  sim_drive_fault(fixture->drive->drive, (struct sim_fault){SIM_LOSE, true, GET_LOG, 0, 0, 0, 1, 0});
  fixture->request = log_request(fixture, 0, LOG_BYTES);
  fixture->request.timeout_ms = 300;
  assert_in_range(carry_out(fixture), 1300, 1800);
  assert_int_equal(fixture->request.error, SPATE_E_TIMEOUT);
  assert_int_equal(spate_nvme_counters(&fixture->drive->nvme)->aborts, 1);
  assert_int_equal(spate_nvme_counters(&fixture->drive->nvme)->resets, 1);
  for (unsigned i = 0; i < 200; i++)
    stream(fixture);
  stream_ends(fixture);
  assert_int_equal(fixture->ended, 1);
  fixture_end(fixture);
}

static void a_refusal_has_its_status(void **state) {
  (void)state;
  struct fixture *fixture = fixture_open();

  sim_drive_fault(fixture->drive->drive, (struct sim_fault){SIM_STATUS, true, GET_LOG, 0, 0, 0, 1, 0x4109});
  fixture->request = log_request(fixture, 0, LOG_BYTES);
  (void)carry_out(fixture);
  assert_int_equal(fixture->request.error, SPATE_E_COMMAND);
  assert_int_equal(fixture->request.detail, 0x4109);
  fixture->request = (struct spate_nvme_admin_request){
      .opcode = GET_FEATURES, .dwords_10_15 = {0x07}, .timeout_ms = 100, .done = ended, .context = fixture};
  (void)carry_out(fixture);
  assert_int_equal(fixture->request.error, SPATE_OK);
  assert_int_equal(fixture->request.result, 7u << 16 | 7u);
  stream_ends(fixture);
  fixture_end(fixture);
}

/* Without a queue only the controller can be polled. */
static void admin_requests_work_without_queues(void **state) {
  (void)state;
  struct fixture *fixture = fixture_open();
  struct spate_nvme_admin_request second;

  assert_int_equal(spate_nvme_queue_close(&fixture->drive->nvme, &fixture->drive->queue), SPATE_OK);
  second = fixture->request = log_request(fixture, 0, LOG_BYTES);
  assert_int_equal(spate_nvme_admin_submit(&fixture->drive->nvme, &fixture->request), SPATE_OK);
  assert_int_equal(spate_nvme_admin_submit(&fixture->drive->nvme, &second), SPATE_E_FULL);
  const uint64_t start_ms = now_ms(fixture);
  while (fixture->ended == 0) {
    spate_nvme_poll(&fixture->drive->nvme);
    host_relax();
    expect_in_time(fixture, start_ms);
  }
  assert_true(now_ms(fixture) - start_ms < 10);
  expect_log(fixture, 0, LOG_BYTES);
  fixture->request = log_request(fixture, 0, LOG_BYTES); /* shutdown waits for it */
  assert_int_equal(spate_nvme_admin_submit(&fixture->drive->nvme, &fixture->request), SPATE_OK);
  fixture_end(fixture);
}

/* Nothing else makes the drive answer again, so it is given up: the request ends once, with that error. */
static void it_ends_with_the_controller(void **state) {
  (void)state;
  struct fixture *fixture = fixture_open();

  fixture->drive->nvme.config.bus.restore = NULL;
  fixture->request = log_request(fixture, 0, LOG_BYTES);
  sim_drive_fault(fixture->drive->drive, (struct sim_fault){SIM_GONE, true, GET_LOG, 0, 0, 0, 1, 0});
  assert_int_equal(spate_nvme_admin_submit(&fixture->drive->nvme, &fixture->request), SPATE_OK);
  const uint64_t start_ms = now_ms(fixture);
  while (fixture->drive->nvme.state != SPATE_NVME_DEAD) {
    assert_int_equal(fixture->ended, 0);
    expect_in_time(fixture, start_ms);
    (void)spate_block_poll(fixture->stack->block, 8);
    host_relax();
  }
  assert_int_equal(fixture->ended, 1);
  assert_int_equal(fixture->request.error, SPATE_E_GONE);
  assert_int_equal(spate_nvme_admin_submit(&fixture->drive->nvme, &fixture->request), SPATE_E_GONE);
  sim_stack_free(fixture->stack);
  free(fixture);
}

static enum spate_error try(struct fixture *fixture, struct spate_nvme_admin_request request) {
  request.done = ended;
  request.context = fixture;
  if (request.timeout_ms == 0) request.timeout_ms = 1000;
  return spate_nvme_admin_submit(&fixture->drive->nvme, &request);
}

static void commands_that_would_harm_the_driver_are_refused(void **state) {
  static const uint8_t opcodes[] = {0x00, 0x01, 0x04, 0x05, 0x08, 0x0c, 0x1c, 0x7c};
  static const uint8_t features[] = {0x06, 0x07, 0x0d, 0x0f, 0x16};
  static const uint8_t of_namespaces[] = {0x0d, 0x15, 0x80, 0x84};
  (void)state;
  struct fixture *fixture = fixture_open();
  size_t commands, after;

  (void)sim_drive_commands(fixture->drive->drive, &commands);
  for (unsigned i = 0; i < sizeof opcodes; i++)
    assert_int_equal(try(fixture, (struct spate_nvme_admin_request){.opcode = opcodes[i]}), SPATE_E_INVALID);
  for (unsigned i = 0; i < sizeof features; i++)
    assert_int_equal(try(fixture, (struct spate_nvme_admin_request){.opcode = 0x09,
                                                                    .dwords_10_15 = {UINT32_C(1) << 31 | features[i]}}),
                     SPATE_E_INVALID);
  for (unsigned i = 0; i < sizeof of_namespaces; i++)
    assert_int_equal(try(fixture, (struct spate_nvme_admin_request){.opcode = of_namespaces[i]}), SPATE_E_BUSY);

  struct spate_nvme_admin_request request = log_request(fixture, 0, LOG_BYTES);
  request.bytes -= 4; /* the log would be written beyond the buffer */
  assert_int_equal(try(fixture, request), SPATE_E_INVALID);
  request = log_request(fixture, 0, LOG_BYTES);
  request.dwords_10_15[1]++;
  assert_int_equal(try(fixture, request), SPATE_E_INVALID);
  request = log_request(fixture, 4, 4096);
  assert_int_equal(try(fixture, request), SPATE_E_INVALID);
  request = log_request(fixture, 0, 4096);
  request.buffer = NULL;
  assert_int_equal(try(fixture, request), SPATE_E_INVALID);
  request = log_request(fixture, 64, 4u << 20); /* a page more than two list pages describe */
  assert_int_equal(try(fixture, request), SPATE_E_INVALID);
  request = (struct spate_nvme_admin_request){
      .opcode = 0x06, .dwords_10_15 = {1}, .buffer = fixture->log->start, .bytes = 512};
  assert_int_equal(try(fixture, request), SPATE_E_INVALID);
  request = (struct spate_nvme_admin_request){.opcode = 0x14, .buffer = fixture->log->start, .bytes = 512};
  assert_int_equal(try(fixture, request), SPATE_E_INVALID); /* a device self-test transfers no data */
  request = (struct spate_nvme_admin_request){
      .opcode = 0x82, .dwords_10_15 = {0, 513}, .buffer = fixture->log->start, .bytes = 512};
  assert_int_equal(try(fixture, request), SPATE_E_INVALID);
  request = (struct spate_nvme_admin_request){
      .opcode = 0x11, .dwords_10_15 = {128}, .buffer = fixture->log->start, .bytes = 512};
  assert_int_equal(try(fixture, request), SPATE_E_INVALID);
  fixture->drive->nvme.identity.transfer_bytes_max = 65536;
  assert_int_equal(try(fixture, log_request(fixture, 0, LOG_BYTES)), SPATE_E_INVALID);
  (void)sim_drive_commands(fixture->drive->drive, &after);
  assert_int_equal(after, commands);
  assert_int_equal(fixture->ended, 0);
  fixture_end(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_long_log_is_read_beside_a_stream),
      cmocka_unit_test(a_slow_command_does_not_delay_the_stream),
      cmocka_unit_test(an_expired_command_is_aborted),
      cmocka_unit_test(a_command_that_never_ends_costs_a_reset),
      cmocka_unit_test(a_refusal_has_its_status),
      cmocka_unit_test(admin_requests_work_without_queues),
      cmocka_unit_test(it_ends_with_the_controller),
      cmocka_unit_test(commands_that_would_harm_the_driver_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
