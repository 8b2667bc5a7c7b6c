/* SPDX-License-Identifier: Apache-2.0 */
/* Two files that own the same clusters, as a PC that crashed may leave them, on a volume that is marked clean. */
#include "exfat_fixture.h"

#define OLD_BYTE 0x11 /* of the first file; the next ones count on */
#define NEW_BYTE 0xee /* of what is recorded afterwards */

/* Files of one cluster take their numbers from here. */
static unsigned recorded;

static uint32_t cluster_bytes(void) { return 512u << image.ram.memory[109]; }

static uint8_t *fat_entry(uint32_t cluster) {
  return image.ram.memory + ((size_t)spate_get32(image.ram.memory + 80) << 9) + 4 * (size_t)cluster;
}

static bool is_allocated(uint32_t cluster) {
  return (small_cluster(image.ram.memory, 2)[(cluster - 2) / 8] >> ((cluster - 2) & 7) & 1) != 0;
}

static void open_volume(uint64_t bytes, uint32_t cluster_shift) {
  image_open(&image, bytes, 512, 0);
  small_format(image.ram.memory, bytes, 9, cluster_shift);
  recorded = 0;
}

static void read_volume(void) {
  if (!oracle_read(&oracle, image.ram.memory, image.ram.bytes)) fail_msg("%s", oracle.fault);
  oracle_free(&oracle);
  assert_int_equal(oracle.unallocated, 0); /* no file lies over free clusters */
  assert_int_equal(oracle.strays, 0);
}

/* A file over `clusters` from `first` on, by the FAT or in one run. */
static void add(const char *name, uint32_t first, uint32_t clusters, bool contiguous) {
  uint64_t bytes = (uint64_t)clusters * cluster_bytes() - 100;
  small_add(image.ram.memory, name, 0x20, first, bytes, bytes, contiguous);
}

static void fill_file(const char *name, int byte) {
  read_volume();
  const struct oracle_file *file = oracle_find(&oracle, name);
  assert_non_null(file);
  for (uint64_t at = 0; at < file->bytes; at += cluster_bytes())
    memset(image.ram.memory + (oracle_at(&oracle, file, at) - image.ram.memory), byte, cluster_bytes());
}

/* All of what is free is recorded over. */
static void record_all(void) {
  enum spate_error error = SPATE_OK;
  while (error == SPATE_OK) {
    struct spate_exfat_clip clip;
    char name[32];
    (void)snprintf(name, sizeof name, "new %u", recorded++);
    error = spate_exfat_arm(&image.volume, &clip, name, 0);
    if (error != SPATE_OK) break;
    memset(image.ram.memory + (clip.first_lba << 9), NEW_BYTE, clip.reserved_bytes);
    assert_int_equal(spate_exfat_close(&clip, clip.reserved_bytes), SPATE_OK);
  }
  assert_int_equal(error, SPATE_E_NO_SPACE);
}

/* The file is what it was: by the oracle, which reads the medium, and by the library. */
static void expect_old(const char *name, const uint8_t *old, uint64_t bytes) {
  struct spate_exfat_file file;
  uint8_t *data = malloc(bytes);
  size_t got;
  assert_non_null(data);
  assert_int_equal(spate_exfat_open(&image.volume, name, &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 0, data, bytes, &got), SPATE_OK);
  assert_int_equal(got, bytes);
  assert_memory_equal(data, old, bytes);
  const struct oracle_file *seen = oracle_find(&oracle, name);
  assert_non_null(seen);
  assert_int_equal(seen->bytes, bytes);
  for (uint64_t at = 0; at < bytes; at++)
    if (*oracle_at(&oracle, seen, at) != old[at]) fail_msg("%s: %llu", name, (unsigned long long)at);
  free(data);
}

static uint8_t *content_of(const char *name, uint64_t *bytes) {
  const struct oracle_file *file = oracle_find(&oracle, name);
  assert_non_null(file);
  *bytes = file->bytes;
  uint8_t *data = malloc(file->bytes);
  assert_non_null(data);
  for (uint64_t at = 0; at < file->bytes; at++)
    data[at] = *oracle_at(&oracle, file, at);
  return data;
}

