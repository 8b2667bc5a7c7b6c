/* SPDX-License-Identifier: Apache-2.0 */
/* A power cut during a recording of chunks: mount adds the intact chunks after the last checkpoint to the file, up to
 * the first gap, and nothing else. */
#include "exfat_image.h"

#include <spate/bytes.h>
#include <spate/chunk.h>
#include <spate/exfat.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB          (UINT64_C(1) << 20)
#define CHUNK        12288u /* does not divide a cluster */
#define CACHE_BYTES  (16u * 4096u)
#define BITMAP_BYTES 4096u /* smaller than a chunk, so that its CRC takes several reads */

static const uint8_t identity[16] = "one stream only";

struct fixture {
  struct ram_block ram;
  struct spate_exfat volume;
  struct spate_exfat_config config;
  struct spate_exfat_block blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX];
  struct spate_exfat_clip clip;
  struct spate_exfat_mounted found;
  uint8_t sent[64 * CHUNK];
};

static void must_be(enum spate_error got, enum spate_error wanted, int line) {
  if (got != wanted) fail_msg("line %d: %s instead of %s", line, spate_error_name(got), spate_error_name(wanted));
}
#define OK(call)            must_be(call, SPATE_OK, __LINE__)
#define GIVES(wanted, call) must_be(call, wanted, __LINE__)

/* Somebody else's memory. */
static uint8_t *behind_section(const struct fixture *fixture) {
  return (uint8_t *)fixture->config.bitmap + BITMAP_BYTES;
}

static struct fixture *open_fixture(uint32_t block_bytes) {
  struct fixture *fixture = calloc(1, sizeof *fixture);

  assert_non_null(fixture);
  ram_block_open(&fixture->ram, 64 * MIB / block_bytes, block_bytes);
  fixture->config = (struct spate_exfat_config){.block = &fixture->ram.block,
                                                .blocks = fixture->ram.block.blocks,
                                                .cache = aligned_alloc(4096, CACHE_BYTES),
                                                .cache_bytes = CACHE_BYTES,
                                                .cache_blocks = fixture->blocks,
                                                .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
                                                .bitmap = aligned_alloc(4096, BITMAP_BYTES + CHUNK),
                                                .bitmap_bytes = BITMAP_BYTES,
                                                .salvage = spate_exfat_salvage};
  struct spate_exfat_format format = {.serial = 1, .cluster_bytes = 1u << 20};
  memset(behind_section(fixture), 0xa5, CHUNK);
  OK(spate_exfat_format(&fixture->config, &format));
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  return fixture;
}

static void close_fixture(struct fixture *fixture) {
  for (uint32_t i = 0; i < CHUNK; i++)
    assert_int_equal(behind_section(fixture)[i], 0xa5);
  ram_block_close(&fixture->ram);
  free(fixture->config.cache);
  free(fixture->config.bitmap);
  free(fixture);
}

static uint8_t *on_medium(struct fixture *fixture, uint32_t chunk) {
  return fixture->ram.memory + (fixture->clip.first_lba << fixture->ram.block.block_shift) + (size_t)chunk * CHUNK;
}

/* Chunk `index` of the clip reaches the media, with sequence number `number` and a length of `bytes`. */
static void write_chunk(struct fixture *fixture, uint32_t index, uint64_t number, uint32_t bytes) {
  uint8_t *chunk = fixture->sent + (size_t)index * CHUNK;

  for (uint32_t i = 0; i < CHUNK; i++)
    chunk[i] = (uint8_t)(i * 31u + number * 7u);
  spate_chunk_seal(chunk, identity, number, bytes);
  memcpy(on_medium(fixture, index), chunk, CHUNK);
}

/* The first `count` chunks of the clip reach the media, numbered from `first_number` on. */
static void write_chunks(struct fixture *fixture, uint32_t count, uint64_t first_number) {
  for (uint32_t i = 0; i < count; i++)
    write_chunk(fixture, i, first_number + i, CHUNK);
}

