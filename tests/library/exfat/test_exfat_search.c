/* SPDX-License-Identifier: Apache-2.0 */
/* What the library remembers of a search must not outlive a change: a volume that remembers and one that forgets before
 * each operation answer alike, and have their files in the same places. */
#include "exfat_fixture.h"

#define NAMES 24u
#define OPEN  2u

static struct image fresh;
static struct oracle other;

/* One volume of each pair of drives. */
struct side {
  struct image *image;
  struct spate_exfat_clip clips[OPEN];
  bool open[OPEN];
};
static struct side sides[2] = {{.image = &image}, {.image = &fresh}};

/* Of some lengths, so that sets need room of different sizes. AB and EA have one length and one hash. */
static void path_of(unsigned number, char path[64]) {
  static const char *const folders[] = {"", "d/", "d/e/"};
  static const char *const names[] = {"AB", "EA", "x", "a name of 16 chr", "a name that takes some more entries 1",
                                      "f",  "g",  "h"};
  (void)snprintf(path, 64, "%s%s", folders[number / 8], names[number % 8]);
}

static void open_side(struct side *side, uint32_t cluster_shift) {
  image_open(side->image, 4 * MIB, 512, 0);
  small_format(side->image->ram.memory, 4 * MIB, 9, cluster_shift);
  assert_int_equal(image_mount(side->image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&side->image->volume, "d"), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&side->image->volume, "d/e"), SPATE_OK);
  memset(side->open, 0, sizeof side->open);
}

/* Arm a clip in the place of `slot`, or end the one that is there. */
static enum spate_error clip_step(struct side *side, unsigned slot, const char *path, bool discard) {
  struct spate_exfat *volume = &side->image->volume;
  if (!side->open[slot]) {
    const enum spate_error error = spate_exfat_arm(volume, &side->clips[slot], path, 2000);
    side->open[slot] = error == SPATE_OK;
    return error;
  }
  side->open[slot] = false;
  return discard ? spate_exfat_discard(&side->clips[slot]) : spate_exfat_close(&side->clips[slot], 700);
}

static enum spate_error step(struct side *side, unsigned action, const char *path, const char *to, uint64_t *result) {
  struct spate_exfat *volume = &side->image->volume;
  struct spate_exfat_entry entry = {.bytes = 0};
  enum spate_error error;
  *result = 0;
  switch (action) {
  case 0: return clip_step(side, 0, path, false);
  case 1: return clip_step(side, 1, path, false);
  case 2: return clip_step(side, 1, path, true);
  case 3: return spate_exfat_mkdir(volume, path);
  case 4: return spate_exfat_rename(volume, path, to);
  case 5: return spate_exfat_protect(volume, path, (to[0] & 1) != 0);
  case 6:
  case 7: return spate_exfat_delete(volume, path);
  default:
    error = spate_exfat_stat(volume, path, &entry);
    *result = entry.bytes;
    return error;
  }
}

static void read_side(const struct side *side, struct oracle *read) {
  if (!oracle_read(read, image_start(side->image), 4 * MIB)) fail_msg("%s", read->fault);
  oracle_free(read);
}

static void compare(void) {
  read_side(&sides[0], &oracle);
  read_side(&sides[1], &other);
  assert_int_equal(oracle.file_count, other.file_count);
  for (uint32_t i = 0; i < oracle.file_count; i++) {
    assert_string_equal(oracle.files[i].path, other.files[i].path);
    assert_int_equal(oracle.files[i].set_offset, other.files[i].set_offset);
    for (uint32_t j = 0; j < i; j++)
      assert_string_not_equal(oracle.files[i].path, oracle.files[j].path);
  }
}

