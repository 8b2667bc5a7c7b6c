/* SPDX-License-Identifier: Apache-2.0 */
/* Admin commands of the caller, one at a time: which are refused, and what reaches the drive. How they end:
 * test_nvme_admin_ends.c; during a stream: test_nvme_admin_stream.c. */
#include "nvme_fixture.h"

#define GET_LOG      0x02
#define SET_FEATURES 0x09
#define GET_FEATURES 0x0a
#define TO_DRIVE     0xc1
#define TO_HOST      0xc2
#define BOTH_WAYS    0xc3
#define NO_DATA      0xc0
#define DATA_MAX     (SPATE_NVME_BUFFER_PAGES * SPATE_PAGE_BYTES)
#define TELEMETRY    7u /* log page */
#define CANARY       0xee
#define MARGIN       8192u

struct answer {
  unsigned calls;
};

static void ended(struct spate_nvme_admin_request *request) {
  struct answer *answer = request->context;

  answer->calls++;
}

static struct fixture *opened(void) {
  struct fixture *f = fixture_make(9);
  controller_page(f)[77] = 0; /* no MDTS */
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  return f;
}

static struct spate_nvme_admin_request request_of(struct answer *answer, uint8_t opcode, uint32_t dword10) {
  return (struct spate_nvme_admin_request){
      .opcode = opcode, .dwords_10_15 = {dword10}, .timeout_ms = 1000, .done = ended, .context = answer};
}

static void poll_ms(struct fixture *f, uint64_t ms) {
  const uint64_t end = now_us(f) + ms * 1000;
  while (now_us(f) < end) {
    spate_nvme_poll(&f->nvme);
    spate_port_relax();
  }
}

/* Submit the request to a drive that completes any command, and wait for its end. */
static enum spate_error accepted(struct fixture *f, struct spate_nvme_admin_request request) {
  struct answer answer = {0};
  const unsigned before = admin_count(f, request.opcode);

  request.context = &answer;
  fixture_fault(f, SIM_STATUS, true, request.opcode, 0, 1, 0);
  const enum spate_error error = spate_nvme_admin_submit(&f->nvme, &request);
  if (error == SPATE_OK) poll_ms(f, 1);
  sim_drive_clear_faults(f->drive);
  assert_int_equal(answer.calls, error == SPATE_OK);
  assert_int_equal(admin_count(f, request.opcode), before + (error == SPATE_OK));
  return error;
}

/* ---- what is refused ---- */

/* The buffer must be at least as long as the command's data. */
static void test_the_buffer_holds_what_the_command_names(void **state) {
  static const struct {
    uint8_t opcode;
    uint32_t dwords_10_11[2];
    uint32_t needed_bytes;
  } cases[] = {
      {0x06, {1}, 4096},                         /* Identify */
      {0x02, {1023u << 16 | 7}, 4096},           /* Get Log Page: NUMDL, ... */
      {0x02, {0, 1}, 65537 * 4},                 /* ... NUMDU, ... */
      {0x02, {1023u << 16, 0xffff0000u}, 4096},  /* ... next to the log-specific identifier */
      {0x02, {0xffffu << 16, 3}, 4 * 65536 * 4}, /* 1 MiB */
      {0x11, {1023}, 4096},                      /* Firmware Image Download */
      {0x19, {255}, 1024},                       /* Directive Send */
      {0x1a, {255}, 1024},                       /* Directive Receive */
      {0x81, {0xffffffff, 512}, 512},            /* Security Send */
      {0x82, {0xffffffff, 512}, 512},            /* Security Receive */
  };
  (void)state;
  struct fixture *f = opened();
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct spate_nvme_admin_request request = request_of(NULL, cases[i].opcode, cases[i].dwords_10_11[0]);
    request.dwords_10_15[1] = cases[i].dwords_10_11[1];
    request.buffer = f->ring_memory;
    request.bytes = cases[i].needed_bytes;
    assert_int_equal(accepted(f, request), SPATE_OK);
    request.bytes -= 4;
    assert_int_equal(accepted(f, request), SPATE_E_INVALID);
    request.bytes += 8;
    assert_int_equal(accepted(f, request), SPATE_OK);
  }
  fixture_free(f);
}

