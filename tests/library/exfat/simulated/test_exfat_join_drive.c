/* SPDX-License-Identifier: Apache-2.0 */
/* A join on a drive that loses its power or its link between any two writes, and comes back: the driver opens its
 * queues again and counts the loss. What the drive's cache had may be gone, block by block. */
#include "machine/stack.h"
#include <spate/exfat.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define OK(call)      assert_int_equal(call, SPATE_OK)
#define MIB           (UINT64_C(1) << 20)
#define BLOCK_BYTES   512u
#define PARTS         3u
#define PART_CLUSTERS 400u /* several blocks of the FAT */
#define WRITE         1
#define LINK_DROP_MS  20u

static struct spate_exfat volume;
static struct spate_exfat_join join;
static uint8_t *block; /* in the memory that the drive reaches */

static struct sim_stack *begin(uint64_t seed) {
  const struct sim_stack_config config = {.machine = {.seed = seed}, .options = {.bytes = 2048 * MIB, .journal = true}};
  const struct spate_exfat_format format = {.label = "TEST", .serial = 1, .cluster_bytes = MIB};
  struct sim_stack *stack = sim_stack_new(&config);
  OK(sim_stack_open(stack));
  block = sim_memory_take(stack->sim, BLOCK_BYTES, SIM_CACHED);
  const struct spate_exfat_config exfat = sim_stack_exfat(stack);
  OK(spate_exfat_format(&exfat, &format));
  OK(spate_exfat_mount(&volume, &exfat, NULL));
  OK(spate_exfat_mkdir(&volume, "recording"));
  return stack;
}

/* Each part's first and last block have its number. */
static void put_parts(void) {
  for (uint32_t i = 0; i < PARTS; i++) {
    struct spate_exfat_clip clip;
    char path[32];
    (void)snprintf(path, sizeof path, "recording/part %u", i);
    OK(spate_exfat_arm(&volume, &clip, path, PART_CLUSTERS * MIB));
    memset(block, 0x40 + (int)i, BLOCK_BYTES);
    OK(spate_block_write(volume.config.block, clip.first_lba, 1, block, 0));
    OK(spate_block_write(volume.config.block, clip.first_lba + PART_CLUSTERS * MIB / BLOCK_BYTES - 1, 1, block, 0));
    OK(spate_exfat_close(&clip, PART_CLUSTERS * MIB));
  }
}

static void expect_block(struct spate_exfat_file *file, uint64_t offset_bytes, uint32_t part) {
  uint8_t wanted[BLOCK_BYTES];
  size_t got_bytes;
  memset(wanted, 0x40 + (int)part, sizeof wanted);
  OK(spate_exfat_read(file, offset_bytes, block, BLOCK_BYTES, &got_bytes));
  assert_int_equal(got_bytes, BLOCK_BYTES);
  assert_memory_equal(block, wanted, BLOCK_BYTES);
}

/* The last block is reached through all links. */
static void expect_joined(void) {
  struct spate_exfat_file file;
  struct spate_exfat_entry entry;
  OK(spate_exfat_stat(&volume, "recording", &entry));
  assert_false(entry.directory);
  assert_int_equal(entry.bytes, PARTS * PART_CLUSTERS * MIB);
  OK(spate_exfat_open(&volume, "recording", &file));
  for (uint32_t i = 0; i < PARTS; i++) {
    expect_block(&file, i * PART_CLUSTERS * MIB, i);
    expect_block(&file, (i + 1) * PART_CLUSTERS * MIB - BLOCK_BYTES, i);
  }
}

static void join_all(void) {
  OK(spate_exfat_join_begin(&volume, &join, "recording"));
  for (bool more = true; more;)
    OK(spate_exfat_join_work(&join, &more));
}

/* After the join the whole machine loses its power. */
static void expect_durable(struct sim_stack *stack) {
  sim_drive_power_cut(stack->drives[0].drive);
  sim_stack_restart(stack);
  OK(sim_stack_open(stack));
  const struct spate_exfat_config exfat = sim_stack_exfat(stack);
  struct spate_exfat_mounted found;
  OK(spate_exfat_mount(&volume, &exfat, &found));
  assert_int_equal(found.reservations, 0);
  expect_joined();
  OK(spate_exfat_delete(&volume, "recording"));
}

/* True: the join had so many writes. */
static bool join_with(enum sim_action action, uint32_t skip) {
  struct sim_stack *stack = begin(skip + 1u);
  put_parts();
  const uint32_t before = spate_block_power_mark(stack->block);
  sim_drive_fault(
      stack->drives[0].drive,
      (struct sim_fault){.action = action, .opcode = WRITE, .skip = skip, .count = 1, .value = LINK_DROP_MS});
  join_all();
  const bool met = spate_block_power_mark(stack->block) != before;
  sim_drive_clear_faults(stack->drives[0].drive);
  expect_joined();
  expect_durable(stack);
  sim_stack_free(stack);
  return met;
}

static void test_the_drive_loses_its_power(void **state) {
  (void)state;
  uint32_t losses = 0;
  while (join_with(SIM_POWER_CUT, losses))
    losses++;
  assert_in_range(losses, 3 * PARTS + 6, 40);
}

static void test_the_drive_loses_its_link(void **state) {
  (void)state;
  for (uint32_t skip = 0; skip < 8; skip++)
    assert_true(join_with(SIM_LINK_DROP, skip));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_drive_loses_its_power),
      cmocka_unit_test(test_the_drive_loses_its_link),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