/* The same with data of zeros, for more chunks than `sent` has room for. */
static void write_zero_chunks(struct fixture *fixture, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint8_t chunk[CHUNK] = {0};
    spate_chunk_seal(chunk, identity, i, CHUNK);
    memcpy(on_medium(fixture, i), chunk, CHUNK);
  }
}

static void arm(struct fixture *fixture, const char *path, uint64_t first_number) {
  struct spate_exfat_chunks chunks = {.chunk_bytes = CHUNK, .first_number = first_number};

  memcpy(chunks.stream, identity, sizeof identity);
  OK(spate_exfat_arm_chunks(&fixture->volume, &fixture->clip, path, 2 * MIB, &chunks));
}

static void publish(struct fixture *fixture, uint64_t bytes) {
  OK(image_publish(&fixture->ram.block, &fixture->clip, bytes));
}

/* The first `count` chunks of A.RAW are on the media, and none is published. */
static struct fixture *open_with_chunks(uint32_t count) {
  struct fixture *fixture = open_fixture(512);

  arm(fixture, "A.RAW", 0);
  write_chunks(fixture, count, 0);
  return fixture;
}

/* The host loses power and mounts the media again. */
static void cut_and_mount(struct fixture *fixture) {
  ram_block_drop_pending(&fixture->ram);
  host_starts_again(&fixture->ram.block);
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, &fixture->found));
}

static void file_has(struct fixture *fixture, const char *path, uint64_t bytes) {
  struct spate_exfat_file file;
  static uint8_t got[sizeof fixture->sent];
  size_t got_bytes = 0;

  OK(spate_exfat_open(&fixture->volume, path, &file));
  assert_int_equal(file.bytes, bytes);
  OK(spate_exfat_read(&file, 0, got, sizeof got, &got_bytes));
  assert_int_equal(got_bytes, bytes);
  assert_memory_equal(got, fixture->sent, bytes);
}

static void length_is(struct fixture *fixture, const char *path, uint64_t bytes) {
  struct spate_exfat_entry entry;

  OK(spate_exfat_stat(&fixture->volume, path, &entry));
  assert_int_equal(entry.bytes, bytes);
}

/* Only the clusters of A.RAW's length are allocated: its deletion frees as many, and leaves the volume clean. */
static void rest_is_free(struct fixture *fixture, uint64_t bytes) {
  struct spate_exfat_info info;
  uint64_t used = (bytes + MIB - 1) / MIB * MIB;
  uint64_t before = 0;

  OK(spate_exfat_info(&fixture->volume, &info));
  OK(spate_exfat_delete(&fixture->volume, "A.RAW"));
  before = info.free_bytes;
  OK(spate_exfat_info(&fixture->volume, &info));
  assert_int_equal(info.free_bytes, before + used);
  OK(spate_exfat_unmount(&fixture->volume));
  GIVES(SPATE_OK, spate_exfat_mount(&fixture->volume, &fixture->config, &fixture->found));
  assert_false(fixture->found.dirty);
}

static void chunks_up_to_the_first_gap_are_salvaged(void **state) {
  (void)state;
  for (unsigned large = 0; large < 2; large++) {
    struct fixture *fixture = open_fixture(large ? 4096 : 512);
    arm(fixture, "A.RAW", 100);
    for (uint32_t i = 0; i < 10; i++)
      if (i != 7) write_chunk(fixture, i, 100 + i, CHUNK);
    publish(fixture, 3 * CHUNK);
    cut_and_mount(fixture);
    assert_int_equal(fixture->found.salvaged_bytes, 4 * CHUNK);
    file_has(fixture, "A.RAW", 7 * CHUNK);
    rest_is_free(fixture, 7 * CHUNK);
    close_fixture(fixture);
  }
}

