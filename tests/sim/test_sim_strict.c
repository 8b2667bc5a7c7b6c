/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that the specification forbids a host is a violation with a message, besides the status that a drive
 * returns. */
#include "raw_sim.h"
#include <setjmp.h>
#include <spate/bytes.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define OUT     16u /* pages: data, a PRP list */
#define LIST    900u
#define NOWHERE UINT64_C(0x1000)

enum { DELETE_SQ, CREATE_SQ, DELETE_CQ = 4, CREATE_CQ, IDENTIFY, ABORT = 8, SET_FEATURES, EVENT = 12, FORMAT = 0x80 };
enum { FLUSH, WRITE, READ, ZEROES = 8, DATASET };
enum { CC = 0x14, CSTS = 0x1c, NSSR = 0x20, AQA = 0x24, ASQ = 0x28, DOORBELLS = 0x1000 };

static struct raw_sim *make(bool enabled) {
  const struct sim_drive_options options = {.bytes = UINT64_C(64) << 20};
  const struct sim_profile *profile = sim_profile_find("ideal");
  struct raw_sim *r = enabled ? raw_sim_start(profile, &options, 7) : raw_sim_new(profile, &options, 7);
  r->raw.target.patience = 50;
  return r;
}

/* The violations since the last call: at least one, and the first has this message. */
static void expect(struct raw_sim *r, const char *what) {
  const char *first = NULL;
  sim_spend(r->sim, SIM_PS_PER_MS);
  if (sim_take_violations(r->sim, &first) == 0) fail_msg("no violation, expected: %s", what);
  if (strstr(first, what) == NULL) fail_msg("\"%s\", expected: %s", first, what);
}

static void expect_none(struct raw_sim *r) {
  const char *first = NULL;
  sim_spend(r->sim, SIM_PS_PER_MS);
  if (sim_take_violations(r->sim, &first) != 0) fail_msg("%s", first);
}

static uint16_t run(struct raw_sim *r, unsigned queue, struct raw_command command) {
  const struct raw_completion c = raw_do(&r->raw, queue, &command);
  assert_false(c.missing);
  return c.status;
}

static void test_registers(void **state) {
  struct raw_sim *r = make(false);
  raw_sim_write32(r, DOORBELLS, 1);
  expect(r, "controller that is not ready");
  raw_sim_write32(r, 0, 1);
  expect(r, "read only or reserved");
  raw_sim_write32(r, 0x1c, 1);
  expect(r, "read only or reserved");
  raw_sim_write32(r, 0x20, 0x4e564d65);
  expect(r, "read only or reserved");
  raw_sim_write32(r, ASQ, 64);
  expect(r, "not page aligned");
  raw_sim_write32(r, AQA, 0xf000f000);
  expect(r, "reserved bits of AQA");
  raw_sim_write32(r, CC, 0x00460001);
  expect(r, "CC.EN set with an admin queue of one entry");
  assert_int_equal(raw_csts(&r->raw), 2);
  assert_true(raw_disable(&r->raw));
  expect_none(r);
  assert_true(raw_enable(&r->raw));
  expect_none(r);
  raw_sim_write32(r, AQA, 0x000f000f);
  expect(r, "written while enabled");
  raw_sim_write32(r, CC, 0x01460001);
  expect(r, "reserved bits of CC");
  raw_sim_write32(r, CC, 0x004600f1);
  expect(r, "changed while enabled");
  (void)raw_sim_read32(r, DOORBELLS);
  expect(r, "a doorbell was read");
  (void)raw_sim_read32(r, 0x18);
  expect(r, "does not have was read: offset 18");
  (void)raw_sim_read32(r, CSTS + 2);
  expect(r, "does not have was read: offset 1e");
  raw_sim_write32(r, CC, 0x00460000);
  raw_sim_write32(r, CC, 0x00460001);
  expect(r, "CSTS.RDY is still 1");
  raw_sim_write32(r, CC, 0x00460000);
  expect(r, "cleared before CSTS.RDY was 1");
  raw_sim_free(r);
  (void)state;
}

