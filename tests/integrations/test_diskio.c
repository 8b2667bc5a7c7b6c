/* SPDX-License-Identifier: Apache-2.0 */
/* The disk layer without FatFs: what each call promises, on a drive in memory that completes requests when told. */
#include "diskio_layer.h"

/* ---- open and register ---- */

static void refuses(const struct fixture *f, struct spate_diskio_config config, uint8_t pdrv, enum spate_error error) {
  struct spate_diskio other;

  (void)f;
  assert_int_equal(spate_diskio_open(&other, pdrv, &config), error);
}

static void test_open_checks_its_arguments(void **state) {
  struct fixture *f = start(0);
  struct spate_diskio_config config = f->config;

  refuses(f, config, 0, SPATE_E_OPEN);
  refuses(f, config, FF_VOLUMES, SPATE_E_INVALID);
  config.request_count = 0;
  refuses(f, config, 1, SPATE_E_INVALID);
  config = f->config;
  config.requests = NULL;
  refuses(f, config, 1, SPATE_E_INVALID);
  config = f->config;
  config.bounce = NULL;
  refuses(f, config, 1, SPATE_E_INVALID);
  config.bounce = f->bounce + 32;
  refuses(f, config, 1, SPATE_E_INVALID);
  config = f->config;
  config.bounce_bytes = SPATE_DISKIO_SLOT_BYTES - 1u;
  refuses(f, config, 1, SPATE_E_INVALID);
  config.bounce_bytes = (SPATE_DISKIO_SLOTS_MAX + 1u) * SPATE_DISKIO_SLOT_BYTES;
  refuses(f, config, 1, SPATE_E_INVALID);
  config = f->config;
  f->ram.block.block_shift = 13;
  refuses(f, config, 1, SPATE_E_SECTOR_SIZE);
  f->ram.block.block_shift = 9;
  end(f);
  (void)state;
}

static void test_register_checks_its_arguments(void **state) {
  struct fixture *f = start(0);
  struct spate_diskio_range range;
  struct spate_region without_start = f->region;

  without_start.start = NULL;
  assert_int_equal(spate_diskio_register(&f->disk, &range, &f->region, 4096, 4096, 0), SPATE_E_OPEN);
  assert_int_equal(spate_diskio_register(&f->disk, &f->range, &f->region, 4096, 4096, 0), SPATE_E_OPEN);
  OK(spate_diskio_unregister(&f->disk, &f->range));
  assert_int_equal(spate_diskio_unregister(&f->disk, &f->range), SPATE_E_INVALID);
  assert_int_equal(spate_diskio_register(&f->disk, &range, &without_start, 0, 4096, 0), SPATE_E_INVALID);
  assert_int_equal(spate_diskio_register(&f->disk, &range, &f->region, 0, 0, 0), SPATE_E_INVALID);
  assert_int_equal(spate_diskio_register(&f->disk, &range, &f->region, 32, 4096, 0), SPATE_E_INVALID);
  assert_int_equal(spate_diskio_register(&f->disk, &range, &f->region, 0, 4000, 0), SPATE_E_INVALID);
  assert_int_equal(spate_diskio_register(&f->disk, &range, &f->region, 64, MEMORY_BYTES, 0), SPATE_E_INVALID);
  assert_int_equal(spate_diskio_register(&f->disk, &range, &f->region, 0, 4096, 8), SPATE_E_INVALID);
  OK(spate_diskio_register(&f->disk, &range, &f->region, MEMORY_BYTES - 4096, 4096, 0));
  OK(spate_diskio_register(&f->disk, &f->range, &f->region, 0, MEMORY_BYTES - 4096, 0));
  end(f);
  (void)state;
}

/* ---- which way a buffer goes ---- */

