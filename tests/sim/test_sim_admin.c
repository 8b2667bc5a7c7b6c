/* SPDX-License-Identifier: Apache-2.0 */
/* Admin commands of the caller's, while a stream is written to the same drive. */
#include "rig.h"
#include <setjmp.h>
#include <spate/bytes.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../ports/host/host_port.h"

#define GET_LOG      0x02u
#define GET_FEATURES 0x0au
#define TELEMETRY    0x07u
#define STREAM_IOS   4u
#define IO_BLOCKS    256u
#define LOG_BYTES    (UINT32_C(128) << 10)

struct world {
  struct sim_rig *rig;
  struct sim_rig_drive *drive;
  struct spate_region *ring, *log;
  struct spate_io ios[STREAM_IOS];
  bool busy[STREAM_IOS];
  uint64_t written, errors, next;
  struct spate_nvme_admin_request request;
  unsigned ended;
};

static struct world *world_open(void) {
  struct world *world = calloc(1, sizeof *world);

  assert_non_null(world);
  world->rig = sim_rig_new(&(struct sim_rig_config){
      .machine = {.seed = 5}, .depth = 8, .options = {.bytes = UINT64_C(128) << 20, .log_commands = true}});
  world->drive = &world->rig->drives[0];
  sim_drive_identify_controller(world->drive->drive)[77] = 10; /* MDTS: 4 MiB */
  assert_int_equal(sim_rig_open(world->rig), SPATE_OK);
  world->ring = sim_rig_region(world->rig, STREAM_IOS * IO_BLOCKS * 512u, SIM_LOGIC);
  world->log = sim_rig_region(world->rig, UINT64_C(4) << 20, SIM_CACHED);
  return world;
}

static void world_end(struct world *world) {
  const char *why = NULL;

  assert_int_equal(sim_rig_close(world->rig), SPATE_OK);
  if (sim_take_violations(world->rig->sim, &why) != 0) fail_msg("%s", why);
  sim_rig_free(world->rig);
  free(world);
}

static void written(struct spate_io *io) {
  struct world *world = io->context;

  world->busy[io - world->ios] = false;
  world->written++;
  world->errors += io->error != SPATE_OK;
}

/* A turn of the stream: what is free is submitted again. */
static void stream(struct world *world) {
  for (unsigned i = 0; i < STREAM_IOS; i++) {
    if (world->busy[i]) continue;
    world->ios[i] = (struct spate_io){.op = SPATE_WRITE,
                                      .lba = world->next % 500u * IO_BLOCKS,
                                      .blocks = IO_BLOCKS,
                                      .region = world->ring,
                                      .offset_bytes = (uint64_t)i * IO_BLOCKS * 512u,
                                      .done = written,
                                      .context = world};
    const enum spate_error error = spate_block_submit(world->rig->block, &world->ios[i]);
    if (error == SPATE_E_FULL) break;
    assert_int_equal(error, SPATE_OK);
    world->busy[i] = true;
    world->next++;
  }
  (void)spate_block_poll(world->rig->block, 8);
  host_relax();
}

static uint64_t now_ms(const struct world *world) { return sim_now_ps(world->rig->sim) / SIM_PS_PER_MS; }

/* Nothing here takes longer than that. */
static void expect_in_time(const struct world *world, uint64_t start_ms) {
  if (now_ms(world) - start_ms > 5000) fail_msg("it does not end within five seconds of the drive's time");
}

static void stream_ends(struct world *world) {
  const uint64_t start_ms = now_ms(world);

  for (unsigned busy = 1; busy > 0;) {
    busy = 0;
    expect_in_time(world, start_ms);
    (void)spate_block_poll(world->rig->block, 8);
    for (unsigned i = 0; i < STREAM_IOS; i++)
      busy += world->busy[i];
    host_relax();
  }
  assert_int_equal(world->errors, 0);
}

static void ended(struct spate_nvme_admin_request *request) {
  struct world *world = request->context;

  world->ended++;
}

