/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes that others made, or changed in between, and names that are not ASCII. The power is cut when SPATE_CUTS is
 * set. */
#include "volume_fixture.h"

#include <spate/chunk.h>

#define GIVES(error, call) assert_int_equal(call, error)
#define STALE_SETS         5u /* of three entries each: with one more entry they fill 512 bytes */

/* Two FATs and two bitmaps. The second ones are active: the contents of the first ones must not matter. */
static void test_two_fats(void **state) {
  char path[64];
  (void)state;
  begin(SMALL_BYTES, 512);
  uint8_t *memory = image.ram.memory;
  small_format_twice(memory, SMALL_BYTES, 9, 9);
  small_add(memory, "chained", 0x20, small_allocate(memory, 6, 3), 3000, 3000, false);
  small_add(memory, "kept", 0x20, small_allocate(memory, 4, 3), 2000, 2000, false);
  OK(image_mount(&image));
  make_directory("d");
  for (unsigned i = 0; i < 8; i++) { /* it grows, and the FAT links it */
    (void)snprintf(path, sizeof path, "d/file %u", i);
    record(path, 700, 70 + i);
  }
  delete_file("chained");
  record("new", 3000, 80);
  rename_file("d/file 3", "d/a longer name of file 3");
  end();
}

/* Files with interleaved clusters, and no other free space: a deletion leaves holes of one cluster. */
static void interleave(uint8_t *memory, unsigned files, unsigned clusters) {
  char name[16];
  uint32_t firsts[8];
  uint32_t step = files;
  assert_true(files <= 8);
  for (unsigned i = 0; i < files; i++) {
    firsts[i] = small_allocate(memory, clusters, step);
    (void)snprintf(name, sizeof name, "part %u", i);
    uint64_t bytes = (uint64_t)clusters << (memory[108] + memory[109]);
    small_add(memory, name, 0x20, firsts[i], bytes, bytes - 100, false);
  }
}

static void fill_the_rest(uint8_t *memory) {
  uint32_t first = small_allocate(memory, 1, 1);
  uint32_t clusters = spate_get32(memory + 92) + 2 - first;
  (void)small_allocate(memory, clusters - 1, 1);
  uint64_t bytes = (uint64_t)clusters << (memory[108] + memory[109]);
  small_add(memory, "rest", 0x20, first, bytes, bytes, true);
}

static void fragmented(uint32_t cluster_shift) {
  char path[64];
  uint32_t cluster_bytes = 1u << cluster_shift;
  struct spate_exfat_clip clip;
  uint8_t *memory = begin_small(SMALL_BYTES, cluster_shift);
  interleave(memory, 4, 10);
  OK(image_mount(&image));
  make_directory("d"); /* this also makes the record's file, while there is room */
  delete_file("part 1");
  delete_file("part 3");
  arm(&clip, "rest", 0); /* the longest free run */
  checkpoint(&clip, 0, clip.reserved_bytes, 90);
  OK(spate_exfat_close(&clip, clip.reserved_bytes));
  GIVES(SPATE_E_FRAGMENTED, spate_exfat_arm(&image.volume, &clip, "none", 2ull * cluster_bytes));
  for (unsigned i = 0; i < 12; i++) { /* clips of one cluster, and a directory that grows, go into the holes */
    (void)snprintf(path, sizeof path, "d/in a hole %u", i);
    record(path, cluster_bytes - 12, 91 + i);
  }
  delete_file("part 2"); /* gives three adjacent clusters, with the holes on both sides */
  record("three", 3ull * cluster_bytes, 105);
  delete_file("d/in a hole 5");
  delete_file("rest");
  record("last", 50000, 106);
  end();
}

static void test_fragmented_512(void **state) {
  (void)state;
  fragmented(9);
}

static void test_fragmented_4096(void **state) {
  (void)state;
  fragmented(12);
}

/* A cluster full of whole, sealed entry sets, as a deleted file or directory may leave it. */
static void fill_stale(uint8_t *cluster) {
  static uint8_t other[SMALL_BYTES];
  char name[16];
  memset(other, 0, sizeof other);
  small_format(other, SMALL_BYTES, 9, 9);
  uint32_t first = 0;
  for (unsigned i = 0; i < STALE_SETS; i++) {
    (void)snprintf(name, sizeof name, "stale %u", i);
    uint32_t at = small_add(other, name, 0x20, 0, 0, 0, false);
    if (i == 0) first = at;
  }
  memcpy(cluster, small_cluster(other, spate_get32(other + 96)) + first, STALE_SETS * 96u);
  memset(cluster + STALE_SETS * 96u, 0, 32);
  cluster[STALE_SETS * 96u] = 0x05; /* unused, but not the end marker */
}

