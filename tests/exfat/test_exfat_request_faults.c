/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of an operation that fail, or that the drive loses with its power. */
#include "order_fixture.h"

/* While the device takes no request, publish answers FULL, and the next call tries again. A failed write is reported
 * once, and the next call repeats it. */
static void test_publish_refused(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_image(512);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", MIB), SPATE_OK);
  image.ram.block.depth = 0;
  assert_int_equal(spate_exfat_publish(&clip, 100), SPATE_E_FULL);
  assert_int_equal(spate_exfat_publish(&clip, 100), SPATE_E_FULL);
  image.ram.block.depth = 1;
  assert_int_equal(spate_exfat_publish(&clip, 100), SPATE_E_BUSY);
  assert_int_equal(image_publish(&image.ram.block, &clip, 100), SPATE_OK);
  assert_int_equal(clip.published_bytes, 100);
  ram_block_fault(
      &image.ram,
      (struct ram_fault){.ops = RAM_OP(SPATE_WRITE), .last_lba = UINT64_MAX, .times = 1, .error = SPATE_E_MEDIA});
  assert_int_equal(image_publish(&image.ram.block, &clip, 200), SPATE_E_MEDIA);
  assert_int_equal(clip.published_bytes, 100);
  assert_int_equal(spate_exfat_publish(&clip, 200), SPATE_E_BUSY);
  assert_int_equal(image_publish(&image.ram.block, &clip, 200), SPATE_OK);
  assert_int_equal(clip.published_bytes, 200);

  /* The result of one length is not reported for the next one. */
  ram_block_fault(
      &image.ram,
      (struct ram_fault){.ops = RAM_OP(SPATE_WRITE), .last_lba = UINT64_MAX, .times = 1, .error = SPATE_E_MEDIA});
  assert_int_equal(spate_exfat_publish(&clip, 300), SPATE_E_BUSY);
  spate_block_poll(&image.ram.block, 1);
  assert_int_equal(spate_exfat_publish(&clip, 400), SPATE_E_BUSY);
  assert_int_equal(image_publish(&image.ram.block, &clip, 400), SPATE_OK);

  /* If the device refuses the write, publish reports it at once, and only once. */
  const uint64_t blocks = image.ram.block.blocks;
  image.ram.block.blocks = 1;
  assert_int_equal(spate_exfat_publish(&clip, 500), SPATE_E_INVALID);
  image.ram.block.blocks = blocks;
  assert_int_equal(spate_exfat_publish(&clip, 500), SPATE_E_BUSY);
  assert_int_equal(image_publish(&image.ram.block, &clip, 500), SPATE_OK);
  assert_int_equal(spate_exfat_close(&clip, 500), SPATE_OK);
  image_close(&image);
}

/* The drive loses power before the flush, and with it the bitmap write that had completed. Arm frees what it had
 * reserved, so that another try loses no space. */
static void lose_power(void *context) {
  (void)context;
  if (image.ram.count[SPATE_FLUSH] == 1) image.ram.block.power_losses = 1;
}

static void test_power_lost(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_image(512);
  ram_block_clear_log(&image.ram);
  image.ram.block.while_waiting = lose_power;
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", MIB), SPATE_E_POWER_LOST);
  image.ram.block.while_waiting = NULL;
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", MIB), SPATE_OK);
  assert_int_equal(spate_exfat_close(&clip, 1), SPATE_OK);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reservations, 0);
  image_close(&image);
}

/* The same at closing, where the completed bits of the tail are lost: the tail counts as allocated again. No other clip
 * gets the tail before close is repeated, which frees it. */
static uint8_t bitmap_before[512];

static void lose_tail_bits(void *context) {
  (void)context;
  if (image.ram.count[SPATE_FLUSH] != 2 || image.ram.block.power_losses == 1) return;
  image.ram.block.power_losses = 1;
  memcpy(image.ram.memory + (lba_of(2) << 9), bitmap_before, sizeof bitmap_before);
}

