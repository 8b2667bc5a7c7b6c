/* SPDX-License-Identifier: Apache-2.0 */
/* The drive loses its power during a join, and what it had not flushed, while the host continues. */
#include "join_fixture.h"

#define PARTS       3u
#define CLUSTERS    600u /* of a part: several blocks of the FAT */
#define SHORT_BYTES 10u
#define CACHED_MAX  256u
#define NEVER       UINT64_MAX

/* ---- a drive with a cache ---- */

/* Blocks that were written and are not durable, with what they held before. */
static struct cached {
  uint64_t lba;
  uint8_t old[512];
} cached[CACHED_MAX];
static uint32_t cached_count;

static uint32_t find_cached(uint64_t lba) {
  uint32_t i = 0;
  while (i < cached_count && cached[i].lba != lba)
    i++;
  return i;
}

static void taken(void *context, struct ram_block *ram, const struct spate_io *io) {
  (void)context;
  if (io->op != SPATE_WRITE || (io->flags & SPATE_IO_FUA) != 0) return;
  for (uint64_t lba = io->lba; lba < io->lba + io->blocks; lba++) {
    if (find_cached(lba) < cached_count) continue;
    assert_true(cached_count < CACHED_MAX);
    cached[cached_count].lba = lba;
    memcpy(cached[cached_count++].old, ram->memory + lba * 512, 512);
  }
}

static void over(void *context, struct ram_block *ram, const struct spate_io *io) {
  (void)context;
  (void)ram;
  if (io->error != SPATE_OK) return;
  if (io->op == SPATE_FLUSH) cached_count = 0;
  for (uint64_t lba = io->lba; (io->flags & SPATE_IO_FUA) != 0 && lba < io->lba + io->blocks; lba++) {
    const uint32_t at = find_cached(lba);
    if (at < cached_count) cached[at] = cached[--cached_count];
  }
}

static void dropped(void *context, struct ram_block *ram) {
  (void)context;
  (void)ram;
}

static const struct ram_observer cache_observer = {taken, over, dropped, NULL};

/* Any subset of the blocks gets lost. `random` 0: all do. */
static void lose_cached(uint64_t random) {
  for (uint32_t i = 0; i < cached_count; i++)
    if (random == 0 || ram_random(&random) % 2 == 0) memcpy(image.ram.memory + cached[i].lba * 512, cached[i].old, 512);
  cached_count = 0;
}

/* ---- when it loses its power ---- */

static uint64_t writes, lose_after, lose_again_after; /* so many writes of the join */
static uint64_t seed;
static bool silent; /* nobody can tell whether it did */

static bool due(void) {
  const uint64_t now = image.ram.count[SPATE_WRITE];
  if (image.ram.pending_count > 0 || now == writes) return false;
  writes = now;
  return now == lose_after || (now > lose_after && lose_again_after != NEVER && now % lose_again_after == 0);
}

static void while_waiting(void *context) {
  (void)context;
  if (!due()) return;
  lose_cached(seed);
  if (silent)
    image.ram.block.power_unknown++;
  else
    image.ram.block.power_losses++;
}

static void begin_join(uint64_t after, uint64_t again_after) {
  open_small();
  put_parts("recording", PARTS, CLUSTERS, SHORT_BYTES);
  OK(spate_exfat_join_begin(&image.volume, &join, "recording"));
  OK(spate_block_flush(&image.ram.block));
  cached_count = 0;
  ram_block_clear_log(&image.ram);
  writes = 0;
  lose_after = after;
  lose_again_after = again_after;
  image.ram.observer = &cache_observer;
  image.ram.block.while_waiting = while_waiting;
}

static void end_losses(void) {
  image.ram.block.while_waiting = NULL;
  lose_cached(0);
}

/* The whole machine loses its power when the join has ended. */
static void expect_durable(void) {
  end_losses();
  OK(image_mount(&image));
  assert_int_equal(image.found.reservations, 0);
  expect_joined("recording", PARTS, CLUSTERS, SHORT_BYTES);
  assert_whole(false);
  OK(spate_exfat_delete(&image.volume, "recording"));
  assert_whole(false);
  image_close(&image);
}

