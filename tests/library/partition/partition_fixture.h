/* SPDX-License-Identifier: Apache-2.0 */
/* A drive in memory with a partition table. Included by one test program each. */
#ifndef PARTITION_FIXTURE_H
#define PARTITION_FIXTURE_H

#include "partition/table.h"
#include "ram_block.h"

#include <setjmp.h>
#include <spate/bytes.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB         (UINT64_C(1) << 20)
#define DRIVE_BYTES (64 * MIB + 24 * 4096) /* not a round number */

static _Alignas(SPATE_DMA_ALIGN) uint8_t scratch[SPATE_PARTITION_SCRATCH_BYTES];
static const struct spate_partition_ids ids = {.disk = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
                                               .partition = "0123456789abcde"};

static const uint32_t block_sizes[] = {512, 4096};
#define FOR_EACH_BLOCK_SIZE(bytes) for (const uint32_t *bytes = block_sizes; bytes < block_sizes + 2; bytes++)

static inline void open_drive(struct ram_block *ram, uint32_t block_bytes) {
  ram_block_open(ram, DRIVE_BYTES / block_bytes, block_bytes);
  memset(scratch, 0x5a, sizeof scratch);
}

static inline void open_with_table(struct ram_block *ram, uint32_t block_bytes) {
  struct spate_partition partition;
  open_drive(ram, block_bytes);
  assert_int_equal(spate_partition_write(&ram->block, scratch, &ids, 1 << 20, false, &partition), SPATE_OK);
}

static inline enum spate_error find(struct ram_block *ram, struct spate_partition *partition) {
  memset(partition, 0xee, sizeof *partition);
  return spate_partition_find(&ram->block, scratch, partition);
}

static inline uint8_t *block_at(struct ram_block *ram, uint64_t lba) {
  return ram->memory + (lba << ram->block.block_shift);
}

static inline uint64_t last_lba(const struct ram_block *ram) { return ram->block.blocks - 1; }

/* Change a field of a header or of its entries, and correct the checksums: damage that only sanity checks detect. */
static inline void reseal(struct ram_block *ram, uint64_t header_lba) {
  uint8_t *header = block_at(ram, header_lba);
  uint64_t bytes = (uint64_t)spate_get32(header + HEADER_ENTRY_COUNT) * spate_get32(header + HEADER_ENTRY_BYTES);
  uint64_t lba = spate_get64(header + HEADER_ENTRIES_LBA);
  uint32_t header_bytes = spate_get32(header + HEADER_SIZE);
  if (header_bytes > spate_block_bytes(&ram->block)) return;
  if (lba < ram->block.blocks && bytes <= ram->bytes - (lba << ram->block.block_shift))
    spate_put32(header + HEADER_ENTRIES_CRC, spate_crc32(0, block_at(ram, lba), bytes));
  spate_put32(header + HEADER_CRC, 0);
  spate_put32(header + HEADER_CRC, spate_crc32(0, header, header_bytes));
}

static inline void expect_find(struct ram_block *ram, enum spate_error error, bool from_backup) {
  struct spate_partition partition;
  assert_int_equal(find(ram, &partition), error);
  if (error == SPATE_OK) assert_int_equal(partition.from_backup, from_backup);
}

static inline void put_partition(struct ram_block *ram, unsigned index, const char *type, uint64_t first,
                                 uint64_t last) {
  const uint64_t headers[] = {1, last_lba(ram)};
  for (unsigned copy = 0; copy < 2; copy++) {
    uint64_t entries_lba = spate_get64(block_at(ram, headers[copy]) + HEADER_ENTRIES_LBA);
    uint8_t *entry = block_at(ram, entries_lba) + (size_t)index * GPT_ENTRY_BYTES;
    memcpy(entry + ENTRY_TYPE, type, GPT_GUID_BYTES);
    spate_put64(entry + ENTRY_FIRST_LBA, first);
    spate_put64(entry + ENTRY_LAST_LBA, last);
    reseal(ram, headers[copy]);
  }
}

#endif
