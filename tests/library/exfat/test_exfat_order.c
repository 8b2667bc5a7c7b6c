/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests an operation sends, and in which order; publishing beside other operations. */
#include "order_fixture.h"

/* After format: cluster 2 is the bitmap, 3 the up-case table, 4 the root directory, 5 the record. */
static const char *place(uint64_t lba) {
  if (lba == image.config.first_lba) return "boot";
  if (lba < image.volume.heap_lba) return "fat";
  if (lba < lba_of(3)) return "bitmap";
  if (lba >= lba_of(4) && lba < lba_of(5)) return "root";
  if (lba >= lba_of(5) && lba < lba_of(6)) return "record";
  return lba < lba_of(7) ? "first" : "data";
}

/* The requests that change something, with "!" for FUA. Each is submitted when the one before has completed. */
static const char *requests(void) {
  static char text[1024];
  static const char *const operations[] = {"", "", "flush", "trim ", "zero "};
  uint64_t completed = 0;
  size_t at = 0;
  text[0] = '\0';
  for (size_t i = 0; i < image.ram.log_count; i++) {
    const struct ram_log_entry *entry = &image.ram.log[i];
    if (entry->op == SPATE_READ) continue;
    assert_true(entry->submitted_at > completed);
    completed = entry->completed_at;
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s%s%s", at ? ", " : "", operations[entry->op],
                           entry->op == SPATE_FLUSH ? "" : place(entry->lba), entry->flags & SPATE_IO_FUA ? "!" : "");
  }
  ram_block_clear_log(&image.ram);
  return text;
}

static void test_clip_order(void **state) {
  (void)state;
  struct image_published published = {.calls = 0};
  struct spate_exfat_clip clip;
  open_image(512);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4 * MIB), SPATE_OK);
  assert_string_equal(requests(), "record!, boot!, bitmap!, root!");
  assert_int_equal(spate_exfat_publish(&clip, 1000, image_published, &published), SPATE_OK);
  assert_int_equal(clip.published_bytes, 0);
  assert_int_equal(published.calls, 0);
  assert_int_equal(spate_exfat_publish(&clip, 1000, image_published, &published), SPATE_E_BUSY);
  spate_block_poll(&image.ram.block, 1);
  assert_int_equal(published.calls, 1);
  assert_int_equal(published.error, SPATE_OK);
  assert_int_equal(clip.published_bytes, 1000);
  assert_string_equal(requests(), "root!");
  assert_int_equal(spate_exfat_publish(&clip, 1000, image_published, &published), SPATE_OK);
  assert_int_equal(published.calls, 2); /* the length is durable already */
  assert_string_equal(requests(), "");
  assert_int_equal(spate_exfat_close(&clip, 2 * MIB), SPATE_OK);
  assert_string_equal(requests(), "flush, root!, bitmap!, boot!, record!, trim data");
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "all", MIB), SPATE_OK);
  assert_string_equal(requests(), "record!, boot!, bitmap!, root!");
  assert_int_equal(spate_exfat_close(&clip, MIB), SPATE_OK);
  assert_string_equal(requests(), "flush, root!, boot!, record!"); /* no tail */
  image_close(&image);
}

/* The first of two clips to close leaves the volume dirty. A drive without a cache gets no flush. */
static void test_two_clips_order(void **state) {
  (void)state;
  struct spate_exfat_clip a;
  struct spate_exfat_clip b;
  open_image(512);
  image.ram.block.volatile_cache = false;
  assert_int_equal(spate_exfat_arm(&image.volume, &a, "a", MIB), SPATE_OK);
  assert_string_equal(requests(), "record!, boot!, bitmap!, root!");
  assert_int_equal(spate_exfat_arm(&image.volume, &b, "b", MIB), SPATE_OK);
  assert_string_equal(requests(), "record!, bitmap!, root!");
  assert_int_equal(spate_exfat_close(&a, 1), SPATE_OK);
  assert_string_equal(requests(), "root!, record!");
  assert_int_equal(spate_exfat_close(&b, 1), SPATE_OK);
  assert_string_equal(requests(), "root!, boot!, record!");
  image_close(&image);
}

