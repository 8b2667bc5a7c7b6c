/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random writes, reads, truncations, moves and deletions through FatFs, of odd sizes, at odd positions and from odd
 * addresses, on a drive that completes requests late and in random order. The files always have the contents that a
 * model in memory has, and the drive never sees two requests in flight whose order matters.
 */
#include "diskio_fixture.h"
#include "ram_block.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define SEEDS      6u
#define STEPS      400u
#define FILES      5u
#define FILE_BYTES (384u * KIB)
#define PUT_BYTES  (160u * KIB)

struct model {
  char path[40]; /* empty: there is no such file */
  uint32_t bytes;
  uint8_t data[FILE_BYTES];
};

struct run {
  struct fixture fixture;
  struct ram_block ram;
  struct spate_region region;
  uint8_t *bounce, *table, *plain;
  struct model files[FILES];
  uint64_t random;
  unsigned names;
};

#define FR(call) assert_int_equal(call, FR_OK)

static uint32_t below(struct run *run, uint32_t end) { return (uint32_t)(ram_random(&run->random) % end); }

static uint8_t *take(size_t bytes) {
  uint8_t *memory = aligned_alloc(4096, bytes);

  if (memory == NULL) abort();
  return memory;
}

/* Mostly a few sectors, sometimes a few bytes or several clusters. */
static uint32_t some_bytes(struct run *run) {
  static const uint32_t ends[] = {20, 700, 5000, 5000, 70000, PUT_BYTES};

  return 1u + below(run, ends[below(run, 6)]);
}

/* Memory for a transfer: in the ring or elsewhere, at a line, at a multiple of 4, or at any address. Not in use. */
static uint8_t *some_memory(struct run *run, uint32_t bytes) {
  static const uint32_t steps[] = {64, 4, 1};
  const uint32_t step = steps[below(run, 3)];
  uint8_t *start = below(run, 4) == 0 ? run->plain : run->region.start;
  uint8_t *memory = start + (size_t)below(run, (RING_BYTES - bytes) / step) * step;

  (void)spate_diskio_wait(&run->fixture.disk, memory, bytes);
  return memory;
}

static struct model *some_file(struct run *run, bool exists) {
  const uint32_t first = below(run, FILES);

  for (uint32_t i = 0; i < FILES; i++) {
    struct model *model = &run->files[(first + i) % FILES];
    if ((model->path[0] != '\0') == exists) return model;
  }
  return NULL;
}

static void new_path(struct run *run, char *path, size_t bytes) {
  static const char *const folders[] = {"", "/A", "/A/B with a long name"};

  (void)snprintf(path, bytes, "%s/%u.raw", folders[below(run, 3)], run->names++);
}

/* ---- the steps ---- */

static void write_some(struct run *run) {
  struct model *model = some_file(run, below(run, 3) != 0);
  FIL *file = &run->fixture.objects->file;

  if (model == NULL) return;
  if (model->path[0] == '\0') new_path(run, model->path, sizeof model->path);
  FR(f_open(file, model->path, FA_WRITE | FA_READ | FA_OPEN_ALWAYS));
  for (uint32_t i = 1 + below(run, 4); i > 0; i--) {
    uint32_t bytes = some_bytes(run);
    const uint32_t at = below(run, 2) == 0 ? model->bytes : below(run, model->bytes + 1);
    if (bytes > FILE_BYTES - at) bytes = FILE_BYTES - at;
    if (bytes == 0) break;
    uint8_t *memory = some_memory(run, bytes);
    UINT put_bytes = 0;
    fill(memory, run->names + i, at, bytes);
    memcpy(model->data + at, memory, bytes);
    FR(f_lseek(file, at));
    FR(f_write(file, memory, bytes, &put_bytes));
    assert_int_equal(put_bytes, bytes);
    if (at + bytes > model->bytes) model->bytes = at + bytes;
    if (below(run, 4) == 0) FR(f_sync(file));
  }
  FR(f_close(file));
}

static void read_some(struct run *run) {
  const struct model *model = some_file(run, true);
  FIL *file = &run->fixture.objects->file;

  if (model == NULL) return;
  FR(f_open(file, model->path, FA_READ));
  assert_int_equal(f_size(file), model->bytes);
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t at = below(run, model->bytes + 1), bytes = some_bytes(run);
    const uint32_t expected = bytes < model->bytes - at ? bytes : model->bytes - at;
    uint8_t *memory = some_memory(run, bytes);
    UINT got_bytes = 0;
    FR(f_lseek(file, at));
    FR(f_read(file, memory, bytes, &got_bytes));
    assert_int_equal(got_bytes, expected);
    assert_int_equal(spate_diskio_wait(&run->fixture.disk, memory, bytes), SPATE_OK);
    assert_memory_equal(memory, model->data + at, expected);
  }
  FR(f_close(file));
}

