/* SPDX-License-Identifier: Apache-2.0 */
/* Bring-up and shutdown: what a drive reports about itself, what is refused, and how long the driver waits. */
#include "nvme_fixture.h"

#define CC 0x14

/* ---- bring-up ---- */

static void test_open_decodes_identity(void **state) {
  struct fixture *f = fixture_make(9);
  spate_put16(controller_page(f) + 266, 343);
  spate_put16(controller_page(f) + 268, 353);
  sim_drive_heat(f->drive, 41.0);
  fixture_open(f, 16);
  const struct spate_nvme_identity *identity = spate_nvme_identity(&f->nvme);
  assert_string_equal(identity->serial, "SPATE0001");
  assert_string_equal(identity->model, "Spate ideal drive");
  assert_string_equal(identity->firmware, "1.0");
  assert_int_equal(identity->version, 0x00010400);
  assert_int_equal(identity->namespaces_max, 8);
  assert_int_equal(identity->transfer_bytes_max, 131072);
  assert_int_equal(identity->atomic_blocks, 1);
  assert_int_equal(identity->ready_timeout_ms, 2000);
  assert_int_equal(identity->queue_entries_max, 64);
  assert_int_equal(identity->doorbell_stride_bytes, 4);
  assert_int_equal(identity->warning_temperature_c, 70);
  assert_int_equal(identity->critical_temperature_c, 80);
  assert_int_equal(identity->power_states, 5);
  assert_true(identity->volatile_cache && identity->can_trim && identity->can_zero && identity->can_format);
  assert_int_equal(spate_nvme_health(&f->nvme)->temperature_c, 41);
  assert_int_equal(spate_nvme_health(&f->nvme)->power_cycles, 17);
  assert_int_equal(spate_nvme_queues_max(&f->nvme), 4);
  fixture_free(f);
  (void)state;
}

/* FNA (byte 524): bit 0, a format applies to all namespaces; bit 1, so does a secure erase; bit 2, cryptographic erase
 * is supported, which says nothing about the scope. */
static void test_identity_reports_other_controllers(void **state) {
  static uint64_t page[4096 / sizeof(uint64_t)];
  struct spate_nvme_identity identity;

  for (unsigned cmic = 0; cmic < 16; cmic++) {
    ((uint8_t *)page)[76] = (uint8_t)cmic;
    spate_nvme_identity_decode(&identity, page);
    assert_int_equal(identity.several_controllers, (cmic & 2u) != 0);
  }
  (void)state;
}

static void test_identity_decodes_the_scope_of_a_format(void **state) {
  static uint64_t page[4096 / sizeof(uint64_t)];
  struct spate_nvme_identity identity = {.version = 7};

  for (unsigned fna = 0; fna < 8; fna++) {
    ((uint8_t *)page)[524] = (uint8_t)fna;
    spate_nvme_identity_decode(&identity, page);
    assert_int_equal(identity.formats_all, (fna & 3u) != 0);
  }
  assert_int_equal(identity.version, 7); /* comes from VS, not from the page */
  (void)state;
}

/* A log page that another driver read is decoded like the library's own. */
static void test_health_is_decoded(void **state) {
  static uint64_t log[512 / sizeof(uint64_t)];
  struct spate_nvme_health health = {.sequence = 4};

  ((uint8_t *)log)[0] = 0x12;
  ((uint8_t *)log)[1] = 0x3f; /* 319 K */
  ((uint8_t *)log)[2] = 0x01;
  ((uint8_t *)log)[3] = 97;
  ((uint8_t *)log)[4] = 10;
  ((uint8_t *)log)[5] = 3;
  log[128 / 8] = 1234;
  log[160 / 8] = 5;
  log[168 / 8] = 1; /* beyond 64 bits */
  assert_true(spate_nvme_health_decode(&health, log));
  assert_int_equal(health.sequence, 5);
  assert_int_equal(health.critical_warning, 0x12);
  assert_int_equal(health.temperature_c, 46);
  assert_int_equal(health.spare_percent, 97);
  assert_int_equal(health.spare_threshold_percent, 10);
  assert_int_equal(health.used_percent, 3);
  assert_int_equal(health.power_on_hours, 1234);
  assert_true(health.media_errors == UINT64_MAX);
  memset(log, 0, sizeof log);
  assert_false(spate_nvme_health_decode(&health, log)); /* as some drives answer */
  assert_int_equal(health.sequence, 5);
  assert_int_equal(health.temperature_c, 46);
  (void)state;
}

static void test_absurd_mdts_is_no_limit(void **state) {
  for (unsigned mdts = 20; mdts < 256; mdts += 5) {
    struct fixture *f = fixture_make(9);
    controller_page(f)[77] = (uint8_t)mdts;
    fixture_open(f, 4);
    assert_int_equal(spate_nvme_identity(&f->nvme)->transfer_bytes_max, 0);
    assert_int_equal(f->queue.block.command_bytes_max, SPATE_REGION_COMMAND_BYTES);
    fixture_free(f);
  }
  (void)state;
}