static void test_change_order(void **state) {
  (void)state;
  open_image(512);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  assert_string_equal(requests(), "record!, boot!, bitmap!, zero first, flush, root!, boot!, record!");
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d/e"), SPATE_OK);
  assert_string_equal(requests(), "record!, boot!, bitmap!, zero data, flush, first!, boot!, record!");
  assert_int_equal(spate_exfat_rename(&image.volume, "d/e", "d/f"), SPATE_OK);
  assert_string_equal(requests(), "first!");
  assert_int_equal(spate_exfat_rename(&image.volume, "d/f", "f"), SPATE_OK);
  assert_string_equal(requests(), "record!, boot!, root!, first!, boot!, record!");
  assert_int_equal(spate_exfat_delete(&image.volume, "f"), SPATE_OK);
  assert_string_equal(requests(), "record!, boot!, root!, bitmap!, boot!, record!, trim data");
  image_close(&image);
}

static void test_discard_order(void **state) {
  (void)state;
  struct image_published published = {.calls = 0};
  struct spate_exfat_clip clip;
  struct spate_exfat_entry entry;
  open_image(512);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4 * MIB), SPATE_OK);
  (void)requests();
  assert_int_equal(spate_exfat_discard(&clip), SPATE_OK);
  assert_string_equal(requests(), "root!, bitmap!, boot!, record!, trim first");
  assert_int_equal(spate_exfat_stat(&image.volume, "clip", &entry), SPATE_E_NOT_FOUND);
  assert_int_equal(spate_exfat_discard(&clip), SPATE_E_INVALID);

  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4 * MIB), SPATE_OK);
  assert_int_equal(spate_exfat_publish(&clip, 1, image_published, &published), SPATE_OK);
  assert_int_equal(spate_exfat_discard(&clip), SPATE_E_INVALID);
  spate_block_poll(&image.ram.block, 1);
  assert_int_equal(published.calls, 1);
  assert_int_equal(spate_exfat_close(&clip, 1), SPATE_OK);
  image_close(&image);
}

/* A set that does not fit past the last one in a block: the rest of the block gets unused entries, not zeros. */
static void test_padding(void **state) {
  (void)state;
  char name[211];
  struct spate_exfat_clip clip;
  open_image(512);
  memset(name, 'n', 210);
  name[210] = '\0';
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, name, MIB), SPATE_OK);
  assert_string_equal(requests(), "root!, record!, boot!, bitmap!, root!");
  const uint8_t *root = image.ram.memory + (lba_of(4) << 9);
  for (unsigned i = 6; i < 16; i++)
    assert_int_equal(root[32 * i], 5);
  assert_int_equal(root[512], 0x85);
  assert_int_equal(spate_exfat_close(&clip, 0), SPATE_OK);
  image_close(&image);
}

/* An empty clip has no cluster and no NoFatChain; the first length sets both, in the same block. */
static void test_first_cluster(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_image(512);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", MIB), SPATE_OK);
  const uint8_t *stream = image.ram.memory + (clip.block->lba << 9) + clip.entry_offset + 32;
  assert_int_equal(stream[1], 1);
  assert_int_equal(spate_get32(stream + 20), 0);
  assert_int_equal(image_publish(&image.ram.block, &clip, 7), SPATE_OK);
  assert_int_equal(stream[1], 3);
  assert_int_equal(spate_get32(stream + 20), clip.first_cluster);
  assert_int_equal(spate_get64(stream + 24), 7);
  assert_int_equal(spate_get64(stream + 8), 7);
  assert_int_equal(spate_exfat_close(&clip, 7), SPATE_OK);
  image_close(&image);
}

struct again {
  struct spate_exfat_clip *clip;
  uint64_t bytes;
  struct image_published published; /* of the second length */
};

static void publish_again(void *context, enum spate_error error) {
  struct again *again = context;
  assert_int_equal(error, SPATE_OK);
  assert_int_equal(spate_exfat_publish(again->clip, again->bytes, image_published, &again->published), SPATE_OK);
}

/* Two clips in one block: one write is in flight at a time, and it contains no length that was not submitted. When the
 * first write is done, a clip may publish its next length, which goes with the length that waits. */