/* 8 GiB: all 16 bits of NUMDU count. */
static void test_a_log_longer_than_the_buffer_is_refused(void **state) {
  (void)state;
  struct fixture *f = opened();
  struct spate_nvme_admin_request request = request_of(NULL, 0x02, 0);
  request.dwords_10_15[1] = 0x8000;
  request.buffer = f->ring_memory;
  request.bytes = 4;
  assert_int_equal(accepted(f, request), SPATE_E_INVALID);
  fixture_free(f);
}

/* The length of vendor-specific commands is unknown, and commands without data have none: they pass. */
static void test_a_command_without_a_stated_length_passes(void **state) {
  static const uint8_t opcodes[] = {GET_FEATURES, 0x10, 0x14, NO_DATA, TO_DRIVE, TO_HOST, BOTH_WAYS};
  (void)state;
  struct fixture *f = opened();
  for (unsigned i = 0; i < sizeof opcodes; i++)
    assert_int_equal(accepted(f, request_of(NULL, opcodes[i], 2)), SPATE_OK);
  fixture_free(f);
}

static void test_the_driver_keeps_what_it_relies_on(void **state) {
  static const uint8_t opcodes[] = {0x00, 0x01, 0x04, 0x05, 0x08, 0x0c, 0x1c, 0x7c};
  static const uint8_t features[] = {0x02, 0x06, 0x07, 0x0b, 0x0c, 0x0d, 0x0f, 0x16};
  static const uint8_t of_namespaces[] = {0x0d, 0x15, 0x80, 0x84};
  (void)state;
  struct fixture *f = opened();
  for (unsigned opcode = 0; opcode < 256; opcode++) {
    if (opcode == SET_FEATURES || opcode == 0x02 || opcode == 0x06 || opcode == 0x11 || opcode == 0x19 ||
        opcode == 0x1a) /* these opcodes state a length */
      continue;
    const bool kept = memchr(opcodes, (int)opcode, sizeof opcodes) != NULL;
    assert_int_equal(accepted(f, request_of(NULL, (uint8_t)opcode, 0)), kept ? SPATE_E_INVALID : SPATE_OK);
  }
  for (unsigned feature = 1; feature < 256; feature++) {
    const bool kept = memchr(features, (int)feature, sizeof features) != NULL;
    assert_int_equal(accepted(f, request_of(NULL, SET_FEATURES, UINT32_C(1) << 31 | 0x100 | feature)),
                     kept ? SPATE_E_INVALID : SPATE_OK);
  }
  assert_int_equal(fixture_queue_open(f, &f->queue, 0, 4), SPATE_OK);
  for (unsigned opcode = 0x0d; opcode < 0x90; opcode++) {
    if (opcode == 0x11 || opcode == 0x19 || opcode == 0x1a || opcode == 0x1c || opcode == 0x7c) continue;
    const bool changes = memchr(of_namespaces, (int)opcode, sizeof of_namespaces) != NULL;
    assert_int_equal(accepted(f, request_of(NULL, (uint8_t)opcode, 0)), changes ? SPATE_E_BUSY : SPATE_OK);
  }
  fixture_free(f);
}

static void test_an_incomplete_request_is_refused(void **state) {
  (void)state;
  struct fixture *f = opened();
  struct spate_nvme_admin_request request = request_of(NULL, GET_FEATURES, 2);
  request.timeout_ms = 0;
  assert_int_equal(accepted(f, request), SPATE_E_INVALID);
  request = request_of(NULL, GET_FEATURES, 2);
  request.done = NULL;
  assert_int_equal(accepted(f, request), SPATE_E_INVALID);
  fixture_free(f);
}

