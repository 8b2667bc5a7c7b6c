/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual drive's Compare, which a test turns on in Identify (ONCS). */
#include "drive_fixture.h"

#define COMPARE         5u
#define COMPARE_FAILURE 0x285u
#define ONCS            520u
#define MEDIA_ERRORS    160u
#define LBA             40u

static struct raw_completion compare(struct raw_sim *r, uint32_t lba, uint32_t blocks) {
  return raw_do(
      &r->raw, 1,
      &(struct raw_command){
          .opcode = COMPARE, .nsid = 1, .prp1 = raw_bus(&r->raw, OUT), .dword10 = lba, .dword12 = blocks - 1u});
}

static struct raw_sim *start_with_compare(void) {
  struct raw_sim *r = start("ideal", (struct sim_drive_options){0});

  sim_drive_identify_controller(r->drive)[ONCS] |= 1u;
  for (unsigned i = 0; i < 4096; i++)
    raw_at(&r->raw, OUT)[i] = (uint8_t)(i * 7u + i / 512u);
  move_page(r, WRITE, LBA, 8);
  return r;
}

static void equal_blocks_are_equal_and_one_bit_is_a_difference(void **state) {
  struct raw_sim *r = start_with_compare();

  (void)state;
  assert_int_equal(compare(r, LBA, 8).status, 0);
  assert_int_equal(compare(r, LBA, 1).status, 0);
  assert_int_equal(compare(r, LBA + 1, 1).status, COMPARE_FAILURE); /* another block */
  raw_at(&r->raw, OUT)[4095] ^= 1u;
  assert_int_equal(compare(r, LBA, 8).status, COMPARE_FAILURE);
  assert_int_equal(compare(r, LBA, 7).status, 0);
  assert_int_equal(sim_drive_counters(r->drive)->read_bytes, 0); /* nothing went to the host */
  end(r);
}

/* 5.14.1.2: errors of the media are those of its data, and these were read well. */
static void a_difference_is_no_error_of_the_medium(void **state) {
  struct raw_sim *r = start_with_compare();

  (void)state;
  assert_int_equal(compare(r, LBA + 100, 1).status, COMPARE_FAILURE);
  run(r, 0,
      (struct raw_command){
          .opcode = GET_LOG, .nsid = UINT32_MAX, .prp1 = raw_bus(&r->raw, BACK), .dword10 = 127u << 16 | 2u});
  assert_int_equal(spate_get64(raw_at(&r->raw, BACK) + MEDIA_ERRORS), 0);
  end(r);
}

static void assert_violation(struct raw_sim *r, const char *says) {
  const char *first = NULL;

  assert_int_equal(sim_take_violations(r->sim, &first), 1);
  assert_non_null(strstr(first, says));
}

static void a_host_must_not_send_what_the_drive_does_not_have(void **state) {
  struct raw_sim *r = start_with_compare();

  (void)state;
  assert_int_equal(compare(r, LBA, 9).status & 0xff, 2); /* more than a page */
  assert_violation(r, "Compare of 4608 bytes");
  sim_drive_identify_controller(r->drive)[ONCS] &= (uint8_t)~1u;
  assert_int_equal(compare(r, LBA, 8).status & 0xff, 1);
  assert_violation(r, "05, which the drive does not have");
  end(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_blocks_are_equal_and_one_bit_is_a_difference),
      cmocka_unit_test(a_difference_is_no_error_of_the_medium),
      cmocka_unit_test(a_host_must_not_send_what_the_drive_does_not_have),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
