/* SPDX-License-Identifier: Apache-2.0 */
/* How far a clip of chunks may be extended, and which files are no longer the clip. */
#include "exfat_fixture.h"

#include <spate/chunk.h>
#include <sys/mman.h>

#define CHUNK    1536u /* three blocks: does not divide a cluster */
#define RESERVED UINT64_C(10240)

static const uint8_t identity[16] = "one stream only";
static const struct spate_exfat_chunks chunks = {.stream = "one stream only", .first_number = 5, .chunk_bytes = CHUNK};
static struct spate_exfat_clip clip;

static uint8_t *on_medium(uint64_t offset) { return image.ram.memory + (clip.first_lba << 9) + offset; }

/* Consecutive chunks, as many as begin in the reservation: the last may end behind it. */
static void write_chunks(uint64_t reserved_bytes) {
  for (uint32_t i = 0; i * (uint64_t)CHUNK < reserved_bytes; i++) {
    uint8_t chunk[CHUNK];
    memset(chunk, (int)(0x30 + i), sizeof chunk);
    spate_chunk_seal(chunk, identity, 5 + i, CHUNK);
    uint64_t room = image.ram.bytes - (uint64_t)(on_medium(i * (uint64_t)CHUNK) - image.ram.memory);
    memcpy(on_medium(i * (uint64_t)CHUNK), chunk, room < CHUNK ? (size_t)room : CHUNK);
  }
}

static void open_clip(uint64_t bytes, uint32_t cluster_shift) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, cluster_shift);
  image.config.salvage = spate_exfat_salvage;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm_chunks(&image.volume, &clip, "clip", bytes, &chunks), SPATE_OK);
}

/* The clusters past the reservation belong to another clip. */
static void a_chunk_that_ends_behind_the_reservation_is_not_salvaged(void **state) {
  (void)state;
  struct spate_exfat_clip next;
  struct spate_exfat_entry entry;
  open_clip(RESERVED, 10);
  assert_int_equal(spate_exfat_arm(&image.volume, &next, "next", 4096), SPATE_OK);
  assert_int_equal(next.first_cluster, clip.first_cluster + clip.clusters);
  write_chunks(RESERVED);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, "clip", &entry), SPATE_OK);
  assert_int_equal(entry.bytes, RESERVED / CHUNK * CHUNK);
  assert_whole(false);
  image_close(&image);
}

/* Nothing is read beyond the device's last block. */
static void a_reservation_may_end_with_the_device(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  for (unsigned less = 0; less < 3; less++) { /* in one of these cases the last chunk does not fit */
    open_clip(512, 9);
    uint32_t first = clip.first_cluster + 1;
    uint64_t bytes = ((uint64_t)image.volume.cluster_count + 2 - first - less) * 512;
    assert_int_equal(spate_exfat_close(&clip, 512), SPATE_OK);
    if (less > 0) put_file("filler", NULL, less * UINT64_C(512));
    assert_int_equal(spate_exfat_arm_chunks(&image.volume, &clip, "last", bytes, &chunks), SPATE_OK);
    assert_int_equal(clip.first_lba + bytes / 512, image.ram.block.blocks);
    write_chunks(bytes);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.salvaged_bytes, bytes / CHUNK * CHUNK);
    assert_int_equal(spate_exfat_stat(&image.volume, "last", &entry), SPATE_OK);
    assert_int_equal(entry.bytes, bytes / CHUNK * CHUNK);
    assert_whole(false);
    image_close(&image);
  }
}

/* The section's memory, and the longest request of the device: 4 GiB and more. Only what is used of it exists. */
static void a_section_may_have_four_gib(void **state) {
  (void)state;
  const size_t section_bytes = (size_t)4 << 30;
  struct spate_exfat_entry entry;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  image.ram.block.request_blocks_max = UINT32_MAX;
  image.config.salvage = spate_exfat_salvage;
  image.config.bitmap =
      mmap(NULL, section_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  image.config.bitmap_bytes = section_bytes;
  assert_ptr_not_equal(image.config.bitmap, MAP_FAILED);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm_chunks(&image.volume, &clip, "clip", RESERVED, &chunks), SPATE_OK);
  write_chunks(RESERVED);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.salvaged_bytes, RESERVED / CHUNK * CHUNK);
  assert_int_equal(spate_exfat_stat(&image.volume, "clip", &entry), SPATE_OK);
  assert_int_equal(entry.bytes, RESERVED / CHUNK * CHUNK);
  assert_whole(false);
  delete_file("clip");
  assert_whole(false);
  image_close(&image);
  assert_int_equal(munmap(image.config.bitmap, section_bytes), 0);
}