static void test_a_registered_write_returns_at_once(void **state) {
  struct fixture *f = start(ALL_USES);

  paint(f->memory, 65536, 1);
  f->ram.held_ops = RAM_OP(SPATE_WRITE);
  assert_int_equal(disk_write(0, f->memory, 100, 128), RES_OK);
  assert_int_equal(f->disk.in_flight, 1);
  assert_int_equal(f->disk.in_flight_bytes, 65536);
  assert_true(spate_diskio_busy(&f->disk, f->memory + 65535, 1));
  assert_false(spate_diskio_busy(&f->disk, f->memory + 65536, 4096));
  OK(spate_diskio_wait(&f->disk, f->memory + 65536, 4096)); /* does not wait for others */
  f->ram.held_ops = 0;
  OK(spate_diskio_wait(&f->disk, f->memory, 1));
  assert_false(spate_diskio_busy(&f->disk, f->memory, MEMORY_BYTES));
  assert_memory_equal(medium(f, 100), f->memory, 65536);
  assert_int_equal(f->disk.counters.streamed_bytes, 65536);
  assert_int_equal(f->disk.counters.copied_bytes, 0);
  end(f);
  (void)state;
}

static void test_a_registered_read_returns_at_once(void **state) {
  struct fixture *f = start(ALL_USES);

  paint(f->ram.memory, SECTORS / 2 * SECTOR, 2);
  f->ram.held_ops = RAM_OP(SPATE_READ);
  assert_int_equal(disk_read(0, f->memory, 100, 128), RES_OK);
  assert_int_equal(f->disk.in_flight, 1);
  f->ram.held_ops = 0;
  OK(spate_diskio_wait(&f->disk, f->memory, 65536));
  assert_memory_equal(medium(f, 100), f->memory, 65536);
  assert_int_equal(f->disk.counters.streamed_bytes, 65536);
  end(f);
  (void)state;
}

static void test_each_use_is_for_one_operation(void **state) {
  struct fixture *f = start(SPATE_DISKIO_READS | SPATE_DISKIO_CPU);

  paint(f->memory, 65536, 3);
  assert_int_equal(disk_write(0, f->memory, 0, 128), RES_OK);
  assert_memory_equal(medium(f, 0), f->memory, 65536); /* waited for */
  assert_int_equal(f->disk.counters.direct_bytes, 65536);
  OK(spate_diskio_unregister(&f->disk, &f->range));
  OK(spate_diskio_register(&f->disk, &f->range, &f->region, 0, MEMORY_BYTES, SPATE_DISKIO_WRITES | SPATE_DISKIO_CPU));
  memset(f->memory, 0, 65536);
  assert_int_equal(disk_read(0, f->memory, 0, 128), RES_OK);
  assert_memory_equal(medium(f, 0), f->memory, 65536);
  assert_int_equal(f->disk.counters.direct_bytes, 2 * 65536);
  assert_int_equal(f->disk.counters.streamed_bytes + f->disk.counters.copied_bytes, 0);
  end(f);
  (void)state;
}

/* A copied write leaves its buffer at once: the drive writes what the buffer held, however late. */
static void copies(struct fixture *f, uint8_t *buffer, UINT sectors) {
  uint8_t *expected = f->plain + MEMORY_BYTES / 2;
  const size_t bytes = (size_t)sectors * SECTOR;
  const uint64_t before = f->disk.counters.copied_bytes;

  paint(buffer, bytes, sectors);
  memcpy(expected, buffer, bytes);
  f->ram.delay_polls = 50;
  assert_int_equal(disk_write(0, buffer, 300, sectors), RES_OK);
  memset(buffer, 0xee, bytes);
  OK(spate_diskio_wait_all(&f->disk));
  f->ram.delay_polls = 0;
  assert_memory_equal(medium(f, 300), expected, bytes);
  buffer[bytes] = 0x77;
  assert_int_equal(disk_read(0, buffer, 300, sectors), RES_OK);
  assert_memory_equal(buffer, expected, bytes);
  assert_int_equal(buffer[bytes], 0x77);
  assert_int_equal(f->disk.counters.copied_bytes - before, 2 * bytes);
}

