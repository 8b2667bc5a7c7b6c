/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a power cut may lose, over many seeds: durable data stay; for other data every version occurs that the
 * specification allows. Also what must not be lost: after a reset, or after a clean shutdown.
 */
#include "raw_sim.h"
#include <setjmp.h>
#include <spate/bytes.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define OUT   16u /* pages: a write's data, eight of them */
#define BACK  32u
#define SEEDS 400u
#define FUA   (UINT32_C(1) << 30)
#define MIXED 0xaa /* of units that do not all have the same byte */
#define NONE  0
#define BLOCK 512u

enum { FLUSH, WRITE, READ, ZEROES = 8, DATASET };

static struct raw_sim *start(uint64_t seed, uint16_t atomic_bytes, const struct sim_drive_options *more) {
  struct sim_drive_options options = {0};
  struct sim_profile profile = *sim_profile_find("ideal");
  if (more != NULL) options = *more;
  options.bytes = UINT64_C(16) << 20;
  options.journal = true;
  profile.atomic_bytes = atomic_bytes;
  profile.flush_ns = 100000; /* longer than a write: a write that completes during a flush is not covered by it */
  return raw_sim_start(&profile, &options, seed);
}

static void end(struct raw_sim *r) {
  const char *first = NULL;
  if (sim_take_violations(r->sim, &first) != 0) fail_msg("seed %llu: %s", (unsigned long long)sim_seed(r->sim), first);
  raw_sim_free(r);
}

static void must(struct raw_completion c) {
  assert_false(c.missing);
  assert_int_equal(c.status, 0);
}

/* At most two pages, from page OUT on. */
static struct raw_command write_command(struct raw_sim *r, uint32_t lba, uint32_t blocks, uint8_t byte,
                                        uint32_t flags) {
  memset(raw_at(&r->raw, OUT), byte, 8 * RAW_PAGE);
  return (struct raw_command){.opcode = WRITE,
                              .nsid = 1,
                              .prp1 = raw_bus(&r->raw, OUT),
                              .prp2 = blocks * BLOCK > RAW_PAGE ? raw_bus(&r->raw, OUT + 1u) : 0,
                              .dword10 = lba,
                              .dword12 = (blocks - 1u) | flags};
}

static void write_blocks(struct raw_sim *r, uint32_t lba, uint32_t blocks, uint8_t byte, uint32_t flags) {
  const struct raw_command command = write_command(r, lba, blocks, byte, flags);
  must(raw_do(&r->raw, 1, &command));
}

static void flush(struct raw_sim *r) { must(raw_do(&r->raw, 1, &(struct raw_command){.opcode = FLUSH, .nsid = 1})); }

/* The byte that fills all of the blocks, or MIXED. */
static uint8_t read_blocks(struct raw_sim *r, uint32_t lba, uint32_t blocks) {
  const uint8_t *back = raw_at(&r->raw, BACK);
  must(raw_do(&r->raw, 1,
              &(struct raw_command){.opcode = READ,
                                    .nsid = 1,
                                    .prp1 = raw_bus(&r->raw, BACK),
                                    .prp2 = blocks * BLOCK > RAW_PAGE ? raw_bus(&r->raw, BACK + 1u) : 0,
                                    .dword10 = lba,
                                    .dword12 = blocks - 1u}));
  for (uint32_t i = 0; i < blocks * BLOCK; i++)
    if (back[i] != back[0]) return MIXED;
  return back[0];
}

static void enable_again(struct raw_sim *r) {
  assert_true(raw_enable(&r->raw));
  assert_int_equal(raw_queue(&r->raw, 1), 0);
  assert_int_equal(raw_queue(&r->raw, 2), 0);
}

static void cut(struct raw_sim *r) {
  sim_drive_power_cut(r->drive);
  enable_again(r);
}