/* ---- tests ---- */

/* How many writes the join takes if nothing gets lost. */
static uint64_t count_writes(void) {
  begin_join(NEVER, NEVER);
  OK(work_all());
  const uint64_t count = writes;
  expect_durable();
  return count;
}

static void between_any_two_writes(void **state) {
  (void)state;
  const uint64_t count = count_writes();
  assert_in_range(count, PARTS * 3, 40);
  for (seed = 0; seed < 4; seed++) {
    for (uint64_t after = 1; after <= count; after++) {
      silent = after % 2 == 0;
      begin_join(after, NEVER);
      OK(work_all());
      assert_int_equal(join.linked_bytes, join.bytes);
      expect_durable();
    }
  }
  seed = 0;
  silent = false;
}

/* The links are written again in calls as short as before, and linked_bytes says how far they are. */
static void linked_bytes_fall_back(void **state) {
  (void)state;
  bool more;
  begin_join(4, NEVER);
  OK(spate_exfat_join_work(&join, &more));
  assert_true(more);
  assert_int_equal(join.linked_bytes, 0);
  OK(work_all());
  assert_int_equal(join.linked_bytes, join.bytes);
  expect_durable();
}

/* 70 parts take two calls. The links of the first call are lost before the second one begins. */
static void between_two_calls(void **state) {
  (void)state;
  bool more;
  open_small();
  put_parts("recording", 70, 1, SHORT_BYTES);
  OK(spate_exfat_join_begin(&image.volume, &join, "recording"));
  lose_after = lose_again_after = NEVER;
  image.ram.observer = &cache_observer;
  OK(spate_exfat_join_work(&join, &more));
  assert_true(more);
  lose_cached(0);
  image.ram.block.power_losses++;
  OK(work_all());
  end_losses();
  OK(image_mount(&image));
  expect_joined("recording", 70, 1, SHORT_BYTES);
  assert_whole(false);
  image_close(&image);
}

/* A flush that comes after the loss succeeds, and has nothing to write. */
static void before_the_flush(void **state) {
  (void)state;
  bool more;
  const uint64_t links = count_writes() - 6; /* without the journal, the dirty flag, the set, and so on */
  begin_join(links, NEVER);
  OK(spate_exfat_join_work(&join, &more));
  assert_true(more);
  assert_int_equal(image.ram.count[SPATE_WRITE], links);
  expect_parts("recording", PARTS);
  OK(work_all());
  expect_durable();
}

static void two_losses(void **state) {
  (void)state;
  begin_join(3, 17);
  OK(work_all());
  expect_durable();
}

/* A drive that loses its power again and again: the folder is as before. */
static void again_and_again(void **state) {
  (void)state;
  begin_join(1, 1);
  GIVES(SPATE_E_POWER_LOST, work_all());
  end_losses();
  assert_int_equal(image.volume.joining_cluster, 0);
  expect_parts("recording", PARTS);
  assert_whole(false);
  OK(spate_exfat_rename(&image.volume, "between 1", "other"));
  join_all("recording");
  expect_durable();
}

/* A directory grows between two calls: its links are in blocks of the FAT that the join writes, too. */
static void other_links_stay(void **state) {
  (void)state;
  char path[32];
  bool more = true;
  for (uint64_t after = 1; after < 12; after++) {
    begin_join(after, NEVER);
    for (uint32_t i = 0; more && i < 3; i++) {
      (void)snprintf(path, sizeof path, "d/%u", i);
      OK(spate_exfat_mkdir(&image.volume, path));
      OK(spate_exfat_join_work(&join, &more));
    }
    for (uint32_t i = 3; i < 40; i++) {
      (void)snprintf(path, sizeof path, "d/%u", i);
      OK(spate_exfat_mkdir(&image.volume, path));
    }
    if (more) OK(work_all());
    more = true;
    expect_durable();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(between_any_two_writes),
      cmocka_unit_test(between_two_calls),
      cmocka_unit_test(linked_bytes_fall_back),
      cmocka_unit_test(before_the_flush),
      cmocka_unit_test(two_losses),
      cmocka_unit_test(again_and_again),
      cmocka_unit_test(other_links_stay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