/* Runs over runs, chains over chains and over runs, each in part. */
static const char *const overlapping[] = {"run one", "run two", "chain one", "chain two", "run three"};
#define OVERLAPPING (sizeof overlapping / sizeof overlapping[0])

static void make_overlapping(uint32_t clusters) {
  uint8_t *memory = image.ram.memory;
  uint32_t run = small_allocate(memory, 2 * clusters, 1);
  add("between", small_allocate(memory, 300, 1), 300, true); /* so that they are not side by side */
  uint32_t chain = small_allocate(memory, clusters, 2);
  uint32_t other = small_allocate(memory, 2, 2);
  add("run one", run, clusters + clusters / 2, true);
  add("run two", run + clusters, clusters, true);
  add("chain one", chain, clusters, false);
  spate_put32(fat_entry(other + 2), chain + 2 * (clusters / 2)); /* into the middle of the other chain */
  add("chain two", other, 2 + clusters - clusters / 2, false);
  add("run three", chain, 1, true); /* the first cluster of a chain */
  for (unsigned i = 0; i < OVERLAPPING; i++)
    fill_file(overlapping[i], (int)(OLD_BYTE + i));
  read_volume();
  assert_int_equal(oracle.leaked, 0);
  assert_int_equal(oracle.cross_linked, clusters / 2 + (clusters - clusters / 2) + 1);
}

static void delete_file(const char *path) { assert_int_equal(spate_exfat_delete(&image.volume, path), SPATE_OK); }

/* Whichever goes first, and each after it: what others own stays, and at the end all is free. */
static void check_order(unsigned first, uint32_t clusters) {
  uint8_t *content[OVERLAPPING];
  uint64_t bytes[OVERLAPPING];
  make_overlapping(clusters);
  for (unsigned i = 0; i < OVERLAPPING; i++)
    content[i] = content_of(overlapping[i], &bytes[i]);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_false(image.found.dirty);
  for (unsigned i = 0; i < OVERLAPPING; i++) {
    delete_file(overlapping[(first + i) % OVERLAPPING]);
    record_all();
    read_volume();
    assert_int_equal(oracle.leaked, 0);
    for (unsigned left = i + 1; left < OVERLAPPING; left++) {
      unsigned index = (first + left) % OVERLAPPING;
      expect_old(overlapping[index], content[index], bytes[index]);
    }
  }
  assert_int_equal(oracle.cross_linked, 0);
  assert_true(oracle.dirty);
  assert_int_equal(image.ram.count[SPATE_TRIM], 0);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT); /* a checker's business */
  for (unsigned i = 0; i < OVERLAPPING; i++)
    free(content[i]);
}

static void test_shared_clusters_stay(void **state) {
  (void)state;
  for (unsigned first = 0; first < OVERLAPPING; first++) {
    open_volume(4 * MIB, 10);
    check_order(first, 10);
    image_close(&image);
  }
}

/* The bitmap through a window of 32768 clusters, at whose end the runs are, or the chains. */
static void test_shared_over_windows(void **state) {
  (void)state;
  for (unsigned first = 0; first < OVERLAPPING; first++) {
    uint32_t before = first % 2 == 0 ? 32750 : 32700;
    open_volume(40 * MIB, 10);
    add("before", small_allocate(image.ram.memory, before, 1), before, true);
    image.config.bitmap_bytes = 4096;
    image.config.bitmap = aligned_alloc(4096, 4096); /* so that what is written beside it is noticed */
    check_order(first, 20);
    free(image.config.bitmap);
    image_close(&image);
  }
}

/* No room for the record's file: a full volume of others, of which all has two owners. */
static void test_shared_on_a_full_volume(void **state) {
  uint64_t bytes;
  (void)state;
  open_volume(MIB, 12);
  uint32_t first = small_allocate(image.ram.memory, 1, 1);
  uint32_t clusters = spate_get32(image.ram.memory + 92) + 2 - first;
  (void)small_allocate(image.ram.memory, clusters - 1, 1);
  add("one", first, clusters, true);
  add("two", first + 20, clusters - 20, true);
  fill_file("one", OLD_BYTE);
  read_volume();
  uint8_t *two = content_of("two", &bytes);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("one");
  record_all();
  read_volume();
  expect_old("two", two, bytes);
  delete_file("two");
  record_all();
  read_volume();
  assert_int_equal(oracle.leaked, 0);
  free(two);
  image_close(&image);
}

