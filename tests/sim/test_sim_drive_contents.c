/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of the drive's blocks. */
#include "drive_fixture.h"

/* A block is written as a part of a page, from memory at an odd address, through pages in any order. */
static void test_data_go_where_the_prps_say(void **state) {
  struct raw_sim *r = start("ideal", (struct sim_drive_options){0});
  const uint32_t blocks = 100, offset = 1236;
  uint8_t *expected = calloc(blocks, 512);
  for (uint32_t i = 0; i < blocks * 512; i++) {
    const uint32_t place = offset + i, page = place / RAW_PAGE;
    expected[i] = (uint8_t)(i * 7 + i / 512);
    raw_at(&r->raw, OUT + (page == 0 ? 0 : 2 * (20 - page)))[place % RAW_PAGE] = expected[i];
  }
  for (unsigned page = 1; page <= 13; page++)
    spate_put64(raw_at(&r->raw, BACK) + 8u * (page - 1u), raw_bus(&r->raw, OUT + 2u * (20u - page)));
  run(r, 1,
      (struct raw_command){.opcode = WRITE,
                           .nsid = 1,
                           .prp1 = raw_bus(&r->raw, OUT) + offset,
                           .prp2 = raw_bus(&r->raw, BACK),
                           .dword10 = 333,
                           .dword12 = blocks - 1u});
  for (uint32_t block = 0; block < blocks; block++) {
    move_page(r, READ, 333 + block, 1);
    assert_memory_equal(raw_at(&r->raw, BACK), expected + (size_t)block * 512, 512);
  }
  free(expected);
  end(r);
  (void)state;
}

/* Data are read when they are transferred, not when the command is fetched. */
static void test_data_are_read_when_they_are_transferred(void **state) {
  struct raw_sim *r = start("ideal", (struct sim_drive_options){0});
  memset(raw_at(&r->raw, OUT), 1, RAW_PAGE);
  (void)raw_put(&r->raw, 1,
                &(struct raw_command){.opcode = WRITE, .nsid = 1, .prp1 = raw_bus(&r->raw, OUT), .dword12 = 7});
  raw_ring(&r->raw, 1);
  while (sim_drive_counters(r->drive)->io[WRITE] == 0)
    sim_idle(r->sim, SIM_PS_PER_US);
  memset(raw_at(&r->raw, OUT), 2, RAW_PAGE); /* the command is fetched; its data cross the link now */
  assert_false(raw_take(&r->raw, 1).missing);
  move_page(r, READ, 0, 8);
  assert_int_equal(raw_at(&r->raw, BACK)[0], 2);
  end(r);
  (void)state;
}

static void test_deallocated_blocks(void **state) {
  static const uint8_t dlfeat[] = {1, 2, 0, 0};
  for (uint8_t mode = 0; mode < 4; mode++) {
    struct raw_sim *r = start("ideal", (struct sim_drive_options){.deallocated = mode});
    unsigned seen[3] = {0};
    assert_int_equal(sim_drive_identify_namespace(r->drive)[33], dlfeat[mode]);
    memset(raw_at(&r->raw, OUT), 0x55, RAW_PAGE);
    for (uint32_t page = 0; page < 8; page++)
      move_page(r, WRITE, 8 * page, 8);
    trim(r, 3, 54);
    for (uint32_t lba = 0; lba < 64; lba++) {
      uint8_t first[512];
      move_page(r, READ, lba, 1);
      memcpy(first, raw_at(&r->raw, BACK), sizeof first);
      for (unsigned i = 1; i < 512; i++)
        assert_int_equal(first[i], first[0]);
      assert_true(first[0] == 0 || first[0] == 0xff || first[0] == 0x55);
      if (lba < 3 || lba >= 57)
        assert_int_equal(first[0], 0x55);
      else
        seen[first[0] == 0 ? 0 : first[0] == 0xff ? 1 : 2]++;
      move_page(r, READ, lba, 1);
      assert_memory_equal(raw_at(&r->raw, BACK), first, sizeof first); /* the same each time */
    }
    for (unsigned i = 0; i < 3; i++)
      assert_true(mode == 3 ? seen[i] > 0 : seen[i] == (i == mode ? 54 : 0));
    end(r);
  }
  (void)state;
}

/* Preconditioned contents: a write to them overwrites, and a trim of them frees space. */
static void test_filled(void **state) {
  struct raw_sim *r = start("980pro", (struct sim_drive_options){.filled = 0.5});
  const struct sim_media *media = sim_drive_media(r->drive);
  const uint64_t half = UINT64_C(32) << 20;
  assert_true(media->mapped_bytes == half);
  memset(raw_at(&r->raw, OUT), 1, RAW_PAGE);
  move_page(r, WRITE, 70000, 8); /* overwrites */
  assert_true(media->mapped_bytes == half);
  move_page(r, WRITE, 1000, 8); /* free blocks */
  assert_true(media->mapped_bytes == half + RAW_PAGE);
  trim(r, 90000, 8); /* too short to be recorded */
  assert_true(media->mapped_bytes == half + RAW_PAGE);
  trim(r, 69632, 4096);
  assert_true(media->mapped_bytes == half + RAW_PAGE - (2u << 20));
  trim(r, 69632, 4096);
  assert_true(media->mapped_bytes == half + RAW_PAGE - (2u << 20)); /* counted once */
  move_page(r, WRITE, 70000, 8);
  assert_true(media->mapped_bytes == half + 2 * RAW_PAGE - (2u << 20));
  run(r, 0, (struct raw_command){.opcode = FORMAT, .nsid = 1});
  assert_true(media->mapped_bytes == 0);
  end(r);
  (void)state;
}

static void test_format_changes_the_block_size(void **state) {
  struct raw_sim *r = start("ideal", (struct sim_drive_options){0});
  memset(raw_at(&r->raw, OUT), 0x55, RAW_PAGE);
  move_page(r, WRITE, 8, 8);
  run(r, 0, (struct raw_command){.opcode = FORMAT, .nsid = 1, .dword10 = 1});
  assert_int_equal(sim_drive_block_shift(r->drive), 12);
  assert_int_equal(sim_drive_blocks(r->drive), (64 << 20) / 4096);
  assert_int_equal(spate_get64(sim_drive_identify_namespace(r->drive)), (64 << 20) / 4096);
  move_page(r, READ, 1, 1);
  assert_int_equal(raw_at(&r->raw, BACK)[4095], 0);
  end(r);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_data_go_where_the_prps_say),
      cmocka_unit_test(test_data_are_read_when_they_are_transferred),
      cmocka_unit_test(test_deallocated_blocks),
      cmocka_unit_test(test_filled),
      cmocka_unit_test(test_format_changes_the_block_size),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