static void test_any_version_since_the_flush(void **state) {
  unsigned seen[8] = {0};
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct raw_sim *r = start(seed, 0, NULL);
    write_blocks(r, 8, 1, 1, 0);
    flush(r);
    for (uint8_t byte = 2; byte <= 5; byte++)
      write_blocks(r, 8, 1, byte, 0);
    cut(r);
    const uint8_t byte = read_blocks(r, 8, 1);
    assert_in_range(byte, 1, 5);
    seen[byte]++;
    assert_int_equal(read_blocks(r, 8, 1), byte); /* decided once */
    cut(r);
    assert_int_equal(read_blocks(r, 8, 1), byte); /* and durable from then on */
    end(r);
  }
  for (unsigned byte = 1; byte <= 5; byte++)
    assert_true(seen[byte] > 0);
  (void)state;
}

static void test_durable_stays(void **state) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct raw_sim *r = start(seed, 0, NULL);
    write_blocks(r, 0, 1, 1, 0);
    write_blocks(r, 1, 1, 1, 0);
    flush(r);
    write_blocks(r, 2, 1, 1, FUA); /* no flush after it */
    write_blocks(r, 3, 1, 1, 0);
    write_blocks(r, 3, 1, 2, FUA); /* over data that is not durable */
    write_blocks(r, 4, 1, 1, FUA);
    write_blocks(r, 4, 1, 2, 0);
    cut(r);
    for (uint32_t lba = 0; lba < 3; lba++)
      assert_int_equal(read_blocks(r, lba, 1), 1);
    assert_int_equal(read_blocks(r, 3, 1), 2);
    assert_in_range(read_blocks(r, 4, 1), 1, 2); /* one of the versions, never nothing */
    end(r);
  }
  (void)state;
}

/* Blocks are lost independently of each other, and not in the order of their writes. */
static void test_blocks_are_lost_in_any_order(void **state) {
  unsigned seen[4] = {0};
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct raw_sim *r = start(seed, 0, NULL);
    write_blocks(r, 8, 1, 1, 0);
    write_blocks(r, 9, 1, 1, 0);
    cut(r);
    seen[2 * read_blocks(r, 8, 1) + read_blocks(r, 9, 1)]++;
    end(r);
  }
  for (unsigned i = 0; i < 4; i++)
    assert_true(seen[i] > 0);
  (void)state;
}

/* A flush whose doorbell was rung before the write completed does not cover the write, even if the drive fetched it
 * afterwards. */
static void test_flush_rung_before_the_write_completed(void **state) {
  unsigned between = 0, lost = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct raw_sim *r = start(seed, 0, NULL);
    const struct raw_command write = write_command(r, 8, 8, 1, 0), command = {.opcode = FLUSH, .nsid = 1};
    (void)raw_put(&r->raw, 1, &write);
    raw_ring(&r->raw, 1);
    sim_spend(r->sim, seed * 50 * SIM_PS_PER_NS);
    (void)raw_put(&r->raw, 2, &command);
    raw_ring(&r->raw, 2);
    must(raw_take(&r->raw, 1));
    must(raw_take(&r->raw, 2));
    size_t count;
    const struct sim_journal_entry *j = sim_drive_journal(r->drive, &count);
    assert_int_equal(count, 2);
    const struct sim_journal_entry *w = &j[j[0].op == SIM_JOURNAL_FLUSH], *f = &j[j[0].op != SIM_JOURNAL_FLUSH];
    assert_true(f->submitted < f->fetched && f->fetched < f->completed);
    const bool covered = w->completed < f->submitted, is_between = !covered && w->completed < f->fetched;
    cut(r);
    const bool is_lost = read_blocks(r, 8, 8) != 1;
    assert_false(covered && is_lost);
    between += is_between;
    lost += is_between && is_lost;
    end(r);
  }
  assert_true(between > 0 && lost > 0);
  (void)state;
}

/* A flush that was fetched before the write completed does not cover the write. */
static void test_flush_beside_a_write(void **state) {
  unsigned lost = 0, kept = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct raw_sim *r = start(seed, 0, NULL);
    const struct raw_command write = write_command(r, 8, 8, 1, 0), command = {.opcode = FLUSH, .nsid = 1};
    (void)raw_put(&r->raw, 1, &write);
    (void)raw_put(&r->raw, 1, &command);
    raw_ring(&r->raw, 1);
    must(raw_take(&r->raw, 1));
    must(raw_take(&r->raw, 1));
    cut(r);
    const uint8_t byte = read_blocks(r, 8, 1);
    lost += byte == NONE;
    kept += byte == 1;
    end(r);
  }
  assert_true(lost > 0 && kept > 0);
  assert_int_equal(lost + kept, SEEDS);
  (void)state;
}

