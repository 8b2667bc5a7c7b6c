/* SPDX-License-Identifier: Apache-2.0 */
/* The disk layer on a drive in memory, without FatFs. Included by one test program each. */
#ifndef SPATE_TESTS_DISKIO_LAYER_H
#define SPATE_TESTS_DISKIO_LAYER_H

#include "ram_block.h"

#include <spate_diskio.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ff.h>

#include <diskio.h> /* after ff.h, whose types it uses */

#define SECTOR       512u
#define SECTORS      65536u
#define MEMORY_BYTES (UINT32_C(8) << 20)
#define REQUESTS     16u
#define ALL_USES     (SPATE_DISKIO_WRITES | SPATE_DISKIO_READS | SPATE_DISKIO_CPU)
#define OK(call)     assert_int_equal(call, SPATE_OK)

struct fixture {
  struct ram_block ram;
  struct spate_region region;
  uint8_t *memory; /* of the region */
  uint8_t *bounce, *tables, *plain;
  struct spate_diskio disk;
  struct spate_diskio_request requests[REQUESTS];
  struct spate_diskio_range range;
  struct spate_diskio_config config;
};

DWORD get_fattime(void) { return 1u << 21 | 1u << 16; }

static inline uint8_t *take(size_t bytes) {
  uint8_t *memory = aligned_alloc(4096, bytes);

  if (memory == NULL) abort();
  memset(memory, 0, bytes);
  return memory;
}

static inline struct fixture *start(unsigned uses) {
  struct fixture *f = calloc(1, sizeof *f);

  if (f == NULL) abort();
  ram_block_open(&f->ram, SECTORS, SECTOR);
  f->memory = take(MEMORY_BYTES);
  f->plain = take(MEMORY_BYTES);
  f->bounce = take(8 * SPATE_DISKIO_SLOT_BYTES);
  f->tables = take(SPATE_REGION_TABLE_BYTES(MEMORY_BYTES));
  struct spate_arena arena = {.start = f->tables, .bytes = SPATE_REGION_TABLE_BYTES(MEMORY_BYTES)};
  OK(spate_region_init(&f->region, f->memory, MEMORY_BYTES, &arena));
  f->config = (struct spate_diskio_config){.block = &f->ram.block,
                                           .requests = f->requests,
                                           .request_count = REQUESTS,
                                           .bounce = f->bounce,
                                           .bounce_bytes = 8 * SPATE_DISKIO_SLOT_BYTES};
  OK(spate_diskio_open(&f->disk, 0, &f->config));
  OK(spate_diskio_register(&f->disk, &f->range, &f->region, 0, MEMORY_BYTES, uses));
  assert_int_equal(disk_status(0), STA_NOINIT);
  assert_int_equal(disk_initialize(0), 0);
  assert_int_equal(disk_status(0), 0);
  return f;
}

static inline void end(struct fixture *f) {
  (void)spate_diskio_close(&f->disk);
  assert_int_equal(f->disk.in_flight, 0);
  assert_int_equal(f->disk.in_flight_bytes, 0);
  assert_int_equal(f->ram.overlaps, 0);
  ram_block_close(&f->ram);
  free(f->memory);
  free(f->plain);
  free(f->bounce);
  free(f->tables);
  free(f);
}

/* The next request of this kind fails on the media. */
static inline void fail_once(struct fixture *f, enum spate_op op) {
  ram_block_fault(
      &f->ram,
      (struct ram_fault){.ops = RAM_OP(op), .last_lba = SECTORS, .times = 1, .error = SPATE_E_MEDIA, .detail = 0x280});
}

static inline void paint(uint8_t *to, size_t bytes, unsigned seed) {
  uint64_t random = seed;

  for (size_t i = 0; i < bytes; i++)
    to[i] = (uint8_t)(ram_random(&random) >> 9);
}

static inline const uint8_t *medium(const struct fixture *f, uint64_t sector) {
  return f->ram.memory + sector * SECTOR;
}

#endif