/* All of a chunk is read at once, if the section and the device allow it. */
static void a_chunk_may_have_more_than_65535_blocks(void **state) {
  (void)state;
  const size_t chunk_bytes = 32 * MIB;
  const struct spate_exfat_chunks large = {.stream = "one stream only", .chunk_bytes = (uint32_t)chunk_bytes};
  image_open(&image, 64 * MIB, 512, 0);
  small_format(image.ram.memory, 64 * MIB, 9, 16);
  image.ram.block.request_blocks_max = UINT32_MAX;
  image.config.salvage = spate_exfat_salvage;
  image.config.bitmap = mmap(NULL, chunk_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  image.config.bitmap_bytes = chunk_bytes;
  assert_ptr_not_equal(image.config.bitmap, MAP_FAILED);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm_chunks(&image.volume, &clip, "clip", chunk_bytes, &large), SPATE_OK);
  spate_chunk_seal(on_medium(0), identity, 0, (uint32_t)chunk_bytes);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.salvaged_bytes, chunk_bytes);
  image_close(&image);
  assert_int_equal(munmap(image.config.bitmap, chunk_bytes), 0);
}

/* ---- changes that a PC may have made to the clip's entry ---- */

static void keep(uint8_t *set) { (void)set; }
static void move(uint8_t *set) { spate_put32(set + 52, clip.first_cluster + 200); }
static void link_by_the_fat(uint8_t *set) {
  uint8_t *fat = image.ram.memory + ((size_t)spate_get32(image.ram.memory + 80) << 9);
  for (uint32_t i = 0; i < 3; i++)
    spate_put32(fat + 4 * (size_t)(clip.first_cluster + i), i < 2 ? clip.first_cluster + i + 1 : UINT32_MAX);
  set[33] = 1;
}
static void lengthen(uint8_t *set) {
  spate_put64(set + 40, RESERVED / CHUNK * CHUNK + CHUNK);
  spate_put64(set + 56, RESERVED / CHUNK * CHUNK + CHUNK);
}
static void call_otherwise(uint8_t *set) { set[36] ^= 1; }
static void make_a_directory(uint8_t *set) { set[4] |= 0x10; }
static void add_an_entry(uint8_t *set) {
  set[1]++;
  set[96] = 0xe0;
}

static void what_is_not_the_clip_is_not_extended(void **state) {
  (void)state;
  static void (*const changes[])(uint8_t *) = {
      keep, move, link_by_the_fat, lengthen, call_otherwise, make_a_directory, add_an_entry};
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    open_clip(RESERVED, 10);
    write_chunks(RESERVED);
    assert_int_equal(image_publish(&image.ram.block, &clip, UINT64_C(2) * CHUNK), SPATE_OK);
    uint8_t *set = image.ram.memory + (clip.block->lba << 9) + clip.entry_offset;
    changes[i](set);
    small_seal(set);
    uint8_t before[32];
    memcpy(before, set + 32, sizeof before);
    assert_int_equal(image_mount(&image), SPATE_OK);
    if (image.found.salvaged_bytes != (i == 0 ? (RESERVED / CHUNK - 2) * CHUNK : 0)) fail_msg("change %zu", i);
    if (i > 0) assert_memory_equal(set + 32, before, sizeof before);
    image_close(&image);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_chunk_that_ends_behind_the_reservation_is_not_salvaged),
      cmocka_unit_test(a_reservation_may_end_with_the_device),
      cmocka_unit_test(a_section_may_have_four_gib),
      cmocka_unit_test(a_chunk_may_have_more_than_65535_blocks),
      cmocka_unit_test(what_is_not_the_clip_is_not_extended),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