static void test_other_buffers_are_copied(void **state) {
  struct fixture *f = start(ALL_USES);

  copies(f, f->plain, 3);
  copies(f, f->plain + 1, 300);  /* more than the bounce memory */
  copies(f, f->memory + 3, 128); /* registered, but at no multiple of 4 */
  copies(f, f->memory + 4, 128); /* at no line */
  copies(f, f->memory, 1);       /* one sector */
  end(f);
  f = start(SPATE_DISKIO_WRITES | SPATE_DISKIO_READS); /* logic's memory: at any multiple of 4 */
  copies(f, f->memory + 6, 128);
  assert_int_equal(disk_write(0, f->memory + 4, 0, 128), RES_OK);
  OK(spate_diskio_wait_all(&f->disk));
  assert_int_equal(f->disk.counters.streamed_bytes, 65536);
  end(f);
  (void)state;
}

static void test_a_buffer_may_leave_its_range(void **state) {
  struct fixture *f = start(0);

  OK(spate_diskio_unregister(&f->disk, &f->range));
  OK(spate_diskio_register(&f->disk, &f->range, &f->region, 0, 4096 + 64, ALL_USES));
  paint(f->memory, 16384, 5);
  assert_int_equal(disk_write(0, f->memory, 10, 32), RES_OK);
  OK(spate_diskio_wait_all(&f->disk));
  assert_memory_equal(medium(f, 10), f->memory, 16384);
  assert_int_equal(f->disk.counters.streamed_bytes, 4096);
  assert_int_equal(f->disk.counters.copied_bytes, 16384 - 4096);
  end(f);
  (void)state;
}

static void test_large_requests_are_split(void **state) {
  struct fixture *f = start(ALL_USES);

  f->ram.block.command_bytes_max = 1u << 20;
  f->ram.block.request_blocks_max = 1024; /* 512 KiB */
  f->ram.keep_log = true;
  paint(f->memory, MEMORY_BYTES, 6);
  assert_int_equal(disk_write(0, f->memory + 256 * 1024, 0, 6144), RES_OK);
  OK(spate_diskio_wait_all(&f->disk));
  assert_int_equal(f->ram.log_count, 7); /* none crosses a multiple of 1 MiB of memory */
  assert_int_equal(f->ram.log[0].blocks, 1024);
  assert_int_equal(f->ram.log[1].blocks, 512);
  assert_int_equal(f->ram.log[6].blocks, 512);
  assert_memory_equal(medium(f, 0), f->memory + 256 * 1024, 6144 * SECTOR);
  end(f);
  (void)state;
}

static void test_large_copies_are_split(void **state) {
  struct fixture *f = start(ALL_USES);

  f->ram.block.request_blocks_max = 16; /* less than the bounce memory */
  copies(f, f->plain, 300);
  end(f);
  (void)state;
}

/* Less than a block is left of the command's part of the region: the request is cut later, and not copied. */
static void test_a_block_across_a_cut_is_direct(void **state) {
  struct fixture *f = start(SPATE_DISKIO_WRITES);

  f->ram.block.command_bytes_max = 64u << 10;
  paint(f->memory, MEMORY_BYTES, 10);
  assert_int_equal(disk_write(0, f->memory + 65536 - 256, 0, 8), RES_OK);
  OK(spate_diskio_wait_all(&f->disk));
  assert_int_equal(f->disk.counters.copied_bytes, 0);
  assert_memory_equal(medium(f, 0), f->memory + 65536 - 256, 8 * SECTOR);
  end(f);
  (void)state;
}

static enum spate_error refuse(struct spate_block *block, struct spate_io *io) {
  (void)block;
  (void)io;
  return SPATE_E_GONE;
}

/* A drive that is given up accepts no request: bounce memory is free again. */
static void test_a_copy_that_is_not_accepted(void **state) {
  struct fixture *f = start(ALL_USES);
  const struct spate_block_ops *ops = f->ram.block.ops;
  struct spate_block_ops refusing = *ops;

  refusing.submit = refuse;
  f->ram.block.ops = &refusing;
  const uint32_t slots_free = f->disk.slots_free;
  assert_int_equal(disk_write(0, f->plain, 0, 3), RES_ERROR);
  assert_int_equal(disk_read(0, f->plain, 0, 3), RES_ERROR);
  assert_int_equal(disk_write(0, f->memory, 0, 3), RES_ERROR);
  assert_int_equal(f->disk.slots_free, slots_free);
  assert_int_equal(f->disk.in_flight, 0);
  f->ram.block.ops = ops;
  end(f);
  (void)state;
}

