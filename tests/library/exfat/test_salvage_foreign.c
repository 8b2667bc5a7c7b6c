/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody else had the volume between the cut and the mount, and left it marked dirty. A clip is extended only if the
 * tree has its entry set, and if nobody owns the clusters that it would get. */
#include "foreign_fixture.h"

#include <spate/chunk.h>

#define CHUNK    1536u
#define RESERVED UINT64_C(10240)

static const uint8_t identity[16] = "one stream only";
static const struct spate_exfat_chunks chunks = {.stream = "one stream only", .first_number = 5, .chunk_bytes = CHUNK};

/* Chunks of a clip that reached the media, more than were published. */
static void write_chunks(const struct spate_exfat_clip *clip) {
  for (uint32_t i = 0; i < RESERVED / CHUNK; i++) {
    uint8_t *chunk = memory() + (clip->first_lba << 9) + (size_t)i * CHUNK;
    memset(chunk, (int)(0x30 + i), CHUNK);
    spate_chunk_seal(chunk, identity, 5 + i, CHUNK);
  }
}

static void open_clip(struct spate_exfat_clip *clip, const char *path) {
  image.config.salvage = spate_exfat_salvage;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm_chunks(&image.volume, clip, path, RESERVED, &chunks), SPATE_OK);
  write_chunks(clip);
  assert_int_equal(image_publish(&image.ram.block, clip, UINT64_C(2) * CHUNK), SPATE_OK);
  host_starts_again(&image.ram.block);
}

/* A PC has preallocated a file over the end of the reservation: its length, and nothing written. The chunks can still
 * be read there. */
static void a_foreign_owner_of_the_reservation_is_not_joined(void **state) {
  (void)state;
  for (uint32_t at = 3; at < 9; at++) {
    struct spate_exfat_clip clip;
    struct spate_exfat_entry entry;
    open_small();
    open_clip(&clip, "clip");
    small_add(memory(), "VIDEO", 0x20, clip.first_cluster + at, CLUSTER, 0, true);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.salvaged_bytes, 0);
    assert_int_equal(spate_exfat_stat(&image.volume, "clip", &entry), SPATE_OK);
    assert_int_equal(entry.bytes, 2 * CHUNK);
    assert_whole(false);
    image_close(&image);
  }
}

/* A PC deleted the clip's folder, and a file has its cluster: the folder's contents are the file's now. */
static void a_set_outside_the_tree_is_not_written(void **state) {
  (void)state;
  for (unsigned owned = 0; owned < 2; owned++) {
    struct spate_exfat_clip clip;
    uint8_t before[CLUSTER];
    open_small();
    open_clip(&clip, "d/clip");
    const uint32_t folder = delete_folder("d");
    memcpy(before, cluster_at(folder), CLUSTER);
    if (owned) add_file(folder, true);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_memory_equal(cluster_at(folder), before, CLUSTER);
    assert_int_equal(image.found.salvaged_bytes, 0);
    assert_int_equal(image.found.reclaimed_bytes, RESERVED);
    assert_whole(false);
    check_resolved();
    image_close(&image);
  }
}

/* ---- the set is where the tree has it ---- */

enum change { SAME, SHORTER, ANOTHER };

/* The directory's second cluster is elsewhere now. What was recorded still has the clip's set, and no owner. The clip
 * is extended where the tree has it, and only if that is the same set. */
