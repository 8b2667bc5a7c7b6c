/* SPDX-License-Identifier: Apache-2.0 */
/* Verify counts each kind of loss in a recording of chunks separately, whatever the sizes of the parts that it is fed.
 */
#include "../../linux/command/subcommands/chunk_check.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define CHUNKS    12u
#define BYTES_MAX 4096u

static const uint8_t stream[16] = {1, 2, 3}, other_stream[16] = {9};
static uint8_t file[CHUNKS * BYTES_MAX];

/* CHUNKS chunks; the source loses `lost` pieces before number 5. */
static void make(uint32_t bytes, uint64_t lost) {
  for (uint32_t i = 0; i < CHUNKS; i++) {
    uint8_t *chunk = file + (size_t)i * bytes;
    for (uint32_t at = SPATE_CHUNK_HEADER_BYTES; at < bytes; at++)
      chunk[at] = (uint8_t)rand();
    spate_chunk_seal_counted(chunk, stream, i, bytes, i < 5 ? 0 : lost);
  }
}

static struct chunk_check fed(const uint8_t *data, size_t bytes, size_t part) {
  struct chunk_check check = {.found = false};

  for (size_t at = 0; at < bytes; at += part)
    chunk_check_feed(&check, data + at, at + part < bytes ? part : bytes - at);
  chunk_check_end(&check);
  return check;
}

static void expect_counts(const struct chunk_check *check, uint64_t good, uint64_t wrong, uint64_t damaged_headers,
                          uint64_t missing, uint64_t lost, uint64_t strange) {
  assert_int_equal(check->good, good);
  assert_int_equal(check->wrong, wrong);
  assert_int_equal(check->damaged_headers, damaged_headers);
  assert_int_equal(check->missing, missing);
  assert_int_equal(check->lost, lost);
  assert_int_equal(check->strange, strange);
  assert_int_equal(chunk_check_is_whole(check), wrong + damaged_headers + missing + lost + strange == 0 && !check->cut);
}

/* With many of these sizes, headers lie across the borders of two parts. */
static const size_t parts[] = {1, 63, 64, 100, 512, 1000, 4096, sizeof file};
#define EACH_PART(part)                                                                                                \
  for (size_t p_ = 0, part = parts[0]; p_ < sizeof parts / sizeof parts[0];                                            \
       p_++, part = parts[p_ % (sizeof parts / sizeof parts[0])])

static void test_a_whole_recording(void **state) {
  (void)state;
  for (uint32_t bytes = 200; bytes <= 1024; bytes += 103) {
    make(bytes, 0);
    EACH_PART(part) {
      const struct chunk_check check = fed(file, (size_t)CHUNKS * bytes, part);
      expect_counts(&check, CHUNKS, 0, 0, 0, 0, 0);
    }
  }
}

static void test_each_kind_of_loss(void **state) {
  (void)state;
  for (uint32_t bytes = 512; bytes <= 1024; bytes += 512) {
    EACH_PART(part) {
      make(bytes, 3);
      struct chunk_check check = fed(file, (size_t)CHUNKS * bytes, part);
      expect_counts(&check, CHUNKS, 0, 0, 0, 3, 0);

      make(bytes, 0);
      file[2u * bytes + 100u] ^= 1; /* data */
      file[4u * bytes + 30u] ^= 1;  /* two consecutive headers */
      file[5u * bytes + 3u] ^= 1;
      file[9u * bytes + 60u] ^= 1;
      check = fed(file, (size_t)CHUNKS * bytes, part);
      expect_counts(&check, CHUNKS - 4, 1, 3, 0, 0, 0);

      make(bytes, 0);
      memmove(file + 6u * bytes, file + 8u * bytes, (size_t)(CHUNKS - 8u) * bytes); /* removes numbers 6 and 7 */
      check = fed(file, (size_t)(CHUNKS - 2u) * bytes, part);
      expect_counts(&check, CHUNKS - 2, 0, 0, 2, 0, 0);

      make(bytes, 0);
      spate_chunk_seal(file + 7u * bytes, other_stream, 7, bytes);
      memmove(file + 10u * bytes, file + 3u * bytes, bytes);
      check = fed(file, (size_t)11u * bytes, part);
      expect_counts(&check, 11, 0, 0, 0, 0, 2); /* the other stream, and number 3 again */
    }
  }
}

static void test_damage_at_the_ends(void **state) {
  (void)state;
  const uint32_t bytes = 1024;

  EACH_PART(part) {
    make(bytes, 2);
    memset(file, 0, 2u * bytes);
    struct chunk_check check = fed(file, (size_t)CHUNKS * bytes, part);
    expect_counts(&check, CHUNKS - 2, 0, 2, 0, 2, 0);
    make(bytes, 0);
    memset(file + 11u * bytes, 0, 64);
    check = fed(file, (size_t)CHUNKS * bytes, part);
    expect_counts(&check, CHUNKS - 1, 0, 1, 0, 0, 0);
    make(bytes, 0);
    check = fed(file, 3u * bytes + 500u, part);
    assert_true(check.cut);
    expect_counts(&check, 3, 0, 0, 0, 0, 0);
    check = fed(file, 3u * bytes + 5u, part);
    assert_true(check.cut);
  }
}

static void test_what_is_not_made_of_chunks(void **state) {
  (void)state;
  make(1024, 0);
  struct chunk_check check = fed(file + 100, 8192, 512);
  assert_false(check.found);
  assert_true(chunk_check_is_whole(&check));
  /* A recording inside another file, as in an archive, does not make the file a recording. */
  memmove(file + 512, file, 8192);
  check = fed(file, 8192, 512);
  assert_true(check.found); /* block 0 is still a chunk's header */
  memset(file, 7, 512);
  check = fed(file, 8192, 512);
  assert_false(check.found);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_whole_recording), cmocka_unit_test(test_each_kind_of_loss),
                                     cmocka_unit_test(test_damage_at_the_ends),
                                     cmocka_unit_test(test_what_is_not_made_of_chunks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