/* Buffers that no page list can describe, or that are not whole cache lines. */
static void test_buffers_that_cannot_be_described(void **state) {
  static const struct {
    uint32_t skipped, bytes, transfer_max;
    uint8_t opcode;
    bool valid;
  } cases[] = {
      {0, DATA_MAX, 0, TO_HOST, true},
      {0, DATA_MAX + 4, 0, TO_HOST, false},
      {64, DATA_MAX - 64, 0, TO_HOST, true},
      {64, DATA_MAX - 60, 0, TO_HOST, false},
      {4032, DATA_MAX - 4032, 0, TO_HOST, true},
      {4032, DATA_MAX - 4028, 0, TO_HOST, false},
      {0, 65536, 65536, TO_DRIVE, true},
      {0, 65540, 65536, TO_DRIVE, false},
      {0, 4, 0, TO_DRIVE, true},
      {0, 1, 0, TO_DRIVE, false},
      {0, 2, 0, TO_DRIVE, false},
      {0, 6, 0, TO_DRIVE, false},
      {32, 4, 0, TO_DRIVE, false},
      {4, 4, 0, TO_DRIVE, false},
      {64, 4, 0, BOTH_WAYS, true},
      {0, 4, 0, NO_DATA, false},
  };
  (void)state;
  struct fixture *f = opened();
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct spate_nvme_admin_request request = request_of(NULL, cases[i].opcode, 0);
    request.buffer = f->ring_memory + cases[i].skipped;
    request.bytes = cases[i].bytes;
    f->nvme.identity.transfer_bytes_max = cases[i].transfer_max;
    assert_int_equal(accepted(f, request), cases[i].valid ? SPATE_OK : SPATE_E_INVALID);
    request.buffer = NULL;
    assert_int_equal(accepted(f, request), SPATE_E_INVALID);
  }
  fixture_free(f);
}

/* ---- what reaches the drive ---- */

/* A log page in which each dword holds its offset. The caller's buffer receives all of it, and nothing beside the
 * buffer changes. */
static void expect_telemetry(struct fixture *f, uint8_t *buffer, uint32_t bytes) {
  struct answer answer = {0};
  struct spate_nvme_admin_request request = request_of(&answer, GET_LOG, (bytes / 4u - 1u) << 16 | TELEMETRY);

  request.dwords_10_15[1] = (bytes / 4u - 1u) >> 16;
  request.buffer = buffer;
  request.bytes = bytes;
  memset(f->ring_memory, CANARY, (size_t)(buffer - f->ring_memory) + bytes + MARGIN);
  assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
  poll_ms(f, 10);
  assert_int_equal(answer.calls, 1);
  assert_int_equal(request.error, SPATE_OK);
  for (uint8_t *at = f->ring_memory; at < buffer; at++)
    assert_int_equal(*at, CANARY);
  for (uint32_t at = 0; at < bytes; at += 4)
    assert_int_equal(spate_get32(buffer + at), at);
  for (uint32_t i = 0; i < MARGIN; i++)
    assert_int_equal(buffer[bytes + i], CANARY);
}

static void test_the_drive_writes_every_byte(void **state) {
  static const struct {
    uint32_t skipped, bytes;
  } shapes[] = {{0, 4},     {0, 4096},      {64, 4096},    {64, 8192},
                {4032, 68}, {128, 1 << 20}, {0, DATA_MAX}, {64, DATA_MAX - 64}};
  (void)state;
  struct fixture *f = opened();
  for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
    expect_telemetry(f, f->ring_memory + 4096 + shapes[i].skipped, shapes[i].bytes);
  fixture_free(f);
}

/* The request has page lists of its own: a command of the driver does not change them. */
static void test_the_drive_gets_each_word(void **state) {
  uint64_t lists[1024];
  (void)state;
  struct fixture *f = opened();
  struct spate_nvme_admin_request request = request_of(NULL, TO_HOST, 0x10101010);
  request.nsid = 0x77;
  for (unsigned i = 1; i < 6; i++)
    request.dwords_10_15[i] = 0x10101010u + i;
  request.buffer = f->ring_memory;
  request.bytes = DATA_MAX;
  assert_int_equal(accepted(f, request), SPATE_OK);
  memcpy(lists, f->nvme.request_lists, sizeof lists);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_OK);
  assert_memory_equal(lists, f->nvme.request_lists, sizeof lists);
  const uint32_t *dwords = last_admin(f, TO_HOST)->dwords;
  assert_int_equal(dwords[1], 0x77);
  for (unsigned i = 0; i < 6; i++)
    assert_int_equal(dwords[10 + i], 0x10101010u + i);
  request.bytes = 0;
  assert_int_equal(accepted(f, request), SPATE_OK); /* without data there is no address */
  for (unsigned i = 6; i < 10; i++)
    assert_int_equal(last_admin(f, TO_HOST)->dwords[i], 0);
  fixture_free(f);
}