/* 3.1.9: only one value resets. A controller that writes another value waits for a reset that does not come. */
static void test_subsystem_reset(void **state) {
  struct raw_sim *r = make(true);
  *sim_drive_cap(r->drive) |= UINT64_C(1) << 36;
  raw_sim_write32(r, NSSR, 0x4e564d64);
  expect(r, "NSSR written with 4e564d64");
  assert_int_equal(raw_csts(&r->raw), 1);
  raw_sim_write32(r, NSSR, 0x4e564d65);
  expect_none(r);
  assert_int_equal(sim_drive_counters(r->drive)->hard_resets[SIM_RESET_SUBSYSTEM], 1);
  raw_sim_free(r);
  (void)state;
}

/* NVMe 1.0 has no namespace lists: CNS is one bit. */
static void test_identify_before_1_1(void **state) {
  for (uint32_t version = 0x00010000; version <= 0x00010100; version += 0x00000100) {
    const struct sim_drive_options options = {.bytes = UINT64_C(64) << 20, .version = version};
    struct raw_sim *r = raw_sim_start(sim_profile_find("ideal"), &options, 7);
    const bool has_lists = version >= 0x00010100;
    assert_int_equal(raw_sim_read32(r, 8), version);
    for (uint32_t cns = 0; cns < 3; cns++) {
      const uint16_t status = run(
          r, 0,
          (struct raw_command){.opcode = IDENTIFY, .nsid = cns == 0, .prp1 = raw_bus(&r->raw, OUT), .dword10 = cns});
      assert_int_equal(status, cns < 2 || has_lists ? 0 : 0x4002);
      if (cns == 1) assert_int_equal(spate_get32(raw_at(&r->raw, OUT) + 80), 0); /* VER came with 1.2 */
      if (cns < 2 || has_lists)
        expect_none(r);
      else
        expect(r, "before NVMe 1.1 CNS has one bit");
    }
    raw_sim_free(r);
  }
  (void)state;
}

static void test_what_it_cannot_start_with(void **state) {
  static const struct {
    uint32_t cc, aqa;
    const char *what;
  } cases[] = {
      {0x00460011, 0x000f000f, "CC.CSS"},    {0x00460081, 0x000f000f, "CC.MPS"},
      {0x00460801, 0x000f000f, "CC.AMS"},    {0x00000001, 0x000f000f, "CC.IOSQES"},
      {0x00450001, 0x000f000f, "CC.IOSQES"}, {0x00460001, 0x000f0000, "one entry"},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct raw_sim *r = make(false);
    raw_sim_write32(r, AQA, cases[i].aqa);
    raw_sim_write32(r, ASQ, (uint32_t)raw_bus(&r->raw, 0));
    raw_sim_write32(r, ASQ + 4, (uint32_t)(raw_bus(&r->raw, 0) >> 32));
    raw_sim_write32(r, ASQ + 8, (uint32_t)raw_bus(&r->raw, 1));
    raw_sim_write32(r, ASQ + 12, (uint32_t)(raw_bus(&r->raw, 1) >> 32));
    expect_none(r);
    raw_sim_write32(r, CC, cases[i].cc);
    expect(r, cases[i].what);
    assert_int_equal(raw_csts(&r->raw), 2);
    raw_sim_free(r);
  }
  (void)state;
}