static void close_losing_power(struct spate_exfat_clip *clip, bool discard) {
  struct spate_exfat_clip other;
  struct spate_exfat_info info;
  uint64_t left_bytes;
  open_image(512);
  assert_int_equal(spate_exfat_arm(&image.volume, clip, "clip", 8 * MIB), SPATE_OK);
  assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
  left_bytes = info.free_bytes;
  memcpy(bitmap_before, image.ram.memory + (lba_of(2) << 9), sizeof bitmap_before);
  ram_block_clear_log(&image.ram);
  if (discard) image.ram.count[SPATE_FLUSH] = 1; /* discard sends only one */
  image.ram.block.while_waiting = lose_tail_bits;
  assert_int_equal(discard ? spate_exfat_discard(clip) : spate_exfat_close(clip, MIB), SPATE_E_POWER_LOST);
  image.ram.block.while_waiting = NULL;
  assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
  assert_int_equal(info.free_bytes, left_bytes);
  assert_int_equal(clip->reserved_bytes, 8 * MIB);
  assert_int_equal(spate_exfat_arm(&image.volume, &other, "other", left_bytes), SPATE_OK);
  assert_true(other.first_cluster >= clip->first_cluster + 8);
  assert_int_equal(discard ? spate_exfat_discard(clip) : spate_exfat_close(clip, MIB), SPATE_OK);
  assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
  assert_int_equal(info.free_bytes, discard ? 8 * MIB : 7 * MIB);
  assert_int_equal(spate_exfat_close(&other, left_bytes), SPATE_OK);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
}

static void test_power_lost_closing(void **state) {
  (void)state;
  for (unsigned discard = 0; discard < 2; discard++) {
    struct spate_exfat_clip clip;
    close_losing_power(&clip, discard != 0);
    assert_true(oracle_read(&oracle, image_start(&image), 32 * MIB - 64 * 512));
    oracle_free(&oracle);
    assert_int_equal(oracle.leaked, 0);
    assert_int_equal(oracle.unallocated, 0);
    assert_false(oracle.dirty);
    image_close(&image);
  }
}

/* A drive that reports Write Zeroes and refuses it: zeros are written, and the command is not tried again. */
static void test_zero_refused(void **state) {
  (void)state;
  static const enum spate_error refusals[] = {SPATE_E_COMMAND, SPATE_E_UNSUPPORTED, SPATE_E_MEDIA};
  for (unsigned i = 0; i < 3; i++) {
    struct spate_exfat_format format = {.cluster_bytes = MIB};
    image_open(&image, 32 * MIB, 512, 64);
    memset(image.ram.memory, 0xb6, 32 * MIB);
    ram_block_fault(&image.ram,
                    (struct ram_fault){
                        .ops = RAM_OP(SPATE_ZERO), .last_lba = UINT64_MAX, .times = RAM_ALWAYS, .error = refusals[i]});
    bool refused = refusals[i] != SPATE_E_MEDIA;
    assert_int_equal(spate_exfat_format(&image.config, &format), refused ? SPATE_OK : SPATE_E_MEDIA);
    assert_int_equal(image.ram.count[SPATE_ZERO], 1);
    if (refused) {
      assert_int_equal(image_mount(&image), SPATE_OK);
      image.ram.block.can_zero = true;
      assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
      assert_int_equal(spate_exfat_mkdir(&image.volume, "d/e"), SPATE_OK);
      assert_int_equal(image.ram.count[SPATE_ZERO], 2);
      assert_true(oracle_read(&oracle, image_start(&image), 32 * MIB - 64 * 512));
      oracle_free(&oracle);
    }
    image_close(&image);
  }
}

/* ---- each request of each operation fails once ---- */

static enum spate_error change(unsigned step) {
  static struct spate_exfat_clip clip;
  struct spate_exfat *volume = &image.volume;
  switch (step) {
  case 0: return spate_exfat_mkdir(volume, "d");
  case 1: return spate_exfat_arm(volume, &clip, "d/clip", 4 * MIB);
  case 2: return spate_exfat_close(&clip, 5);
  case 3: return spate_exfat_rename(volume, "d/clip", "d/a name that needs more entries");
  case 4: return spate_exfat_rename(volume, "d/a name that needs more entries", "b");
  case 5: return spate_exfat_delete(volume, "b");
  default: return spate_exfat_delete(volume, "d");
  }
}

#define STEPS 7u

static void check_after_failure(unsigned step, uint32_t request) {
  if (image_mount(&image) != SPATE_OK) fail_msg("step %u, request %u: no mount", step, request);
  assert_int_equal(image.volume.failed, SPATE_OK);
  assert_int_equal(image.volume.record_slots, 0);
  if (!oracle_read(&oracle, image_start(&image), 32 * MIB - 64 * 512))
    fail_msg("step %u, request %u: %s", step, request, oracle.fault);
  oracle_free(&oracle);
  if (oracle.leaked + oracle.cross_linked + oracle.unallocated + oracle.strays > 0)
    fail_msg("step %u, request %u: leaked %u, cross-linked %u, unallocated %u", step, request, oracle.leaked,
             oracle.cross_linked, oracle.unallocated);
}

