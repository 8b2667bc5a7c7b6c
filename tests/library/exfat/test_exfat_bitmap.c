/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/* The allocation bitmap compared with a plain scan, bit by bit; and how much a long scan delays the streams. */
#include "recorder_fixture.h"

#include "exfat/internal.h"
#include "exfat_image.h"

static struct image image;

static uint8_t *bits(void) { return small_cluster(image.ram.memory, 2); }

static bool is_set(uint32_t at) { return (bits()[at / 8] >> (at & 7) & 1) != 0; }

static void plain_scan(uint32_t enough, struct spate_exfat_free *found) {
  uint32_t run = 0;
  *found = (struct spate_exfat_free){0};
  for (uint32_t at = 0; at < image.volume.cluster_count && found->run_clusters < enough; at++) {
    run = is_set(at) ? 0 : run + 1;
    if (!is_set(at)) found->clusters++;
    if (run <= found->run_clusters) continue;
    found->run_clusters = run;
    found->run_first = at + 3 - run;
  }
}

/* `clusters` is counted up to the end of the search, unless it is already known. */
static void check_scan(uint32_t enough) {
  struct spate_exfat_free want;
  struct spate_exfat_free all;
  struct spate_exfat_free got;
  plain_scan(enough, &want);
  plain_scan(UINT32_MAX, &all);
  OK(spate_exfat_bitmap_scan(&image.volume, enough, &got));
  if (want.run_clusters >= enough || enough == UINT32_MAX) {
    assert_int_equal(got.run_first, want.run_first);
    assert_true(got.run_clusters >= (enough == UINT32_MAX ? want.run_clusters : enough));
  } else {
    assert_true(got.run_clusters < enough);
    assert_int_equal(got.clusters, all.clusters);
  }
  if (enough == UINT32_MAX) assert_int_equal(got.clusters, all.clusters);
}

static void check_allocated(uint32_t first, uint32_t clusters) {
  bool want = true;
  bool got = false;
  for (uint32_t i = 0; i < clusters; i++)
    want &= is_set(first - 2 + i);
  OK(spate_exfat_bitmap_allocated(&image.volume, first, clusters, &got));
  assert_int_equal(got, want);
}

/* Sometimes a few clusters, sometimes many, anywhere. */
static void random_run(uint64_t *random, uint32_t *first, uint32_t *clusters) {
  uint32_t count = image.volume.cluster_count;
  uint32_t most = ram_random(random) % 4 == 0 ? count : 150;
  *first = 2 + (uint32_t)(ram_random(random) % count);
  *clusters = 1 + (uint32_t)(ram_random(random) % most);
  if (*clusters > count + 2 - *first) *clusters = count + 2 - *first;
}

static void the_bitmap_agrees_with_a_plain_scan(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    uint64_t random = seed;
    uint64_t bytes = MIB * (18 + seed % 7) + (seed % 64) * 512;
    image_open(&image, bytes, 512, 0);
    small_format(image.ram.memory, bytes, 9, 9);
    image.config.bitmap_bytes = seed % 3 == 0 ? 8192 : 4096; /* a section, or the whole bitmap */
    OK(image_mount(&image));
    uint8_t *copy = malloc((image.volume.cluster_count + 7) / 8);
    assert_non_null(copy);
    for (unsigned step = 0; step < 60; step++) {
      uint32_t first;
      uint32_t clusters;
      random_run(&random, &first, &clusters);
      bool allocate = ram_random(&random) % 3 != 0;
      memcpy(copy, bits(), (image.volume.cluster_count + 7) / 8);
      for (uint32_t at = first - 2; at < first - 2 + clusters; at++)
        copy[at / 8] = (uint8_t)(allocate ? copy[at / 8] | 1u << (at & 7) : copy[at / 8] & ~(1u << (at & 7)));
      OK(spate_exfat_bitmap_set(&image.volume, first, clusters, allocate));
      assert_memory_equal(bits(), copy, (image.volume.cluster_count + 7) / 8);
      check_scan(1 + (uint32_t)(ram_random(&random) % 200));
      if (step % 3 == 0) check_scan(UINT32_MAX);
      check_scan(1 + (uint32_t)(ram_random(&random) % image.volume.cluster_count));
      random_run(&random, &first, &clusters);
      check_allocated(first, clusters);
    }
    free(copy);
    image_close(&image);
  }
}