static void test_doorbells(void **state) {
  struct raw_sim *r = make(true);
  expect_none(r);
  raw_sim_write32(r, DOORBELLS + 8, RAW_ENTRIES);
  expect(r, "beyond the end");
  raw_sim_write32(r, DOORBELLS + 8, 0);
  expect(r, "the value has not changed");
  raw_sim_write32(r, DOORBELLS + 12, 0);
  expect(r, "the value has not changed");
  raw_sim_write32(r, DOORBELLS + 8 * 5, 1);
  expect(r, "there is no such queue");
  raw_sim_write32(r, DOORBELLS + 8 * 60, 1);
  expect(r, "which is no doorbell");
  raw_sim_write32(r, DOORBELLS + 12, 3);
  expect(r, "not posted");
  const struct raw_command flush = {.opcode = FLUSH, .nsid = 1};
  for (unsigned i = 0; i < 3; i++)
    assert_int_equal(run(r, 1, flush), 0);
  expect_none(r);
  sim_drive_fault(r->drive, (struct sim_fault){.action = SIM_STALL, .opcode = FLUSH, .count = UINT32_MAX});
  for (unsigned i = 0; i < RAW_ENTRIES; i++) {
    (void)raw_put(&r->raw, 1, &flush);
    raw_ring(&r->raw, 1);
    if (i < RAW_ENTRIES - 1u) expect_none(r);
  }
  expect(r, "has not given back");
  raw_sim_free(r);
  (void)state;
}

static void test_completion_queue_overrun(void **state) {
  struct raw_sim *r = make(true);
  const struct raw_command flush = {.opcode = FLUSH, .nsid = 1};
  for (unsigned i = 0; i < RAW_ENTRIES; i++) {
    (void)raw_put(&r->raw, 1, &flush);
    raw_ring(&r->raw, 1);
    expect_none(r); /* the host may be slow */
  }
  for (unsigned i = 0; i < RAW_ENTRIES; i++) /* nothing is lost: the completions waited */
    assert_false(raw_take(&r->raw, 1).missing);
  raw_sim_free(r);
  (void)state;
}

static void test_event_while_the_admin_completion_queue_is_full(void **state) {
  struct raw_sim *r = make(true);
  const uint16_t id = raw_put(&r->raw, 0, &(struct raw_command){.opcode = EVENT});
  for (unsigned i = 0; i < RAW_ENTRIES - 1u; i++) {
    raw_ring(&r->raw, 0);
    expect_none(r);
    (void)raw_put(&r->raw, 0, &(struct raw_command){.opcode = 10, .dword10 = 6}); /* Get Features */
  }
  raw_ring(&r->raw, 0);
  expect_none(r);
  assert_true(sim_drive_event(r->drive, 1, 0, 2));
  for (unsigned i = 0; i < RAW_ENTRIES; i++) {
    const struct raw_completion c = raw_take(&r->raw, 0);
    assert_false(c.missing);
    assert_int_equal(c.id == id, i == RAW_ENTRIES - 1u);
  }
  expect_none(r);
  raw_sim_free(r);
  (void)state;
}

static void test_identifiers_in_flight(void **state) {
  struct raw_sim *r = make(true);
  const struct raw_command flush = {.opcode = FLUSH, .nsid = 1};
  for (unsigned i = 0; i < 2; i++) { /* again after it completed, or on another queue: allowed */
    const uint16_t id = r->raw.next_id;
    (void)raw_put(&r->raw, 1, &flush);
    r->raw.next_id = id;
    (void)raw_put(&r->raw, 2, &flush);
    raw_ring(&r->raw, 1);
    raw_ring(&r->raw, 2);
    assert_false(raw_take(&r->raw, 1).missing || raw_take(&r->raw, 2).missing);
    r->raw.next_id = id;
  }
  expect_none(r);
  (void)raw_put(&r->raw, 1, &flush);
  r->raw.next_id--;
  (void)raw_put(&r->raw, 1, &flush);
  raw_ring(&r->raw, 1);
  expect(r, "is also that of another one in flight");
  raw_sim_free(r);
  (void)state;
}

