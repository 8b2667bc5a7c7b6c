/* SPDX-License-Identifier: Apache-2.0 */
/* A file lies over clusters that the bitmap calls free, and a clip gets them. */
#include "shared_fixture.h"

static struct spate_exfat_clip clip;
static uint32_t start; /* the clip's first cluster */
static int turns, publish_at;
static struct image_published length;

#define CLIP_CLUSTERS 2000u
#define CLUSTER       UINT64_C(4096)

static void publish_most(void *context) {
  (void)context;
  if (turns++ != publish_at) return;
  assert_int_equal(spate_exfat_publish(&clip, (CLIP_CLUSTERS - 1) * CLUSTER, image_published, &length), SPATE_OK);
}

static void open_with_clip(void) {
  open_volume(64 * MIB, 12);
  uint32_t first = small_allocate(image.ram.memory, 3, 1);
  uint8_t *place = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96)) +
                   small_add(image.ram.memory, "0", 0x20, 0, 0, 0, false);
  small_add(image.ram.memory, "1", 0x20, 0, 0, 0, false);
  add("y", first, 3, true);
  add("x", first + 1000, 10, true); /* over free clusters */
  /* The entry sets of the record and the clip come first, and the walk reads more blocks after them. */
  for (char name[] = "a0"; name[0] <= 't'; name[1] == '1' ? name[0]++, name[1] = '0' : name[1]++)
    small_add(image.ram.memory, name, 0x20, 0, 0, 0, false);
  for (unsigned i = 0; i < 6; i++)
    place[32 * i] &= 0x7f;
  image.config.cache_bytes = 5 * 512;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", CLIP_CLUSTERS * CLUSTER), SPATE_OK);
  start = (uint32_t)((clip.first_lba - image.volume.heap_lba) >> 3) + 2;
  assert_true(start <= first + 1000 && first + 1010 <= start + CLIP_CLUSTERS);
}

/* Deletes the other file, too. What the clip holds stays allocated. */
static void check_and_close(int line) {
  assert_int_equal(spate_exfat_close(&clip, CLIP_CLUSTERS * CLUSTER), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "x"), SPATE_OK);
  for (uint32_t i = 0; i < CLIP_CLUSTERS; i++)
    if (!is_allocated(start + i)) fail_msg("line %d, turn %d: cluster %u of the clip is free", line, publish_at, i);
  read_volume();
  image_close(&image);
}

/* The first deletion searches while the clip is open, and the clip's entry does not own the clusters yet. */
static void a_deletion_beside_an_open_clip_knows_what_the_clip_will_own(void **state) {
  (void)state;
  for (unsigned published = 0; published < 2; published++) {
    open_with_clip();
    if (published == 1) assert_int_equal(image_publish(&image.ram.block, &clip, CLUSTER), SPATE_OK);
    delete_file("y");
    check_and_close(__LINE__);
  }
}

/* The length grows during the search. */
static void a_clip_may_grow_during_the_search(void **state) {
  (void)state;
  publish_at = 0;
  do {
    open_with_clip();
    turns = 0;
    image.ram.block.while_waiting = publish_most;
    delete_file("y");
    image.ram.block.while_waiting = NULL;
    check_and_close(__LINE__);
  } while (turns > publish_at++);
  assert_true(publish_at > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_deletion_beside_an_open_clip_knows_what_the_clip_will_own),
      cmocka_unit_test(a_clip_may_grow_during_the_search),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