/* Directories of 1 KiB with a file each. */
static void make_tree(unsigned directories) {
  for (unsigned i = 0; i < directories; i++) {
    char path[64];
    (void)snprintf(path, sizeof path, "directory %u", i);
    assert_int_equal(spate_exfat_mkdir(&image.volume, path), SPATE_OK);
    (void)snprintf(path, sizeof path, "directory %u/file", i);
    put_file(path, "x", 1);
  }
}

static uint64_t reads_of_deletion(const char *path) {
  uint64_t before = image.ram.count[SPATE_READ];
  delete_file(path);
  return image.ram.count[SPATE_READ] - before;
}

/* The tree is walked before the first deletion, and not again in this mount: not for what is recorded meanwhile. */
static void test_looked_for_once(void **state) {
  (void)state;
  open_volume(4 * MIB, 10);
  image.config.cache_bytes = 6 * 512;
  assert_int_equal(image_mount(&image), SPATE_OK);
  make_tree(60);
  put_file("one", "x", 1);
  put_file("two", "x", 1);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_in_range(reads_of_deletion("one"), 60, 400);
  assert_in_range(reads_of_deletion("two"), 0, 40);
  for (unsigned i = 0; i < 5; i++) {
    put_file("three", "x", 1);
    assert_in_range(reads_of_deletion("three"), 0, 40);
  }
  assert_in_range(reads_of_deletion("directory 7/file"), 0, 40);
  assert_true(image.ram.count[SPATE_TRIM] > 7);
  assert_whole(false);
  image_close(&image);
}

/* Where the bitmap is seen through a window, a deletion looks at the areas that it is about, each once. */
static void test_looked_for_by_areas(void **state) {
  (void)state;
  open_volume(64 * MIB, 9);
  image.config.bitmap_bytes = 4096; /* four windows */
  image.config.cache_bytes = 6 * 512;
  assert_int_equal(image_mount(&image), SPATE_OK);
  make_tree(60);
  put_file("near", "x", 1);
  put_file("between", NULL, 10 * MIB);
  put_file("in the same", "x", 1);
  put_file("over two", NULL, 20 * MIB);
  put_file("far", "x", 1);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_in_range(reads_of_deletion("near"), 60, 400);
  assert_in_range(reads_of_deletion("in the same"), 0, 40);
  uint64_t one = reads_of_deletion("far");
  assert_in_range(one, 60, 400);
  assert_in_range(reads_of_deletion("directory 7/file"), 0, 40);
  assert_in_range(reads_of_deletion("over two"), 0, one * 3 / 2); /* the first part of it is known */
  assert_whole(false);
  image_close(&image);
}