static void test_torn_at_the_atomic_unit(void **state) {
  unsigned torn = 0, torn_inside = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct raw_sim *r = start(seed, 0, NULL);
    write_blocks(r, 16, 16, 1, 0);
    cut(r);
    torn += read_blocks(r, 16, 16) == MIXED;
    for (uint32_t lba = 16; lba < 32; lba++)
      assert_int_not_equal(read_blocks(r, lba, 1), MIXED); /* a block never tears */
    end(r);

    r = start(seed, 4096, NULL);
    write_blocks(r, 3, 8, 1, 0); /* as large as the unit, at any offset */
    write_blocks(r, 16, 16, 1, 0);
    cut(r);
    assert_int_not_equal(read_blocks(r, 3, 8), MIXED);
    torn_inside += read_blocks(r, 16, 8) == MIXED; /* larger: nothing is guaranteed, not even for half of it */
    end(r);
  }
  assert_true(torn > 0 && torn_inside > 0);
  (void)state;
}

/* Of a command in flight, each block is old or new. */
static void test_in_flight(void **state) {
  unsigned old = 0, new = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct raw_sim *r = start(seed, 0, NULL);
    write_blocks(r, 8, 8, 1, FUA);
    const struct raw_command command = write_command(r, 8, 8, 2, FUA);
    (void)raw_put(&r->raw, 1, &command);
    raw_ring(&r->raw, 1);
    sim_spend(r->sim, seed * 20 * SIM_PS_PER_NS); /* the drive has the data after some microseconds */
    cut(r);
    for (uint32_t lba = 8; lba < 16; lba++) {
      const uint8_t byte = read_blocks(r, lba, 1);
      assert_in_range(byte, 1, 2);
      old += byte == 1;
      new += byte == 2;
    }
    end(r);
  }
  assert_true(old > 0 && new > 0);
  (void)state;
}

static void test_trim_and_zeroes_may_be_lost(void **state) {
  unsigned trimmed = 0, zeroed = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct raw_sim *r = start(seed, 0, NULL);
    write_blocks(r, 8, 8, 1, FUA);
    write_blocks(r, 16, 8, 1, FUA);
    uint8_t *range = raw_at(&r->raw, OUT);
    memset(range, 0, 16);
    spate_put32(range + 4, 8);
    spate_put64(range + 8, 8);
    must(raw_do(&r->raw, 1,
                &(struct raw_command){.opcode = DATASET, .nsid = 1, .prp1 = raw_bus(&r->raw, OUT), .dword11 = 4}));
    must(raw_do(&r->raw, 1, &(struct raw_command){.opcode = ZEROES, .nsid = 1, .dword10 = 16, .dword12 = 7}));
    cut(r);
    for (uint32_t lba = 8; lba < 24; lba++)
      assert_in_range(read_blocks(r, lba, 1), 0, 1);
    trimmed += read_blocks(r, 8, 8) == NONE;
    zeroed += read_blocks(r, 16, 8) == NONE;
    end(r);
  }
  assert_in_range(trimmed, 1, SEEDS - 1);
  assert_in_range(zeroed, 1, SEEDS - 1);
  (void)state;
}

static void test_nothing_is_lost_without_a_volatile_cache(void **state) {
  for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
    const struct sim_drive_options options = {.no_volatile_cache = true};
    struct raw_sim *r = start(seed, 0, &options);
    write_blocks(r, 8, 8, 1, 0);
    cut(r);
    assert_int_equal(read_blocks(r, 8, 8), 1);
    end(r);

    r = start(seed, 0, NULL);
    must(raw_do(&r->raw, 0, &(struct raw_command){.opcode = 9, .dword10 = 6})); /* the cache turned off */
    write_blocks(r, 8, 8, 1, 0);
    cut(r);
    assert_int_equal(read_blocks(r, 8, 8), 1);
    end(r);
  }
  (void)state;
}