static void chunks_before_the_first_checkpoint_are_salvaged(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512);

  arm(fixture, "A.RAW", 5);
  write_chunks(fixture, 4, 5);
  cut_and_mount(fixture);
  file_has(fixture, "A.RAW", 4 * CHUNK);
  rest_is_free(fixture, 4 * CHUNK);
  close_fixture(fixture);
}

static void a_short_last_chunk_ends_the_clip(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512);

  arm(fixture, "A.RAW", 0);
  write_chunk(fixture, 0, 0, CHUNK);
  write_chunk(fixture, 1, 1, 4096);
  spate_chunk_seal(on_medium(fixture, 1) + 4096, identity, 2, 4096); /* no chunk follows a short one */
  cut_and_mount(fixture);
  file_has(fixture, "A.RAW", CHUNK + 4096);
  close_fixture(fixture);
}

static void a_published_short_chunk_is_the_end(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512);

  arm(fixture, "A.RAW", 0);
  write_chunk(fixture, 0, 0, CHUNK);
  write_chunk(fixture, 1, 1, 5000);
  publish(fixture, CHUNK + 5000);
  write_chunk(fixture, 2, 2, CHUNK);
  cut_and_mount(fixture);
  assert_int_equal(fixture->found.salvaged_bytes, 0);
  file_has(fixture, "A.RAW", CHUNK + 5000);
  close_fixture(fixture);
}

/* The header's block was written; the block that contains byte `at` was not. */
static void torn(uint32_t at) {
  struct fixture *fixture = open_with_chunks(5);

  memset(on_medium(fixture, 3) + at, 0, 512);
  publish(fixture, CHUNK);
  cut_and_mount(fixture);
  file_has(fixture, "A.RAW", 3 * CHUNK);
  close_fixture(fixture);
}

static void a_torn_chunk_is_not_salvaged(void **state) {
  (void)state;
  torn(512);
  torn(4096);
  torn(CHUNK - 512);
}

static void chunks_of_other_recordings_are_not_salvaged(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512);

  /* An earlier clip of the same stream, whose chunks have lower numbers. */
  arm(fixture, "A.RAW", 40);
  write_chunks(fixture, 6, 30);
  cut_and_mount(fixture);
  file_has(fixture, "A.RAW", 0);
  OK(spate_exfat_delete(&fixture->volume, "A.RAW"));

  arm(fixture, "A.RAW", 40);
  write_chunks(fixture, 6, 40);
  on_medium(fixture, 2)[8] ^= 1; /* another stream, with a header that is intact */
  struct spate_chunk_header header;
  assert_false(spate_chunk_header_get(on_medium(fixture, 2), &header));
  spate_put32(on_medium(fixture, 2) + 60, spate_crc32c(0, on_medium(fixture, 2), 60));
  assert_true(spate_chunk_header_get(on_medium(fixture, 2), &header));
  cut_and_mount(fixture);
  file_has(fixture, "A.RAW", 2 * CHUNK);
  close_fixture(fixture);
}

static void a_chunk_out_of_sequence_is_a_gap(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512);

  arm(fixture, "A.RAW", 0);
  for (uint32_t i = 0; i < 6; i++)
    write_chunk(fixture, i, i < 3 ? i : i + 1, CHUNK);
  cut_and_mount(fixture);
  file_has(fixture, "A.RAW", 3 * CHUNK);
  close_fixture(fixture);
}

static void a_full_reservation_is_not_overrun(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512);

  arm(fixture, "A.RAW", 0);
  uint64_t reserved = fixture->clip.reserved_bytes;
  write_zero_chunks(fixture, (uint32_t)(reserved / CHUNK) + 1); /* one beyond the reservation */
  cut_and_mount(fixture);
  length_is(fixture, "A.RAW", reserved / CHUNK * CHUNK);
  close_fixture(fixture);
}