/* More windows than areas can be remembered: an area is then several windows. */
static void test_more_windows_than_areas(void **state) {
  (void)state;
  open_volume(1200 * MIB, 9);
  uint8_t *memory = image.ram.memory;
  image.config.bitmap_bytes = 4096;
  (void)small_allocate(memory, 6 * 32768, 1); /* nobody's, which does not matter here */
  uint32_t early = small_allocate(memory, 1, 1);
  (void)small_allocate(memory, 64 * 32768, 1);
  uint32_t late = small_allocate(memory, 10, 1);
  add("early", early, 1, true);
  add("one", late, 10, true);
  add("two", late + 5, 5, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("early");
  delete_file("one");
  assert_false(is_allocated(early) || is_allocated(late + 4));
  assert_true(is_allocated(late + 5) && is_allocated(late + 9));
  image_close(&image);
}

/* Before the range in which clusters have two owners there is no walk but the first. */
static void test_before_the_range(void **state) {
  (void)state;
  open_volume(4 * MIB, 10);
  uint8_t *memory = image.ram.memory;
  image.config.cache_bytes = 6 * 512;
  add("early", small_allocate(memory, 1, 1), 1, true);
  add("early, too", small_allocate(memory, 1, 1), 1, true);
  add("between", small_allocate(memory, 200, 1), 200, true);
  uint32_t first = small_allocate(memory, 4, 1);
  add("one", first, 4, true);
  add("two", first, 4, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  make_tree(60);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_in_range(reads_of_deletion("early"), 60, 400);
  assert_in_range(reads_of_deletion("early, too"), 0, 40);
  assert_in_range(reads_of_deletion("one"), 60, 400);
  image_close(&image);
}

/* ---- what a walk meets ---- */

/* A directory that is full to its last entry ends there, without a mark. That is no damage. */
static void test_full_directory(void **state) {
  (void)state;
  open_volume(4 * MIB, 10);
  uint8_t *memory = image.ram.memory;
  uint32_t directory = small_allocate(memory, 1, 1);
  small_add(memory, "d", 0x10, directory, 1024, 1024, true);
  add("good", small_allocate(memory, 1, 1), 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (unsigned i = 0; i < 10; i++) { /* three entries each of 32 */
    char path[64];
    (void)snprintf(path, sizeof path, i == 9 ? "d/a name of more than 30 units; 5 entries" : "d/%u", i);
    put_file(path, NULL, 0);
  }
  assert_int_not_equal(small_cluster(memory, directory)[1023 / 32 * 32], 0);
  delete_file("good");
  assert_whole(false);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  image_close(&image);
}

/* Damage elsewhere keeps nobody from clearing the volume: it is stepped over, and the volume stays dirty. */
static void test_damage_is_stepped_over(void **state) {
  (void)state;
  for (unsigned damage = 0; damage < 6; damage++) {
    open_volume(4 * MIB, 10);
    uint8_t *memory = image.ram.memory;
    uint32_t root = spate_get32(memory + 96);
    uint32_t broken = small_allocate(memory, 3, 2);
    uint32_t at = small_add(memory, "damaged", damage == 3 ? 0x10 : 0x20, broken, 3000, 3000, false);
    uint8_t *set = small_cluster(memory, root) + at;
    if (damage == 0) set[70] ^= 1;                      /* a set with a wrong checksum */
    if (damage == 1) spate_put32(fat_entry(broken), 0); /* a chain that breaks, ... */
    if (damage == 3) spate_put32(fat_entry(broken), 1); /* ... of a directory */
    if (damage == 3) memset(small_cluster(memory, broken), 5, 1024);
    if (damage == 2) small_add(memory, "liar", 0x20, broken, UINT64_C(1) << 40, 1, true);
    if (damage == 4) small_add(memory, "itself", 0x10, root, 1024, 1024, true);
    if (damage == 5) set[0] = 0x87; /* an entry of a kind that must be understood */
    uint32_t first = small_allocate(memory, 4, 1);
    add("good", first, 4, true);
    assert_int_equal(image_mount(&image), SPATE_OK);
    delete_file("good");
    assert_false(is_allocated(first));
    assert_false(is_allocated(first + 3));
    assert_true(is_allocated(broken));
    assert_int_equal(image.ram.count[SPATE_TRIM], 0);
    if (spate_exfat_unmount(&image.volume) != SPATE_E_CORRUPT) fail_msg("damage %u was not seen", damage);
    image_close(&image);
  }
}

/* What cannot be read now may be read tomorrow: nothing is changed. */
static void test_unreadable_directory(void **state) {
  (void)state;
  open_volume(4 * MIB, 10);
  uint32_t directory = small_allocate(image.ram.memory, 1, 1);
  small_add(image.ram.memory, "d", 0x10, directory, 1024, 1024, true);
  add("good", small_allocate(image.ram.memory, 1, 1), 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("f", "x", 1);
  uint64_t lba = (uint64_t)(small_cluster(image.ram.memory, directory) - image.ram.memory) >> 9;
  ram_block_fault(&image.ram, (struct ram_fault){RAM_OP(SPATE_READ), lba, lba, 0, RAM_ALWAYS, SPATE_E_MEDIA, 0x281});
  uint64_t writes = image.ram.count[SPATE_WRITE];
  assert_int_equal(spate_exfat_delete(&image.volume, "good"), SPATE_E_MEDIA);
  assert_int_equal(image.ram.count[SPATE_WRITE], writes);
  ram_block_clear_faults(&image.ram);
  delete_file("good");
  assert_whole(false);
  image_close(&image);
}

/* Directories that name each other many times over, but not themselves: the walk ends. */
static void test_walk_is_bounded(void **state) {
  (void)state;
  open_volume(4 * MIB, 10);
  uint8_t *memory = image.ram.memory;
  uint32_t root = spate_get32(memory + 96);
  uint8_t *entries = small_cluster(memory, root);
  uint32_t first = small_allocate(memory, 20, 1);
  for (uint32_t level = 0; level < 20; level++) {
    /* As the root's sets are made, and then moved to where they belong. */
    uint8_t sets[10 * 96];
    for (uint32_t i = 0; i < 10; i++) {
      char name[] = {(char)('a' + i), '\0'};
      uint32_t at = small_add(memory, name, 0x10, first + level, 1024, 1024, true);
      memcpy(sets + (size_t)i * 96, entries + at, 96);
      if (level > 0 || i > 0) memset(entries + at, 0, 96); /* the root gets one of them */
    }
    if (level > 0) memcpy(small_cluster(memory, first + level - 1), sets, sizeof sets);
  }
  add("good", small_allocate(memory, 1, 1), 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "good"), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK); /* nothing was changed */
  image_close(&image);
}

/* A clip's directory whose cluster another file says is its own: the length still reaches the entry set. */
static void test_open_clip_in_a_shared_cluster(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_volume(4 * MIB, 10);
  uint32_t directory = small_allocate(image.ram.memory, 1, 1);
  small_add(image.ram.memory, "d", 0x10, directory, 1024, 1024, false);
  add("liar", directory, 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "d/clip", 20 * 1024), SPATE_OK);
  delete_file("liar");
  record_all();
  assert_int_equal(spate_exfat_close(&clip, 10000), SPATE_OK);
  read_volume();
  assert_int_equal(oracle_find(&oracle, "d/clip")->bytes, 10000);
  assert_int_equal(oracle.cross_linked, 0);
  image_close(&image);
}

/* What a vendor's entry behind a name owns has an owner, too (specification, 7.9). */
static void test_shared_with_a_vendor(void **state) {
  (void)state;
  uint16_t sum = 0;
  open_volume(4 * MIB, 10);
  uint32_t first = small_allocate(image.ram.memory, 4, 1);
  add("run", first, 4, true);
  uint32_t at = small_add(image.ram.memory, "vendor", 0x20, 0, 0, 0, false);
  uint8_t *set = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96)) + at;
  set[1] = 3;
  set[96] = 0xe1;
  set[96 + 1] = 3; /* clusters, in one run */
  spate_put32(set + 96 + 20, first + 2);
  spate_put64(set + 96 + 24, 2048);
  for (uint32_t i = 0; i < 128; i++)
    if (i != 2 && i != 3) sum = (uint16_t)(((sum & 1u) << 15) + (sum >> 1) + set[i]);
  spate_put16(set + 2, sum);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("run");
  assert_false(is_allocated(first) || is_allocated(first + 1));
  assert_true(is_allocated(first + 2) && is_allocated(first + 3));
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
  image_close(&image);
}