static void test_reset_loses_nothing(void **state) {
  unsigned lost = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct raw_sim *r = start(seed, 0, NULL);
    write_blocks(r, 8, 8, 1, 0);
    sim_drive_reset(r->drive);
    enable_again(r);
    assert_int_equal(read_blocks(r, 8, 8), 1);
    if (seed % 2 == 0) flush(r);
    cut(r);
    const uint8_t byte = read_blocks(r, 8, 1);
    if (seed % 2 == 0) assert_int_equal(byte, 1); /* data written before the reset was flushed after it */
    lost += byte == NONE;
    end(r);
  }
  assert_true(lost > 0);
  (void)state;
}

/* A write whose completion the host never saw is in the cache like any other: the next flush after the reset covers
 * it. */
static void test_flush_after_a_reset_covers_what_was_in_flight(void **state) {
  for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
    struct raw_sim *r = start(seed, 0, NULL);
    const struct raw_command command = write_command(r, 8, 8, 1, 0);
    sim_drive_fault(r->drive, (struct sim_fault){.action = SIM_LATE, .opcode = WRITE, .count = 1, .value = 1000});
    (void)raw_put(&r->raw, 1, &command);
    raw_ring(&r->raw, 1);
    sim_spend(r->sim, SIM_PS_PER_MS);
    sim_drive_reset(r->drive);
    enable_again(r);
    assert_int_equal(read_blocks(r, 8, 8), 1);
    flush(r);
    cut(r);
    assert_int_equal(read_blocks(r, 8, 8), 1);
    end(r);
  }
  (void)state;
}

static void test_clean_shutdown(void **state) {
  for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
    struct raw_sim *r = start(seed, 0, NULL);
    write_blocks(r, 8, 8, 1, 0);
    const uint64_t unsafe = spate_get64(sim_drive_smart(r->drive) + 144);
    raw_sim_write32(r, 0x14, 0x00464001); /* CC.SHN: normal */
    assert_true(raw_wait_csts(&r->raw, 0xc, 8));
    cut(r);
    assert_int_equal(read_blocks(r, 8, 8), 1);
    assert_int_equal(spate_get64(sim_drive_smart(r->drive) + 144), unsafe);
    assert_int_equal(sim_drive_counters(r->drive)->power_cycles, 1);
    assert_int_equal(sim_drive_counters(r->drive)->unsafe_shutdowns, 0);
    end(r);
  }
  (void)state;
}

static uint64_t unsafe_after_cut(struct raw_sim *r) {
  sim_drive_power_cut(r->drive);
  return sim_drive_counters(r->drive)->unsafe_shutdowns;
}

/* An abrupt shutdown saves nothing. A host that continues after a clean shutdown, which is not allowed, loses the clean
 * state. */
static void test_shutdowns_that_are_not_clean(void **state) {
  unsigned lost = 0;
  const char *first = NULL;
  for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
    struct raw_sim *r = start(seed, 0, NULL);
    write_blocks(r, 8, 8, 1, 0);
    raw_sim_write32(r, 0x14, 0x00468001); /* CC.SHN: abrupt */
    assert_true(raw_wait_csts(&r->raw, 0xc, 8));
    assert_int_equal(unsafe_after_cut(r), 1);
    enable_again(r);
    lost += read_blocks(r, 8, 8) != 1;
    end(r);
  }
  assert_true(lost > 0);
  struct raw_sim *r = start(1, 0, NULL);
  raw_sim_write32(r, 0x14, 0x00464001);
  assert_true(raw_wait_csts(&r->raw, 0xc, 8));
  raw_sim_write32(r, 0x14, 0x00460001);
  write_blocks(r, 8, 8, 1, 0);
  assert_int_equal(sim_take_violations(r->sim, &first), 1);
  assert_non_null(strstr(first, "CC.SHN cleared without a reset"));
  assert_int_equal(unsafe_after_cut(r), 1);
  end(r);
  (void)state;
}