static bool fail_once(unsigned step, uint32_t request) {
  open_image(512);
  for (unsigned i = 0; i < step; i++)
    assert_int_equal(change(i), SPATE_OK);
  unsigned ops = RAM_OP(SPATE_WRITE) | RAM_OP(SPATE_FLUSH) | RAM_OP(SPATE_ZERO);
  ram_block_clear_log(&image.ram);
  ram_block_fault(
      &image.ram,
      (struct ram_fault){.ops = ops, .last_lba = UINT64_MAX, .skip = request, .times = 1, .error = SPATE_E_MEDIA});
  enum spate_error error = change(step);
  bool failed = image.ram.faults[0].times == 0;
  ram_block_clear_faults(&image.ram);
  bool closing = step == 2;
  if (failed && !closing) assert_int_equal(error, SPATE_E_MEDIA);
  /* A change that could not be undone leaves the volume dirty, and unmount reports it. */
  if (image.volume.clips == NULL) {
    enum spate_error unmounted = spate_exfat_unmount(&image.volume);
    bool dirty = (image_start(&image)[106] & 2) != 0;
    if (dirty || unmounted != SPATE_OK) assert_int_equal(unmounted, SPATE_E_MEDIA);
  }
  if (!failed) assert_int_equal(error, SPATE_OK);
  check_after_failure(step, request);
  image_close(&image);
  return failed;
}

static void test_failures(void **state) {
  (void)state;
  for (unsigned step = 0; step < STEPS; step++) {
    uint32_t request = 0;
    while (fail_once(step, request))
      request++;
    assert_true(request >= 1);
  }
}

/* A failed close is repeated, and frees nothing twice. */
static void test_close_again(void **state) {
  (void)state;
  for (uint32_t request = 0; request < 6; request++) {
    struct spate_exfat_clip clip;
    struct spate_exfat_clip other;
    open_image(512);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4 * MIB), SPATE_OK);
    ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE) | RAM_OP(SPATE_FLUSH),
                                                   .last_lba = UINT64_MAX,
                                                   .skip = request,
                                                   .times = 1,
                                                   .error = SPATE_E_MEDIA});
    assert_int_equal(spate_exfat_close(&clip, MIB), SPATE_E_MEDIA);
    if (spate_exfat_arm(&image.volume, &other, "other", 20 * MIB) == SPATE_OK) {
      assert_int_equal(spate_exfat_close(&clip, MIB), SPATE_OK);
      assert_int_equal(spate_exfat_close(&other, 20 * MIB), SPATE_OK);
    } else {
      assert_int_equal(spate_exfat_close(&clip, MIB), SPATE_OK);
    }
    check_after_failure(0, request);
    assert_int_equal(oracle_find(&oracle, "clip")->bytes, MIB);
    image_close(&image);
  }
}

/* After a failed discard the clip's slots may be reused before the discard is repeated. */
static void test_discard_again(void **state) {
  (void)state;
  for (uint32_t request = 0; request < 5; request++) {
    struct spate_exfat_clip clip;
    struct spate_exfat_clip other;
    bool armed;
    open_image(512);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4 * MIB), SPATE_OK);
    ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE) | RAM_OP(SPATE_FLUSH),
                                                   .last_lba = UINT64_MAX,
                                                   .skip = request,
                                                   .times = 1,
                                                   .error = SPATE_E_MEDIA});
    assert_int_equal(spate_exfat_discard(&clip), SPATE_E_MEDIA);
    armed = spate_exfat_arm(&image.volume, &other, "other", 20 * MIB) == SPATE_OK;
    assert_int_equal(spate_exfat_discard(&clip), SPATE_OK);
    if (armed) assert_int_equal(spate_exfat_close(&other, 20 * MIB), SPATE_OK);
    check_after_failure(0, request);
    assert_null(oracle_find(&oracle, "clip"));
    if (armed) assert_int_equal(oracle_find(&oracle, "other")->bytes, 20 * MIB);
    image_close(&image);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_publish_refused),    cmocka_unit_test(test_power_lost),
      cmocka_unit_test(test_power_lost_closing), cmocka_unit_test(test_zero_refused),
      cmocka_unit_test(test_failures),           cmocka_unit_test(test_close_again),
      cmocka_unit_test(test_discard_again),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
