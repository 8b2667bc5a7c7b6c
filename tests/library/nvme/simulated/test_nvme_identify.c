/* SPDX-License-Identifier: Apache-2.0 */
/* Identify pages field by field: each field is read whole, and the neighbouring bits do not matter. */
#include "nvme_fixture.h"

/* Numeric fields, each with all ones around it. */
static void test_numbers_between_ones(void **state) {
  uint32_t words[1024];
  uint8_t *page = (uint8_t *)words;
  struct spate_nvme_identity identity;
  memset(page, 0xff, sizeof words);
  spate_put16(page + 266, 0x1234); /* WCTEMP */
  spate_put16(page + 268, 0x2345); /* CCTEMP */
  spate_put16(page + 528, 0x3456); /* AWUPF */
  page[77] = 3;                    /* MDTS */
  page[263] = 6;                   /* NPSS */
  spate_put32(page + 516, 0x01020304);
  spate_nvme_identity_decode(&identity, page);
  assert_int_equal(identity.warning_temperature_c, 0x1234 - 273);
  assert_int_equal(identity.critical_temperature_c, 0x2345 - 273);
  assert_int_equal(identity.atomic_blocks, 0x3457);
  assert_int_equal(identity.transfer_bytes_max, 32768);
  assert_int_equal(identity.power_states, 7);
  assert_int_equal(identity.namespaces_max, 0x01020304);
  assert_int_equal(identity.sanitize, 7);
  (void)state;
}

/* Host memory buffer sizes are in pages, and more than 2 GiB count as 2 GiB. */
static void test_host_buffer_sizes_are_saturated(void **state) {
  static const struct {
    uint32_t pages, bytes;
  } cases[] = {
      {0, 0}, {1, 4096}, {0x40000, 1u << 30}, {0x7ffff, 0x7ffff000}, {0x80000, 1u << 31}, {UINT32_MAX, 1u << 31}};
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint32_t words[1024] = {0};
    struct spate_nvme_identity identity;
    words[272 / 4] = cases[i].pages;
    words[276 / 4] = ~cases[i].pages;
    spate_nvme_identity_decode(&identity, words);
    assert_int_equal(identity.host_buffer_wanted_bytes, cases[i].bytes);
  }
  (void)state;
}

static void test_texts_are_trimmed(void **state) {
  static const struct {
    const char *bytes, *text;
  } cases[] = {{"                    ", ""},
               {"A                   ", "A"},
               {" A                  ", " A"},
               {"ABCDEFGHIJKLMNOPQRST", "ABCDEFGHIJKLMNOPQRST"}};
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint32_t words[1024] = {0};
    struct spate_nvme_identity identity;
    memcpy((uint8_t *)words + 4, cases[i].bytes, 20);
    spate_nvme_identity_decode(&identity, words);
    assert_string_equal(identity.serial, cases[i].text);
    assert_string_equal(identity.model, "");
  }
  (void)state;
}

/* Formats have blocks of 512 to 32768 bytes. Larger or smaller blocks, or blocks with metadata, are not listed. */
static void test_block_sizes_of_formats(void **state) {
  for (uint32_t shift = 0; shift < 256; shift++) {
    for (uint32_t metadata = 0; metadata < 2; metadata++) {
      uint32_t words[1024] = {1000};
      struct spate_nvme_namespace namespace;
      words[128 / 4] = shift << 16 | metadata * 8 | 3u << 24;
      words[132 / 4] = 12u << 16; /* past the last format */
      assert_true(spate_nvme_namespace_decode(&namespace, 1, words));
      const uint32_t bytes = shift >= 9 && shift <= 15 && metadata == 0 ? 1u << shift : 0;
      assert_int_equal(namespace.formats, 1);
      assert_int_equal(namespace.format_block_bytes[0], bytes);
      assert_int_equal(namespace.format_block_bytes[1], 0);
      assert_int_equal(namespace.block_bytes, bytes);
      assert_int_equal(namespace.metadata, metadata);
    }
  }
  (void)state;
}

/* In Celsius, as the recorder takes them. A drive that states none has none; nor has one that states nonsense. */
static void test_heat_limits(void **state) {
  static const struct {
    uint16_t kelvin;
    int celsius;
  } cases[] = {{0, 0},
               {1, 0},
               {272, 0},
               {273, 0},
               {274, 1},
               {358, 85},
               {INT16_MAX, INT16_MAX - 273},
               {UINT16_MAX, INT16_MAX - 273}};
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct spate_nvme_identity identity;
    uint8_t page[4096] = {0};
    spate_put16(page + 266, cases[i].kelvin);
    spate_put16(page + 268, cases[i].kelvin);
    spate_nvme_identity_decode(&identity, page);
    assert_int_equal(identity.warning_temperature_c, cases[i].celsius);
    assert_int_equal(identity.critical_temperature_c, cases[i].celsius);
  }
  (void)state;
}

/* The driver does not ask about an impossible namespace number, and a list that does not ascend ends there. A number
 * above NN counts if the drive lists it, or knows it. */
static void test_numbers_of_namespaces(void **state) {
  struct fixture *f = fixture_make(9);
  struct spate_nvme_namespace namespace;
  uint32_t nsids[8];
  unsigned count = 0;
  static const uint32_t active[] = {2, 5, 5, 7};
  memcpy(sim_drive_namespaces(f->drive), active, sizeof active);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  const unsigned asked = admin_count(f, 0x06);
  assert_int_equal(spate_nvme_namespace(&f->nvme, 0, &namespace), SPATE_E_NO_NAMESPACE);
  assert_int_equal(spate_nvme_namespace(&f->nvme, UINT32_MAX, &namespace), SPATE_E_NO_NAMESPACE);
  assert_int_equal(admin_count(f, 0x06), asked);
  assert_int_equal(spate_nvme_namespace(&f->nvme, 9, &namespace), SPATE_E_NO_NAMESPACE);
  assert_int_equal(spate_nvme_namespace(&f->nvme, 5, &namespace), SPATE_OK);
  assert_int_equal(spate_nvme_namespaces(&f->nvme, nsids, 8, &count), SPATE_OK);
  assert_int_equal(count, 2);
  assert_int_equal(nsids[0], 2);
  assert_int_equal(nsids[1], 5);
  fixture_free(f);
  f = fixture_make(9);
  spate_put32(controller_page(f) + 516, 1); /* NN */
  sim_drive_namespaces(f->drive)[0] = 3;
  fixture_open(f, 4);
  assert_int_equal(f->queue.nsid, 3);
  assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers_between_ones), cmocka_unit_test(test_host_buffer_sizes_are_saturated),
      cmocka_unit_test(test_texts_are_trimmed),    cmocka_unit_test(test_block_sizes_of_formats),
      cmocka_unit_test(test_heat_limits),          cmocka_unit_test(test_numbers_of_namespaces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
