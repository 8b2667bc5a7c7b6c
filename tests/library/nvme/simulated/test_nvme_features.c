/* SPDX-License-Identifier: Apache-2.0 */
/* What a drive offers besides reading and writing: host memory buffer, write cache, power states, health and events. */
#include "nvme_fixture.h"
#include <stdio.h>
#include <unistd.h>

#define SET_FEATURES 0x09
#define GET_FEATURES 0x0a
#define DNR          0x4000u

static struct sim_host_buffer host_buffer(const struct fixture *f) { return sim_drive_host_buffer(f->drive); }
static bool cache_is_on(const struct fixture *f) { return (sim_drive_feature(f->drive, 6) & 1u) != 0; }

/* A drive that supports everything that open sets up: retry delays, a host memory buffer, a volatile cache. */
static struct fixture *fixture_make_rich(void) {
  struct fixture *f = fixture_make(9);
  spate_put16(controller_page(f) + 128, 1);
  spate_put32(controller_page(f) + 272, 32);
  controller_page(f)[525] = 1;
  f->config.host_buffer = f->ring_memory;
  f->config.host_buffer_bytes = 128u << 10;
  return f;
}

static void test_open_can_do_without_optional_features(void **state) {
  const struct {
    int opcode;
    unsigned skip;
  } refused[] = {{0x09, 0} /* ACRE */,        {0x09, 1} /* number of queues */,
                 {0x09, 2} /* host memory */, {0x09, 3} /* events */,
                 {0x0a, 0} /* cache */,       {0x02, 0} /* health */};

  for (unsigned i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    struct fixture *f = fixture_make_rich();
    fixture_fault(f, SIM_STATUS, true, refused[i].opcode, refused[i].skip, 1, 0x4002);
    assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
    assert_string_equal(spate_nvme_status_name(spate_nvme_last_status(&f->nvme)), "Invalid Field in Command");
    assert_int_equal(fixture_queue_open(f, &f->queue, 0, 4), SPATE_OK);
    assert_true(f->queue.block.volatile_cache);
    assert_int_equal(host_buffer(f).enabled, i != 2);
    const unsigned features_set = admin_count(f, 0x09);
    assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
    assert_int_equal(admin_count(f, 0x09), features_set + (i == 2 ? 0 : 1)); /* the host memory is taken back */
    fixture_free(f);
  }
  (void)state;
}

/* ---- host memory buffer, write cache, power ---- */

static void test_host_buffer_is_lent_and_given_back(void **state) {
  struct fixture *f = fixture_make(9);
  spate_put32(controller_page(f) + 272, 64); /* wants 256 KiB */
  spate_put32(controller_page(f) + 276, 16);
  f->config.host_buffer = f->ring_memory;
  f->config.host_buffer_bytes = 128u << 10;
  fixture_open(f, 4);
  assert_true(host_buffer(f).enabled);
  assert_int_equal(host_buffer(f).pages, 32);
  assert_int_equal(host_buffer(f).descriptors, 1);
  assert_int_equal(host_buffer(f).first_address, sim_memory_address(f->sim, f->ring_memory));
  assert_int_equal(host_buffer(f).first_pages, 32);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_false(host_buffer(f).enabled);
  fixture_free(f);
  (void)state;
}

static void test_host_buffer_comes_back_from_a_drive_that_keeps_its_queues(void **state) {
  struct fixture *f = fixture_make_rich();
  fixture_open(f, 4);
  assert_true(host_buffer(f).enabled);
  fixture_fault(f, SIM_STATUS, true, 0x00, 0, 1, 0x4101);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_false(host_buffer(f).enabled);
  fixture_free(f);
  (void)state;
}