/* Reads a file into the ring, and writes from there to another one, without waiting in between. */
static void copy_one(struct run *run) {
  const struct model *from = some_file(run, true);
  struct model *to = some_file(run, false);
  FIL *file = &run->fixture.objects->file, *other = &run->fixture.objects->busy;

  if (from == NULL || to == NULL) return;
  new_path(run, to->path, sizeof to->path);
  FR(f_open(file, from->path, FA_READ));
  FR(f_open(other, to->path, FA_WRITE | FA_CREATE_NEW));
  UINT got_bytes = 1;
  for (unsigned turn = 0; got_bytes > 0; turn++) {
    uint8_t *memory = run->region.start + (size_t)(turn % 2) * PIECE_BYTES;
    UINT put_bytes = 0;
    FR(f_read(file, memory, PIECE_BYTES, &got_bytes));
    FR(f_write(other, memory, got_bytes, &put_bytes));
    assert_int_equal(put_bytes, got_bytes);
  }
  FR(f_close(other));
  FR(f_close(file));
  to->bytes = from->bytes;
  memcpy(to->data, from->data, from->bytes);
}

static void change_some(struct run *run) {
  struct model *model = some_file(run, true);
  FIL *file = &run->fixture.objects->file;
  char path[40];

  if (model == NULL) return;
  switch (below(run, 4)) {
  case 0:
    FR(f_unlink(model->path));
    model->path[0] = '\0';
    model->bytes = 0;
    break;
  case 1:
    model->bytes = below(run, model->bytes + 1);
    FR(f_open(file, model->path, FA_WRITE));
    FR(f_lseek(file, model->bytes));
    FR(f_truncate(file));
    FR(f_close(file));
    break;
  case 2:
    new_path(run, path, sizeof path);
    FR(f_rename(model->path, path));
    memcpy(model->path, path, sizeof path);
    break;
  default: FR(fixture_remount(&run->fixture));
  }
}

static void check_all(struct run *run) {
  FR(fixture_remount(&run->fixture));
  for (unsigned i = 0; i < FILES; i++) {
    const struct model *model = &run->files[i];
    FIL *file = &run->fixture.objects->file;
    UINT got_bytes = 0;
    if (model->path[0] == '\0') continue;
    FR(f_open(file, model->path, FA_READ));
    FR(f_read(file, run->plain, FILE_BYTES, &got_bytes));
    assert_int_equal(got_bytes, model->bytes);
    assert_memory_equal(run->plain, model->data, model->bytes);
    FR(f_close(file));
  }
}

static void begin(struct run *run, const struct volume_kind *kind, uint64_t seed) {
  ram_block_open(&run->ram, DRIVE_BYTES / kind->block_bytes, kind->block_bytes);
  run->random = run->ram.random = seed;
  run->ram.order = RAM_RANDOM;
  run->ram.delay_polls = 3u + (uint32_t)(seed % 3u) * 8u;
  run->bounce = take(BOUNCE_BYTES);
  run->table = take(SPATE_REGION_TABLE_BYTES(REGION_BYTES));
  run->plain = take(RING_BYTES);
  struct spate_arena arena = {.start = run->table, .bytes = SPATE_REGION_TABLE_BYTES(REGION_BYTES)};
  assert_int_equal(spate_region_init(&run->region, take(REGION_BYTES), REGION_BYTES, &arena), SPATE_OK);
  run->fixture.block = &run->ram.block;
  run->fixture.region = &run->region;
  run->fixture.bounce = run->bounce;
  FR(fixture_format(&run->fixture, kind));
  FR(f_mkdir("/A"));
  FR(f_mkdir("/A/B with a long name"));
}

/* Returns how many requests waited for another one. */
static uint64_t finish(struct run *run) {
  const uint64_t overlaps = run->fixture.disk.counters.overlaps;

  fixture_close(&run->fixture);
  assert_int_equal(run->ram.overlaps, 0);
  assert_true(run->fixture.disk.counters.streamed_bytes > 0);
  assert_int_equal(run->fixture.disk.counters.failures, 0);
  ram_block_close(&run->ram);
  free(run->bounce);
  free(run->table);
  free(run->plain);
  free(run->region.start);
  free(run);
  return overlaps;
}

static uint64_t run_one(const struct volume_kind *kind, uint64_t seed) {
  static void (*const steps[])(struct run *) = {write_some, write_some, write_some, read_some,
                                                read_some,  copy_one,   change_some};
  struct run *run = calloc(1, sizeof *run);

  if (run == NULL) abort();
  print_message("%s, seed %llu\n", kind->name, (unsigned long long)seed);
  begin(run, kind, seed);
  for (unsigned i = 0; i < STEPS; i++)
    steps[below(run, 7)](run);
  check_all(run);
  return finish(run);
}

static void test_random(void **state) {
  static const struct volume_kind kinds[] = {VOLUME_KINDS};

  for (unsigned kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
    uint64_t overlaps = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
      overlaps += run_one(&kinds[kind], seed);
    assert_true(overlaps > SEEDS); /* or the drive was too fast to show anything */
  }
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
  return cmocka_run_group_tests_name("diskio_random", tests, NULL, NULL);
}
