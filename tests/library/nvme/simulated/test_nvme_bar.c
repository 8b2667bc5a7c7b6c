/* SPDX-License-Identifier: Apache-2.0 */
/* The driver uses BAR 0 up to its end and nothing beyond: all four bytes of a doorbell have to be inside. */
#include "nvme_fixture.h"

#define DOORBELLS 0x1000u

static void stays_within(void *context, const struct sim_access *access) {
  const struct spate_nvme_config *config = context;

  if (access->kind != SIM_ACCESS_READ && access->kind != SIM_ACCESS_WRITE) return;
  assert_true(access->address >= config->registers);
  assert_true(access->address + 4u <= config->registers + config->registers_bytes);
}

/* The driver gets a BAR 0 of this size. The memory behind it answers, too: only the trace shows accesses there. */
static struct fixture *with_bar(uint64_t bytes, unsigned stride) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.doorbell_stride = (uint8_t)stride}, 1);

  f->config.registers_bytes = bytes;
  sim_trace(f->sim, stays_within, &f->config);
  return f;
}

/* The end of this queue's completion doorbell. */
static uint64_t end_of(unsigned queue, unsigned stride) {
  return DOORBELLS + ((2u * queue + 1u) * UINT64_C(4) << stride) + 4u;
}

static void test_the_admin_doorbells_fit(void **state) {
  for (unsigned stride = 0; stride <= 4; stride++) {
    for (unsigned missing = 0; missing <= 4; missing++) {
      struct fixture *f = with_bar(end_of(0, stride) - missing, stride);
      assert_int_equal(spate_nvme_open(&f->nvme, &f->config), missing == 0 ? SPATE_OK : SPATE_E_UNSUPPORTED);
      fixture_free(f);
    }
  }
  (void)state;
}

static void test_as_many_queues_as_doorbells_fit(void **state) {
  for (unsigned stride = 0; stride <= 4; stride++) {
    for (unsigned missing = 0; missing <= 4; missing++) {
      struct fixture *f = with_bar(end_of(2, stride) - missing, stride);
      fixture_open(f, 4);
      assert_int_equal(fixture_queue_open(f, &f->second, 0, 4), missing == 0 ? SPATE_OK : SPATE_E_FULL);
      assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_FLUSH}, NULL), SPATE_OK);
      fixture_free(f);
    }
  }
  (void)state;
}

struct halves {
  uint64_t registers, last;
  unsigned seen;
};

/* CAP, ASQ and ACQ: the upper half is accessed right after the lower one. */
static void low_half_first(void *context, const struct sim_access *access) {
  struct halves *halves = context;
  const uint64_t offset = access->address - halves->registers;
  const bool upper = offset == 0x04 || offset == 0x2c || offset == 0x34;

  if ((access->kind != SIM_ACCESS_READ && access->kind != SIM_ACCESS_WRITE) || offset >= DOORBELLS) return;
  assert_int_equal(access->bytes, 4);
  if (upper) assert_int_equal(halves->last, offset - 4u);
  halves->seen += upper;
  halves->last = offset;
}

static void test_registers_of_64_bits_are_accessed_low_half_first(void **state) {
  struct fixture *f = fixture_make(9);
  struct halves halves = {.registers = f->config.registers};
  sim_trace(f->sim, low_half_first, &halves);
  fixture_open(f, 4);
  sim_drive_fail(f->drive);
  fixture_poll_ms(f, 500);
  assert_true(halves.seen >= 5);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_admin_doorbells_fit),
      cmocka_unit_test(test_as_many_queues_as_doorbells_fit),
      cmocka_unit_test(test_registers_of_64_bits_are_accessed_low_half_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