/* The last chunk ends with the reservation. */
static void a_reservation_is_filled_to_its_end(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512);
  struct spate_exfat_chunks chunks = {.chunk_bytes = 16384};

  memcpy(chunks.stream, identity, sizeof identity);
  OK(spate_exfat_arm_chunks(&fixture->volume, &fixture->clip, "A.RAW", 2 * MIB, &chunks));
  for (uint32_t i = 0; i < 2 * MIB / 16384; i++)
    spate_chunk_seal(fixture->ram.memory + (fixture->clip.first_lba << 9) + (size_t)i * 16384, identity, i, 16384);
  cut_and_mount(fixture);
  assert_int_equal(fixture->found.salvaged_bytes, 2 * MIB);
  length_is(fixture, "A.RAW", 2 * MIB);
  close_fixture(fixture);
}

/* The source had lost pieces before the first one of the clip: its numbers continue from there. */
static void a_clip_may_begin_with_a_later_number(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512);

  arm(fixture, "A.RAW", 5);
  write_chunks(fixture, 4, 8);
  cut_and_mount(fixture);
  file_has(fixture, "A.RAW", 4 * CHUNK);
  close_fixture(fixture);
}

/* A PC deleted the empty clip and made an empty file in its place: this file is not the clip. */
static void another_file_in_the_clips_place_is_not_changed(void **state) {
  (void)state;
  struct fixture *fixture = open_with_chunks(6);

  uint8_t *set = fixture->ram.memory + (fixture->clip.block->lba << 9) + fixture->clip.entry_offset;
  uint16_t sum = 0;
  set[36] ^= 1; /* the hash of another name */
  for (unsigned i = 0; i < 3 * 32; i++)
    if (i != 2 && i != 3) sum = (uint16_t)((sum << 15 | sum >> 1) + set[i]);
  spate_put16(set + 2, sum);
  cut_and_mount(fixture);
  assert_int_equal(fixture->found.salvaged_bytes, 0);
  assert_int_equal(fixture->found.reclaimed_bytes, 2 * MIB);
  close_fixture(fixture);
}

static void without_salvage_the_file_ends_at_the_last_checkpoint(void **state) {
  (void)state;
  struct fixture *fixture = open_with_chunks(6);

  fixture->config.salvage = NULL;
  publish(fixture, 2 * CHUNK);
  cut_and_mount(fixture);
  file_has(fixture, "A.RAW", 2 * CHUNK);
  close_fixture(fixture);
}

/* A PC has repaired the volume and marked it clean: other files may own the clusters now. */
static void a_volume_that_was_marked_clean_is_not_changed(void **state) {
  (void)state;
  struct fixture *fixture = open_with_chunks(6);

  publish(fixture, 2 * CHUNK);
  fixture->ram.memory[106] &= (uint8_t)~2u; /* VolumeFlags: VolumeDirty */
  cut_and_mount(fixture);
  assert_int_equal(fixture->found.salvaged_bytes, 0);
  file_has(fixture, "A.RAW", 2 * CHUNK);
  close_fixture(fixture);
}

/* The same, and a program without recovery records on the volume before the next mount, which makes it dirty again. Or
 * recovery fails first. Two files must not get one cluster: the PC has freed the second cluster of the clip, and the
 * next clip has it. */
