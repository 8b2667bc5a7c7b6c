/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of an operation that fail, or that the drive loses with its power. */
#include "order_fixture.h"

/* While the device takes no request, publish returns FULL, and the next call tries again. A failed write is reported
 * to its own call, and the next call repeats it. */
static void test_publish_refused(void **state) {
  (void)state;
  struct image_published published = {.calls = 0};
  struct spate_exfat_clip clip;
  open_image(512);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", MIB), SPATE_OK);
  image.ram.block.depth = 0;
  assert_int_equal(spate_exfat_publish(&clip, 100, image_published, &published), SPATE_E_FULL);
  assert_int_equal(spate_exfat_publish(&clip, 100, image_published, &published), SPATE_E_FULL);
  image.ram.block.depth = 1;
  assert_int_equal(image_publish(&image.ram.block, &clip, 100), SPATE_OK);
  assert_int_equal(clip.published_bytes, 100);
  ram_block_fault(
      &image.ram,
      (struct ram_fault){.ops = RAM_OP(SPATE_WRITE), .last_lba = UINT64_MAX, .times = 1, .error = SPATE_E_MEDIA});
  assert_int_equal(image_publish(&image.ram.block, &clip, 200), SPATE_E_MEDIA);
  assert_int_equal(clip.published_bytes, 100);
  assert_int_equal(image_publish(&image.ram.block, &clip, 200), SPATE_OK);
  assert_int_equal(clip.published_bytes, 200);

  /* The result of one length is not reported for the next one. */
  ram_block_fault(
      &image.ram,
      (struct ram_fault){.ops = RAM_OP(SPATE_WRITE), .last_lba = UINT64_MAX, .times = 1, .error = SPATE_E_MEDIA});
  assert_int_equal(image_publish(&image.ram.block, &clip, 300), SPATE_E_MEDIA);
  assert_int_equal(image_publish(&image.ram.block, &clip, 400), SPATE_OK);

  /* If the device refuses the write, publish reports it at once, and only once. */
  const uint64_t blocks = image.ram.block.blocks;
  image.ram.block.blocks = 1;
  assert_int_equal(spate_exfat_publish(&clip, 500, image_published, &published), SPATE_E_INVALID);
  image.ram.block.blocks = blocks;
  assert_int_equal(published.calls, 0);
  assert_int_equal(image_publish(&image.ram.block, &clip, 500), SPATE_OK);
  assert_int_equal(spate_exfat_close(&clip, 500), SPATE_OK);
  image_close(&image);
}

/* Two clips share a block. The second one's length waits for the first one's write. */
static void publish_two(struct spate_exfat_clip *clips, struct image_published *published) {
  open_image(512);
  assert_int_equal(spate_exfat_arm(&image.volume, &clips[0], "a", MIB), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clips[1], "b", MIB), SPATE_OK);
  assert_ptr_equal(clips[0].block, clips[1].block);
  for (unsigned i = 0; i < 2; i++) {
    published[i] = (struct image_published){.calls = 0};
    assert_int_equal(spate_exfat_publish(&clips[i], 100, image_published, &published[i]), SPATE_OK);
  }
}

static void assert_published(const struct image_published *published, enum spate_error error) {
  assert_int_equal(published->calls, 1);
  assert_int_equal(published->error, error);
}

/* What becomes of a length that waits is reported once, whatever takes the place of its write. */
static void test_publish_that_waits(void **state) {
  (void)state;
  struct spate_exfat_clip clips[2];
  struct image_published published[2];

  publish_two(clips, published); /* the device has no room for the second write */
  image.ram.block.depth = 0;
  spate_block_poll(&image.ram.block, 1);
  assert_published(&published[0], SPATE_OK);
  assert_published(&published[1], SPATE_E_FULL);
  image.ram.block.depth = 1;
  assert_int_equal(clips[1].published_bytes, 0);
  assert_int_equal(image_publish(&image.ram.block, &clips[1], 100), SPATE_OK);
  assert_int_equal(spate_exfat_close(&clips[0], 100), SPATE_OK);
  assert_int_equal(spate_exfat_close(&clips[1], 100), SPATE_OK);
  image_close(&image);

  publish_two(clips, published); /* the final length, without a flush that would wait for the first write */
  image.ram.block.volatile_cache = false;
  assert_int_equal(spate_exfat_close(&clips[1], 200), SPATE_OK);
  assert_published(&published[0], SPATE_OK);
  assert_published(&published[1], SPATE_OK);
  assert_int_equal(spate_exfat_close(&clips[0], 100), SPATE_OK);
  image_close(&image);

  publish_two(clips, published); /* nothing: the volume is abandoned */
  spate_exfat_abandon(&image.volume);
  assert_published(&published[0], SPATE_OK);
  assert_published(&published[1], SPATE_E_NOT_MOUNTED);
  assert_int_equal(clips[1].published_bytes, 0);
  image_close(&image);
}