/* What an open clip has reserved, and has published a part of, is its own once. */
static void test_open_clip_is_no_damage(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_volume(4 * MIB, 10);
  add("old", small_allocate(image.ram.memory, 3, 2), 3, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 200 * 1024), SPATE_OK);
  assert_int_equal(image_publish(&image.ram.block, &clip, 150 * 1024), SPATE_OK);
  delete_file("old");
  assert_int_equal(spate_exfat_close(&clip, 150 * 1024), SPATE_OK);
  assert_whole(false);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  image_close(&image);
}

/* Whole blocks of the bitmap: more than the cache reads ahead while clusters are given back, and then goes stale. */
static void test_bitmap_after_a_walk(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_volume(256 * MIB, 12);
  uint8_t *memory = image.ram.memory;
  uint32_t one = small_allocate(memory, 5000, 1); /* more than a block's bits */
  uint32_t between = small_allocate(memory, 12400 - (one + 5000), 1);
  uint32_t other = small_allocate(memory, 10, 1);
  add("one", one, 5000, true);
  add("one, too", one, 1, true);
  add("between", between, 12400 - (one + 5000), true);
  add("other", other, 10, true);
  add("other, too", other, 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("one");
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 6000 * 4096), SPATE_OK);
  uint32_t first = clip.first_cluster;
  assert_int_equal(spate_exfat_close(&clip, 6000 * 4096), SPATE_OK);
  delete_file("other");
  for (uint32_t i = 0; i < 6000; i++)
    if (!is_allocated(first + i)) fail_msg("cluster %u of the clip is free", i);
  read_volume();
  assert_int_equal(oracle.leaked, 0);
  image_close(&image);
}