/* Opens the drive, and returns whether the log has this text. */
static bool open_logs(struct fixture *f, const char *text) {
  char log[4096] = "";
  FILE *file = tmpfile();
  const int before = dup(STDERR_FILENO);

  assert_non_null(file);
  assert_int_equal(setenv("SPATE_LOG", "1", 1), 0);
  assert_int_equal(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
  fixture_open(f, 4);
  assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
  assert_int_equal(unsetenv("SPATE_LOG"), 0);
  assert_int_equal(fseek(file, 0, SEEK_SET), 0);
  (void)fread(log, 1, sizeof log - 1, file);
  (void)fclose(file);
  (void)close(before);
  return strstr(log, text) != NULL;
}

static void test_host_buffer_below_the_minimum_is_not_lent(void **state) {
  struct fixture *f = fixture_make(9);
  spate_put32(controller_page(f) + 272, UINT32_MAX);
  spate_put32(controller_page(f) + 276, 33);
  f->config.host_buffer = f->ring_memory;
  f->config.host_buffer_bytes = 128u << 10;
  assert_true(open_logs(f, "smaller than HMMIN, bytes 135168"));
  assert_false(host_buffer(f).enabled);
  fixture_free(f);
  (void)state;
}

static void test_a_drive_that_wants_memory_gets_none_without_a_buffer(void **state) {
  struct fixture *f = fixture_make(9);
  spate_put32(controller_page(f) + 272, 64);
  f->config.host_buffer_bytes = 128u << 10;
  fixture_open(f, 4);
  assert_false(host_buffer(f).enabled);
  fixture_free(f);
  (void)state;
}

static void test_write_cache_is_known_and_set(void **state) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.no_volatile_cache = true}, 1);
  bool on;
  controller_page(f)[525] = 1; /* it has a cache, which is off */
  fixture_open(f, 4);
  assert_false(f->queue.block.volatile_cache);
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, true), SPATE_OK);
  assert_true(f->queue.block.volatile_cache && cache_is_on(f));
  assert_int_equal(spate_nvme_write_cache_get(&f->nvme, &on), SPATE_OK);
  assert_true(on);
  fixture_free(f);
  f = fixture_make(9);
  controller_page(f)[525] = 0;
  fixture_open(f, 4);
  assert_false(f->queue.block.volatile_cache);
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, true), SPATE_E_UNSUPPORTED);
  fixture_free(f);
  (void)state;
}

/* A reset restores the drive's default, whatever it is; then the host's choice is set again. */
static void test_write_cache_is_set_again_after_a_reset(void **state) {
  for (unsigned on = 0; on < 2; on++) {
    struct fixture *f = fixture_make_with((struct sim_drive_options){.no_volatile_cache = on == 1}, 1);
    controller_page(f)[525] = 1;
    fixture_open(f, 4);
    assert_int_equal(cache_is_on(f), on == 0);
    assert_int_equal(spate_nvme_write_cache_set(&f->nvme, on == 1), SPATE_OK);
    sim_drive_fail(f->drive);
    fixture_poll_ms(f, 1000);
    assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
    assert_int_equal(cache_is_on(f), on == 1);
    assert_int_equal(f->queue.block.volatile_cache, on == 1);
    fixture_free(f);
  }
  (void)state;
}

/* Turning the cache off does not make its contents durable: it is flushed while it still counts as on. */
static void test_write_cache_is_flushed_when_it_is_turned_off(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open_two(f, 4);
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, true), SPATE_OK);
  assert_int_equal(io_count(f), 0);
  fixture_fault(f, SIM_STATUS, false, 0, 0, 1, 0x4006);
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, false), SPATE_E_COMMAND);
  assert_false(cache_is_on(f)); /* first turned off, so that no more data enters it; then flushed */
  assert_true(f->queue.block.volatile_cache && f->second.block.volatile_cache);
  const unsigned start = io_count(f);
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, false), SPATE_OK);
  assert_false(f->queue.block.volatile_cache || f->second.block.volatile_cache);
  assert_int_equal(io_count(f), start + 2);
  for (unsigned i = start; i < start + 2; i++)
    assert_int_equal(io_command(f, i)->dwords[0] & 0xff, 0);
  assert_int_not_equal(io_command(f, start)->queue, io_command(f, start + 1)->queue);
  fixture_free(f);
  (void)state;
}