static void test_unprintable_text_is_replaced(void **state) {
  struct fixture *f = fixture_make(9);
  memcpy(controller_page(f) + 24, "A\x1b[2J\xff", 6);
  fixture_open(f, 4);
  assert_string_equal(spate_nvme_identity(&f->nvme)->model, "A?[2J?ideal drive");
  fixture_free(f);
  (void)state;
}

static void expect_open(struct fixture *f, enum spate_error expected) {
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), expected);
  fixture_free(f);
}

static void test_open_refuses_what_it_cannot_use(void **state) {
  struct fixture *f = fixture_make(9);
  *sim_drive_cap(f->drive) &= ~(UINT64_C(1) << 37);
  expect_open(f, SPATE_E_COMMAND_SET);
  f = fixture_make(9);
  *sim_drive_cap(f->drive) |= UINT64_C(1) << 48; /* 8 KiB at least */
  expect_open(f, SPATE_E_PAGE_SIZE);
  f = fixture_make(9);
  *sim_drive_cap(f->drive) = (*sim_drive_cap(f->drive) & ~UINT64_C(0xffff)) | 1;
  expect_open(f, SPATE_E_UNSUPPORTED);
  f = fixture_make(9);
  *sim_drive_cap(f->drive) |= UINT64_C(15) << 32; /* doorbells 128 KiB apart */
  expect_open(f, SPATE_E_UNSUPPORTED);
  f = fixture_make(9);
  sim_drive_silence(f->drive, true);
  expect_open(f, SPATE_E_GONE);
  f = fixture_make(9);
  f->arena.bytes = f->arena.used_bytes + 8192;
  expect_open(f, SPATE_E_MEMORY);
  (void)state;
}

/* Another program has used the drive before and left it enabled, with or without a shutdown. */
static void boot_loader(struct fixture *f, bool shut_down) {
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  if (shut_down) assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
}

static void test_open_ends_within_the_stated_time(void **state) {
  struct fixture *f = fixture_make(9);
  sim_drive_stick(f->drive, true, false, false);
  uint64_t start_us = now_us(f);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_TIMEOUT);
  assert_in_range(now_us(f) - start_us, 2000000, 3500000);
  fixture_free(f);
  f = fixture_make(9);
  sim_drive_stick(f->drive, false, false, true);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_FATAL);
  fixture_free(f);
  f = fixture_make(9);
  boot_loader(f, false);
  sim_drive_stick(f->drive, false, true, false); /* without a bus that could disable its bus mastering */
  start_us = now_us(f);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_NOT_STOPPED);
  assert_in_range(now_us(f) - start_us, 2000000, 6000000);
  fixture_free(f);
  (void)state;
}

static void test_open_takes_over_a_running_controller(void **state) {
  struct fixture *f = fixture_make(9);
  boot_loader(f, true); /* shut down, but still enabled */
  assert_int_equal(csts(f), 9);
  fixture_open(f, 4);
  fixture_free(f);
  f = fixture_make(9);
  boot_loader(f, false);
  spate_port_write32(f->config.registers + CC, 0x00460000);
  spend_us(f, US_PER_MS);
  memset(f->memory, 0, f->arena.used_bytes);
  spate_port_dma_write_barrier();
  spate_port_write32(f->config.registers + CC, 0x00460001); /* enabled a moment ago, not ready yet */
  assert_int_equal(csts(f), 0);
  fixture_open(f, 4);
  fixture_free(f);
  (void)state;
}

static void test_open_reports_a_refused_command(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_fault(f, SIM_STATUS, true, 0x06, 0, 1, 0x4006);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_COMMAND);
  assert_string_equal(spate_nvme_status_name(spate_nvme_last_status(&f->nvme)), "Internal Error");
  fixture_free(f);
  (void)state;
}

static void test_open_ends_when_an_admin_command_is_lost(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_fault(f, SIM_LOSE, true, 0x09, 0, 1, 0);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_TIMEOUT);
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

static void test_status_names(void **state) {
  assert_string_equal(spate_nvme_status_name(0x4080), "LBA Out of Range");
  assert_string_equal(spate_nvme_status_name(0x7281), "Unrecovered Read Error");
  assert_string_equal(spate_nvme_status_name(0), "Successful Completion");
  for (unsigned status = 0; status < 0x10000; status++)
    assert_string_equal(spate_nvme_status_name((uint16_t)status), spate_nvme_status_name(status & 0x7ff));
  (void)state;
}

/* Figures 126 to 131 of the base specification 1.4: each of these codes has a name of its own. All other codes have the
 * name of their type. */