/* A file over clusters that the bitmap calls free, as after a PC's crash: they go to the next clip, and stay with it
 * when that file is deleted. */
static void test_a_file_over_free_clusters(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_volume(4 * MIB, 10);
  add("good", small_allocate(image.ram.memory, 1, 1), 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 10 * 1024), SPATE_OK); /* the record's file is made */
  uint32_t first = clip.first_cluster;
  assert_int_equal(spate_exfat_discard(&clip), SPATE_OK);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  add("over free", first, 5, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("good");
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 10 * 1024), SPATE_OK);
  assert_int_equal(clip.first_cluster, first);
  assert_int_equal(spate_exfat_close(&clip, 10 * 1024), SPATE_OK);
  uint64_t trims = image.ram.count[SPATE_TRIM];
  delete_file("over free");
  assert_int_equal(image.ram.count[SPATE_TRIM], trims);
  read_volume();
  assert_int_equal(oracle_find(&oracle, "clip")->bytes, 10 * 1024);
  assert_int_equal(oracle.leaked, 0);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT); /* a checker's business */
  image_close(&image);
}

/* A window of the bitmap's size, which is no power of two, sees all at once. */
static void test_a_window_of_the_bitmaps_size(void **state) {
  (void)state;
  open_volume(48 * MIB, 9);
  uint32_t bitmap_bytes = (spate_get32(image.ram.memory + 92) + 7) / 8;
  size_t window_bytes = (bitmap_bytes + 511u) & ~511u;
  image.config.bitmap = aligned_alloc(4096, 16384);
  image.config.bitmap_bytes = window_bytes;
  image.config.cache_bytes = 6 * 512;
  assert_in_range(bitmap_bytes, 8193, 16383 - 512);
  assert_int_equal(image_mount(&image), SPATE_OK);
  make_tree(60);
  put_file("near", "x", 1);
  put_file("between", NULL, 36 * MIB);
  put_file("far", "x", 1);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_in_range(reads_of_deletion("near"), 60, 400);
  assert_in_range(reads_of_deletion("far"), 0, 40);
  free(image.config.bitmap);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shared_clusters_stay),
      cmocka_unit_test(test_shared_over_windows),
      cmocka_unit_test(test_shared_on_a_full_volume),
      cmocka_unit_test(test_looked_for_once),
      cmocka_unit_test(test_looked_for_by_areas),
      cmocka_unit_test(test_more_windows_than_areas),
      cmocka_unit_test(test_damage_is_stepped_over),
      cmocka_unit_test(test_unreadable_directory),
      cmocka_unit_test(test_walk_is_bounded),
      cmocka_unit_test(test_open_clip_in_a_shared_cluster),
      cmocka_unit_test(test_shared_with_a_vendor),
      cmocka_unit_test(test_open_clip_is_no_damage),
      cmocka_unit_test(test_bitmap_after_a_walk),
      cmocka_unit_test(test_a_file_over_free_clusters),
      cmocka_unit_test(test_a_window_of_the_bitmaps_size),
      cmocka_unit_test(test_before_the_range),
      cmocka_unit_test(test_full_directory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