static void test_shared_block(void **state) {
  (void)state;
  struct image_published published = {.calls = 0};
  struct again again;
  struct spate_exfat_clip a;
  struct spate_exfat_clip b;
  open_image(4096);
  image.ram.keep_data = true;
  assert_int_equal(spate_exfat_arm(&image.volume, &a, "a", MIB), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &b, "b", MIB), SPATE_OK);
  assert_ptr_equal(a.block, b.block);
  ram_block_clear_log(&image.ram);
  again = (struct again){.clip = &a, .bytes = 300};
  assert_int_equal(spate_exfat_publish(&a, 100, publish_again, &again), SPATE_OK);
  assert_int_equal(spate_exfat_publish(&b, 200, image_published, &published), SPATE_OK);
  spate_block_poll(&image.ram.block, 1);
  assert_int_equal(a.published_bytes, 100);
  assert_int_equal(b.published_bytes, 0);
  assert_int_equal(published.calls, 0);
  spate_block_poll(&image.ram.block, 1);
  assert_int_equal(a.published_bytes, 300);
  assert_int_equal(b.published_bytes, 200);
  assert_int_equal(again.published.calls, 1);
  assert_int_equal(published.calls, 1);
  assert_int_equal(image.ram.log_count, 2);
  const uint8_t *first = image.ram.log[0].data;
  assert_int_equal(spate_get64(first + a.entry_offset + 56), 100);
  assert_int_equal(spate_get64(first + b.entry_offset + 56), 0);
  assert_int_equal(image.ram.overlaps, 0);
  assert_int_equal(spate_exfat_close(&a, 300), SPATE_OK);
  assert_int_equal(spate_exfat_close(&b, 200), SPATE_OK);
  image_close(&image);
}

/* The report of one clip's length publishes that of another: it is not durable by the write that was reported. */
static void test_publish_from_a_report(void **state) {
  (void)state;
  struct again again;
  struct spate_exfat_clip clips[2];
  for (unsigned first = 0; first < 2; first++) {
    open_image(512);
    assert_int_equal(spate_exfat_arm(&image.volume, &clips[0], "a", MIB), SPATE_OK);
    assert_int_equal(spate_exfat_arm(&image.volume, &clips[1], "b", MIB), SPATE_OK);
    assert_ptr_equal(clips[0].block, clips[1].block);
    again = (struct again){.clip = &clips[1 - first], .bytes = 200};
    assert_int_equal(spate_exfat_publish(&clips[first], 100, publish_again, &again), SPATE_OK);
    spate_block_poll(&image.ram.block, 1);
    assert_int_equal(again.published.calls, 0);
    assert_int_equal(again.clip->published_bytes, 0);
    spate_block_poll(&image.ram.block, 1);
    assert_int_equal(again.published.calls, 1);
    assert_int_equal(again.clip->published_bytes, 200);
    assert_int_equal(spate_exfat_close(&clips[0], 300), SPATE_OK);
    assert_int_equal(spate_exfat_close(&clips[1], 300), SPATE_OK);
    image_close(&image);
  }
}

struct busy {
  struct spate_exfat_clip clip;
  uint64_t bytes;
  unsigned turns;
  struct image_published published;
};

/* A stream that keeps publishing while another operation waits. */
static void publish_more(void *context) {
  struct busy *busy = context;
  struct spate_exfat_entry entry;
  if (busy->clip.volume == NULL) return;
  assert_int_equal(spate_exfat_stat(&image.volume, "x", &entry), SPATE_E_BUSY);
  busy->turns++;
  if (busy->bytes < busy->clip.reserved_bytes) busy->bytes++;
  enum spate_error error = spate_exfat_publish(&busy->clip, busy->bytes, image_published, &busy->published);
  assert_true(error == SPATE_OK || error == SPATE_E_BUSY || error == SPATE_E_FULL);
}

