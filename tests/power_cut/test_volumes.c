/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of the exFAT layer, one after the other. The power is cut when SPATE_CUTS is set. */
#include "volume_fixture.h"

#define CONTENT_OLD 40u
#define TURNS_MAX   200u /* of waiting, for one operation */

static struct oracle oracle;
static unsigned turns;
static struct image_published more;

/* ---- scenarios ---- */

static void two_clips(uint32_t block_bytes) {
  struct image_published both = {.calls = 0};
  struct spate_exfat_clip a;
  struct spate_exfat_clip b;
  begin_formatted(block_bytes);
  arm(&a, "a.mov", 3 * MIB);
  checkpoint(&a, 0, 100000, 1);
  arm(&b, "unused.mov", 3 * MIB);
  OK(spate_exfat_discard(&b));
  arm(&b, "b.mov", 3 * MIB);
  checkpoint(&b, 0, 65536, 2);
  checkpoint(&a, 65536, 200000, 1); /* continues from a whole piece */
  /* both at once: one block, one write in flight, and the other length waits */
  stream(&a, 196608, 300000, 1);
  stream(&b, 65536, 131072, 2);
  flush();
  OK(spate_exfat_publish(&a, 300000, image_published, &both));
  OK(spate_exfat_publish(&b, 131072, image_published, &both));
  published(&a, 300000);
  published(&b, 131072);
  OK(spate_exfat_close(&a, 300000)); /* two of the three clusters are freed */
  record("c.mov", 150000, 3);        /* and are used again */
  OK(spate_exfat_close(&b, 131072));
  delete_file("a.mov");
  delete_file("c.mov");
  record("d.mov", 200000, 4);
  end();
}

static void test_clips_512(void **state) {
  (void)state;
  two_clips(512);
}

static void test_clips_4096(void **state) {
  (void)state;
  two_clips(4096);
}

/* Every cluster is in use, the last ones by a clip that is deleted to make room for the next. */
static void test_full_volume(void **state) {
  struct spate_exfat_clip clip;
  struct spate_exfat_info info;
  (void)state;
  (void)begin_small(SMALL_BYTES, 12);
  OK(image_mount(&image));
  record("first", 40000, 50);
  OK(spate_exfat_info(&image.volume, &info));
  arm(&clip, "rest", 0);
  assert_int_equal(clip.reserved_bytes, info.longest_free_bytes);
  checkpoint(&clip, 0, clip.reserved_bytes, 51);
  OK(spate_exfat_close(&clip, clip.reserved_bytes));
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "none", 1), SPATE_E_NO_SPACE);
  for (unsigned i = 0; i < 4; i++) {
    delete_file(i % 2 == 0 ? "first" : "next");
    record(i % 2 == 0 ? "next" : "first", 40000, 52 + i);
  }
  end();
}

static void test_directories(void **state) {
  (void)state;
  begin_formatted(512);
  make_directory("d");
  make_directory("d/e");
  record("d/e/f", 3000, 5);
  rename_file("d/e/f", "d/g");
  rename_file("d/g", "d/G with a longer name than that");
  rename_file("d/G with a longer name than that", "d/h");
  rename_file("d/h", "d/i");
  record("d/e/j", 2000, 6);
  rename_file("d/e", "e"); /* with its contents */
  delete_file("e/j");
  delete_file("e");
  delete_file("d/i");
  delete_file("d");
  end();
}

/* Directories with 16 entries per cluster: they grow, the FAT links them, and sets span blocks. */
static void test_small_clusters(void **state) {
  char path[320];
  (void)state;
  uint8_t *memory = begin_small(SMALL_BYTES, 9);
  small_add(memory, "chained", 0x20, small_allocate(memory, 4, 3), 2000, 2000, false);
  OK(image_mount(&image));
  make_directory("first");
  make_directory("d");
  for (unsigned i = 0; i < 12; i++) {
    (void)snprintf(path, sizeof path, "%sfile_%u_of_some", i % 2 ? "d/" : "", i);
    record(path, 700, 10 + i);
  }
  memset(path, 'x', sizeof path);
  path[250] = '\0';
  make_directory(path);
  memcpy(path, "d/", 2);
  rename_file("d/file_1_of_some", path);
  path[2] = 'z';
  rename_file("d/file_3_of_some", path);
  rename_file(path, "back");
  path[2] = 'x';
  delete_file(path);
  delete_file("back");
  delete_file("chained");
  end();
}