/* A close cannot end the file before a length that is being written, or waits: it would be reported as durable. */
static void test_close_before_a_length_under_way(void **state) {
  (void)state;
  for (unsigned waits = 0; waits < 2; waits++) {
    struct spate_exfat_clip clips[2];
    struct image_published published[2];
    publish_two(clips, published);
    assert_int_equal(spate_exfat_close(&clips[waits], 50), SPATE_E_INVALID);
    assert_int_equal(published[waits].calls, 0);
    assert_int_equal(spate_exfat_close(&clips[waits], 100), SPATE_OK);
    assert_published(&published[waits], SPATE_OK);
    assert_int_equal(spate_exfat_close(&clips[1 - waits], 100), SPATE_OK);
    image_close(&image);
  }
}

struct late {
  struct spate_exfat_clip *clip;
  unsigned tries, accepted;
  struct image_published published;
};

/* While an operation waits, publish a length that is longer than the final one. */
static void publish_late(void *context) {
  struct late *late = context;
  if (late->clip->volume == NULL) return; /* closed: TRIM still waits */
  late->tries++;
  if (spate_exfat_publish(late->clip, MIB, image_published, &late->published) == SPATE_OK) late->accepted++;
}

/* A clip that is being closed or discarded takes no more lengths: its clusters past the end are freed. */
static void test_publish_while_it_is_closed(void **state) {
  (void)state;
  for (unsigned discards = 0; discards < 2; discards++) {
    struct spate_exfat_clip clip;
    struct late late = {.clip = &clip};
    open_image(512);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4 * MIB), SPATE_OK);
    image.ram.delay_polls = 3;
    image.ram.block.depth = 4;
    image.ram.block.while_waiting = publish_late;
    image.ram.block.while_waiting_context = &late;
    assert_int_equal(discards ? spate_exfat_discard(&clip) : spate_exfat_close(&clip, 100), SPATE_OK);
    image.ram.block.while_waiting = NULL;
    image.ram.delay_polls = 0;
    assert_true(late.tries > 0);
    assert_int_equal(late.accepted, 0);
    assert_int_equal(spate_exfat_publish(&clip, MIB, image_published, &late.published), SPATE_E_INVALID);
    assert_int_equal(late.published.calls, 0);
    image_close(&image);
  }
}

/* A clip whose close failed takes lengths again. */
static void test_publish_after_a_close_that_failed(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_image(512);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", MIB), SPATE_OK);
  ram_block_fault(
      &image.ram,
      (struct ram_fault){.ops = RAM_OP(SPATE_WRITE), .last_lba = UINT64_MAX, .times = 1, .error = SPATE_E_MEDIA});
  assert_int_equal(spate_exfat_close(&clip, 100), SPATE_E_MEDIA);
  assert_int_equal(image_publish(&image.ram.block, &clip, 200), SPATE_OK);
  assert_int_equal(spate_exfat_close(&clip, 200), SPATE_OK);
  image_close(&image);
}

struct stubborn {
  struct spate_exfat_clip *clip;
  unsigned calls;
  enum spate_error error, again;
};

static void publish_once_more(void *context, enum spate_error error) {
  struct stubborn *stubborn = context;
  stubborn->calls++;
  stubborn->error = error;
  stubborn->again = spate_exfat_publish(stubborn->clip, 300, publish_once_more, stubborn);
}

