/* SPDX-License-Identifier: Apache-2.0 */
/* Whichever request fails, the call that needed it reports the error. A length that waited for a block is published
 * afterwards. */
#include "exfat_fixture.h"

static void fail_after(unsigned ops, uint32_t skip, uint64_t first_lba, uint64_t last_lba) {
  ram_block_clear_faults(&image.ram);
  ram_block_fault(
      &image.ram,
      (struct ram_fault){
          .ops = ops, .first_lba = first_lba, .last_lba = last_lba, .skip = skip, .times = 1, .error = SPATE_E_MEDIA});
}

#define CHANGES (RAM_OP(SPATE_WRITE) | RAM_OP(SPATE_ZERO) | RAM_OP(SPATE_FLUSH))

static void format_says_each_failure(void **state) {
  (void)state;
  const struct spate_exfat_format format = {.serial = 1, .cluster_bytes = 1u << 20, .label = "TEST"};
  for (unsigned can_zero = 0; can_zero < 2; can_zero++) {
    uint32_t failures = 0;
    enum spate_error error = SPATE_E_MEDIA;
    image_open(&image, 16 * MIB, 512, 0);
    image.ram.block.can_zero = can_zero != 0;
    for (; error != SPATE_OK; failures++) {
      fail_after(CHANGES, failures, 0, UINT64_MAX);
      error = spate_exfat_format(&image.config, &format);
      assert_true(error == SPATE_OK || error == SPATE_E_MEDIA);
      ram_block_clear_faults(&image.ram);
    }
    assert_true(failures > 30);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_whole(false);
    image_close(&image);
  }
}

/* A full volume of others has no room for a record. If the change cannot be completed, the call fails. */
static void a_deletion_that_cannot_mark_the_volume_clean_fails(void **state) {
  (void)state;
  image_open(&image, MIB, 512, 0);
  small_format(image.ram.memory, MIB, 9, 12);
  small_add(image.ram.memory, "f", 0x20, small_allocate(image.ram.memory, 1, 1), 4000, 4000, false);
  uint32_t first = small_allocate(image.ram.memory, 1, 1);
  uint32_t clusters = spate_get32(image.ram.memory + 92) + 2 - first;
  (void)small_allocate(image.ram.memory, clusters - 1, 1);
  small_add(image.ram.memory, "rest", 0x20, first, clusters * 4096ull, clusters * 4096ull, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  fail_after(RAM_OP(SPATE_WRITE), 1, 0, 0); /* VolumeDirty on, but not off again */
  assert_int_equal(spate_exfat_delete(&image.volume, "f"), SPATE_E_MEDIA);
  assert_int_equal(image.ram.count[SPATE_TRIM], 0);
  assert_int_equal(image.ram.memory[106] & 2, 2);
  image_close(&image);
}

/* ---- a length that is submitted while its block is being written for something else ---- */

struct handover {
  struct spate_exfat_clip *clip;
  uint64_t bytes;
  bool waited;
  struct image_published published;
};

static void hand_over(void *context) {
  struct handover *handover = context;
  if (!handover->clip->block->writing || handover->waited) return;
  assert_int_equal(spate_exfat_publish(handover->clip, handover->bytes, image_published, &handover->published),
                   SPATE_OK);
  handover->waited = true;
}

static void a_length_that_waited_is_published_without_another_call(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct handover handover = {.clip = &clip, .bytes = 12345};
  image_open(&image, 16 * MIB, 4096, 0);
  image_format(&image);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", MIB), SPATE_OK);
  image.ram.delay_polls = 5;
  image.ram.block.while_waiting = hand_over;
  image.ram.block.while_waiting_context = &handover;
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK); /* its set is in the clip's block */
  image.ram.block.while_waiting = NULL;
  assert_true(handover.waited);
  for (unsigned i = 0; i < 20; i++)
    spate_block_poll(&image.ram.block, 1);
  assert_int_equal(clip.published_bytes, handover.bytes);
  assert_int_equal(handover.published.calls, 1);
  assert_int_equal(spate_exfat_close(&clip, handover.bytes), SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

/* ---- the label ---- */

static void the_label_is_read_up_to_the_end_of_the_root_directory(void **state) {
  (void)state;
  static const uint8_t label[32] = {0x83, 3, 'a', 0, 0xe4, 0, 'c'};
  struct spate_exfat_info info;
  for (unsigned behind = 0; behind < 2; behind++) {
    image_open(&image, 4 * MIB, 512, 0);
    small_format(image.ram.memory, 4 * MIB, 9, 10);
    uint8_t *root = small_cluster(image.ram.memory, 4);
    memcpy(root + 64 + 32 * behind, label, sizeof label);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
    assert_string_equal(info.label, behind ? ""
                                           : "a\xc3\xa4"
                                             "c");
    image_close(&image);
  }
}

static void a_label_that_cannot_be_read_is_an_error(void **state) {
  (void)state;
  struct spate_exfat_info info;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  memset(small_cluster(image.ram.memory, 4) + 64, 5, 512); /* nothing up to the second block */
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  image.config.cache_bytes = 4 * 512;
  small_add(image.ram.memory, "f", 0x20, small_allocate(image.ram.memory, 5, 512), 5 * 1024, 5 * 1024, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  struct spate_exfat_file file;
  uint8_t byte;
  size_t got;
  assert_int_equal(spate_exfat_open(&image.volume, "f", &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 4 * 1024, &byte, 1, &got),
                   SPATE_OK); /* through the FAT, five blocks of it */
  fail_after(RAM_OP(SPATE_READ), 0, image.volume.heap_lba + 4, image.volume.heap_lba + 5);
  assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_E_MEDIA);
  image_close(&image);
}

/* ASCII names do not need the table. */
static void a_table_that_cannot_be_read_is_an_error_where_it_is_needed(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  small_add(image.ram.memory, "f", 0x20, 0, 0, 0, false);
  small_add(image.ram.memory, "long", 0x20, small_allocate(image.ram.memory, 5, 512), 5 * 1024, 5 * 1024, false);
  image.config.cache_bytes = 4 * 512;
  assert_int_equal(image_mount(&image), SPATE_OK);
  struct spate_exfat_file file;
  uint8_t byte;
  size_t got;
  assert_int_equal(spate_exfat_open(&image.volume, "long", &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 4 * 1024, &byte, 1, &got), SPATE_OK); /* the table is not in the cache */
  fail_after(RAM_OP(SPATE_READ), 0, image.volume.heap_lba + 2, image.volume.heap_lba + 2);
  assert_int_equal(spate_exfat_stat(&image.volume, "F", &entry), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, "\xc3\xa4", &entry), SPATE_E_MEDIA);
  assert_int_equal(spate_exfat_stat(&image.volume, "\xc3\xa4", &entry), SPATE_E_NOT_FOUND);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(format_says_each_failure),
      cmocka_unit_test(a_deletion_that_cannot_mark_the_volume_clean_fails),
      cmocka_unit_test(a_length_that_waited_is_published_without_another_call),
      cmocka_unit_test(the_label_is_read_up_to_the_end_of_the_root_directory),
      cmocka_unit_test(a_table_that_cannot_be_read_is_an_error_where_it_is_needed),
      cmocka_unit_test(a_label_that_cannot_be_read_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