static void test_prps(void **state) {
  struct raw_sim *r = make(true);
  const uint64_t out = raw_bus(&r->raw, OUT), list = raw_bus(&r->raw, LIST);
  uint8_t *entries = raw_at(&r->raw, LIST);
  for (unsigned i = 0; i < 512; i++)
    spate_put64(entries + 8u * i, out + RAW_PAGE * (i + 1u));

  assert_int_equal(run(r, 1, (struct raw_command){.opcode = WRITE, .nsid = 1, .prp1 = out + 2}), 0x4013);
  expect(r, "not dword aligned");
  assert_int_equal(run(r, 1, (struct raw_command){.opcode = WRITE, .nsid = 1, .prp1 = out, .prp2 = out}), 0);
  expect(r, "PRP2 is reserved");
  assert_int_equal(
      run(r, 1, (struct raw_command){.opcode = WRITE, .nsid = 1, .prp1 = out, .prp2 = out + 512, .dword12 = 15}),
      0x4013);
  expect(r, "PRP2 with an offset");
  assert_int_equal(
      run(r, 1, (struct raw_command){.opcode = WRITE, .nsid = 1, .prp1 = out, .prp2 = list + 4, .dword12 = 31}),
      0x4013);
  expect(r, "not quadword aligned");
  spate_put64(entries + 8, out + 512);
  assert_int_equal(
      run(r, 1, (struct raw_command){.opcode = WRITE, .nsid = 1, .prp1 = out, .prp2 = list, .dword12 = 31}), 0x4013);
  expect(r, "an entry of a PRP list with an offset");
  spate_put64(entries + 8, out);
  assert_int_equal(run(r, 1, (struct raw_command){.opcode = WRITE, .nsid = 1, .prp1 = NOWHERE}), 4);
  expect(r, "in memory that the host did not provide");
  assert_int_equal(run(r, 1, (struct raw_command){.opcode = READ, .nsid = 1, .prp1 = NOWHERE}), 4);
  expect(r, "in memory that the host did not provide");
  assert_int_equal(
      run(r, 1, (struct raw_command){.opcode = READ, .nsid = 1, .prp1 = out, .prp2 = NOWHERE, .dword12 = 31}), 4);
  expect(r, "a PRP list in memory that the host did not provide");
  /* A list that passes the end of its page without a chain: its last entry is read as the chain. */
  spate_put64(entries + 8 * 511, out + 64);
  assert_int_equal(
      run(r, 1, (struct raw_command){.opcode = READ, .nsid = 1, .prp1 = out, .prp2 = list + 8 * 510, .dword12 = 31}),
      0x4013);
  expect(r, "an entry of a PRP list with an offset");
  raw_sim_free(r);
  (void)state;
}