static struct spate_nvme_admin_request log_request(struct world *world, uint64_t at, uint32_t bytes) {
  return (struct spate_nvme_admin_request){
      .opcode = GET_LOG,
      .nsid = UINT32_MAX,
      .dwords_10_15 = {(bytes / 4u - 1u) << 16 | TELEMETRY, (bytes / 4u - 1u) >> 16},
      .buffer = world->log->start + at,
      .bytes = bytes,
      .timeout_ms = 5000,
      .done = ended,
      .context = world};
}

/* Submit, stream until it ends; returns how many ms that took. */
static uint64_t carry_out(struct world *world) {
  const uint64_t start_ms = now_ms(world);

  world->ended = 0;
  assert_int_equal(spate_nvme_admin_submit(&world->drive->nvme, &world->request), SPATE_OK);
  while (world->ended == 0) {
    stream(world);
    expect_in_time(world, start_ms);
  }
  return now_ms(world) - start_ms;
}

static void expect_log(const struct world *world, uint64_t at, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i += 4u)
    if (spate_get32(world->log->start + at + i) != i) fail_msg("byte %u of the log is wrong", i);
}

static void a_long_log_is_read_beside_a_stream(void **state) {
  static const struct {
    uint64_t at;
    uint32_t bytes;
  } shapes[] = {{0, LOG_BYTES}, {64, LOG_BYTES}, {4032, 68},    {128, 4096},
                {0, 4},         {192, 8192},     {0, 3u << 20}, {64, 3u << 20}};
  (void)state;
  struct world *world = world_open();

  for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    memset(world->log->start, 0xa7, (size_t)world->log->bytes);
    world->request = log_request(world, shapes[i].at, shapes[i].bytes);
    (void)carry_out(world);
    assert_int_equal(world->request.error, SPATE_OK);
    expect_log(world, shapes[i].at, shapes[i].bytes);
    if (shapes[i].at > 0) assert_int_equal(world->log->start[shapes[i].at - 1u], 0xa7);
    assert_int_equal(world->log->start[(shapes[i].at + shapes[i].bytes + 63u) / 64u * 64u], 0xa7);
  }
  stream_ends(world);
  world_end(world);
}

/* It takes 600 ms, within its deadline, and the stream does not notice. */
static void a_slow_one_does_not_hold_the_stream_up(void **state) {
  (void)state;
  struct world *world = world_open();

  for (unsigned i = 0; i < 1000; i++)
    stream(world);
  world->request = log_request(world, 0, LOG_BYTES);
  sim_drive_fault(world->drive->drive, (struct sim_fault){SIM_LATE, true, GET_LOG, 0, 0, 0, 1, 600});
  sim_drive_clear_counters(world->drive->drive);
  const uint64_t before = world->written;
  const uint64_t ms = carry_out(world);
  assert_in_range(ms, 600, 800);
  assert_int_equal(world->request.error, SPATE_OK);
  expect_log(world, 0, LOG_BYTES);
  assert_true(world->written - before > 1000);
  assert_true(sim_drive_counters(world->drive->drive)->data_gap_ps_max < 2 * SIM_PS_PER_MS);
  assert_int_equal(spate_nvme_counters(&world->drive->nvme)->timeouts, 0);
  stream_ends(world);
  world_end(world);
}

/* The Abort command ends it, and nothing is reset. */
static void an_expired_one_is_aborted(void **state) {
  (void)state;
  struct world *world = world_open();

  sim_drive_fault(world->drive->drive, (struct sim_fault){SIM_STALL, true, GET_LOG, 0, 0, 0, 1, 0});
  world->request = log_request(world, 0, LOG_BYTES);
  world->request.timeout_ms = 300;
  assert_in_range(carry_out(world), 300, 600);
  assert_int_equal(world->request.error, SPATE_E_TIMEOUT);
  assert_int_equal(spate_nvme_counters(&world->drive->nvme)->aborts, 1);
  assert_int_equal(spate_nvme_counters(&world->drive->nvme)->resets, 0);
  world->request = log_request(world, 0, LOG_BYTES);
  (void)carry_out(world);
  assert_int_equal(world->request.error, SPATE_OK);
  stream_ends(world);
  world_end(world);
}