static void a_clean_volume_stays_unsalvaged_when_it_is_dirty_again(void **state) {
  (void)state;
  for (unsigned own = 0; own < 2; own++) {
    struct fixture *fixture = open_fixture(512);
    struct spate_exfat_clip next;
    uint8_t *bitmap = fixture->ram.memory + (fixture->volume.heap_lba << 9);
    OK(spate_exfat_arm(&fixture->volume, &next, "OTHER.RAW", 1));
    uint8_t *damaged = fixture->ram.memory + (next.block->lba << 9) + next.entry_offset + 36;
    OK(spate_exfat_close(&next, 0));
    arm(fixture, "A.RAW", 0);
    write_zero_chunks(fixture, 120); /* into the second cluster */
    publish(fixture, 80 * CHUNK);
    ram_block_drop_pending(&fixture->ram);
    const uint32_t second = fixture->clip.first_cluster + 1u - 2u;
    bitmap[second / 8u] &= (uint8_t) ~(1u << (second & 7u));
    fixture->ram.memory[106] &= (uint8_t)~2u;
    host_starts_again(&fixture->ram.block);
    if (own) {
      OK(spate_exfat_mount_own(&fixture->volume, &fixture->config, &fixture->found));
    } else {
      *damaged ^= 1; /* recovery cannot know the owners of all clusters */
      OK(spate_exfat_mount(&fixture->volume, &fixture->config, &fixture->found));
      *damaged ^= 1;
    }
    OK(spate_exfat_arm(&fixture->volume, &next, "NEXT.RAW", MIB));
    assert_int_equal(next.first_cluster, second + 2u);
    OK(spate_exfat_close(&next, MIB));
    GIVES(SPATE_E_CORRUPT, spate_exfat_unmount(&fixture->volume));
    cut_and_mount(fixture);
    assert_true(fixture->found.dirty);
    assert_int_equal(fixture->found.salvaged_bytes, 0);
    length_is(fixture, "A.RAW", 80 * CHUNK);
    close_fixture(fixture);
  }
}

static void fail_reads(struct fixture *fixture, uint32_t chunk, enum spate_error error) {
  uint64_t bad_lba = fixture->clip.first_lba + (uint64_t)chunk * CHUNK / 512u + 3u;
  ram_block_fault(
      &fixture->ram,
      (struct ram_fault){
          .ops = RAM_OP(SPATE_READ), .first_lba = bad_lba, .last_lba = bad_lba, .times = RAM_ALWAYS, .error = error});
}

static void a_clip_that_a_timeout_left_is_salvaged_by_the_next_mount(void **state) {
  (void)state;
  struct fixture *fixture = open_with_chunks(6);

  publish(fixture, 2 * CHUNK);
  fail_reads(fixture, 4, SPATE_E_TIMEOUT);
  cut_and_mount(fixture);
  file_has(fixture, "A.RAW", 2 * CHUNK);
  ram_block_clear_faults(&fixture->ram);
  cut_and_mount(fixture);
  file_has(fixture, "A.RAW", 6 * CHUNK);
  close_fixture(fixture);
}

/* The power cut left a block that the drive cannot read. The volume must remain usable. */
static void a_block_that_cannot_be_read_is_a_gap(void **state) {
  (void)state;
  struct fixture *fixture = open_with_chunks(6);

  publish(fixture, 2 * CHUNK);
  fail_reads(fixture, 4, SPATE_E_MEDIA);
  cut_and_mount(fixture);
  file_has(fixture, "A.RAW", 4 * CHUNK);
  arm(fixture, "B.RAW", 6);
  OK(spate_exfat_close(&fixture->clip, 0));
  ram_block_clear_faults(&fixture->ram);
  close_fixture(fixture);
}

/* A PC truncated the file and freed its clusters. The volume is still marked dirty. */
static void freed_clusters_are_not_allocated_again(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512);

  arm(fixture, "A.RAW", 0);
  write_zero_chunks(fixture, 120); /* into the second cluster */
  publish(fixture, 2 * CHUNK);
  uint8_t *bitmap = fixture->ram.memory + (fixture->volume.heap_lba << 9);
  uint32_t second = fixture->clip.first_cluster + 1u - 2u;
  bitmap[second / 8u] &= (uint8_t) ~(1u << (second & 7u));
  cut_and_mount(fixture);
  length_is(fixture, "A.RAW", MIB / CHUNK * CHUNK);
  close_fixture(fixture);
}