/* All free clusters are full of such entries, on a drive without TRIM: new directories begin there, and grow there. */
static void test_stale_entries(void **state) {
  char path[64];
  uint32_t clusters = 40;
  (void)state;
  uint8_t *memory = begin_small(SMALL_BYTES, 9);
  image.ram.block.can_trim = false;
  uint32_t first = small_allocate(memory, clusters, 1);
  for (uint32_t i = 0; i < clusters; i++)
    fill_stale(small_cluster(memory, first + i));
  small_add(memory, "old", 0x20, first, clusters * 512ull, clusters * 512ull, true);
  fill_the_rest(memory);
  OK(image_mount(&image));
  delete_file("old");
  make_directory("d");
  make_directory("d/e");
  for (unsigned i = 0; i < 8; i++) {
    (void)snprintf(path, sizeof path, i % 2 ? "d/file %u" : "d/e/file %u", i);
    record(path, 300, 110 + i);
  }
  make_directory("the root directory grows for a name of three entries");
  rename_file("d/e", "e");
  end();
}

/* A directory that ends in the middle of its cluster, with stale entries behind: dashcams make them. It is full, and
 * grows. The last entry may be cut by the end. */
static void odd_directory(uint32_t cluster_shift, uint32_t sets, uint32_t cut_bytes) {
  char path[64];
  const uint64_t bytes = sets * 96ull - cut_bytes;
  uint8_t *memory = begin_small(SMALL_BYTES, cluster_shift);
  const uint32_t first = small_allocate(memory, 1, 1);
  for (uint32_t at = 0; at < 1u << cluster_shift; at += 512)
    fill_stale(small_cluster(memory, first) + at);
  small_add(memory, "d", 0x10, first, bytes, bytes, cluster_shift != 9);
  OK(image_mount(&image));
  for (unsigned i = 0; i < 4; i++) {
    (void)snprintf(path, sizeof path, "d/new %u", i);
    record(path, 700, 130 + i);
  }
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  unsigned found = 0;
  OK(spate_exfat_list(&image.volume, "d", &directory));
  for (bool more = true; more; found += more)
    OK(spate_exfat_list_next(&directory, &entry, &more));
  assert_int_equal(found, sets + 4);
  end();
}

static void test_odd_directory(void **state) {
  (void)state;
  for (uint32_t sets = 1; sets <= STALE_SETS; sets++) {
    for (uint32_t cut_bytes = 0; cut_bytes <= 28; cut_bytes += 28) {
      odd_directory(9, sets, cut_bytes);
      odd_directory(12, sets, cut_bytes);
    }
  }
}

/* Umlauts and Greek letters have an upper case. Letters and pictographs beyond 16 bits take two units, and have
 * none. */
static void names(uint32_t block_bytes) {
  static const char letter[] = "\xf0\x90\x90\xa8"; /* U+10428 has an upper case, which exFAT's table lacks */
  struct spate_exfat_clip clip;
  struct spate_exfat_file file;
  char path[400];
  begin_formatted(block_bytes);
  make_directory("\xc3\x84rger"); /* Aerger, with a diaeresis */
  record("\xc3\x84rger/gr\xc3\xbc\xc3\x9f.mov", 3000, 120);
  OK(spate_exfat_open(&image.volume, "\xc3\xa4RGER/GR\xc3\x9c\xc3\x9f.MOV", &file)); /* found in any case */
  GIVES(SPATE_E_NOT_FOUND, spate_exfat_delete(&image.volume, "\xc3\x84RGER/GRU.MOV"));
  GIVES(SPATE_E_EXISTS, spate_exfat_arm(&image.volume, &clip, "\xc3\x84RGER/GR\xc3\x9c\xc3\x9f.MOV", 1000));
  rename_file("\xc3\x84rger/gr\xc3\xbc\xc3\x9f.mov", "\xc3\x84rger/GR\xc3\x9c\xc3\x9f.MOV"); /* of another case */
  record("\xce\xb1\xce\xb2\xce\xb3.mov", 2000, 121);                                         /* alpha, beta, gamma */
  rename_file("\xce\xb1\xce\xb2\xce\xb3.mov", "\xce\xb1 \xf0\x9f\x8e\xac.mov");              /* and a clapper board */
  record("\xf0\x9f\x8e\xac", 1000, 122);
  record("\xf0\x9f\x8e\xad", 1000, 123); /* differs in the second unit's last bit */
  record("\xf0\x9f\x8a\xac", 1000, 124); /* and in one of its first */
  delete_file("\xf0\x9f\x8e\xac");
  for (unsigned i = 0; i < 80; i++)
    memcpy(path + i * (sizeof letter - 1), letter, sizeof letter);
  record(path, 1500, 125); /* 160 units: twelve entries */
  rename_file(path, "\xc3\x84rger/short");
  rename_file("\xc3\x84rger", "\xce\xa9");
  delete_file("\xce\xa9/short");
  end();
}

static void test_names_512(void **state) {
  (void)state;
  names(512);
}

static void test_names_4096(void **state) {
  (void)state;
  names(4096);
}