/* Free space is known after the first scan: later calls do not read the bitmap. */
static void free_space_is_counted_once(void **state) {
  (void)state;
  struct spate_exfat_info info;
  struct spate_exfat_clip clip;
  image_open(&image, 32 * MIB, 512, 0);
  small_format(image.ram.memory, 32 * MIB, 9, 9);
  image.config.bitmap_bytes = 4096;
  OK(image_mount(&image));
  OK(spate_exfat_info(&image.volume, &info));
  uint64_t free_bytes = info.free_bytes;
  ram_block_clear_log(&image.ram);
  OK(spate_exfat_info(&image.volume, &info));
  assert_true(image.ram.count[SPATE_READ] <= 2); /* the label */
  GIVES(SPATE_E_NO_SPACE, spate_exfat_arm(&image.volume, &clip, "a", free_bytes + 1));
  OK(spate_exfat_arm(&image.volume, &clip, "a", 10000));
  OK(spate_exfat_info(&image.volume, &info));
  assert_int_equal(info.free_bytes, free_bytes - 20 * 512 - 17 * 512);
  OK(spate_exfat_close(&clip, 600));
  OK(spate_exfat_info(&image.volume, &info));
  assert_int_equal(info.free_bytes, free_bytes - 2 * 512 - 17 * 512);
  image_close(&image);
}

/* A run over two sections. The second section cannot be written: free space is counted again. */
static void a_failed_write_is_counted_again(void **state) {
  (void)state;
  const uint32_t first = 2 + 4096 * 8 - 100;
  image_open(&image, 32 * MIB, 512, 0);
  small_format(image.ram.memory, 32 * MIB, 9, 9);
  image.config.bitmap_bytes = 4096;
  OK(image_mount(&image));
  check_scan(UINT32_MAX);
  ram_block_fault(&image.ram, (struct ram_fault){RAM_OP(SPATE_WRITE), 0, UINT64_MAX, 1, RAM_ALWAYS, SPATE_E_MEDIA, 0});
  GIVES(SPATE_E_MEDIA, spate_exfat_bitmap_set(&image.volume, first, 200, true));
  ram_block_clear_faults(&image.ram);
  assert_int_equal(bits()[4095], 0xff); /* the first section was written */
  check_scan(UINT32_MAX);
  image_close(&image);
}

static unsigned turns;

static void count_turn(void *context) {
  (void)context;
  turns++;
}

/* A scan of 200 ms calls the streams' pump about once a millisecond. */
static void the_pump_runs_during_a_scan(void **state) {
  (void)state;
  struct spate_exfat_free found;
  bool all;
  image_open(&image, 512 * MIB, 512, 0);
  small_format(image.ram.memory, 512 * MIB, 9, 9);
  image.config.bitmap_bytes = IMAGE_WINDOW_BYTES;
  OK(image_mount(&image));
  image.volume.config.bitmap = aligned_alloc(4096, 262144);
  image.volume.config.bitmap_bytes = 262144; /* the whole bitmap: no reads */
  image.volume.loaded_bytes = 0;
  OK(spate_exfat_bitmap_scan(&image.volume, 1, &found));
  image.ram.block.while_waiting = count_turn;
  clock_step_ns = 400000;
  for (unsigned i = 0; i < 3; i++) {
    uint64_t reads = image.ram.count[SPATE_READ];
    turns = 0;
    if (i == 0) OK(spate_exfat_bitmap_scan(&image.volume, UINT32_MAX, &found));
    if (i == 1) OK(spate_exfat_bitmap_set(&image.volume, found.run_first, found.run_clusters, true));
    if (i == 2) OK(spate_exfat_bitmap_allocated(&image.volume, found.run_first, found.run_clusters, &all));
    assert_in_range(turns, 60, i == 1 ? 1000 : 150);                  /* writing waits as well */
    if (i != 1) assert_int_equal(image.ram.count[SPATE_READ], reads); /* writing reads the bitmap's location */
  }
  clock_step_ns = 100;
  image.ram.block.while_waiting = NULL;
  free(image.volume.config.bitmap);
  image_close(&image);
}

