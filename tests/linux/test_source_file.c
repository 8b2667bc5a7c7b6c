/* SPDX-License-Identifier: Apache-2.0 */
/* A file as a source: its bytes arrive whatever its size and its holes, holes are not read, and a file system may
 * refuse O_DIRECT at any moment. The test takes the slots itself, without threads. */
#include <unistd.h>

static ssize_t counted_pread(int fd, void *to, size_t bytes, off_t at);
#include "../../linux/command/direct.c"
static int second_open(const char *name, int flags, unsigned mode, uint32_t step_bytes, bool *direct);
#define pread       counted_pread
#define direct_open second_open
#include "../../linux/command/source/file.c"
#undef pread
#undef direct_open
#include "../../linux/command/source/event.c"
#include "../../linux/command/source/slots.c"
#include "../../linux/command/source/source.c"
#include "../../linux/command/text/fail.c"
#include "../../linux/command/text/failure.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SLOTS          8u
#define SLOT_BYTES     65536u
#define SIZE_MAX_BYTES (64u * SLOT_BYTES)

static const struct memory_supply all_memory;

void *memory_take_ring(const struct memory_supply *supply, size_t bytes) {
  (void)supply;
  return aligned_alloc(DIRECT_ALIGN, bytes);
}
void memory_give(const struct memory_supply *supply, void *memory) {
  (void)supply;
  free(memory);
}

static bool is_none(const char *name) { return name == NULL; }
const struct source_kind source_synthetic = {.is = is_none}, source_stream = {.is = is_none},
                         source_udp = {.is = is_none}, source_ring = {.is = is_none};

static uint64_t read_bytes; /* that the source has read */
static unsigned refusals;   /* so many reads with O_DIRECT are refused */
static size_t shortest;     /* a read gives so many bytes at most; 0: all */

static ssize_t counted_pread(int fd, void *to, size_t bytes, off_t at) {
  if (refusals > 0 && (fcntl(fd, F_GETFL) & O_DIRECT) != 0) {
    refusals--;
    errno = EINVAL;
    return -1;
  }
  const ssize_t got = pread(fd, to, shortest > 0 && shortest < bytes ? shortest : bytes, at);
  if (got > 0) read_bytes += (uint64_t)got;
  return got;
}

static bool may_open = true; /* false: the file belongs to another user, who has given it as standard input */

static int second_open(const char *name, int flags, unsigned mode, uint32_t step_bytes, bool *direct) {
  if (may_open) return direct_open(name, flags, mode, step_bytes, direct);
  errno = EACCES;
  return -1;
}

static const char path[] = "test_source_file.tmp";
static uint8_t wanted[SIZE_MAX_BYTES];

/* A file with data in these pages of 4096 bytes only: bit i of a pattern that repeats every 64 pages. */
static void make_file(uint32_t bytes, uint64_t pages) {
  FILE *file = fopen(path, "wb");

  assert_non_null(file);
  memset(wanted, 0, sizeof wanted);
  for (uint32_t at = 0; at < bytes; at += 4096) {
    const size_t now = bytes - at < 4096 ? bytes - at : 4096;
    if ((pages >> (at / 4096 % 64) & 1u) == 0) continue;
    for (size_t i = 0; i < now; i++)
      wanted[at + i] = (uint8_t)(1u + (at + i) % 251u);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite(wanted + at, 1, now, file), now);
  }
  assert_int_equal(fclose(file), 0);
  assert_int_equal(truncate(path, (off_t)bytes), 0);
}

/* Takes all that comes, `burst` slots at a time. Returns how many bytes came. */
static uint64_t take(struct source *source, uint32_t burst) {
  const struct file *file = source->own;
  uint64_t taken = 0, bytes = 0;
  int error = 0;

  while (error == 0 && file->at_bytes < file->end_bytes) {
    error = fill(source);
    for (uint32_t i = 0; i < burst && taken < atomic_load(&source->filled); i++, taken++) {
      const uint32_t slot = source_slot(source, taken);
      assert_memory_equal(source->memory + (size_t)slot * SLOT_BYTES, wanted + bytes, source->bytes[slot]);
      bytes += source->bytes[slot];
    }
    source_release(source, taken);
  }
  for (; taken < atomic_load(&source->filled); taken++) {
    const uint32_t slot = source_slot(source, taken);
    assert_memory_equal(source->memory + (size_t)slot * SLOT_BYTES, wanted + bytes, source->bytes[slot]);
    bytes += source->bytes[slot];
  }
  return bytes;
}

static uint64_t record_from(const char *name, uint32_t burst) {
  const struct source_config config = {.slot_bytes = SLOT_BYTES, .slots = SLOTS};
  struct source source;

  read_bytes = 0;
  source_open(&source, name, &config);
  source_memory(&source, &all_memory);
  assert_int_equal(start(&source), 0);
  memset(source.memory, 0xee, (size_t)source.config.slots * SLOT_BYTES); /* what was in the ring before */
  const uint64_t bytes = take(&source, burst);
  source_close(&source);
  return bytes;
}

static uint64_t record(uint32_t burst) { return record_from(path, burst); }

