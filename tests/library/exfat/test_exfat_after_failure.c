/* SPDX-License-Identifier: Apache-2.0 */
/* What may follow after a call that failed: a close after a discard, a mount after abandon, a second try. */
#include "exfat_fixture.h"

static void open_image(void) {
  image_open(&image, 32 * MIB, 512, 64);
  image_format(&image);
}

static void fail_write(uint32_t skip) {
  ram_block_fault(
      &image.ram,
      (struct ram_fault){
          .ops = RAM_OP(SPATE_WRITE), .last_lba = UINT64_MAX, .skip = skip, .times = 1, .error = SPATE_E_MEDIA});
}

static void expect_other(bool there) {
  struct spate_exfat_entry entry;
  assert_int_equal(spate_exfat_stat(&image.volume, "other", &entry), there ? SPATE_OK : SPATE_E_NOT_FOUND);
  if (there) assert_int_equal(entry.bytes, 3 * MIB);
}

/* A discard that failed has erased the entry set in memory: the clip has no file any more, and another file may get the
 * place of its set. A close then reports that it failed, and changes no other file. */
static void a_close_after_a_failed_discard_is_no_success(void **state) {
  (void)state;
  for (unsigned other = 0; other < 2; other++) {
    const uint64_t bytes = other ? 0 : 5000;
    struct spate_exfat_clip clip;
    struct spate_exfat_entry entry;
    open_image();
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4 * MIB), SPATE_OK);
    fail_write(0);
    assert_int_equal(spate_exfat_discard(&clip), SPATE_E_MEDIA);
    if (other) put_file("other", NULL, 3 * MIB);
    if (spate_exfat_close(&clip, bytes) == SPATE_OK) {
      assert_int_equal(spate_exfat_stat(&image.volume, "clip", &entry), SPATE_OK);
      assert_int_equal(entry.bytes, bytes);
    } else {
      assert_int_equal(image_publish(&image.ram.block, &clip, 512), SPATE_E_INVALID);
      assert_int_equal(spate_exfat_discard(&clip), SPATE_OK);
    }
    expect_other(other != 0);
    assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
    assert_int_equal(image_mount(&image), SPATE_OK);
    expect_other(other != 0);
    assert_whole(false);
    image_close(&image);
  }
}

/* After abandon the memory of the volume, of its cache and of the clips is the caller's. */
static void nothing_is_in_flight_after_abandon(void **state) {
  (void)state;
  open_image();
  struct image_published published = {.calls = 0};
  struct spate_exfat_clip *clip = malloc(sizeof *clip);
  assert_non_null(clip);
  assert_int_equal(spate_exfat_arm(&image.volume, clip, "clip", 4 * MIB), SPATE_OK);
  image.ram.delay_polls = 5;
  assert_int_equal(spate_exfat_publish(clip, MIB, image_published, &published), SPATE_OK);
  spate_exfat_abandon(&image.volume);
  assert_int_equal(published.calls, 1);
  assert_int_equal(published.error, SPATE_OK);
  assert_int_equal(image.ram.pending_count, 0);
  free(clip);
  image.ram.delay_polls = 0;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

/* A clip that could not be armed has no file, also where its directory block is that of an open clip. */
static void a_clip_that_was_not_armed_has_no_file(void **state) {
  (void)state;
  for (unsigned open = 0; open < 2; open++) {
    struct spate_exfat_clip first = {.volume = NULL};
    struct spate_exfat_clip clip;
    struct spate_exfat_entry entry;
    open_image();
    if (open == 1) assert_int_equal(spate_exfat_arm(&image.volume, &first, "first", MIB), SPATE_OK);
    /* Writes of arm: record, (VolumeDirty,) bitmap, entry set. */
    fail_write(open == 1 ? 2 : 3);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4 * MIB), SPATE_E_MEDIA);
    assert_int_equal(spate_exfat_stat(&image.volume, "clip", &entry), SPATE_E_NOT_FOUND);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4 * MIB), SPATE_OK);
    assert_int_equal(spate_exfat_close(&clip, MIB), SPATE_OK);
    if (open == 1) assert_int_equal(spate_exfat_close(&first, MIB), SPATE_OK);
    assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
    assert_whole(false);
    image_close(&image);
  }
}

/* On a volume of another system the record's file is made before the first change. Every write and flush of that fails
 * once, and the change is tried again. */
static void no_clusters_are_lost_when_the_records_file_cannot_be_made(void **state) {
  (void)state;
  for (uint32_t request = 0; request < 8; request++) {
    image_open(&image, 32 * MIB, 512, 0);
    small_format(image.ram.memory, 32 * MIB, 9, 12);
    assert_int_equal(image_mount(&image), SPATE_OK);
    ram_block_fault(&image.ram,
                    (struct ram_fault){.ops = RAM_OP(SPATE_WRITE) | RAM_OP(SPATE_FLUSH) | RAM_OP(SPATE_ZERO),
                                       .last_lba = UINT64_MAX,
                                       .skip = request,
                                       .times = 1,
                                       .error = SPATE_E_MEDIA});
    enum spate_error error = spate_exfat_mkdir(&image.volume, "d");
    if (error != SPATE_OK) error = spate_exfat_mkdir(&image.volume, "d");
    enum spate_error unmounted = spate_exfat_unmount(&image.volume);
    if (!oracle_read(&oracle, image.ram.memory, image.ram.bytes)) fail_msg("request %u: %s", request, oracle.fault);
    oracle_free(&oracle);
    /* Clusters may be lost only where this is reported. */
    if (oracle.leaked > 0 && !oracle.dirty && unmounted == SPATE_OK)
      fail_msg("request %u: %u clusters lost on a clean volume; the second try: %s, unmount: %s", request,
               (unsigned)oracle.leaked, spate_error_name(error), spate_error_name(unmounted));
    image_close(&image);
  }
}

static void carried_out_anyway(void *context, struct ram_block *ram, const struct spate_io *io) {
  uint8_t *flags = context;
  if (io->op == SPATE_WRITE && io->lba == image.config.first_lba && ram->faults[0].times > 0) *flags |= 2;
}

static void nothing_to_see(void *context, struct ram_block *ram, const struct spate_io *io) {
  (void)context;
  (void)ram;
  (void)io;
}

/* A write that failed may have reached the media. Here that of VolumeDirty did. */
static void a_failed_write_of_volume_dirty_is_taken_back(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_image();
  uint64_t lba = image.config.first_lba;
  ram_block_fault(
      &image.ram,
      (struct ram_fault){
          .ops = RAM_OP(SPATE_WRITE), .first_lba = lba, .last_lba = lba, .times = 1, .error = SPATE_E_MEDIA});
  image.ram.observer =
      &(struct ram_observer){.taken = carried_out_anyway, .over = nothing_to_see, .context = image_start(&image) + 106};
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4 * MIB), SPATE_E_MEDIA);
  image.ram.observer = NULL;
  enum spate_error unmounted = spate_exfat_unmount(&image.volume);
  assert_int_equal(image_mount(&image), SPATE_OK);
  if (unmounted == SPATE_OK) assert_false(image.found.dirty);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_close_after_a_failed_discard_is_no_success),
      cmocka_unit_test(a_clip_that_was_not_armed_has_no_file),
      cmocka_unit_test(no_clusters_are_lost_when_the_records_file_cannot_be_made),
      cmocka_unit_test(a_failed_write_of_volume_dirty_is_taken_back),
      cmocka_unit_test(nothing_is_in_flight_after_abandon),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