/* It returns success and keeps its cache on: a later write needs a flush. */
static void test_a_drive_that_keeps_its_cache_on_is_believed(void **state) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.keeps_cache_on = true}, 1);
  fixture_open(f, 4);
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, false), SPATE_E_UNSUPPORTED);
  assert_true(f->queue.block.volatile_cache);
  fixture_free(f);
  (void)state;
}

/* The Sanitize Status log, field by field. */
static void test_sanitize_status_is_decoded(void **state) {
  for (uint32_t bit = 0; bit < 32; bit++) {
    uint32_t log[128] = {UINT32_C(1) << bit, UINT32_C(1) << bit, 11, 22, UINT32_MAX};
    struct spate_nvme_sanitize_status status;
    spate_nvme_sanitize_decode(&status, log);
    assert_int_equal(status.progress, bit < 16 ? 1u << bit : 0);
    assert_int_equal(status.state, bit >= 16 && bit < 19 ? 1u << (bit - 16) : 0);
    assert_int_equal(status.passes, bit >= 19 && bit < 24 ? 1u << (bit - 19) : 0);
    assert_int_equal(status.nothing_written, bit == 24);
    assert_int_equal(status.action, bit < 3 ? 1u << bit : 0);
    assert_int_equal(status.overwrite_s, 11);
    assert_int_equal(status.block_s, 22);
    assert_int_equal(status.crypto_s, UINT32_MAX);
  }
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

static void fail_and_recover(struct fixture *f) {
  sim_drive_fail(f->drive);
  fixture_poll_ms(f, 500);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
}

/* Some drives do not come back from a power state that they chose themselves. */
static void test_the_drive_chooses_no_power_state(void **state) {
  struct fixture *f = fixture_make(9);
  controller_page(f)[265] = 1; /* APSTA */
  fixture_open(f, 4);
  assert_int_equal(sim_drive_feature(f->drive, 0x0c), 0);
  fail_and_recover(f);
  assert_int_equal(sim_drive_feature(f->drive, 0x0c), 0);
  fixture_free(f);
  (void)state;
}

static void test_a_power_state_is_set_again_after_a_reset(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  assert_int_equal(spate_nvme_power_state_set(&f->nvme, 2), SPATE_OK);
  fixture_fault(f, SIM_STATUS, true, SET_FEATURES, 0, 1, DNR | 0x002);
  assert_int_equal(spate_nvme_power_state_set(&f->nvme, 1), SPATE_E_COMMAND); /* refused: it stays as it was */
  fail_and_recover(f);
  assert_int_equal(sim_drive_feature(f->drive, 0x02), 2);
  fixture_free(f);
  (void)state;
}

/* A drive in a state that carries out no I/O, which may be why it failed, is not put back into it. */
static void test_a_power_state_that_sleeps_is_not_set_again(void **state) {
  struct fixture *f = fixture_make(9);
  controller_page(f)[2048 + 32 * 3 + 3] = 2; /* NOPS of state 3 */
  fixture_open(f, 4);
  assert_int_equal(spate_nvme_power_state_set(&f->nvme, 2), SPATE_OK);
  assert_int_equal(spate_nvme_power_state_set(&f->nvme, 3), SPATE_OK);
  assert_int_equal(sim_drive_feature(f->drive, 0x02), 3);
  fail_and_recover(f);
  assert_int_equal(sim_drive_feature(f->drive, 0x02), 0);
  fixture_free(f);
  (void)state;
}

/* Drives that work otherwise refuse Set Features of the number of queues. */
static void test_a_refused_number_of_queues_is_asked_for(void **state) {
  for (unsigned refusals = 1; refusals <= 2; refusals++) {
    struct fixture *f = fixture_make(9);
    fixture_fault(f, SIM_STATUS, true, SET_FEATURES, 0, 1, DNR | 0x002);
    if (refusals == 2) fixture_fault(f, SIM_STATUS, true, GET_FEATURES, 0, 1, DNR | 0x002);
    fixture_open(f, 4);
    assert_int_equal(spate_nvme_queues_max(&f->nvme), refusals == 1 ? 4 : 1);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
    fixture_free(f);
  }
  (void)state;
}

/* The cache can be turned off whatever the number of resets before is. */
static void test_the_cache_is_turned_off_after_many_resets(void **state) {
  struct fixture *f = fixture_opened(4);
  f->nvme.counters.resets = 0x10000;
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, false), SPATE_OK);
  assert_false(f->queue.block.volatile_cache);
  assert_false(cache_is_on(f));
  fixture_free(f);
  (void)state;
}