static void each_size_arrives(void **state) {
  static const uint32_t sizes[] = {1, 511, 4096, 4097, SLOT_BYTES - 1, SLOT_BYTES, SLOT_BYTES + 1, SIZE_MAX_BYTES - 7};

  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    make_file(sizes[i], UINT64_MAX);
    for (uint32_t burst = 1; burst <= SLOTS; burst += 3)
      assert_int_equal(record(burst), sizes[i]);
  }
}

static void holes_arrive_as_zeros(void **state) {
  static const uint64_t patterns[] = {0,
                                      1,
                                      UINT64_C(1) << 63,
                                      UINT64_C(0xffff),
                                      UINT64_C(0xffff0000ffff0000),
                                      UINT64_C(0x00ff000000000100),
                                      UINT64_C(0xaaaaaaaaaaaaaaaa)};

  (void)state;
  for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
    make_file(SIZE_MAX_BYTES - 7, patterns[i]);
    for (uint32_t burst = 1; burst <= SLOTS; burst += 3)
      assert_int_equal(record(burst), SIZE_MAX_BYTES - 7);
  }
}

/* One page of data in 64: it is read, with what is beside it in its slots. */
static void holes_are_not_read(void **state) {
  (void)state;
  make_file(SIZE_MAX_BYTES, 0);
  assert_int_equal(record(SLOTS), SIZE_MAX_BYTES);
  assert_int_equal(read_bytes, 0);
  make_file(SIZE_MAX_BYTES, 1);
  assert_int_equal(record(1), SIZE_MAX_BYTES);
  assert_true(read_bytes > 0 && read_bytes <= SIZE_MAX_BYTES / 2);
}

static void a_read_that_is_refused_goes_through_the_cache(void **state) {
  (void)state;
  make_file(SIZE_MAX_BYTES - 7, UINT64_MAX);
  refusals = 1;
  assert_int_equal(record(2), SIZE_MAX_BYTES - 7);
  refusals = 0;
}

/* A read may give fewer bytes, also not a whole number of pages. */
static void short_reads_are_continued(void **state) {
  (void)state;
  make_file(SIZE_MAX_BYTES - 7, UINT64_MAX);
  for (shortest = 4096; shortest <= 5 * 4096; shortest += 4096)
    assert_int_equal(record(3), SIZE_MAX_BYTES - 7);
  shortest = 0;
}

/* The recording ends where the file ends now, with an error: also if that is before what was read already. */
static void a_file_that_became_shorter_ends_early(void **state) {
  const struct source_config config = {.slot_bytes = SLOT_BYTES, .slots = SLOTS};

  (void)state;
  for (unsigned before = 0; before < 2; before++) {
    struct source source;
    make_file(SIZE_MAX_BYTES, UINT64_MAX);
    source_open(&source, path, &config);
    source_memory(&source, &all_memory);
    assert_int_equal(start(&source), 0);
    assert_int_equal(source_size(&source), SIZE_MAX_BYTES);
    const struct file *file = source.own;
    uint64_t bytes = 3 * SLOT_BYTES + 100;
    if (before) {
      assert_int_equal(fill(&source), 0);
      bytes = file->at_bytes;
      source_release(&source, atomic_load(&source.filled));
      assert_int_equal(truncate(path, 100), 0);
      assert_int_equal(fill(&source), ENODATA);
      assert_int_equal(file->at_bytes, bytes);
    } else {
      assert_int_equal(truncate(path, (off_t)bytes), 0);
      assert_int_equal(take(&source, SLOTS), bytes);
    }
    source_close(&source);
  }
}

/* Standard input is a file that may not be opened again, and is read all the same. Its position stays. */
static void what_may_not_be_opened_again_is_read(void **state) {
  const int before = dup(STDIN_FILENO);

  (void)state;
  make_file(SIZE_MAX_BYTES - 7, UINT64_MAX);
  const int fd = open(path, O_RDONLY);
  assert_true(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
  for (unsigned i = 0; i < 2; i++) {
    may_open = i == 0;
    assert_int_equal(record_from("-", 3), SIZE_MAX_BYTES - 7);
    assert_int_equal(lseek(STDIN_FILENO, 0, SEEK_CUR), 0);
  }
  may_open = true;
  (void)close(fd);
  if (before >= 0) (void)dup2(before, STDIN_FILENO);
  if (before >= 0) (void)close(before);
}

static void what_has_no_size_is_no_file(void **state) {
  (void)state;
  assert_false(is("/proc/self/status"));
  assert_false(is("/dev/null"));
  assert_false(is("there is none"));
  make_file(1, 1);
  assert_true(is(path));
  assert_int_equal(unlink(path), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_size_arrives),
      cmocka_unit_test(holes_arrive_as_zeros),
      cmocka_unit_test(holes_are_not_read),
      cmocka_unit_test(a_read_that_is_refused_goes_through_the_cache),
      cmocka_unit_test(short_reads_are_continued),
      cmocka_unit_test(a_file_that_became_shorter_ends_early),
      cmocka_unit_test(what_may_not_be_opened_again_is_read),
      cmocka_unit_test(what_has_no_size_is_no_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