/* After a flush that lies, the writes before it may be lost. */
static void test_a_flush_that_lies(void **state) {
  unsigned seen[3] = {0};
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct raw_sim *r = start(seed, 0, NULL);
    write_blocks(r, 8, 1, 1, 0);
    flush(r);
    write_blocks(r, 8, 1, 2, 0);
    sim_drive_fault(r->drive, (struct sim_fault){.action = SIM_PHANTOM, .opcode = FLUSH, .count = 1});
    flush(r);
    cut(r);
    const uint8_t byte = read_blocks(r, 8, 1);
    assert_in_range(byte, 1, 2);
    seen[byte]++;
    end(r);
  }
  assert_true(seen[1] > 0 && seen[2] > 0);
  (void)state;
}

static void test_journal(void **state) {
  struct raw_sim *r = start(1, 0, NULL);
  size_t count;
  write_blocks(r, 8, 2, 1, 0);
  write_blocks(r, 9, 1, 2, FUA);
  flush(r);
  must(raw_do(&r->raw, 1, &(struct raw_command){.opcode = ZEROES, .nsid = 1, .dword10 = 16, .dword12 = 7}));
  const struct raw_command last = write_command(r, 20, 1, 3, 0);
  (void)raw_put(&r->raw, 1, &last);
  sim_drive_fault(r->drive, (struct sim_fault){.action = SIM_LOSE, .opcode = WRITE, .count = 1});
  raw_ring(&r->raw, 1);
  sim_spend(r->sim, SIM_PS_PER_MS);
  const struct sim_journal_entry *j = sim_drive_journal(r->drive, &count);
  assert_int_equal(count, 5);
  static const enum sim_journal_op ops[] = {SIM_JOURNAL_WRITE, SIM_JOURNAL_WRITE, SIM_JOURNAL_FLUSH, SIM_JOURNAL_ZERO,
                                            SIM_JOURNAL_WRITE};
  for (unsigned i = 0; i < 5; i++) {
    assert_int_equal(j[i].op, ops[i]);
    assert_int_equal(j[i].fua, i == 1);
    assert_int_equal(j[i].arrived, j[i].blocks);
    if (i == 4) break;
    assert_true(j[i].fetched < j[i].completed);
    assert_true(j[i].completed < j[i + 1].fetched); /* one after the other */
  }
  assert_int_equal(j[0].lba, 8);
  assert_int_equal(j[0].blocks, 2);
  assert_int_equal(j[0].data[2 * BLOCK - 1], 1);
  assert_int_equal(j[1].data[0], 2);
  assert_true(j[4].completed == UINT64_MAX); /* the host never saw a completion */
  sim_drive_fault(r->drive, (struct sim_fault){.action = SIM_WRONG_PHASE, .opcode = WRITE, .count = 1});
  (void)raw_put(&r->raw, 1, &last);
  raw_ring(&r->raw, 1);
  sim_spend(r->sim, SIM_PS_PER_MS);
  j = sim_drive_journal(r->drive, &count);
  assert_int_equal(count, 6);
  assert_true(j[5].completed == UINT64_MAX); /* the host could not see the completion */
  sim_drive_clear_journal(r->drive);
  (void)sim_drive_journal(r->drive, &count);
  assert_int_equal(count, 0);
  end(r);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_any_version_since_the_flush),
      cmocka_unit_test(test_durable_stays),
      cmocka_unit_test(test_blocks_are_lost_in_any_order),
      cmocka_unit_test(test_flush_beside_a_write),
      cmocka_unit_test(test_flush_rung_before_the_write_completed),
      cmocka_unit_test(test_torn_at_the_atomic_unit),
      cmocka_unit_test(test_in_flight),
      cmocka_unit_test(test_trim_and_zeroes_may_be_lost),
      cmocka_unit_test(test_nothing_is_lost_without_a_volatile_cache),
      cmocka_unit_test(test_reset_loses_nothing),
      cmocka_unit_test(test_flush_after_a_reset_covers_what_was_in_flight),
      cmocka_unit_test(test_clean_shutdown),
      cmocka_unit_test(test_shutdowns_that_are_not_clean),
      cmocka_unit_test(test_a_flush_that_lies),
      cmocka_unit_test(test_journal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