static void test_the_table_limits_what_is_in_flight(void **state) {
  struct fixture *f = start(ALL_USES);

  f->ram.delay_polls = 60;
  f->ram.order = RAM_RANDOM;
  for (unsigned i = 0; i < 100; i++)
    assert_int_equal(disk_write(0, f->memory + i * 8192, i * 16, 16), RES_OK);
  assert_int_equal(f->disk.counters.in_flight_max, REQUESTS);
  assert_int_equal(f->ram.pending_max, REQUESTS);
  OK(spate_diskio_wait_all(&f->disk));
  f->ram.block.depth = 3; /* the device returns FULL */
  for (unsigned i = 0; i < 20; i++)
    assert_int_equal(disk_write(0, f->memory + i * 8192, i * 16, 16), RES_OK);
  assert_true(f->ram.full_count > 0);
  end(f);
  (void)state;
}

/* ---- overlaps ---- */

/* While the first request does not complete, a second one that does not touch it returns. */
static void test_neighbours_do_not_wait(void **state) {
  struct fixture *f = start(ALL_USES);

  f->ram.held_ops = RAM_OP(SPATE_WRITE);
  assert_int_equal(disk_write(0, f->memory, 100, 100), RES_OK);
  assert_int_equal(disk_read(0, f->plain, 99, 1), RES_OK);
  assert_int_equal(disk_read(0, f->plain, 200, 8), RES_OK);
  assert_int_equal(disk_write(0, f->memory + 100 * SECTOR, 200, 2), RES_OK);
  assert_int_equal(disk_write(0, f->memory, 98, 2), RES_OK); /* the same memory: both only read it */
  f->ram.held_ops = RAM_OP(SPATE_READ);
  OK(spate_diskio_wait_all(&f->disk));
  assert_int_equal(disk_read(0, f->memory, 100, 100), RES_OK);
  assert_int_equal(disk_read(0, f->memory + 100 * SECTOR, 100, 100), RES_OK); /* the same sectors */
  assert_int_equal(disk_write(0, f->memory + 200 * SECTOR, 200, 2), RES_OK);
  assert_int_equal(f->disk.counters.overlaps, 0);
  f->ram.held_ops = 0;
  end(f);
  (void)state;
}

enum kind { WRITE_STREAM, READ_STREAM, WRITE_COPY, READ_COPY };

static DRESULT go(struct fixture *f, enum kind kind, size_t at, LBA_t sector) {
  uint8_t *memory = kind == WRITE_COPY || kind == READ_COPY ? f->plain : f->memory;

  return kind == WRITE_STREAM || kind == WRITE_COPY ? disk_write(0, memory + at, sector, 8)
                                                    : disk_read(0, memory + at, sector, 8);
}

static void overlap(enum kind first, enum kind second, LBA_t distance, bool waits) {
  struct fixture *f = start(ALL_USES);

  f->ram.delay_polls = 20;
  f->ram.order = RAM_RANDOM;
  assert_int_equal(go(f, first, 0, 100), RES_OK);
  assert_int_equal(go(f, second, 65536, 100 + distance), RES_OK);
  assert_int_equal(f->disk.counters.overlaps, waits);
  end(f); /* says whether the drive saw two requests that race */
}

