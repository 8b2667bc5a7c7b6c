/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which barriers the driver issues, and where. The virtual drive's memory shows a missing barrier by data that is read
 * too early, where such data exists. Here the barriers are counted: a write barrier before each submission doorbell and
 * before CC.EN is set; one read barrier for each completion, after its phase bit is read and before its request is
 * done.
 */
#include "nvme/internal.h"
#include "nvme_fixture.h"

#define DEPTH  15u
#define ROUNDS 40u

struct order {
  const struct fixture *f;
  uint32_t heads[3];               /* of the completion queues, from the doorbells */
  unsigned read_barriers, retired; /* since a completion doorbell was last written */
  bool write_barrier;              /* since the last register write that needs one */
  bool enabled;
  unsigned enables, given_back; /* in all */
};

static struct order order; /* outcomes have no context for it */

static uint32_t entries_of(const struct fixture *f, unsigned queue) {
  return queue == 0 ? NVME_ADMIN_ENTRIES : queue == 1 ? f->queue.entries : f->second.entries;
}

/* More barriers than completions are also wrong: they have no purpose, and may precede the read of the phase bit. */
static void completion_doorbell(unsigned queue, uint32_t head) {
  const uint32_t entries = entries_of(order.f, queue);
  const uint32_t completions = (head + entries - order.heads[queue]) % entries;

  assert_int_equal(order.read_barriers, completions);
  order.heads[queue] = head;
  order.given_back += completions;
  order.read_barriers = order.retired = 0;
}

static void needs_write_barrier(void) {
  assert_true(order.write_barrier);
  order.write_barrier = false;
}

/* Completions reaped while the controller is disabled never reach a completion doorbell. */
static void control(bool enable) {
  if (enable == order.enabled) return;
  if (enable) needs_write_barrier();
  order.enabled = enable;
  order.enables += enable;
  memset(order.heads, 0, sizeof order.heads);
  order.read_barriers = order.retired = 0;
}

static void watch(void *context, const struct sim_access *access) {
  const uint64_t offset = access->address - order.f->config.registers;

  (void)context;
  if (access->kind == SIM_ACCESS_WRITE_BARRIER) order.write_barrier = true;
  order.read_barriers += access->kind == SIM_ACCESS_READ_BARRIER;
  if (access->kind != SIM_ACCESS_WRITE || offset >= order.f->config.registers_bytes) return;
  const uint32_t value = spate_get32(access->data);
  const unsigned doorbell = (unsigned)(offset - NVME_DOORBELLS) / 4u;
  if (offset == NVME_CC) control((value & 1u) != 0);
  if (offset < NVME_DOORBELLS) return;
  if (doorbell % 2u == 1)
    completion_doorbell(doorbell / 2u, value);
  else
    needs_write_barrier();
}

static void done(struct spate_io *io) {
  ++*(unsigned *)io->context;
  if (io->error == SPATE_OK) assert_true(++order.retired <= order.read_barriers);
}

static struct fixture *opened(void) {
  struct fixture *f = fixture_make(9);

  order = (struct order){.f = f};
  sim_trace(f->sim, watch, NULL);
  fixture_open_two(f, DEPTH);
  return f;
}

/* Requests on both queues, reaped by polls with any maximum. */
static void traffic(struct fixture *f, unsigned round) {
  static const uint8_t ops[] = {SPATE_READ, SPATE_WRITE, SPATE_FLUSH};
  struct spate_io ios[2][DEPTH];
  unsigned ended = 0, submitted = 0;

  for (unsigned i = 0; i < 2; i++) {
    struct spate_block *block = i == 0 ? &f->queue.block : &f->second.block;
    for (unsigned j = 0; j <= round % DEPTH; j++, submitted++) {
      ios[i][j] = (struct spate_io){.op = ops[(round + j) % 3u], .done = done, .context = &ended};
      if (ios[i][j].op != SPATE_FLUSH) {
        ios[i][j].region = &f->ring;
        ios[i][j].blocks = 1u + round % 8u;
      }
      assert_int_equal(spate_block_submit(block, &ios[i][j]), SPATE_OK);
    }
  }
  const uint64_t end_us = now_us(f) + 60 * US_PER_S;
  unsigned max = 0;
  while (ended < submitted) {
    max = max % DEPTH + 1u;
    (void)spate_block_poll(&f->queue.block, max);
    (void)spate_block_poll(&f->second.block, max);
    spate_port_relax();
    assert_true(now_us(f) < end_us);
  }
}

static void test_traffic_and_admin_commands(void **state) {
  struct fixture *f = opened();
  for (unsigned round = 0; round < ROUNDS; round++) {
    traffic(f, round);
    if (round % 4u == 0) assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_OK);
    if (round % 8u == 0) assert_true(sim_drive_event(f->drive, 1, 1, 2));
    fixture_poll_ms(f, 150);
  }
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  const struct spate_nvme_counters *counters = spate_nvme_counters(&f->nvme);
  assert_int_equal(counters->events, ROUNDS / 8u);
  assert_true(order.given_back > counters->completions); /* including admin completions */
  fixture_free(f);
  (void)state;
}

/* Errors, retries, an abort and a reset take other paths. */
static void test_errors_and_recovery(void **state) {
  static const enum sim_action actions[] = {SIM_STATUS, SIM_STALL, SIM_DOUBLE, SIM_LOSE, SIM_FATAL};
  for (unsigned i = 0; i < sizeof actions / sizeof actions[0]; i++) {
    struct fixture *f = opened();
    fixture_fault(f, actions[i], false, -1, 3, 2, actions[i] == SIM_STATUS ? 0x0006 : 0);
    traffic(f, 9);
    traffic(f, 10);
    assert_int_equal(order.enables, actions[i] == SIM_LOSE ? 2u : actions[i] == SIM_FATAL ? 3u : 1u);
    fixture_free(f);
  }
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_traffic_and_admin_commands),
      cmocka_unit_test(test_errors_and_recovery),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