/* A directory whose set another system put across two blocks, and which has to grow. */
static void test_straddling(void **state) {
  char path[64];
  (void)state;
  uint8_t *memory = begin_small(SMALL_BYTES, 10);
  small_add(memory, "a", 0x20, 0, 0, 0, false);
  small_add(memory, "b", 0x20, 0, 0, 0, false);
  small_add(memory, "c", 0x20, 0, 0, 0, false);
  small_add(memory, "d with a long name", 0x20, 0, 0, 0, false);
  uint32_t at = small_add(memory, "dir", 0x10, small_allocate(memory, 1, 1), 1024, 1024, false);
  assert_int_equal(at, 512 - 32);
  OK(image_mount(&image));
  make_directory("first");
  for (unsigned i = 0; i < 12; i++) {
    (void)snprintf(path, sizeof path, "dir/file %u", i);
    record(path, 700, 30 + i);
  }
  assert_true(oracle_read(&oracle, image_start(&image), SMALL_BYTES));
  oracle_free(&oracle);
  assert_true((oracle_find(&oracle, "dir")->set_offset + 32) % 512 != 0); /* it was moved */
  end();
}

/* A stream that keeps publishing must not lock others out of a directory's block. */
static void publish_more(void *context) {
  struct spate_exfat_clip *clip = context;
  if (++turns > TURNS_MAX) fail_msg("a change waits forever for the block of a stream that keeps publishing");
  enum spate_error error = spate_exfat_publish(clip, clip->wanted_bytes + 8, image_published, &more);
  assert_true(error == SPATE_OK || error == SPATE_E_BUSY || error == SPATE_E_FULL);
}

static void test_publishing(void **state) {
  struct spate_exfat_clip clip;
  struct ram_block *ram = &image.ram;
  (void)state;
  begin_formatted(512);
  arm(&clip, "clip", MIB);
  stream(&clip, 0, 65536, 6);
  flush();
  ram->block.while_waiting = publish_more;
  ram->block.while_waiting_context = &clip;
  ram->delay_polls = 2; /* so that each write is in flight for some turns */
  turns = 0;
  make_directory("d");
  ram->block.while_waiting = NULL;
  ram->delay_polls = 0;
  published(&clip, clip.wanted_bytes);
  assert_true(clip.published_bytes > 0 && more.calls > 1);
  OK(spate_exfat_close(&clip, 65536));
  end();
}

/* Format over a volume that another system made, nearly full of one file, also where the new structures will be. */
static void test_format(void **state) {
  uint64_t bytes = 250 * UINT64_C(65536);
  (void)state;
  uint8_t *memory = begin_small(IMAGE_BYTES, 16);
  uint32_t first = small_allocate(memory, 250, 1);
  fill(small_cluster(memory, first), bytes, CONTENT_OLD, 0);
  small_add(memory, "old", 0x20, first, bytes, bytes, true);
  witness_format(&image.config, IMAGE_SERIAL);
  image_format(&image);
  end();
}

static void test_repair(void **state) {
  (void)state;
  begin_formatted(512);
  OK(spate_exfat_unmount(&image.volume));
  memset(image.ram.memory, 0, 12 * 512);
  witness_again();
  OK(image_mount(&image));
  assert_true(image.found.backup_boot);
  make_directory("d");
  end();
}

/* The record's file is made first, in the entries of a deleted file, so that only the test's own changes make the
 * volume dirty. */
static void test_foreign(void **state) {
  (void)state;
  uint8_t *memory = begin_small(SMALL_BYTES, 9);
  uint32_t at = small_add(memory, "deleted", 0x20, 0, 0, 0, false);
  uint8_t *set = small_cluster(memory, spate_get32(memory + 96)) + at;
  for (uint32_t i = 0; i < 3; i++)
    set[32 * i] &= 0x7f;
  small_add(memory, "chained", 0x20, small_allocate(memory, 4, 3), 2000, 2000, false);
  OK(image_mount(&image));
  make_directory("first");
  record("first/file", 700, 7);
  end();
}