/* The drive does not find it: a second later the controller is reset, and the stream goes on without an error. */
static void one_that_never_ends_costs_a_reset(void **state) {
  (void)state;
  struct world *world = world_open();

  sim_drive_fault(world->drive->drive, (struct sim_fault){SIM_LOSE, true, GET_LOG, 0, 0, 0, 1, 0});
  world->request = log_request(world, 0, LOG_BYTES);
  world->request.timeout_ms = 300;
  assert_in_range(carry_out(world), 1300, 1800);
  assert_int_equal(world->request.error, SPATE_E_TIMEOUT);
  assert_int_equal(spate_nvme_counters(&world->drive->nvme)->aborts, 1);
  assert_int_equal(spate_nvme_counters(&world->drive->nvme)->resets, 1);
  for (unsigned i = 0; i < 200; i++)
    stream(world);
  stream_ends(world);
  assert_int_equal(world->ended, 1);
  world_end(world);
}

static void a_refusal_has_its_status(void **state) {
  (void)state;
  struct world *world = world_open();

  sim_drive_fault(world->drive->drive, (struct sim_fault){SIM_STATUS, true, GET_LOG, 0, 0, 0, 1, 0x4109});
  world->request = log_request(world, 0, LOG_BYTES);
  (void)carry_out(world);
  assert_int_equal(world->request.error, SPATE_E_COMMAND);
  assert_int_equal(world->request.detail, 0x4109);
  world->request = (struct spate_nvme_admin_request){
      .opcode = GET_FEATURES, .dwords_10_15 = {0x07}, .timeout_ms = 100, .done = ended, .context = world};
  (void)carry_out(world);
  assert_int_equal(world->request.error, SPATE_OK);
  assert_int_equal(world->request.result, 7u << 16 | 7u);
  stream_ends(world);
  world_end(world);
}

/* Without a queue there is nothing else to poll. */
static void a_controller_without_queues_has_them_too(void **state) {
  (void)state;
  struct world *world = world_open();
  struct spate_nvme_admin_request second;

  assert_int_equal(spate_nvme_queue_close(&world->drive->nvme, &world->drive->queue), SPATE_OK);
  second = world->request = log_request(world, 0, LOG_BYTES);
  assert_int_equal(spate_nvme_admin_submit(&world->drive->nvme, &world->request), SPATE_OK);
  assert_int_equal(spate_nvme_admin_submit(&world->drive->nvme, &second), SPATE_E_FULL);
  const uint64_t start_ms = now_ms(world);
  while (world->ended == 0) {
    spate_nvme_poll(&world->drive->nvme);
    host_relax();
    expect_in_time(world, start_ms);
  }
  assert_true(now_ms(world) - start_ms < 10);
  expect_log(world, 0, LOG_BYTES);
  world->request = log_request(world, 0, LOG_BYTES); /* shutdown waits for it */
  assert_int_equal(spate_nvme_admin_submit(&world->drive->nvme, &world->request), SPATE_OK);
  world_end(world);
}

/* Nothing else brings the drive back, so it is given up: the request ends once, with the reason. */
static void it_ends_with_the_controller(void **state) {
  (void)state;
  struct world *world = world_open();

  world->drive->nvme.config.bus.restore = NULL;
  world->request = log_request(world, 0, LOG_BYTES);
  sim_drive_fault(world->drive->drive, (struct sim_fault){SIM_GONE, true, GET_LOG, 0, 0, 0, 1, 0});
  assert_int_equal(spate_nvme_admin_submit(&world->drive->nvme, &world->request), SPATE_OK);
  const uint64_t start_ms = now_ms(world);
  while (world->drive->nvme.state != SPATE_NVME_DEAD) {
    assert_int_equal(world->ended, 0);
    expect_in_time(world, start_ms);
    (void)spate_block_poll(world->rig->block, 8);
    host_relax();
  }
  assert_int_equal(world->ended, 1);
  assert_int_equal(world->request.error, SPATE_E_GONE);
  assert_int_equal(spate_nvme_admin_submit(&world->drive->nvme, &world->request), SPATE_E_GONE);
  sim_rig_free(world->rig);
  free(world);
}

