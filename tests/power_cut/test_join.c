/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a folder become one file. The power is cut when SPATE_CUTS is set: then the folder has all its parts, or
 * there is the file with all their bytes. */
#include "volume_fixture.h"

static struct spate_exfat_join join;
static uint64_t lose_at; /* the drive alone loses its power after so many writes */

/* Parts with other files in between, so that the parts' clusters are in several places. */
static void record_parts(const char *folder, uint32_t parts, uint32_t part_bytes, uint32_t short_bytes) {
  char path[600];
  for (uint32_t i = 0; i < parts; i++) {
    (void)snprintf(path, sizeof path, "%s/part %02u", folder, i);
    record(path, part_bytes - (i + 1 == parts ? short_bytes : 0), 10 + i);
    (void)snprintf(path, sizeof path, "between %u", i);
    if (i % 3 == 0) record(path, 700, 100 + i);
  }
}

/* The cuts begin here. */
static void begin_cuts(void) {
  OK(spate_exfat_unmount(&image.volume));
  witness_again();
  OK(image_mount(&image));
}

static void join_all(const char *path) {
  OK(spate_exfat_join_begin(&image.volume, &join, path));
  for (bool more = true; more;)
    OK(spate_exfat_join_work(&join, &more));
}

/* The drive loses what it has not flushed, and the host continues. */
static void lose_power(void *context) {
  (void)context;
  if (image.ram.pending_count > 0 || image.ram.count[SPATE_WRITE] != lose_at) return;
  image.ram.block.power_losses++;
  lose_at = 0;
}

/* The file is used as any other. */
static void use_joined(const char *path, uint32_t part_bytes) {
  record("after", part_bytes, 200); /* perhaps in the folder's clusters */
  rename_file(path, "renamed");
  record("later", part_bytes, 201);
  delete_file("renamed");
  record("last", 3ull * part_bytes, 202);
  end();
}

static void test_small_clusters(void **state) {
  (void)state;
  for (uint32_t cluster_shift = 9; cluster_shift <= 12; cluster_shift += 3) {
    const uint32_t part_bytes = 3u << cluster_shift;
    (void)begin_small(SMALL_BYTES, cluster_shift);
    OK(image_mount(&image));
    make_directory("recording");
    record_parts("recording", 7, part_bytes, 300); /* with clusters of 512 bytes the folder has grown */
    begin_cuts();
    join_all("recording");
    use_joined("recording", part_bytes);
  }
}

static void test_blocks_of_4096(void **state) {
  (void)state;
  begin_formatted(4096);
  make_directory("recording");
  record_parts("recording", 3, MIB, 5000);
  begin_cuts();
  join_all("recording");
  use_joined("recording", MIB);
}

/* Another system has placed the folder's file entry at the end of a block. */
static void straddling(const char *name) {
  uint8_t *memory = begin_small(SMALL_BYTES, 12);
  uint8_t *root = small_cluster(memory, spate_get32(memory + 96));
  for (uint32_t i = 2; i < 15; i++)
    root[32 * (size_t)i] = 5;
  uint32_t at = small_add(memory, name, 0x10, small_allocate(memory, 1, 1), 4096, 4096, true);
  assert_int_equal(at, 512 - 32);
  OK(image_mount(&image));
  record_parts(name, 4, 8192, 1);
  begin_cuts();
  join_all(name);
  use_joined(name, 8192);
}

static void test_straddling(void **state) {
  char name[256];
  (void)state;
  straddling("recording");
  memset(name, 'n', sizeof name);
  name[255] = '\0';
  straddling(name);
}

/* Several calls, and a recorder's operations in between. */
static void test_beside_a_recording(void **state) {
  struct spate_exfat_clip clip;
  (void)state;
  (void)begin_small(SMALL_BYTES, 9);
  OK(image_mount(&image));
  make_directory("recording");
  make_directory("d");
  record_parts("recording", 70, 512, 100);
  record("gone", 5000, 203);
  begin_cuts();
  arm(&clip, "clip", 30000);
  OK(spate_exfat_join_begin(&image.volume, &join, "recording"));
  uint32_t calls = 0;
  for (bool more = true; more; calls++) {
    checkpoint(&clip, 1024ull * calls, 1024ull * (calls + 1), 204);
    OK(spate_exfat_join_work(&join, &more));
    if (calls == 0) delete_file("gone");
    if (calls == 0) record("d/new", 1500, 205);
  }
  assert_true(calls > 1);
  checkpoint(&clip, 1024ull * calls, 1024ull * (calls + 1), 204);
  OK(spate_exfat_close(&clip, 1024ull * (calls + 1)));
  use_joined("recording", 2048);
}

/* A join that is given up, and begun again later. */
static void test_given_up(void **state) {
  bool more;
  (void)state;
  (void)begin_small(SMALL_BYTES, 9);
  OK(image_mount(&image));
  make_directory("recording");
  record_parts("recording", 66, 512, 100);
  begin_cuts();
  OK(spate_exfat_join_begin(&image.volume, &join, "recording"));
  OK(spate_exfat_join_work(&join, &more));
  assert_true(more);
  OK(spate_exfat_unmount(&image.volume));
  OK(image_mount(&image));
  record("d", 5000, 206);
  join_all("recording");
  use_joined("recording", 2048);
}

/* The drive alone loses its power between two links, and the machine loses its power at any time. */
static void test_drive_without_power(void **state) {
  bool lost = true;
  (void)state;
  for (uint64_t links = 1; lost; links += 3) {
    (void)begin_small(SMALL_BYTES, 9);
    OK(image_mount(&image));
    make_directory("recording");
    record_parts("recording", 4, 150 * 512, 100);
    begin_cuts();
    lose_at = image.ram.count[SPATE_WRITE] + links;
    image.ram.block.while_waiting = lose_power;
    join_all("recording");
    image.ram.block.while_waiting = NULL;
    lost = lose_at == 0;
    use_joined("recording", 2048);
  }
}

static void test_drive_without_power_between_calls(void **state) {
  (void)state;
  bool more;
  (void)begin_small(SMALL_BYTES, 9);
  OK(image_mount(&image));
  make_directory("recording");
  record_parts("recording", 66, 512, 100);
  begin_cuts();
  OK(spate_exfat_join_begin(&image.volume, &join, "recording"));
  OK(spate_exfat_join_work(&join, &more));
  assert_true(more);
  image.ram.block.power_losses++;
  while (more)
    OK(spate_exfat_join_work(&join, &more));
  use_joined("recording", 2048);
}

/* A PC has the volume between the cut and the mount. */
static void test_changed_by_a_pc(void **state) {
  (void)state;
  for (uint32_t cluster_shift = 9; cluster_shift <= 12; cluster_shift += 3) {
    (void)begin_small(SMALL_BYTES, cluster_shift);
    OK(image_mount(&image));
    make_directory("RECORDING");
    record_parts("RECORDING", 4, 2u << cluster_shift, 100);
    begin_cuts();
    witness_pc();
    join_all("RECORDING");
    record("AFTER", 3000, 207);
    end();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_small_clusters),
      cmocka_unit_test(test_blocks_of_4096),
      cmocka_unit_test(test_straddling),
      cmocka_unit_test(test_beside_a_recording),
      cmocka_unit_test(test_given_up),
      cmocka_unit_test(test_drive_without_power),
      cmocka_unit_test(test_drive_without_power_between_calls),
      cmocka_unit_test(test_changed_by_a_pc),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