static void run(uint64_t seed, uint32_t cluster_shift) {
  uint64_t random = seed;
  for (unsigned i = 0; i < 2; i++)
    open_side(&sides[i], cluster_shift);
  for (unsigned turn = 0; turn < 400; turn++) {
    char path[64], to[64];
    enum spate_error errors[2];
    uint64_t results[2];
    path_of((unsigned)(ram_random(&random) % NAMES), path);
    path_of((unsigned)(ram_random(&random) % NAMES), to);
    const unsigned action = (unsigned)(ram_random(&random) % 12);
    memset(fresh.volume.searches, 0, sizeof fresh.volume.searches);
    for (unsigned i = 0; i < 2; i++)
      errors[i] = step(&sides[i], action, path, to, &results[i]);
    assert_int_equal(errors[0], errors[1]);
    assert_int_equal(results[0], results[1]);
    compare();
  }
  for (unsigned i = 0; i < 2; i++)
    image_close(sides[i].image);
}

static void what_is_remembered_changes_no_answer(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 12; seed++)
    run(seed, seed % 2 == 0 ? 9 : 12);
}

/* Of two names of one length and hash each is found, also behind the other, and neither stands for the other. */
static void names_of_one_hash_are_told_apart(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  open_side(&sides[0], 12);
  put_file("d/AB", "1", 1);
  assert_int_equal(spate_exfat_stat(&image.volume, "d/EA", &entry), SPATE_E_NOT_FOUND);
  assert_int_equal(spate_exfat_stat(&image.volume, "d/EA", &entry), SPATE_E_NOT_FOUND);
  put_file("d/EA", "22", 2);
  assert_int_equal(spate_exfat_stat(&image.volume, "d/EA", &entry), SPATE_OK);
  assert_int_equal(entry.bytes, 2);
  assert_int_equal(spate_exfat_stat(&image.volume, "d/AB", &entry), SPATE_OK);
  assert_int_equal(entry.bytes, 1);
  delete_file("d/AB");
  assert_int_equal(spate_exfat_stat(&image.volume, "d/AB", &entry), SPATE_E_NOT_FOUND);
  assert_int_equal(spate_exfat_stat(&image.volume, "d/EA", &entry), SPATE_OK);
  image_close(&image);
}

/* The answer of a search that damage made uncertain is not remembered. */
static void damage_is_told_each_time(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  open_side(&sides[0], 12);
  put_file("d/x", "1", 1);
  put_file("d/y", "1", 1);
  read_side(&sides[0], &oracle);
  image.ram.memory[oracle_find(&oracle, "d/x")->set_offset + 2] ^= 1; /* its checksum */
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (unsigned i = 0; i < 3; i++) {
    assert_int_equal(spate_exfat_stat(&image.volume, "d/x", &entry), SPATE_E_CORRUPT);
    assert_int_equal(spate_exfat_stat(&image.volume, "d/y", &entry), SPATE_OK);
  }
  image_close(&image);
}

/* A directory of two full clusters, with the file `name` as the last of its second one. */
static void fill_second(uint32_t cluster, const char *name) {
  uint8_t *root = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
  uint8_t *to = small_cluster(image.ram.memory, cluster);
  memset(to, 5, 512);
  const uint32_t at = small_add(image.ram.memory, name, 0x20, 0, 0, 0, false);
  memcpy(to + 512 - 96, root + at, 96);
  memset(root + at, 0, 96);
}

/* Two directories of a damaged volume begin with one cluster. One continues by the FAT, the other without it. */
static void directories_of_one_first_cluster_are_told_apart(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 9);
  const uint32_t first = small_allocate(image.ram.memory, 2, 3);
  (void)small_allocate(image.ram.memory, 2, 1);
  memset(small_cluster(image.ram.memory, first), 5, 512);
  fill_second(first + 1, "here");
  fill_second(first + 3, "else");
  (void)small_add(image.ram.memory, "run", 0x10, first, 1024, 1024, true);
  (void)small_add(image.ram.memory, "fat", 0x10, first, 1024, 1024, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, "run/else", &entry), SPATE_E_NOT_FOUND);
  assert_int_equal(spate_exfat_stat(&image.volume, "fat/else", &entry), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, "fat/here", &entry), SPATE_E_NOT_FOUND);
  assert_int_equal(spate_exfat_stat(&image.volume, "run/here", &entry), SPATE_OK);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_remembered_changes_no_answer),
      cmocka_unit_test(names_of_one_hash_are_told_apart),
      cmocka_unit_test(damage_is_told_each_time),
      cmocka_unit_test(directories_of_one_first_cluster_are_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