static void test_overlapping_sectors_wait(void **state) {
  static const LBA_t distances[] = {0, 7};

  for (unsigned i = 0; i < 2; i++) {
    overlap(WRITE_STREAM, READ_STREAM, distances[i], true);
    overlap(WRITE_STREAM, READ_COPY, distances[i], true);
    overlap(WRITE_STREAM, WRITE_STREAM, distances[i], true);
    overlap(WRITE_STREAM, WRITE_COPY, distances[i], true);
    overlap(WRITE_COPY, READ_STREAM, distances[i], true);
    overlap(WRITE_COPY, READ_COPY, distances[i], true);
    overlap(WRITE_COPY, WRITE_COPY, distances[i], true);
    overlap(READ_STREAM, WRITE_STREAM, distances[i], true);
    overlap(READ_STREAM, WRITE_COPY, distances[i], true);
    overlap(READ_STREAM, READ_STREAM, distances[i], false);
  }
  overlap(WRITE_STREAM, READ_COPY, 8, false);
  overlap(WRITE_COPY, WRITE_STREAM, 8, false);
  (void)state;
}

/* A file is copied through one buffer: each call names memory of which a request is in flight. */
static void test_overlapping_memory_waits(void **state) {
  struct fixture *f = start(ALL_USES);

  f->ram.order = RAM_RANDOM;
  f->ram.delay_polls = 7;
  paint(f->ram.memory, 1000 * SECTOR, 7);
  for (LBA_t at = 0; at < 1000; at += 100) {
    assert_int_equal(disk_read(0, f->memory, at, 100), RES_OK);
    assert_int_equal(disk_write(0, f->memory, 2000 + at, 100), RES_OK);
  }
  OK(spate_diskio_wait_all(&f->disk));
  assert_memory_equal(medium(f, 0), medium(f, 2000), 1000 * SECTOR);
  assert_int_equal(f->disk.counters.overlaps, 19);
  paint(f->memory, 100 * SECTOR, 8);
  memcpy(f->plain, f->memory, 100 * SECTOR);
  assert_int_equal(disk_write(0, f->memory, 5000, 100), RES_OK);
  assert_int_equal(disk_read(0, f->memory + 1, 0, 1), RES_OK); /* a copied read into memory that is being written */
  OK(spate_diskio_wait_all(&f->disk));
  assert_memory_equal(medium(f, 5000), f->plain, 100 * SECTOR);
  end(f);
  (void)state;
}

static void test_unregister_waits(void **state) {
  struct fixture *f = start(ALL_USES);

  f->ram.delay_polls = 20;
  assert_int_equal(disk_write(0, f->memory, 0, 100), RES_OK);
  OK(spate_diskio_unregister(&f->disk, &f->range));
  assert_int_equal(f->disk.in_flight, 0);
  assert_int_equal(disk_write(0, f->memory, 0, 100), RES_OK);
  assert_int_equal(f->disk.counters.copied_bytes, 100 * SECTOR);
  end(f);
  (void)state;
}

/* ---- disk_ioctl and arguments ---- */

static void test_geometry(void **state) {
  struct fixture *f = start(0);
  LBA_t count = 0;
  WORD size = 0;
  DWORD align = 0;

  assert_int_equal(disk_ioctl(0, GET_SECTOR_COUNT, &count), RES_OK);
  assert_int_equal(disk_ioctl(0, GET_SECTOR_SIZE, &size), RES_OK);
  assert_int_equal(disk_ioctl(0, GET_BLOCK_SIZE, &align), RES_OK);
  assert_int_equal(count, SECTORS);
  assert_int_equal(size, SECTOR);
  assert_int_equal(align, 2048);
  assert_int_equal(disk_ioctl(0, CTRL_POWER, NULL), RES_PARERR);
  end(f);
  (void)state;
}

static void test_sync_waits_and_flushes(void **state) {
  struct fixture *f = start(ALL_USES);

  f->ram.delay_polls = 10;
  f->ram.keep_log = true;
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(disk_write(0, f->memory + i * 8192, i * 16, 16), RES_OK);
  assert_int_equal(disk_write(0, f->plain, 4000, 1), RES_OK);
  assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_OK);
  assert_int_equal(f->disk.in_flight, 0);
  const struct ram_log_entry *flush = &f->ram.log[f->ram.log_count - 1];
  assert_int_equal(flush->op, SPATE_FLUSH);
  for (size_t i = 0; i + 1 < f->ram.log_count; i++)
    assert_true(f->ram.log[i].completed_at < flush->submitted_at);
  end(f);
  (void)state;
}