static void test_io_commands(void **state) {
  struct raw_sim *r = make(true);
  const uint64_t out = raw_bus(&r->raw, OUT);
  const struct {
    const char *what;
    uint16_t status;
    struct raw_command command;
  } cases[] = {
      {"reserved bits in dword 0", 0, {.opcode = WRITE, .flags = 0x4000, .nsid = 1, .prp1 = out}},
      {"reserved bits in dword 2", 0, {.opcode = WRITE, .dword2 = 1, .nsid = 1, .prp1 = out}},
      {"reserved bits in dword 3", 0, {.opcode = READ, .dword3 = 1, .nsid = 1, .prp1 = out}},
      {"reserved bits in dword 12", 0, {.opcode = READ, .nsid = 1, .prp1 = out, .dword12 = 1u << 16}},
      {"reserved bits in dword 12", 0, {.opcode = WRITE, .nsid = 1, .prp1 = out, .dword12 = 1u << 26}},
      {"reserved bits in dword 13", 0, {.opcode = WRITE, .nsid = 1, .prp1 = out, .dword13 = 1u << 8}},
      {"reserved bits in dword 14", 0, {.opcode = WRITE, .nsid = 1, .prp1 = out, .dword14 = 1}},
      {"reserved bits in dword 15", 0, {.opcode = WRITE, .nsid = 1, .prp1 = out, .dword15 = 1}},
      {"reserved bits in dword 10", 0, {.opcode = FLUSH, .nsid = 1, .dword10 = 1}},
      {"reserved bits in dword 6", 0, {.opcode = FLUSH, .nsid = 1, .prp1 = out}},
      {"reserved bits in dword 13", 0, {.opcode = ZEROES, .nsid = 1, .dword13 = 1}},
      {"reserved bits in dword 12", 0, {.opcode = ZEROES, .nsid = 1, .dword12 = 1u << 16}},
      {"reserved bits in dword 10", 0, {.opcode = DATASET, .nsid = 1, .prp1 = out, .dword10 = 256, .dword11 = 4}},
      {"reserved bits in dword 11", 0, {.opcode = DATASET, .nsid = 1, .prp1 = out, .dword11 = 12}},
      {"more than MDTS", 0x4002, {.opcode = WRITE, .nsid = 1, .prp1 = out, .prp2 = out, .dword12 = 4096}},
      {"not on the drive", 0x4080, {.opcode = WRITE, .nsid = 1, .prp1 = out, .dword10 = 131072}},
      {"not on the drive", 0x4080, {.opcode = READ, .nsid = 1, .prp1 = out, .dword10 = 131071, .dword12 = 1}},
      {"not on the drive", 0x4080, {.opcode = ZEROES, .nsid = 1, .dword11 = 1}},
      {"namespace 7", 0x400b, {.opcode = WRITE, .nsid = 7, .prp1 = out}},
      {"namespace 0", 0x400b, {.opcode = READ, .prp1 = out}},
      {"which the drive does not have", 0x4001, {.opcode = 0x55, .nsid = 1}},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(run(r, 1, cases[i].command), cases[i].status);
    expect(r, cases[i].what);
  }
  spate_put32(raw_at(&r->raw, OUT) + 4, 2);
  spate_put64(raw_at(&r->raw, OUT) + 8, 131071);
  assert_int_equal(run(r, 1, (struct raw_command){.opcode = DATASET, .nsid = 1, .prp1 = out, .dword11 = 4}), 0x4080);
  expect(r, "not on the drive");
  raw_sim_free(r);
  (void)state;
}

/* The media has 131072 blocks: two namespaces of 50000 have their place there, the third has not. */
static void test_io_on_several_namespaces(void **state) {
  struct raw_sim *r = make(true);
  const uint64_t out = raw_bus(&r->raw, OUT);
  sim_drive_namespaces(r->drive)[1] = 2;
  sim_drive_namespaces(r->drive)[2] = 3;
  spate_put32(sim_drive_identify_controller(r->drive) + 516, 3);
  spate_put64(sim_drive_identify_namespace(r->drive), 50000);
  for (uint32_t nsid = 1; nsid <= 2; nsid++) {
    const struct raw_command last = {.opcode = WRITE, .nsid = nsid, .prp1 = out, .dword10 = 49999};
    assert_int_equal(run(r, 1, last), 0);
    expect_none(r);
    const struct raw_command beyond = {.opcode = WRITE, .nsid = nsid, .prp1 = out, .dword10 = 50000};
    assert_int_equal(run(r, 1, beyond), 0x4080);
    expect(r, "not on the drive");
  }
  assert_int_equal(run(r, 1, (struct raw_command){.opcode = WRITE, .nsid = 3, .prp1 = out}), 0x4002);
  expect(r, "namespace 3, which takes none");
  raw_sim_free(r);
  (void)state;
}