static void the_set_of_the_tree_is_written(void **state) {
  (void)state;
  for (enum change change = SAME; change <= ANOTHER; change++) {
    struct spate_exfat_clip clip;
    uint8_t before[CLUSTER];
    const uint32_t folder = open_long_folder();
    open_clip(&clip, "folder/clip");
    const uint32_t moved = replace_second_cluster(folder);
    uint8_t *set = cluster_at(moved);
    memcpy(before, cluster_at(folder + 1), CLUSTER);
    if (change == SHORTER) { /* the PC has given the cluster past the new end to another file */
      spate_put64(set + 40, CHUNK);
      spate_put64(set + 56, CHUNK);
      mark(clip.first_cluster + 2, false);
      add_file(clip.first_cluster + 2, true);
    }
    if (change == ANOTHER) set[36] ^= 1; /* the hash of its name */
    small_seal(set);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.salvaged_bytes, change == SAME ? (RESERVED / CHUNK - 2) * CHUNK : 0);
    assert_int_equal(spate_get64(set + 56), change == SAME      ? RESERVED / CHUNK * CHUNK
                                            : change == SHORTER ? CHUNK
                                                                : 2 * CHUNK);
    assert_memory_equal(cluster_at(folder + 1), before, CLUSTER);
    check_resolved();
    image_close(&image);
  }
}

/* A PC freed the clusters of an empty clip, and the next clip got the same ones. Both may have the chunks. */
static void two_clips_do_not_get_the_same_clusters(void **state) {
  (void)state;
  struct spate_exfat_clip a;
  struct spate_exfat_clip b;
  open_small();
  image.config.salvage = spate_exfat_salvage;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm_chunks(&image.volume, &a, "a", RESERVED, &chunks), SPATE_OK);
  host_starts_again(&image.ram.block);
  for (uint32_t i = 0; i < a.clusters; i++)
    mark(a.first_cluster + i, false);
  assert_int_equal(spate_exfat_mount_own(&image.volume, &image.config, &image.found), SPATE_OK);
  assert_int_equal(spate_exfat_arm_chunks(&image.volume, &b, "b", RESERVED, &chunks), SPATE_OK);
  assert_int_equal(b.first_cluster, a.first_cluster);
  write_chunks(&b);
  host_starts_again(&image.ram.block);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.salvaged_bytes, RESERVED / CHUNK * CHUNK);
  assert_whole(false);
  image_close(&image);
}

/* A PC has ended the directory before the clip's set, so that nobody sees it. */
static void a_set_behind_the_end_is_not_written(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  uint8_t before[CLUSTER];
  open_small();
  put_file("d/before", NULL, 0);
  open_clip(&clip, "d/clip");
  uint8_t *entries = cluster_at(first_of("d"));
  entries[0] = 0;
  memcpy(before, entries, CLUSTER);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.salvaged_bytes, 0);
  assert_memory_equal(entries, before, CLUSTER);
  check_resolved();
  image_close(&image);
}

/* ---- the tree ---- */

/* While a part of the tree cannot be read, the clusters may have an owner. */
static void salvage_needs_the_tree(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct spate_exfat_entry entry;
  open_small();
  uint8_t *set = set_of("d");
  open_clip(&clip, "clip");
  set[2] ^= 1;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.salvaged_bytes, 0);
  assert_int_equal(spate_exfat_stat(&image.volume, "clip", &entry), SPATE_OK);
  assert_int_equal(entry.bytes, 2 * CHUNK);
  set[2] ^= 1;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.salvaged_bytes, (RESERVED / CHUNK - 2) * CHUNK);
  assert_whole(false);
  image_close(&image);
}

/* A deletion was cut, too: what is left of its set is no damage. */
static void what_is_left_of_a_set_does_not_prevent_salvage(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  char path[300] = "d/";
  memset(path + 2, 'x', 255);
  open_small();
  put_file("file", NULL, 0);
  assert_int_equal(spate_exfat_rename(&image.volume, "file", path), SPATE_OK);
  open_clip(&clip, "clip");
  assert_int_equal(spate_exfat_mount_own(&image.volume, &image.config, &image.found), SPATE_OK);
  stop_at_write(first_of("d"), 1);
  assert_int_equal(spate_exfat_delete(&image.volume, path), SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
  host_starts_again(&image.ram.block);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reservations, 2);
  assert_int_equal(image.found.salvaged_bytes, (RESERVED / CHUNK - 2) * CHUNK);
  assert_whole(false);
  image_close(&image);
}