/* Clips that are open, closed and deleted, and a record that remains after a PC has changed them. */
static void changed_by_a_pc(uint32_t cluster_shift) {
  struct spate_exfat_clip a;
  struct spate_exfat_clip b;
  uint32_t cluster_bytes = 1u << cluster_shift;
  uint8_t *memory = begin_small(SMALL_BYTES, cluster_shift);
  small_add(memory, "CHAINED", 0x20, small_allocate(memory, 8, 2), 8ull * cluster_bytes, 8ull * cluster_bytes, false);
  OK(image_mount(&image));
  witness_pc();
  arm(&a, "A", 30ull * cluster_bytes);
  checkpoint(&a, 0, 10ull * cluster_bytes, 130);
  arm(&b, "B", 30ull * cluster_bytes);
  record("C", 5ull * cluster_bytes, 131);
  delete_file("CHAINED");
  checkpoint(&b, 0, 6ull * cluster_bytes, 132);
  make_directory("D");
  delete_file("C");
  OK(spate_exfat_close(&a, 10ull * cluster_bytes));
  OK(spate_exfat_close(&b, 6ull * cluster_bytes));
  arm(&a, "E", 20ull * cluster_bytes);
  OK(spate_exfat_discard(&a));
  end();
}

static void test_changed_by_a_pc_512(void **state) {
  (void)state;
  changed_by_a_pc(9);
}

static void test_changed_by_a_pc_4096(void **state) {
  (void)state;
  changed_by_a_pc(12);
}

/* ---- directories ---- */

#define CHUNK 1536u

/* Chunks from `from` to `to`, and what is past the last one is not known. */
static void stream_chunks(struct spate_exfat_clip *clip, uint32_t from, uint32_t to) {
  static _Alignas(64) uint8_t data[CHUNK];
  static const uint8_t identity[16] = "one stream only";
  for (uint32_t i = from; i < to; i++) {
    fill(data, sizeof data, 140, i * UINT64_C(1536));
    spate_chunk_seal(data, identity, i, sizeof data);
    OK(spate_block_write(&image.ram.block, clip->first_lba + i * (CHUNK / 512), CHUNK / 512, data, 0));
  }
}

/* Every change of a directory, and clips in directories, of which a PC may delete or move any. */
static void directories_changed_by_a_pc(uint32_t cluster_shift) {
  static const struct spate_exfat_chunks chunks = {.stream = "one stream only", .chunk_bytes = CHUNK};
  struct spate_exfat_clip clip;
  char path[64];
  const uint32_t cluster_bytes = 1u << cluster_shift;
  (void)begin_small(SMALL_BYTES, cluster_shift);
  image.config.salvage = spate_exfat_salvage;
  OK(image_mount(&image));
  witness_pc();
  make_directory("F");
  make_directory("G");
  record("F/A", 2ull * cluster_bytes, 141);
  rename_file("F/A", "F/A WITH A NAME OF SEVERAL ENTRIES");
  record("G/B", 700, 142);
  rename_file("G/B", "F/B");
  make_directory("F/H");
  record("F/H/C", 700, 143);
  OK(spate_exfat_arm_chunks(&image.volume, &clip, "F/H/CLIP", 30ull * CHUNK, &chunks));
  stream_chunks(&clip, 0, 8);
  flush();
  published(&clip, 4ull * CHUNK);
  stream_chunks(&clip, 8, 16);
  flush();
  rename_file("F/H/C", "G/C");
  delete_file("F/B");
  stream_chunks(&clip, 16, 20);
  OK(spate_exfat_close(&clip, 20ull * CHUNK));
  rename_file("F/H/CLIP", "F/H/A CLIP WITH A NAME OF SEVERAL ENTRIES");
  for (unsigned i = 0; i < 6; i++) { /* with clusters of 512 bytes the directory grows */
    (void)snprintf(path, sizeof path, "G/FILE %u", i);
    record(path, 300, 150 + i);
  }
  rename_file("F/H", "G/H");
  delete_file("G/C");
  (void)snprintf(path, sizeof path, "G/A NAME OF MORE ENTRIES THAN A BLOCK OF 512 BYTES HAS");
  rename_file("G/FILE 3", path);
  delete_file(path);
  end();
}

static void test_directories_changed_by_a_pc_512(void **state) {
  (void)state;
  directories_changed_by_a_pc(9);
}

static void test_directories_changed_by_a_pc_1024(void **state) {
  (void)state;
  directories_changed_by_a_pc(10);
}

static void test_directories_changed_by_a_pc_4096(void **state) {
  (void)state;
  directories_changed_by_a_pc(12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_fats),
      cmocka_unit_test(test_fragmented_512),
      cmocka_unit_test(test_fragmented_4096),
      cmocka_unit_test(test_stale_entries),
      cmocka_unit_test(test_odd_directory),
      cmocka_unit_test(test_names_512),
      cmocka_unit_test(test_names_4096),
      cmocka_unit_test(test_changed_by_a_pc_512),
      cmocka_unit_test(test_changed_by_a_pc_4096),
      cmocka_unit_test(test_directories_changed_by_a_pc_512),
      cmocka_unit_test(test_directories_changed_by_a_pc_1024),
      cmocka_unit_test(test_directories_changed_by_a_pc_4096),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