/* A pair needs one of each. */
static void test_fewer_completion_queues_than_submission_queues(void **state) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.queue_pairs = 4, .completion_queues = 1}, 1);
  fixture_open(f, 4);
  assert_int_equal(spate_nvme_queues_max(&f->nvme), 1);
  assert_int_equal(fixture_queue_open(f, &f->second, 0, 4), SPATE_E_FULL);
  fixture_free(f);
  (void)state;
}

/* ---- health and events ---- */

static void test_health_arrives_while_polling(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  const uint32_t sequence = spate_nvme_health(&f->nvme)->sequence;
  sim_drive_heat(f->drive, -5.0);
  spate_put64(health_page(f) + 48 + 8, 1); /* beyond 64 bits */
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
  uint8_t *page = health_page(f);
  fixture_open(f, 4);
  page[0] = 5;
  sim_drive_heat(f->drive, 27.0);
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
  assert_int_equal(sim_drive_feature(f->drive, 0x0b), 0x1f);
  health_page(f)[0] = 2;
  for (unsigned i = 1; i <= 3; i++) {
    assert_true(sim_drive_event(f->drive, 1, 1, 2)); /* health: temperature; log page 2 */
    fixture_poll_ms(f, 1300);                        /* the driver asks for one a second */
    assert_int_equal(spate_nvme_counters(&f->nvme)->events, i);
    assert_int_equal(spate_nvme_health(&f->nvme)->sequence, sequence + i);
    assert_int_equal(spate_nvme_health(&f->nvme)->critical_warning, 2);
  }
  fixture_free(f);
  (void)state;
}

/* An event during the log read: the log is read again. */
static void test_event_during_a_log_read_is_not_lost(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  const uint32_t sequence = spate_nvme_health(&f->nvme)->sequence;
  fixture_fault(f, SIM_LATE, true, 0x02, 0, 1, 150);
  assert_int_equal(spate_nvme_health_start(&f->nvme), SPATE_OK);
  assert_true(sim_drive_event(f->drive, 1, 1, 2));
  fixture_poll_ms(f, 1000);
  assert_int_equal(spate_nvme_health(&f->nvme)->sequence, sequence + 2);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_open_can_do_without_optional_features),
      cmocka_unit_test(test_host_buffer_is_lent_and_given_back),
      cmocka_unit_test(test_host_buffer_comes_back_from_a_drive_that_keeps_its_queues),
      cmocka_unit_test(test_host_buffer_below_the_minimum_is_not_lent),
      cmocka_unit_test(test_a_drive_that_wants_memory_gets_none_without_a_buffer),
      cmocka_unit_test(test_write_cache_is_known_and_set),
      cmocka_unit_test(test_write_cache_is_set_again_after_a_reset),
      cmocka_unit_test(test_write_cache_is_flushed_when_it_is_turned_off),
      cmocka_unit_test(test_a_drive_that_keeps_its_cache_on_is_believed),
      cmocka_unit_test(test_sanitize_status_is_decoded),
      cmocka_unit_test(test_power_state),
      cmocka_unit_test(test_the_drive_chooses_no_power_state),
      cmocka_unit_test(test_a_power_state_is_set_again_after_a_reset),
      cmocka_unit_test(test_a_power_state_that_sleeps_is_not_set_again),
      cmocka_unit_test(test_a_refused_number_of_queues_is_asked_for),
      cmocka_unit_test(test_the_cache_is_turned_off_after_many_resets),
      cmocka_unit_test(test_fewer_completion_queues_than_submission_queues),
      cmocka_unit_test(test_health_arrives_while_polling),
      cmocka_unit_test(test_health_is_decoded),
      cmocka_unit_test(test_events_are_counted_read_and_armed_again),
      cmocka_unit_test(test_event_during_a_log_read_is_not_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