static void test_trim(void **state) {
  struct fixture *f = start(ALL_USES);

  f->ram.trim_fill = 0;
  f->ram.delay_polls = 5;
  f->ram.order = RAM_RANDOM;
  paint(f->memory, 65536, 9);
  assert_int_equal(disk_write(0, f->memory, 100, 128), RES_OK);
  assert_int_equal(disk_ioctl(0, CTRL_TRIM, (LBA_t[]){110, 119}), RES_OK);
  assert_memory_equal(medium(f, 100), f->memory, 10 * SECTOR);
  assert_memory_equal(medium(f, 120), f->memory + 20 * SECTOR, 108 * SECTOR);
  assert_int_equal(medium(f, 110)[0] | medium(f, 119)[511], 0);
  assert_int_equal(f->ram.count[SPATE_TRIM], 1);
  assert_int_equal(disk_ioctl(0, CTRL_TRIM, (LBA_t[]){119, 110}), RES_PARERR);
  assert_int_equal(disk_ioctl(0, CTRL_TRIM, (LBA_t[]){0, SECTORS}), RES_PARERR);
  fail_once(f, SPATE_TRIM);
  assert_int_equal(disk_ioctl(0, CTRL_TRIM, (LBA_t[]){0, SECTORS - 1}), RES_ERROR);
  f->ram.block.can_trim = false;
  assert_int_equal(disk_ioctl(0, CTRL_TRIM, (LBA_t[]){110, 119}), RES_PARERR);
  end(f);
  (void)state;
}

static void test_arguments(void **state) {
  struct fixture *f = start(ALL_USES);

  assert_int_equal(disk_read(0, f->plain, SECTORS, 1), RES_PARERR);
  assert_int_equal(disk_read(0, f->plain, SECTORS - 1, 2), RES_PARERR);
  assert_int_equal(disk_read(0, f->plain, SECTORS - 1, 1), RES_OK);
  assert_int_equal(disk_write(0, f->plain, SECTORS - 1, 2), RES_PARERR);
  assert_int_equal(disk_write(0, f->plain, 0, 0), RES_PARERR);
  for (BYTE pdrv = 1; pdrv < 3; pdrv++) {
    assert_int_equal(disk_status(pdrv), STA_NOINIT);
    assert_int_equal(disk_initialize(pdrv), STA_NOINIT);
    assert_int_equal(disk_read(pdrv, f->plain, 0, 1), RES_NOTRDY);
    assert_int_equal(disk_write(pdrv, f->plain, 0, 1), RES_NOTRDY);
    assert_int_equal(disk_ioctl(pdrv, CTRL_SYNC, NULL), RES_NOTRDY);
  }
  end(f);
  assert_int_equal(disk_status(0), STA_NOINIT); /* closed */
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_open_checks_its_arguments),
      cmocka_unit_test(test_register_checks_its_arguments),
      cmocka_unit_test(test_a_registered_write_returns_at_once),
      cmocka_unit_test(test_a_registered_read_returns_at_once),
      cmocka_unit_test(test_each_use_is_for_one_operation),
      cmocka_unit_test(test_other_buffers_are_copied),
      cmocka_unit_test(test_a_buffer_may_leave_its_range),
      cmocka_unit_test(test_large_requests_are_split),
      cmocka_unit_test(test_large_copies_are_split),
      cmocka_unit_test(test_a_block_across_a_cut_is_direct),
      cmocka_unit_test(test_a_copy_that_is_not_accepted),
      cmocka_unit_test(test_the_table_limits_what_is_in_flight),
      cmocka_unit_test(test_neighbours_do_not_wait),
      cmocka_unit_test(test_overlapping_sectors_wait),
      cmocka_unit_test(test_overlapping_memory_waits),
      cmocka_unit_test(test_unregister_waits),
      cmocka_unit_test(test_geometry),
      cmocka_unit_test(test_sync_waits_and_flushes),
      cmocka_unit_test(test_trim),
      cmocka_unit_test(test_arguments),
  };
  return cmocka_run_group_tests_name("diskio", tests, NULL, NULL);
}
