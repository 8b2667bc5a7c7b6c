/* SPDX-License-Identifier: Apache-2.0 */
/* A small volume that others made, with the record's file. Included by one test program each. */
#ifndef SMALL_FIXTURE_H
#define SMALL_FIXTURE_H

#include "exfat_fixture.h"

static inline void open_small(void) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  assert_int_equal(image_mount(&image), SPATE_OK);
  /* this also makes the record's file, from cluster 5 on */
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
}

static inline void expect_no_write(void) {
  for (size_t i = 0; i < image.ram.log_count; i++)
    assert_int_equal(image.ram.log[i].op, SPATE_READ);
  ram_block_clear_log(&image.ram);
}

#endif
