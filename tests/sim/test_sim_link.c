/* SPDX-License-Identifier: Apache-2.0 */
/* The link's arithmetic, compared with figures computed by hand. */
#include "bus/link.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PS_PER_S 1e12
#define MIB      (UINT64_C(1) << 20)

static struct sim_link_config gen3(uint16_t payload_bytes) {
  return (struct sim_link_config){
      .generation = 3, .lanes = 4, .payload_bytes = payload_bytes, .read_request_bytes = 512, .latency_ns = 250};
}

static struct sim_link make(struct sim_link_config config) {
  struct sim_link link;

  sim_link_init(&link, &config);
  return link;
}

static void assert_near(double is, double should_be, double most) {
  if (fabs(is - should_be) > most) fail_msg("%g is not %g", is, should_be);
}

/* 64 MiB in pieces of 128 KiB, in GB/s. */
static double rate_of(struct sim_link *link, uint64_t (*move)(struct sim_link *, uint64_t, uint64_t)) {
  const uint64_t total = 64 * MIB;
  uint64_t end_ps = 0;

  for (uint64_t done = 0; done < total; done += 128 * 1024)
    end_ps = move(link, 0, 128 * 1024);
  return (double)total / ((double)end_ps / PS_PER_S) / 1e9;
}

static void payload_limits_are_those_of_the_specification(void **state) {
  (void)state;
  static const struct {
    uint16_t payload_bytes;
    double read, write; /* GB/s, Gen3 x4 */
  } table[] = {{128, 3.32, 3.41}, {256, 3.60, 3.65}, {512, 3.76, 3.79}};

  assert_near(sim_link_raw(3, 4), 3.938e9, 1e6);
  assert_near(sim_link_raw(4, 4), 7.877e9, 1e6);
  assert_near(sim_link_raw(1, 1), 250e6, 1);
  for (unsigned i = 0; i < 3; i++) {
    const struct sim_link_config config = gen3(table[i].payload_bytes);
    struct sim_link reads = make(config), writes = make(config);

    assert_near(sim_link_up_max(&config) / 1e9, table[i].read, 0.005);
    assert_near(sim_link_down_max(&config) / 1e9, table[i].write, 0.005);
    assert_near(rate_of(&reads, sim_link_drive_write), table[i].read, 0.005);
    assert_near(rate_of(&writes, sim_link_drive_read), table[i].write, 0.005);
  }
}

static void small_read_requests_make_small_completions(void **state) {
  (void)state;
  struct sim_link_config config = gen3(512);
  config.read_request_bytes = 128;
  struct sim_link link = make(config);

  assert_near(sim_link_down_max(&config) / 1e9, 3.406, 0.001);
  assert_near(rate_of(&link, sim_link_drive_read), 3.41, 0.005);
}

static void acknowledgements_take_their_share(void **state) {
  (void)state;
  struct sim_link_config config = gen3(256);
  config.dllp_percent = 2;
  struct sim_link link = make(config);

  assert_near(rate_of(&link, sim_link_drive_write), 3.60 * 0.98, 0.005);
}

static void a_slow_bridge_limits_what_the_drive_fetches_and_nothing_else(void **state) {
  (void)state;
  struct sim_link_config config = gen3(256);
  config.fetch_mb_per_s = 2500;
  struct sim_link writes = make(config), reads = make(config);

  assert_near(sim_link_down_max(&config) / 1e9, 2.5, 1e-9);
  assert_near(rate_of(&writes, sim_link_drive_read), 2.5, 0.001);
  assert_near(rate_of(&reads, sim_link_drive_write), 3.60, 0.005);
}

/* By hand: bytes with headers × 4 × 8 GT/s × 128/130 / 8 = 253.9 ps a byte; 250 ns one way. */
static void latencies_add_up(void **state) {
  (void)state;
  struct sim_link link = make(gen3(256));
  const double byte_ps = PS_PER_S / sim_link_raw(3, 4);

  assert_near((double)sim_link_host_write(&link, 1000, 4), 1000 + 24 * byte_ps + 250e3, 2);
  link = make(gen3(256));
  assert_near((double)sim_link_host_read(&link, 0, 4), (20 + 24) * byte_ps + 500e3, 2);
  link = make(gen3(256));
  assert_near((double)sim_link_drive_write(&link, 0, 16), 40 * byte_ps + 250e3, 2);
  link = make(gen3(256));
  /* 8192 bytes: 16 requests of 24 bytes. The first leaves after the time of one, and 32 completions follow it. */
  assert_near((double)sim_link_drive_read(&link, 0, 8192), 24 * byte_ps + (8192 + 32 * 20) * byte_ps + 500e3, 4);
  assert_int_equal(link.up_bytes, 16 * 24);
  assert_int_equal(link.down_bytes, 8192 + 32 * 20);
}

static void each_direction_takes_one_thing_after_the_other(void **state) {
  (void)state;
  struct sim_link link = make(gen3(256));
  const uint64_t alone = sim_link_drive_write(&link, 0, MIB);
  const uint64_t behind = sim_link_drive_write(&link, 0, MIB);
  const uint64_t completion = sim_link_drive_write(&link, 0, 16);
  const uint64_t other_way = sim_link_drive_read(&link, 0, MIB);

  assert_near((double)(behind - 250000), 2.0 * (double)(alone - 250000), 4);
  assert_true(other_way < alone + 500000);
  /* A completion follows the data as soon as the data are through. */
  assert_in_range(completion, behind + 1, behind + 11000);
}

static void doorbells_and_entries_go_between_packets_and_push_them_back(void **state) {
  (void)state;
  struct sim_link link = make(gen3(256));
  const uint64_t data = sim_link_drive_read(&link, 0, 16 * MIB);

  assert_in_range(sim_link_host_write(&link, 1000000, 4), 1250000, 1257000);
  assert_in_range(sim_link_drive_read(&link, 1000000, 64), 1500000, 1545000);
  assert_in_range(sim_link_host_read(&link, 1000000, 4), 1500000, 1550000);
  /* The next item waits for all of it: 24 + 84 + 20 bytes more. */
  assert_near((double)(sim_link_drive_read(&link, 0, 16 * MIB) - data), (double)(data - 500000) + 128 * 253.9, 10000);
}

static void two_small_things_do_not_take_the_same_time(void **state) {
  (void)state;
  struct sim_link link = make(gen3(256));
  uint64_t end_ps = 0;

  for (unsigned i = 0; i < 1000; i++)
    end_ps = sim_link_drive_read(&link, 0, 4096);
  assert_near(1000 * 4096 / ((double)end_ps / PS_PER_S) / 1e9, 3.65, 0.01);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(payload_limits_are_those_of_the_specification),
      cmocka_unit_test(small_read_requests_make_small_completions),
      cmocka_unit_test(acknowledgements_take_their_share),
      cmocka_unit_test(a_slow_bridge_limits_what_the_drive_fetches_and_nothing_else),
      cmocka_unit_test(latencies_add_up),
      cmocka_unit_test(each_direction_takes_one_thing_after_the_other),
      cmocka_unit_test(doorbells_and_entries_go_between_packets_and_push_them_back),
      cmocka_unit_test(two_small_things_do_not_take_the_same_time),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
