/* SPDX-License-Identifier: Apache-2.0 */
/* What the disk layer reports of requests that fail, and to which call: without FatFs, on a drive in memory. */
#include "diskio_layer.h"

static void test_a_stream_write_that_fails_is_reported(void **state) {
  for (unsigned sync_first = 0; sync_first < 2; sync_first++) {
    struct fixture *f = start(ALL_USES);
    f->ram.delay_polls = 3;
    fail_once(f, SPATE_WRITE);
    assert_int_equal(disk_write(0, f->memory, 40, 100), RES_OK);
    assert_int_equal(disk_write(0, f->memory, 400, 100), RES_OK);
    assert_int_equal(spate_diskio_wait(&f->disk, f->memory, 1), SPATE_E_MEDIA);
    if (!sync_first) assert_int_equal(disk_write(0, f->memory, 400, 100), RES_ERROR);
    assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_ERROR);
    assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_OK);
    assert_int_equal(disk_write(0, f->memory, 400, 100), RES_OK);
    assert_int_equal(disk_status(0), 0); /* the caller's data; the volume is what FatFs believes */
    assert_int_equal(spate_diskio_wait(&f->disk, f->memory, 1), SPATE_E_MEDIA);
    assert_int_equal(f->range.failure.lba, 40);
    assert_int_equal(f->range.failure.blocks, 100);
    assert_int_equal(f->range.failure.detail, 0x280);
    assert_false(f->range.failure.read);
    assert_int_equal(f->disk.counters.failures, 1);
    assert_int_equal(spate_diskio_wait_all(&f->disk), SPATE_E_MEDIA);
    spate_diskio_clear(&f->disk);
    spate_diskio_range_clear(&f->range);
    OK(spate_diskio_wait_all(&f->disk));
    OK(spate_diskio_wait(&f->disk, f->memory, 1));
    end(f);
  }
  (void)state;
}

static void test_a_read_reports_an_earlier_write(void **state) {
  struct fixture *f = start(ALL_USES);

  fail_once(f, SPATE_WRITE);
  assert_int_equal(disk_write(0, f->memory, 40, 100), RES_OK);
  (void)spate_diskio_wait_all(&f->disk);
  assert_int_equal(disk_read(0, f->plain, 4000, 1), RES_ERROR);
  assert_int_equal(disk_read(0, f->plain, 4000, 1), RES_OK);
  assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_ERROR);
  end(f);
  (void)state;
}

/* FatFs believes that a copy is on the drive. Its objects are not valid any more. */
static void test_a_copy_that_fails_ends_the_mount(void **state) {
  struct fixture *f = start(ALL_USES);

  f->ram.delay_polls = 3;
  fail_once(f, SPATE_WRITE);
  assert_int_equal(disk_write(0, f->plain, 40, 1), RES_OK);
  assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_ERROR);
  assert_int_equal(disk_status(0), STA_NOINIT);
  assert_int_equal(disk_write(0, f->plain, 40, 1), RES_ERROR);
  assert_int_equal(disk_read(0, f->plain, 40, 1), RES_ERROR);
  assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_ERROR);
  assert_int_equal(disk_initialize(0), 0);
  assert_int_equal(disk_read(0, f->plain, 40, 1), RES_OK);
  assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_OK);
  assert_int_equal(f->disk.failure.error, SPATE_E_MEDIA); /* stays readable */
  assert_int_equal(f->disk.failure.lba, 40);
  end(f);
  (void)state;
}

/* The read waits for the write. What is on the drive is then not what was written, and the same call says so. */
static void test_a_read_does_not_return_what_a_failed_write_left(void **state) {
  for (unsigned streamed = 0; streamed < 2; streamed++) {
    struct fixture *f = start(ALL_USES);
    f->ram.delay_polls = 20;
    fail_once(f, SPATE_WRITE);
    assert_int_equal(disk_write(0, streamed ? f->memory : f->plain, 40, 2), RES_OK);
    assert_int_equal(disk_read(0, f->plain + 4096, 41, 1), RES_ERROR);
    assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_ERROR);
    end(f);
  }
  (void)state;
}

static void test_reads_that_fail(void **state) {
  struct fixture *f = start(ALL_USES);

  fail_once(f, SPATE_READ);
  assert_int_equal(disk_read(0, f->plain, 40, 1), RES_ERROR); /* a copy: its own caller learns it */
  assert_int_equal(f->disk.counters.failures, 0);
  assert_int_equal(disk_read(0, f->plain, 40, 1), RES_OK);
  fail_once(f, SPATE_READ);
  assert_int_equal(disk_read(0, f->memory, 40, 100), RES_OK);
  assert_int_equal(spate_diskio_wait(&f->disk, f->memory, 1), SPATE_E_MEDIA);
  assert_true(f->range.failure.read);
  assert_int_equal(disk_read(0, f->plain, 40, 1), RES_ERROR);
  assert_int_equal(disk_read(0, f->plain, 40, 1), RES_OK);
  assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_OK); /* nothing that was written is missing */
  end(f);
  (void)state;
}

static void test_waiting_calls_return_their_own_error(void **state) {
  struct fixture *f = start(SPATE_DISKIO_CPU);

  fail_once(f, SPATE_WRITE);
  assert_int_equal(disk_write(0, f->memory, 40, 100), RES_ERROR);
  assert_int_equal(disk_write(0, f->memory, 40, 100), RES_OK);
  assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_OK);
  fail_once(f, SPATE_FLUSH);
  assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_ERROR);
  assert_int_equal(disk_status(0), 0);
  end(f);
  (void)state;
}

/* The device lost power, and perhaps what was written since the last CTRL_SYNC. */
static void test_lost_power_ends_the_mount(void **state) {
  struct fixture *f = start(ALL_USES);

  assert_int_equal(disk_write(0, f->memory, 40, 100), RES_OK);
  assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_OK);
  f->ram.block.power_losses++; /* nothing was written since */
  assert_int_equal(disk_read(0, f->plain, 40, 1), RES_OK);
  assert_int_equal(disk_write(0, f->memory, 40, 100), RES_OK);
  assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_OK);
  assert_int_equal(disk_write(0, f->memory, 40, 100), RES_OK);
  f->ram.block.power_losses++;
  assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_ERROR);
  assert_int_equal(f->disk.failure.error, SPATE_E_POWER_LOST);
  assert_int_equal(disk_status(0), STA_NOINIT);
  assert_int_equal(disk_initialize(0), 0);
  assert_int_equal(disk_ioctl(0, CTRL_SYNC, NULL), RES_OK);
  assert_int_equal(disk_write(0, f->memory, 40, 100), RES_OK);
  f->ram.block.power_losses++;
  assert_int_equal(disk_read(0, f->plain, 4000, 1), RES_ERROR); /* before the next sync, too */
  end(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_stream_write_that_fails_is_reported),
      cmocka_unit_test(test_a_read_reports_an_earlier_write),
      cmocka_unit_test(test_a_copy_that_fails_ends_the_mount),
      cmocka_unit_test(test_a_read_does_not_return_what_a_failed_write_left),
      cmocka_unit_test(test_reads_that_fail),
      cmocka_unit_test(test_waiting_calls_return_their_own_error),
      cmocka_unit_test(test_lost_power_ends_the_mount),
  };
  return cmocka_run_group_tests_name("diskio_failures", tests, NULL, NULL);
}
