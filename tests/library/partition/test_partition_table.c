/* SPDX-License-Identifier: Apache-2.0 */
/* A new table, field by field, and the errors when a table cannot be read. */
#include "ram_block.h"

#include <spate/bytes.h>
#include <spate/partition.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Compare a GUID with the random bytes given, except for the six bits that hold version and variant. The version is in
 * the high byte of a little-endian field. */
static void is_made_of(const uint8_t *guid, uint8_t byte) {
  for (unsigned i = 0; i < 16; i++)
    switch (i) {
    case 7: assert_int_equal(guid[i], 0x40 | (byte & 0x0f)); break;
    case 8: assert_int_equal(guid[i], 0x80 | (byte & 0x3f)); break;
    default: assert_int_equal(guid[i], byte);
    }
}

#define BLOCKS 16384u

static _Alignas(4096) uint8_t scratch[SPATE_PARTITION_SCRATCH_BYTES];
static struct ram_block ram;
static struct spate_partition partition;

static void write_table(uint64_t blocks, uint8_t disk, uint8_t volume) {
  struct spate_partition_ids ids;
  memset(ids.disk, disk, sizeof ids.disk);
  memset(ids.partition, volume, sizeof ids.partition);
  ram_block_open(&ram, blocks, 512);
  assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 1u << 20, true, &partition), SPATE_OK);
}

/* The caller's random bits, marked as version 4 and variant 1 (RFC 4122). */
static void identifiers_say_that_they_are_random(void **state) {
  (void)state;
  for (unsigned given = 0; given < 256; given += 5) {
    write_table(BLOCKS, (uint8_t)given, (uint8_t)(255 - given));
    for (unsigned backup = 0; backup < 2; backup++) {
      const uint8_t *header = ram.memory + (backup ? BLOCKS - 1 : 1u) * 512u;
      const uint8_t *entry = ram.memory + (spate_get64(header + 72) << 9);
      is_made_of(header + 56, (uint8_t)given);
      is_made_of(entry + 16, (uint8_t)(255 - given));
    }
    ram_block_close(&ram);
  }
}

/* UEFI 2.10, 5.2.3: one entry of type EEh from block 1 to the end, or as far as 32 bits go. */
static void the_protective_table_covers_the_drive(void **state) {
  (void)state;
  static const uint64_t sizes[] = {BLOCKS, (UINT64_C(1) << 32) - 1, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1,
                                   UINT64_C(1) << 33};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    write_table(sizes[i], 1, 2);
    assert_memory_equal(ram.memory + 446, "\x00\x00\x02\x00\xee\xff\xff\xff\x01\x00\x00\x00", 12);
    uint32_t covered = sizes[i] - 1 > UINT32_MAX ? UINT32_MAX : (uint32_t)(sizes[i] - 1);
    for (unsigned byte = 0; byte < 4; byte++)
      assert_int_equal(ram.memory[458 + byte], covered >> 8 * byte & 0xff);
    for (unsigned at = 0; at < 510; at++)
      if (at < 446 || at >= 462) assert_int_equal(ram.memory[at], 0);
    assert_memory_equal(ram.memory + 510, "\x55\xaa", 2);
    ram_block_close(&ram);
  }
}

/* The read that fails in both copies may be any of them. */
static void a_table_that_cannot_be_read_is_not_found_in_part(void **state) {
  (void)state;
  for (uint32_t skip = 0; skip < 20; skip++) {
    struct spate_partition found;
    write_table(BLOCKS, 1, 2);
    ram_block_fault(
        &ram,
        (struct ram_fault){
            .ops = RAM_OP(SPATE_READ), .last_lba = BLOCKS, .skip = skip, .times = RAM_ALWAYS, .error = SPATE_E_MEDIA});
    uint64_t before = ram.count[SPATE_READ];
    enum spate_error error = spate_partition_find(&ram.block, scratch, &found);
    uint64_t reads = ram.count[SPATE_READ] - before;
    assert_int_equal(error, reads <= skip ? SPATE_OK : SPATE_E_MEDIA);
    if (error == SPATE_OK) assert_int_equal(found.first_lba, partition.first_lba);
    ram_block_close(&ram);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(identifiers_say_that_they_are_random),
      cmocka_unit_test(the_protective_table_covers_the_drive),
      cmocka_unit_test(a_table_that_cannot_be_read_is_not_found_in_part),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