static void test_admin_commands(void **state) {
  struct raw_sim *r = make(true);
  const uint64_t page = raw_bus(&r->raw, OUT);
  const struct {
    const char *what;
    uint16_t status;
    struct raw_command command;
  } cases[] = {
      {"before its completion queue",
       0x4100,
       {.opcode = CREATE_SQ, .prp1 = page, .dword10 = 15u << 16 | 3u, .dword11 = 3u << 16 | 1u}},
      {"out of range or in use", 0x4101, {.opcode = CREATE_CQ, .prp1 = page, .dword10 = 15u << 16 | 1u, .dword11 = 1}},
      {"out of range or in use", 0x4101, {.opcode = CREATE_CQ, .prp1 = page, .dword10 = 15u << 16 | 9u, .dword11 = 1}},
      {"fewer than two entries", 0x4102, {.opcode = CREATE_CQ, .prp1 = page, .dword10 = 3u, .dword11 = 1}},
      {"more than CAP.MQES", 0x4102, {.opcode = CREATE_CQ, .prp1 = page, .dword10 = 1024u << 16 | 3u, .dword11 = 1}},
      {"not page aligned", 0x4013, {.opcode = CREATE_CQ, .prp1 = page + 8, .dword10 = 15u << 16 | 3u, .dword11 = 1}},
      {"not contiguous", 0x4002, {.opcode = CREATE_CQ, .prp1 = page, .dword10 = 15u << 16 | 3u}},
      {"an interrupt vector",
       0x4108,
       {.opcode = CREATE_CQ, .prp1 = page, .dword10 = 15u << 16 | 3u, .dword11 = 1u << 16 | 3u}},
      {"before its submission queue", 0x010c, {.opcode = DELETE_CQ, .dword10 = 1}},
      {"no such submission queue", 0x4101, {.opcode = DELETE_SQ, .dword10 = 3}},
      {"no such completion queue", 0x4101, {.opcode = DELETE_CQ, .dword10 = 3}},
      {"no such submission queue", 0x4002, {.opcode = ABORT, .dword10 = 3}},
      {"while I/O queues exist", 0x400c, {.opcode = SET_FEATURES, .dword10 = 7, .dword11 = 0x30003}},
      {"65536 queues", 0x4002, {.opcode = SET_FEATURES, .dword10 = 7, .dword11 = 0xffff}},
      {"reserved bits in dword 10", 0x0, {.opcode = SET_FEATURES, .dword10 = 0x106, .dword11 = 1}},
      {"reserved bits in dword 11", 0x0, {.opcode = 10, .dword10 = 6, .dword11 = 1}}, /* Get Features */
      {"the drive does not have it", 0x4001, {.opcode = 0x7f}},
      {"reserved dwords 2 to 5", 0, {.opcode = 6, .dword2 = 1, .prp1 = page, .dword10 = 1}},
      {"fused or with SGLs", 0, {.opcode = 6, .flags = 0x100, .prp1 = page, .dword10 = 1}},
      {"does not have", 0x410a, {.opcode = FORMAT, .nsid = 1, .dword10 = 9}},
      {"no such namespace", 0x400b, {.opcode = FORMAT, .nsid = 2}},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(run(r, 0, cases[i].command), cases[i].status);
    expect(r, cases[i].what);
  }
  for (unsigned i = 0; i < 4; i++)
    (void)raw_put(&r->raw, 0, &(struct raw_command){.opcode = EVENT});
  raw_ring(&r->raw, 0);
  expect_none(r);
  assert_int_equal(run(r, 0, (struct raw_command){.opcode = EVENT}), 0x0105);
  expect(r, "AERL");
  raw_sim_free(r);
  (void)state;
}