static void test_each_known_status_has_a_name_of_its_own(void **state) {
  static const struct {
    uint16_t first, last;
  } known[] = {{0x000, 0x016}, {0x018, 0x022}, {0x080, 0x084}, {0x100, 0x103}, {0x105, 0x116}, {0x118, 0x125},
               {0x180, 0x182}, {0x280, 0x287}, {0x300, 0x303}, {0x360, 0x360}, {0x370, 0x371}};
  static const char *const of_type[] = {"Unknown Generic Status",
                                        "Unknown Command Specific Status",
                                        "Unknown Media and Data Integrity Error",
                                        "Unknown Path Related Status",
                                        "Reserved Status",
                                        "Reserved Status",
                                        "Reserved Status",
                                        "Vendor Specific Status"};
  for (uint16_t code = 0; code < 0x800; code++) {
    const char *name = spate_nvme_status_name(code);
    bool is_known = false;
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
      is_known |= code >= known[i].first && code <= known[i].last;
    if (is_known != (strcmp(name, of_type[code >> 8]) != 0)) fail_msg("status %03x is \"%s\"", code, name);
    for (uint16_t other = 0; is_known && other < code; other++)
      if (strcmp(name, spate_nvme_status_name(other)) == 0) fail_msg("%03x and %03x: \"%s\"", other, code, name);
  }
  assert_string_equal(spate_nvme_status_name(0x100), "Completion Queue Invalid"); /* the first and last of each type */
  assert_string_equal(spate_nvme_status_name(0x084), "Format In Progress");
  assert_string_equal(spate_nvme_status_name(0x182), "Attempted Write to Read Only Range");
  assert_string_equal(spate_nvme_status_name(0x280), "Write Fault");
  assert_string_equal(spate_nvme_status_name(0x287), "Deallocated or Unwritten Logical Block");
  assert_string_equal(spate_nvme_status_name(0x300), "Internal Path Error");
  assert_string_equal(spate_nvme_status_name(0x371), "Command Aborted By Host");
  (void)state;
}

/* ---- shutdown ---- */

static void test_shutdown_waits_for_requests_and_is_orderly(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcome;
  fixture_open(f, 4);
  fixture_fault(f, SIM_LATE, false, -1, 0, 1, 500);
  assert_int_equal(fixture_submit(f, &outcome, (struct spate_io){.op = SPATE_WRITE, .blocks = 1, .region = &f->ring}),
                   SPATE_OK);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(outcome.calls, 1);
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(sim_drive_counters(f->drive)->shutdowns, 1);
  assert_int_equal(sim_drive_counters(f->drive)->hot_shutdowns, 0);
  assert_int_equal(admin_count(f, 0x00), 1);
  assert_int_equal(admin_count(f, 0x04), 1);
  assert_int_not_equal(fixture_submit(f, &outcome, (struct spate_io){.op = SPATE_FLUSH}), SPATE_OK);
  fixture_free(f);
  (void)state;
}

/* "In progress" is not "complete": a drive that is writing back its cache still needs power. */
static void test_shutdown_waits_for_the_drive(void **state) {
  const struct {
    uint32_t stated_us;
    uint32_t takes_ms;
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
      {UINT32_MAX, 1000000, SPATE_E_TIMEOUT, 60000, 63000}, /* never more than a minute */
  };

  for (unsigned i = 0; i < sizeof drives / sizeof drives[0]; i++) {
    struct fixture *f = fixture_make(9);
    spate_put32(controller_page(f) + 88, drives[i].stated_us);
    sim_drive_slow_shutdown(f->drive, drives[i].takes_ms);
    fixture_open(f, 4);
    const uint64_t before = now_us(f);
    assert_int_equal(spate_nvme_shutdown(&f->nvme), drives[i].error);
    assert_in_range(now_us(f) - before, drives[i].least_ms * (US_PER_S / 1000), drives[i].most_ms * (US_PER_S / 1000));
    assert_int_equal(csts(f) & 0xd, drives[i].error == SPATE_OK ? 9 : 0); /* a late one was disabled */
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_open_decodes_identity),
      cmocka_unit_test(test_identity_reports_other_controllers),
      cmocka_unit_test(test_identity_decodes_the_scope_of_a_format),
      cmocka_unit_test(test_health_is_decoded),
      cmocka_unit_test(test_absurd_mdts_is_no_limit),
      cmocka_unit_test(test_unprintable_text_is_replaced),
      cmocka_unit_test(test_open_refuses_what_it_cannot_use),
      cmocka_unit_test(test_open_ends_within_the_stated_time),
      cmocka_unit_test(test_open_takes_over_a_running_controller),
      cmocka_unit_test(test_open_reports_a_refused_command),
      cmocka_unit_test(test_open_ends_when_an_admin_command_is_lost),
      cmocka_unit_test(test_misaligned_host_buffer_is_refused),
      cmocka_unit_test(test_status_names),
      cmocka_unit_test(test_each_known_status_has_a_name_of_its_own),
      cmocka_unit_test(test_shutdown_waits_for_requests_and_is_orderly),
      cmocka_unit_test(test_shutdown_waits_for_the_drive),
      cmocka_unit_test(test_open_again_after_shutdown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