/* Turns of the pump during the deletion of a small file, on a volume with a file of this many clusters. */
static unsigned turns_in_deletion(uint32_t clusters) {
  image_open(&image, 512 * MIB, 512, 0);
  small_format(image.ram.memory, 512 * MIB, 9, 9);
  image.config.bitmap_bytes = 262144;
  image.config.bitmap = aligned_alloc(4096, 262144);
  uint32_t first = small_allocate(image.ram.memory, clusters, 1);
  small_add(image.ram.memory, "other", 0x20, first, (uint64_t)clusters * 512, 0, true);
  small_add(image.ram.memory, "small", 0x20, small_allocate(image.ram.memory, 1, 1), 512, 0, true);
  OK(image_mount(&image));
  OK(spate_exfat_mkdir(&image.volume, "d")); /* makes the record's file, and counts free space */
  image.ram.block.while_waiting = count_turn;
  clock_step_ns = 400000;
  turns = 0;
  OK(spate_exfat_delete(&image.volume, "small"));
  clock_step_ns = 100;
  image.ram.block.while_waiting = NULL;
  free(image.config.bitmap);
  image_close(&image);
  return turns;
}

/* The walk that looks for clusters with two owners calls the pump, although nothing waits for the drive. */
static void the_pump_runs_during_a_deletion(void **state) {
  (void)state;
  unsigned few = turns_in_deletion(1);
  assert_in_range(turns_in_deletion(900000) - few, 60, 1000);
}

/* How many turns the pump gets while the owners' clusters in the first section of an empty volume are marked. The
 * memory of the section after the volume's last cluster does not change. */
static unsigned turns_in_marking(uint32_t section_bytes) {
  struct exfat_owners owners = {.volume = &image.volume};
  image_open(&image, 512 * MIB, 512, 0);
  small_format(image.ram.memory, 512 * MIB, 9, 9);
  image.config.bitmap_bytes = section_bytes;
  image.config.bitmap = aligned_alloc(4096, section_bytes);
  OK(image_mount(&image));
  memset(image.config.bitmap, 0xa5, section_bytes);
  image.ram.block.while_waiting = count_turn;
  clock_step_ns = 400000;
  turns = 0;
  OK(spate_exfat_owners_mark(&owners, 0));
  clock_step_ns = 100;
  image.ram.block.while_waiting = NULL;
  const uint8_t *section = image.config.bitmap;
  const uint32_t words_bytes = (image.volume.cluster_count + 63) / 64 * 8;
  const uint32_t used_bytes = words_bytes < section_bytes ? words_bytes : section_bytes;
  assert_int_equal(section[0], 0xff); /* the bitmap's own clusters */
  assert_int_equal(section[used_bytes - 1], 0);
  for (uint32_t at = used_bytes; at < section_bytes; at++)
    assert_int_equal(section[at], 0xa5);
  free(image.config.bitmap);
  image_close(&image);
  return turns;
}

/* The largest section has 512 MiB. To clear it takes half a second. */
static void the_pump_runs_while_a_section_is_cleared(void **state) {
  (void)state;
  const unsigned few = turns_in_marking(4096);
  assert_in_range(turns_in_marking(262144) - few, 7, 40);
}

/* Zeros for a drive without Write Zeroes are written from a part of the section that is cleared in less than a
 * millisecond. */
static void zeros_take_a_small_part_of_the_section(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  image.config.bitmap_bytes = MIB;
  image.config.bitmap = aligned_alloc(4096, MIB);
  OK(image_mount(&image));
  image.ram.block.can_zero = false;
  uint8_t *section = image.config.bitmap;
  memset(section, 0xa5, MIB);
  memset(image.ram.memory + 2 * MIB, 0x5a, MIB + 1024);
  OK(spate_exfat_zero(&image.volume, 2 * MIB / 512, 2));
  assert_int_equal(section[1023], 0);
  assert_int_equal(section[1024], 0xa5);
  OK(spate_exfat_zero(&image.volume, 2 * MIB / 512 + 2, MIB / 512));
  for (uint64_t at = 2 * MIB; at < 3 * MIB + 1024; at++)
    assert_int_equal(image.ram.memory[at], 0);
  assert_int_equal(section[MIB / 4 - 1], 0);
  for (uint64_t at = MIB / 4; at < MIB; at++)
    assert_int_equal(section[at], 0xa5);
  free(image.config.bitmap);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_bitmap_agrees_with_a_plain_scan),
      cmocka_unit_test(free_space_is_counted_once),
      cmocka_unit_test(a_failed_write_is_counted_again),
      cmocka_unit_test(the_pump_runs_during_a_scan),
      cmocka_unit_test(the_pump_runs_during_a_deletion),
      cmocka_unit_test(the_pump_runs_while_a_section_is_cleared),
      cmocka_unit_test(zeros_take_a_small_part_of_the_section),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