/* An abandoned volume takes no lengths, not even from its last report. */
static void test_publish_on_an_abandoned_volume(void **state) {
  (void)state;
  struct spate_exfat_clip clips[2];
  struct image_published published = {.calls = 0};
  open_image(512);
  assert_int_equal(spate_exfat_arm(&image.volume, &clips[0], "a", MIB), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clips[1], "b", MIB), SPATE_OK);
  struct stubborn stubborn = {.clip = &clips[1]};
  assert_int_equal(spate_exfat_publish(&clips[0], 100, image_published, &published), SPATE_OK);
  assert_int_equal(spate_exfat_publish(&clips[1], 100, publish_once_more, &stubborn), SPATE_OK);
  spate_exfat_abandon(&image.volume);
  assert_int_equal(stubborn.calls, 1);
  assert_int_equal(stubborn.error, SPATE_E_NOT_MOUNTED);
  assert_int_equal(stubborn.again, SPATE_E_NOT_MOUNTED);
  assert_int_equal(spate_exfat_publish(&clips[0], 300, image_published, &published), SPATE_E_NOT_MOUNTED);
  assert_int_equal(published.calls, 1);
  image_close(&image);
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
  assert_int_equal(image.volume.record_used, 0);
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
  for (uint32_t request = 0; request < 5; request++) {
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
  for (uint32_t request = 0; request < 4; request++) {
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

/* Only zeros are written without FUA. If the drive may have lost them, they are written again. */
static uint32_t unsure_flushes;

static void lose_zeros(void *context) {
  (void)context;
  const uint64_t flushes = image.ram.count[SPATE_FLUSH];
  image.ram.block.power_unknown = (uint32_t)(flushes < unsure_flushes ? flushes : unsure_flushes);
}

static void test_zeros_are_written_again(void **state) {
  (void)state;
  for (unsure_flushes = 0; unsure_flushes <= 4; unsure_flushes++) {
    open_image(512);
    ram_block_clear_log(&image.ram);
    image.ram.block.while_waiting = lose_zeros;
    assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), unsure_flushes < 4 ? SPATE_OK : SPATE_E_POWER_LOST);
    image.ram.block.while_waiting = NULL;
    assert_int_equal(image.ram.count[SPATE_FLUSH], unsure_flushes < 4 ? unsure_flushes + 1 : 4);
    assert_int_equal(image.ram.count[SPATE_ZERO], image.ram.count[SPATE_FLUSH]);
    if (unsure_flushes == 4) { /* the next change repairs what this one has left */
      assert_int_equal(image_mount(&image), SPATE_OK);
      assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
    }
    assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
    check_after_failure(0, unsure_flushes);
    image_close(&image);
  }
}

/* All else is durable when it completes: a power loss between two steps, or one that is not certain, changes nothing.
 */
static void lose_power(void *context) {
  (void)context;
  image.ram.block.power_losses++;
  image.ram.block.power_unknown++;
}

static void test_power_lost(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_image(512);
  image.ram.block.while_waiting = lose_power;
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4 * MIB), SPATE_OK);
  assert_int_equal(spate_exfat_discard(&clip), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4 * MIB), SPATE_OK);
  assert_int_equal(spate_exfat_close(&clip, MIB), SPATE_E_POWER_LOST); /* the stream's data were in the cache */
  image.ram.block.while_waiting = NULL;
  assert_int_equal(spate_exfat_close(&clip, MIB), SPATE_OK);
  image.ram.block.while_waiting = lose_power;
  assert_int_equal(spate_exfat_rename(&image.volume, "clip", "other clip"), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "other clip"), SPATE_OK);
  image.ram.block.while_waiting = NULL;
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  check_after_failure(0, 0);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_publish_refused),
      cmocka_unit_test(test_publish_that_waits),
      cmocka_unit_test(test_close_before_a_length_under_way),
      cmocka_unit_test(test_publish_while_it_is_closed),
      cmocka_unit_test(test_publish_after_a_close_that_failed),
      cmocka_unit_test(test_publish_on_an_abandoned_volume),
      cmocka_unit_test(test_power_lost),
      cmocka_unit_test(test_zeros_are_written_again),
      cmocka_unit_test(test_zero_refused),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_close_again),
      cmocka_unit_test(test_discard_again),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