static enum spate_error try(struct world *world, struct spate_nvme_admin_request request) {
  request.done = ended;
  request.context = world;
  if (request.timeout_ms == 0) request.timeout_ms = 1000;
  return spate_nvme_admin_submit(&world->drive->nvme, &request);
}

static void what_would_harm_the_driver_is_refused(void **state) {
  static const uint8_t opcodes[] = {0x00, 0x01, 0x04, 0x05, 0x08, 0x0c, 0x1c, 0x7c};
  static const uint8_t features[] = {0x06, 0x07, 0x0d, 0x0f, 0x16};
  static const uint8_t of_namespaces[] = {0x0d, 0x15, 0x80, 0x84};
  (void)state;
  struct world *world = world_open();
  size_t commands, after;

  (void)sim_drive_commands(world->drive->drive, &commands);
  for (unsigned i = 0; i < sizeof opcodes; i++)
    assert_int_equal(try(world, (struct spate_nvme_admin_request){.opcode = opcodes[i]}), SPATE_E_INVALID);
  for (unsigned i = 0; i < sizeof features; i++)
    assert_int_equal(try(world, (struct spate_nvme_admin_request){.opcode = 0x09,
                                                                  .dwords_10_15 = {UINT32_C(1) << 31 | features[i]}}),
                     SPATE_E_INVALID);
  for (unsigned i = 0; i < sizeof of_namespaces; i++)
    assert_int_equal(try(world, (struct spate_nvme_admin_request){.opcode = of_namespaces[i]}), SPATE_E_BUSY);

  struct spate_nvme_admin_request request = log_request(world, 0, LOG_BYTES);
  request.bytes -= 4; /* the log would be written behind it */
  assert_int_equal(try(world, request), SPATE_E_INVALID);
  request = log_request(world, 0, LOG_BYTES);
  request.dwords_10_15[1]++;
  assert_int_equal(try(world, request), SPATE_E_INVALID);
  request = log_request(world, 4, 4096);
  assert_int_equal(try(world, request), SPATE_E_INVALID);
  request = log_request(world, 0, 4096);
  request.buffer = NULL;
  assert_int_equal(try(world, request), SPATE_E_INVALID);
  request = log_request(world, 64, 4u << 20); /* a page more than two pages of a list describe */
  assert_int_equal(try(world, request), SPATE_E_INVALID);
  request =
      (struct spate_nvme_admin_request){.opcode = 0x06, .dwords_10_15 = {1}, .buffer = world->log->start, .bytes = 512};
  assert_int_equal(try(world, request), SPATE_E_INVALID);
  request = (struct spate_nvme_admin_request){.opcode = 0x14, .buffer = world->log->start, .bytes = 512};
  assert_int_equal(try(world, request), SPATE_E_INVALID); /* self-test has no data */
  request = (struct spate_nvme_admin_request){
      .opcode = 0x82, .dwords_10_15 = {0, 513}, .buffer = world->log->start, .bytes = 512};
  assert_int_equal(try(world, request), SPATE_E_INVALID);
  request = (struct spate_nvme_admin_request){
      .opcode = 0x11, .dwords_10_15 = {128}, .buffer = world->log->start, .bytes = 512};
  assert_int_equal(try(world, request), SPATE_E_INVALID);
  world->drive->nvme.identity.transfer_bytes_max = 65536;
  assert_int_equal(try(world, log_request(world, 0, LOG_BYTES)), SPATE_E_INVALID);
  (void)sim_drive_commands(world->drive->drive, &after);
  assert_int_equal(after, commands);
  assert_int_equal(world->ended, 0);
  world_end(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_long_log_is_read_beside_a_stream), cmocka_unit_test(a_slow_one_does_not_hold_the_stream_up),
      cmocka_unit_test(an_expired_one_is_aborted),          cmocka_unit_test(one_that_never_ends_costs_a_reset),
      cmocka_unit_test(a_refusal_has_its_status),           cmocka_unit_test(a_controller_without_queues_has_them_too),
      cmocka_unit_test(it_ends_with_the_controller),        cmocka_unit_test(what_would_harm_the_driver_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