static void crc32c_has_the_published_values(void **state) {
  (void)state;
  uint8_t bytes[32];

  assert_int_equal(spate_crc32c(0, "123456789", 9), 0xe3069283); /* the check value of CRC-32C in CRC catalogues */
  memset(bytes, 0xff, sizeof bytes);
  assert_int_equal(spate_crc32c(0, bytes, 32), 0x62a8ab43); /* RFC 3720, B.4 */
  assert_int_equal(spate_crc32c(spate_crc32c(0, bytes, 5), bytes + 5, 27), 0x62a8ab43);
}

static void a_header_holds_the_time_that_was_set(void **state) {
  uint8_t piece[CHUNK] = {1};
  struct spate_chunk_header header;

  spate_chunk_seal(piece, identity, 7, sizeof piece);
  assert_true(spate_chunk_header_get(piece, &header));
  assert_int_equal(header.time_ns, 0);
  spate_chunk_stamp(piece, UINT64_C(0x0123456789abcdef));
  assert_true(spate_chunk_header_get(piece, &header)); /* the header's own CRC covers the time */
  assert_int_equal(header.time_ns, UINT64_C(0x0123456789abcdef));
  assert_int_equal(header.number, 7);
  piece[48] ^= 1;
  assert_false(spate_chunk_header_get(piece, &header));
  (void)state;
}

static const struct spate_block_ops *inner;
static unsigned polls;

/* A mount that never ends would stop the machine: so ends the program. */
static unsigned poll_not_for_ever(struct spate_block *block, unsigned max) {
  if (++polls == 50000) abort();
  return inner->poll(block, max);
}

/* The directory does not fit into the cache: each walk through the tree reads it. */
static void few_walks_are_enough(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512);
  char name[] = "f00";
  for (unsigned i = 0; i < 40; i++) {
    name[1] = (char)('0' + i / 10);
    name[2] = (char)('0' + i % 10);
    OK(spate_exfat_arm(&fixture->volume, &fixture->clip, name, 1));
    OK(spate_exfat_close(&fixture->clip, 0));
  }
  arm(fixture, "A.RAW", 0);
  write_chunks(fixture, 3, 0);
  inner = fixture->ram.block.ops;
  const struct spate_block_ops ops = {inner->submit, inner->kick, poll_not_for_ever};
  fixture->ram.block.ops = &ops;
  fixture->config.cache_bytes = (SPATE_EXFAT_CACHE_BLOCKS_MIN + 1u) * 512u;
  cut_and_mount(fixture);
  assert_int_equal(fixture->found.salvaged_bytes, 3 * CHUNK);
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_walks_are_enough),
      cmocka_unit_test(chunks_up_to_the_first_gap_are_salvaged),
      cmocka_unit_test(a_header_holds_the_time_that_was_set),
      cmocka_unit_test(chunks_before_the_first_checkpoint_are_salvaged),
      cmocka_unit_test(a_short_last_chunk_ends_the_clip),
      cmocka_unit_test(a_published_short_chunk_is_the_end),
      cmocka_unit_test(a_torn_chunk_is_not_salvaged),
      cmocka_unit_test(chunks_of_other_recordings_are_not_salvaged),
      cmocka_unit_test(a_chunk_out_of_sequence_is_a_gap),
      cmocka_unit_test(a_full_reservation_is_not_overrun),
      cmocka_unit_test(a_reservation_is_filled_to_its_end),
      cmocka_unit_test(a_clip_may_begin_with_a_later_number),
      cmocka_unit_test(another_file_in_the_clips_place_is_not_changed),
      cmocka_unit_test(without_salvage_the_file_ends_at_the_last_checkpoint),
      cmocka_unit_test(a_volume_that_was_marked_clean_is_not_changed),
      cmocka_unit_test(a_clean_volume_stays_unsalvaged_when_it_is_dirty_again),
      cmocka_unit_test(a_clip_that_a_timeout_left_is_salvaged_by_the_next_mount),
      cmocka_unit_test(a_block_that_cannot_be_read_is_a_gap),
      cmocka_unit_test(freed_clusters_are_not_allocated_again),
      cmocka_unit_test(crc32c_has_the_published_values),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