static void test_memory_and_shutdown(void **state) {
  struct raw_sim *r = make(true);
  r->host.ops->config_write(&r->host, r->device->address, 4, 2); /* memory space, no bus master */
  (void)raw_put(&r->raw, 1, &(struct raw_command){.opcode = FLUSH, .nsid = 1});
  raw_ring(&r->raw, 1);
  expect(r, "may not master the bus");
  assert_true(raw_take(&r->raw, 1).missing);
  raw_sim_free(r);

  r = make(true);
  raw_sim_write32(r, CC, 0x00464001);
  assert_true(raw_wait_csts(&r->raw, 0xc, 8));
  expect_none(r);
  raw_sim_write32(r, DOORBELLS + 8, 1);
  expect(r, "after the shutdown notification");
  raw_sim_free(r);

  r = make(true);
  assert_int_equal(
      run(r, 0, (struct raw_command){.opcode = CREATE_CQ, .prp1 = NOWHERE, .dword10 = 3u << 16 | 3u, .dword11 = 1}), 0);
  assert_int_equal(run(r, 0,
                       (struct raw_command){
                           .opcode = CREATE_SQ, .prp1 = NOWHERE, .dword10 = 3u << 16 | 3u, .dword11 = 3u << 16 | 1u}),
                   0);
  expect_none(r);
  raw_sim_write32(r, DOORBELLS + 24, 1);
  expect(r, "submission queue 3 is in memory that the host did not provide");
  assert_int_equal(raw_csts(&r->raw) & 2, 2);
  raw_sim_free(r);
  (void)state;
}

/*
 * No byte of the host's memory changes once CSTS.RDY is 0, or once the drive may not master the bus. Between CC.EN and
 * CSTS.RDY commands in flight may still transfer data; counts the pages transferred.
 */
static unsigned no_access(bool disable, uint64_t seed) {
  const struct sim_drive_options options = {.bytes = UINT64_C(64) << 20};
  struct raw_sim *r = raw_sim_start(sim_profile_find("ideal"), &options, seed);
  static uint8_t before[8 * RAW_PAGE], ring[RAW_PAGE];
  unsigned changed = 0;
  memset(before, 0xee, sizeof before);
  memset(ring, 0, sizeof ring);
  for (unsigned i = 0; i < 8; i++)
    (void)raw_put(&r->raw, 1,
                  &(struct raw_command){.opcode = READ, .nsid = 1, .prp1 = raw_bus(&r->raw, OUT + i), .dword12 = 7});
  memset(raw_at(&r->raw, OUT), 0xee, 8 * RAW_PAGE);
  raw_ring(&r->raw, 1);
  sim_spend(r->sim, 5 * SIM_PS_PER_US); /* the commands are fetched, and their data in flight */
  assert_int_equal(sim_drive_counters(r->drive)->io[READ], 8);
  if (disable) {
    assert_true(raw_disable(&r->raw));
    memcpy(before, raw_at(&r->raw, OUT), sizeof before);
    memcpy(ring, raw_at(&r->raw, 3), sizeof ring);
    for (unsigned i = 0; i < 8; i++)
      changed += before[i * RAW_PAGE] != 0xee;
  } else {
    r->host.ops->config_write(&r->host, r->device->address, 4, 2); /* memory space, no bus master */
  }
  sim_spend(r->sim, SIM_PS_PER_S);
  assert_memory_equal(raw_at(&r->raw, OUT), before, sizeof before);
  assert_memory_equal(raw_at(&r->raw, 3), ring, sizeof ring);
  expect_none(r);
  raw_sim_free(r);
  return changed;
}

static void test_no_access_after_disable(void **state) {
  unsigned all = 0, some = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    const unsigned changed = no_access(true, seed);
    all += changed == 8;
    some += changed < 8;
  }
  assert_true(all > 0 && some > 0);
  assert_int_equal(no_access(false, 1), 0);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_registers),
      cmocka_unit_test(test_subsystem_reset),
      cmocka_unit_test(test_identify_before_1_1),
      cmocka_unit_test(test_what_it_cannot_start_with),
      cmocka_unit_test(test_doorbells),
      cmocka_unit_test(test_completion_queue_overrun),
      cmocka_unit_test(test_event_while_the_admin_completion_queue_is_full),
      cmocka_unit_test(test_identifiers_in_flight),
      cmocka_unit_test(test_prps),
      cmocka_unit_test(test_io_commands),
      cmocka_unit_test(test_io_on_several_namespaces),
      cmocka_unit_test(test_admin_commands),
      cmocka_unit_test(test_memory_and_shutdown),
      cmocka_unit_test(test_no_access_after_disable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
