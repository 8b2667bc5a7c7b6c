/* SPDX-License-Identifier: Apache-2.0 */
/* The identifiers of a new table: the caller's random bits, marked as version 4 and variant 1 (RFC 4122). */
#include "ram_block.h"

#include <spate/bytes.h>
#include <spate/partition.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Of what was given, all but the six bits that say what kind it is. The version is in the high byte of a little-endian
 * field. */
static void is_made_of(const uint8_t *guid, uint8_t byte) {
  for (unsigned i = 0; i < 16; i++)
    switch (i) {
    case 7: assert_int_equal(guid[i], 0x40 | (byte & 0x0f)); break;
    case 8: assert_int_equal(guid[i], 0x80 | (byte & 0x3f)); break;
    default: assert_int_equal(guid[i], byte);
    }
}

static void identifiers_say_that_they_are_random(void **state) {
  (void)state;
  static uint8_t scratch[SPATE_PARTITION_SCRATCH_BYTES] __attribute__((aligned(4096)));
  for (unsigned given = 0; given < 256; given += 5) {
    struct spate_partition_ids ids;
    struct spate_partition partition;
    struct ram_block ram;
    memset(ids.disk, (int)given, sizeof ids.disk);
    memset(ids.partition, (int)(255 - given), sizeof ids.partition);
    ram_block_open(&ram, 16384, 512);
    assert_int_equal(spate_partition_write(&ram.block, scratch, &ids, 1u << 20, true, &partition), SPATE_OK);
    for (unsigned backup = 0; backup < 2; backup++) {
      const uint8_t *header = ram.memory + (backup ? 16383u : 1u) * 512u;
      const uint8_t *entry = ram.memory + (spate_get64(header + 72) << 9);
      is_made_of(header + 56, (uint8_t)given);
      is_made_of(entry + 16, (uint8_t)(255 - given));
    }
    ram_block_close(&ram);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(identifiers_say_that_they_are_random),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
