/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/* Tables after a power cut while they were written, and after random damage. */
#include "partition_fixture.h"

/*
 * The power fails at every instant of a write. Each block written since the last completed flush holds independently
 * its old or its new version. The result must be the old table, the new one (perhaps from its backup), or none on a
 * blank drive. A blank drive, or one with our table, must accept another write without the erase option.
 */
static void apply_block(struct ram_block *to, const struct ram_log_entry *entry, uint32_t i) {
  memcpy(block_at(to, entry->lba + i), entry->data + ((size_t)i << to->block.block_shift),
         spate_block_bytes(&to->block));
}

static void cut_power(const struct ram_block *from, uint64_t event, uint64_t *random, struct ram_block *to) {
  uint64_t durable_before = 0;
  for (size_t i = 0; i < from->log_count; i++)
    if (from->log[i].op == SPATE_FLUSH && from->log[i].completed_at <= event)
      durable_before = from->log[i].submitted_at;
  for (size_t i = 0; i < from->log_count; i++) {
    const struct ram_log_entry *entry = &from->log[i];
    if (entry->op != SPATE_WRITE || entry->submitted_at > event) continue;
    bool durable = entry->completed_at < durable_before;
    for (uint32_t block = 0; block < entry->blocks; block++)
      if (durable || (ram_random(random) & 1)) apply_block(to, entry, block);
  }
}

enum before { BLANK, OWN, OWN_DAMAGED, OTHER };

static void prepare(struct ram_block *ram, enum before before) {
  struct spate_partition partition;
  static const struct spate_partition_ids old_ids = {.disk = "an older disk", .partition = "an older part"};
  ram_block_open(ram, 4 * MIB / 512 + 77, 512);
  if (before == BLANK) return;
  assert_int_equal(spate_partition_write(&ram->block, scratch, &old_ids, 1 << 20, false, &partition), SPATE_OK);
  if (before == OWN_DAMAGED) memset(block_at(ram, 1), 0, 512);
  if (before == OTHER) put_partition(ram, 5, GPT_BASIC_DATA, 40, 50);
}

static void test_power_cuts(void **state) {
  (void)state;
  uint64_t random = 1;
  for (enum before before = BLANK; before <= OTHER; before++) {
    struct ram_block ram;
    struct spate_partition partition;
    prepare(&ram, before);
    ram.keep_log = ram.keep_data = true;
    ram.events = 0;
    bool erase = before == OTHER;
    assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 1 << 20, erase, &partition), SPATE_OK);
    for (unsigned cut = 0; cut < 100; cut++) {
      struct ram_block after;
      prepare(&after, before);
      cut_power(&ram, ram_random(&random) % (ram.events + 1), &random, &after);
      enum spate_error error = find(&after, &partition);
      /* A table whose primary was already broken depends on its backup, and the backup is written first: a cut may lose
       * both. */
      bool allowed = error == SPATE_OK || (before == BLANK && error == SPATE_E_NO_TABLE) ||
                     (before == OWN_DAMAGED && error == SPATE_E_TABLE);
      if (!allowed) fail_msg("case %d, cut %u: %s", (int)before, cut, spate_error_name(error));
      if (!erase) assert_int_equal(spate_partition_check_blank(&after.block, scratch), SPATE_OK);
      ram_block_close(&after);
    }
    ram_block_close(&ram);
  }
}

/* Random damage, half of the time with correct checksums: every answer is allowed except a crash or an extent outside
 * the drive. */
static void test_random_damage(void **state) {
  (void)state;
  static uint8_t primary[34 * 512];
  struct ram_block ram;
  uint64_t random = 7;
  open_with_table(&ram, 512);
  memcpy(primary, ram.memory, sizeof primary);
  for (unsigned round = 0; round < 4000; round++) {
    struct spate_partition partition;
    memcpy(ram.memory, primary, sizeof primary);
    for (unsigned i = 0; i < 4; i++) {
      /* The MBR's table, the header, and the first two entries. */
      static const uint32_t starts[] = {MBR_ENTRIES_OFFSET, 512, 1024};
      static const uint32_t lengths[] = {64, GPT_HEADER_BYTES, 2 * GPT_ENTRY_BYTES};
      unsigned area = (unsigned)(ram_random(&random) % 3);
      ram.memory[starts[area] + ram_random(&random) % lengths[area]] = (uint8_t)ram_random(&random);
    }
    if (ram_random(&random) & 1) reseal(&ram, 1);
    if (spate_partition_find(&ram.block, scratch, &partition) == SPATE_OK) {
      assert_true(partition.blocks > 0 && partition.first_lba < ram.block.blocks);
      assert_true(partition.blocks <= ram.block.blocks - partition.first_lba);
    }
  }
  ram_block_close(&ram);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_power_cuts),
      cmocka_unit_test(test_random_damage),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