static void test_publish_while_waiting(void **state) {
  (void)state;
  for (uint32_t block_bytes = 512; block_bytes <= 4096; block_bytes *= 8) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
      struct busy busy = {0};
      struct spate_exfat_clip other;
      open_image(block_bytes);
      image.ram.keep_data = true;
      image.ram.order = RAM_RANDOM;
      image.ram.random = seed;
      image.ram.delay_polls = (uint32_t)(seed % 5);
      image.ram.block.depth = (uint16_t)(2 + seed % 3); /* one is the stream's */
      image.ram.block.while_waiting = publish_more;
      image.ram.block.while_waiting_context = &busy;
      assert_int_equal(spate_exfat_arm(&image.volume, &busy.clip, "clip", 2 * MIB), SPATE_OK);
      assert_int_equal(spate_exfat_arm(&image.volume, &other, "other", MIB), SPATE_OK);
      assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
      assert_int_equal(spate_exfat_close(&other, 1000), SPATE_OK);
      assert_int_equal(spate_exfat_rename(&image.volume, "other", "moved"), SPATE_OK);
      assert_int_equal(spate_exfat_delete(&image.volume, "moved"), SPATE_OK);
      image.ram.block.while_waiting = NULL;
      assert_int_equal(image_publish(&image.ram.block, &busy.clip, busy.bytes), SPATE_OK);
      assert_true(busy.turns > 10);
      assert_true(busy.published.calls > 1);
      assert_int_equal(busy.clip.published_bytes, busy.bytes);
      assert_int_equal(image.ram.overlaps, 0);
      assert_int_equal(spate_exfat_close(&busy.clip, busy.bytes), SPATE_OK);
      assert_true(oracle_read(&oracle, image_start(&image), image.config.blocks * block_bytes));
      assert_int_equal(oracle_find(&oracle, "clip")->bytes, busy.bytes);
      assert_int_equal(oracle.leaked, 0);
      oracle_free(&oracle);
      image_close(&image);
    }
  }
}

/* A directory that ends within the block of an open clip's set grows: the rest of that block is cleared while the clip
 * publishes. */
static void test_odd_directory_while_publishing(void **state) {
  (void)state;
  for (uint32_t block_shift = 9; block_shift <= 12; block_shift += 3) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
      struct busy busy = {0};
      struct spate_exfat_entry entry;
      image_open(&image, 4 * MIB, 1u << block_shift, 0);
      small_format(image.ram.memory, 4 * MIB, block_shift, 13);
      const uint32_t first = small_allocate(image.ram.memory, 1, 1);
      memset(small_cluster(image.ram.memory, first) + 160, 0x85, 8192 - 160); /* as old entries */
      small_add(image.ram.memory, "d", 0x10, first, 160, 160, true);
      assert_int_equal(image_mount(&image), SPATE_OK);
      image.ram.keep_data = true;
      image.ram.order = RAM_RANDOM;
      image.ram.random = seed;
      image.ram.delay_polls = (uint32_t)(seed % 5);
      image.ram.block.while_waiting = publish_more;
      image.ram.block.while_waiting_context = &busy;
      assert_int_equal(spate_exfat_arm(&image.volume, &busy.clip, "d/clip", MIB), SPATE_OK);
      assert_int_equal(spate_exfat_mkdir(&image.volume, "d/e"), SPATE_OK);
      image.ram.block.while_waiting = NULL;
      assert_int_equal(image_publish(&image.ram.block, &busy.clip, busy.bytes), SPATE_OK);
      assert_true(busy.turns > 10);
      assert_int_equal(image.ram.overlaps, 0);
      assert_int_equal(spate_exfat_stat(&image.volume, "d", &entry), SPATE_OK);
      assert_int_equal(entry.bytes, 16384);
      assert_int_equal(spate_exfat_close(&busy.clip, busy.bytes), SPATE_OK);
      assert_true(oracle_read(&oracle, image.ram.memory, image.ram.bytes));
      assert_int_equal(oracle_find(&oracle, "d/clip")->bytes, busy.bytes);
      assert_int_equal(oracle.leaked, 0);
      oracle_free(&oracle);
      image_close(&image);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_odd_directory_while_publishing),
      cmocka_unit_test(test_clip_order),
      cmocka_unit_test(test_two_clips_order),
      cmocka_unit_test(test_change_order),
      cmocka_unit_test(test_padding),
      cmocka_unit_test(test_first_cluster),
      cmocka_unit_test(test_shared_block),
      cmocka_unit_test(test_publish_from_a_report),
      cmocka_unit_test(test_publish_while_waiting),
      cmocka_unit_test(test_discard_order),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