/* ---- walks ---- */

/* Two clips in different sections, both of which can be extended. A file of others has a cluster past the published
 * length of one of them. Each section is looked at. */
static void clusters_in_two_sections_are_looked_at(void **state) {
  (void)state;
  for (unsigned owned = 0; owned < 3; owned++) { /* in none, the lower or the higher one */
    const uint64_t gain = (RESERVED / CHUNK - 2) * CHUNK;
    struct spate_exfat_clip low;
    struct spate_exfat_clip high;
    image_open(&image, 64 * MIB, 512, 0);
    small_format(memory(), 64 * MIB, 9, 10);
    image.config.bitmap_bytes = 4096;
    image.config.salvage = spate_exfat_salvage;
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(spate_exfat_arm_chunks(&image.volume, &low, "low", RESERVED, &chunks), SPATE_OK);
    put_file("between", NULL, 40 * MIB); /* a section has 32 */
    assert_int_equal(spate_exfat_arm_chunks(&image.volume, &high, "high", RESERVED, &chunks), SPATE_OK);
    write_chunks(&low);
    write_chunks(&high);
    assert_int_equal(image_publish(&image.ram.block, &low, UINT64_C(2) * CHUNK), SPATE_OK);
    assert_int_equal(image_publish(&image.ram.block, &high, UINT64_C(2) * CHUNK), SPATE_OK);
    host_starts_again(&image.ram.block);
    memset(image.bitmap + 4096, 0x5a, 4096); /* behind the section's memory */
    if (owned > 0) small_add(memory(), "VIDEO", 0x20, (owned == 1 ? &low : &high)->first_cluster + 4, CLUSTER, 0, true);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.salvaged_bytes, owned == 0 ? 2 * gain : gain);
    assert_whole(false);
    const struct oracle_file *file = oracle_find(&oracle, owned == 1 ? "low" : "high");
    assert_int_equal(file->bytes, 2 * CHUNK + (owned == 0 ? gain : 0));
    for (unsigned i = 4096; i < 8192; i++)
      assert_int_equal(image.bitmap[i], 0x5a);
    image_close(&image);
  }
}

/* The tree is read once for the reservation, and once more only if something would be gained. */
static void a_gain_costs_one_walk(void **state) {
  (void)state;
  uint64_t reads[3];
  for (unsigned kind = 0; kind < 3; kind++) { /* without salvage, without a gain, with a gain */
    struct spate_exfat_clip clip;
    char path[32];
    open_small();
    for (unsigned i = 0; i < 60; i++) {
      (void)snprintf(path, sizeof path, "d/%u", i);
      assert_int_equal(spate_exfat_mkdir(&image.volume, path), SPATE_OK);
    }
    open_clip(&clip, "clip");
    if (kind == 0) image.config.salvage = NULL;
    if (kind == 1) memset(memory() + (clip.first_lba << 9) + UINT64_C(2) * CHUNK, 0, CHUNK);
    ram_block_clear_log(&image.ram);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.salvaged_bytes > 0, kind == 2);
    reads[kind] = image.ram.count[SPATE_READ];
    image_close(&image);
  }
  assert_in_range(reads[1], reads[0], reads[0] + 10);
  assert_in_range(reads[2], reads[0] + 60, reads[0] + 130);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_foreign_owner_of_the_reservation_is_not_joined),
      cmocka_unit_test(a_set_outside_the_tree_is_not_written),
      cmocka_unit_test(the_set_of_the_tree_is_written),
      cmocka_unit_test(a_set_behind_the_end_is_not_written),
      cmocka_unit_test(two_clips_do_not_get_the_same_clusters),
      cmocka_unit_test(salvage_needs_the_tree),
      cmocka_unit_test(what_is_left_of_a_set_does_not_prevent_salvage),
      cmocka_unit_test(clusters_in_two_sections_are_looked_at),
      cmocka_unit_test(a_gain_costs_one_walk),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