/* Page lists are taken from queue memory by the first request that needs one, and once. */
static void test_page_lists_are_taken_when_they_are_needed(void **state) {
  (void)state;
  struct fixture *f = opened();
  struct spate_nvme_admin_request two_pages = request_of(NULL, TO_HOST, 0), three_pages;
  two_pages.buffer = f->ring_memory;
  two_pages.bytes = 2 * SPATE_PAGE_BYTES;
  three_pages = two_pages;
  three_pages.buffer =
      f->ring_memory + SPATE_PAGE_BYTES - 64; /* its first bytes and its last ones in pages of their own */
  f->arena = (struct spate_arena){.start = sim_memory_take(f->sim, SPATE_NVME_ADMIN_LISTS_BYTES, SIM_QUEUE),
                                  .bytes = SPATE_NVME_ADMIN_LISTS_BYTES - 1};

  assert_int_equal(accepted(f, two_pages), SPATE_OK);
  assert_int_equal(accepted(f, three_pages), SPATE_E_MEMORY);
  assert_int_equal(f->arena.used_bytes, 0);
  assert_int_equal(accepted(f, two_pages), SPATE_OK); /* what was refused left nothing behind */
  f->arena.bytes++;
  assert_int_equal(accepted(f, three_pages), SPATE_OK);
  assert_int_equal(f->arena.used_bytes, f->arena.bytes);
  three_pages.buffer = f->ring_memory;
  three_pages.bytes = DATA_MAX;
  assert_int_equal(accepted(f, three_pages), SPATE_OK);
  assert_int_equal(f->arena.used_bytes, f->arena.bytes);
  fixture_free(f);
}

/* Whole lines: cleaned before the drive reads, invalidated before and after it writes. */
static void test_the_cache_is_maintained(void **state) {
  static const struct {
    uint8_t opcode;
    uint32_t bytes;
    unsigned cleans, invalidates_before, invalidates;
  } cases[] = {{TO_DRIVE, 68, 1, 0, 0}, {TO_HOST, 68, 0, 1, 2}, {BOTH_WAYS, 68, 1, 1, 2},
               {TO_DRIVE, 0, 0, 0, 0},  {TO_HOST, 0, 0, 0, 0},  {BOTH_WAYS, 128, 1, 1, 2}};
  (void)state;
  struct fixture *f = opened();
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct answer answer = {0};
    struct spate_nvme_admin_request request = request_of(&answer, cases[i].opcode, 0);
    request.buffer = f->ring_memory;
    request.bytes = cases[i].bytes;
    struct cache_calls calls = {0};
    const uint64_t line_bytes = cases[i].bytes == 0 ? 0 : 128;
    sim_trace(f->sim, count_cache_calls, &calls);
    fixture_fault(f, SIM_STATUS, true, cases[i].opcode, 0, 1, 0);
    assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
    assert_int_equal(calls.cleans, cases[i].cleans);
    assert_int_equal(calls.invalidates, cases[i].invalidates_before);
    assert_int_equal(calls.bytes, line_bytes);
    poll_ms(f, 1);
    assert_int_equal(answer.calls, 1);
    assert_int_equal(calls.cleans, cases[i].cleans);
    assert_int_equal(calls.invalidates, cases[i].invalidates);
    assert_int_equal(calls.bytes, line_bytes);
  }
  fixture_free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_buffer_holds_what_the_command_names),
      cmocka_unit_test(test_a_log_longer_than_the_buffer_is_refused),
      cmocka_unit_test(test_a_command_without_a_stated_length_passes),
      cmocka_unit_test(test_the_driver_keeps_what_it_relies_on),
      cmocka_unit_test(test_an_incomplete_request_is_refused),
      cmocka_unit_test(test_buffers_that_cannot_be_described),
      cmocka_unit_test(test_the_drive_writes_every_byte),
      cmocka_unit_test(test_the_drive_gets_each_word),
      cmocka_unit_test(test_page_lists_are_taken_when_they_are_needed),
      cmocka_unit_test(test_the_cache_is_maintained),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