/* There is no room for the record on a volume full of others' files, one of which has a set across two blocks: they are
 * deleted without it. */
static void test_full_foreign(void **state) {
  char name[256];
  (void)state;
  uint8_t *memory = begin_small(SMALL_BYTES, 12);
  for (unsigned i = 0; i < 6; i++) {
    int length = snprintf(name, sizeof name, "file %u", i);
    if (i == 2) memset(name + length, 'n', 200);
    if (i == 2) name[length + 200] = '\0';
    small_add(memory, name, 0x20, small_allocate(memory, 3, 1), 12000, 12000, i % 2 == 0);
  }
  uint32_t first = small_allocate(memory, 1, 1);
  uint32_t clusters = spate_get32(memory + 92) + 2 - first;
  (void)small_allocate(memory, clusters - 1, 1);
  small_add(memory, "rest", 0x20, first, clusters * 4096ull, clusters * 4096ull, true);
  OK(image_mount(&image));
  memset(name, 0, sizeof name);
  (void)snprintf(name, sizeof name, "file 2");
  memset(name + 6, 'n', 200);
  delete_file(name);
  rename_file("file 1", "FILE 1");
  delete_file("file 3");
  record("new", 700, 8); /* in the space that was freed, now with the record */
  delete_file("rest");
  end();
}

/* A file of others with these clusters, which are its own. */
static void put_old(uint8_t *memory, const char *name, uint32_t first, uint32_t clusters, bool contiguous) {
  uint64_t bytes = (uint64_t)clusters * 4096 - 50;
  for (uint32_t i = 0; i < clusters; i++)
    fill(small_cluster(memory, first + i), 4096, CONTENT_OLD, (uint64_t)(first + i) * 4096);
  small_add(memory, name, 0x20, first, bytes, bytes, contiguous);
}

/* Files that share clusters, in runs and chains, on a volume that is marked clean: a recording in the space of the
 * deleted ones must spare the others. The rest of the volume is full. */
static void open_shared(bool with_record) {
  (void)begin_small(SMALL_BYTES, 12);
  uint8_t *memory = image.ram.memory;
  uint32_t first = small_allocate(memory, 24, 1);
  put_old(memory, "one", first, 10, true);
  put_old(memory, "two", first + 6, 10, true);
  put_old(memory, "chain", first + 14, 10, false); /* the end of the whole chain */
  /* its chain is two clusters longer than the file: clusters of "chain" */
  put_old(memory, "long", first + 20, 2, false);
  uint32_t rest = small_allocate(memory, 1, 1);
  uint32_t clusters = spate_get32(memory + 92) + 2 - rest - (with_record ? 5 : 0);
  (void)small_allocate(memory, clusters - 1, 1);
  small_add(memory, "rest", 0x20, rest, clusters * 4096ull, 0, true);
  OK(image_mount(&image));
  if (with_record) make_directory("d");
  delete_file("one");
  record("new one", (with_record ? 6 : 3) * 4096, 60); /* the record takes the other three clusters */
}

static void test_shared_clusters(void **state) {
  (void)state;
  open_shared(true);
  end();
}

static void delete_all_shared(bool with_record) {
  open_shared(with_record);
  delete_file("long");
  delete_file("two");
  record("new two", with_record ? 7 * 4096 : 2 * 4096, 61);
  delete_file("chain");
  record("new three", 8 * 4096, 62);
  end();
}

static void test_all_shared_clusters(void **state) {
  (void)state;
  delete_all_shared(true);
}

static void test_all_shared_clusters_full(void **state) {
  (void)state;
  delete_all_shared(false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clips_512),
      cmocka_unit_test(test_clips_4096),
      cmocka_unit_test(test_full_volume),
      cmocka_unit_test(test_directories),
      cmocka_unit_test(test_small_clusters),
      cmocka_unit_test(test_straddling),
      cmocka_unit_test(test_publishing),
      cmocka_unit_test(test_format),
      cmocka_unit_test(test_repair),
      cmocka_unit_test(test_foreign),
      cmocka_unit_test(test_full_foreign),
      cmocka_unit_test(test_shared_clusters),
      cmocka_unit_test(test_all_shared_clusters),
      cmocka_unit_test(test_all_shared_clusters_full),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
