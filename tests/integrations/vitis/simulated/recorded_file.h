/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a recorded file with the stream of the model of AXI DMA. Included after <cmocka.h>. */
#ifndef SPATE_TEST_RECORDED_FILE_H
#define SPATE_TEST_RECORDED_FILE_H

#include "../s2mm_model.h"

#include <spate/exfat.h>

/* The file has `bytes`, and they are the stream's from `first` on. */
static inline void expect_file(struct spate_exfat *volume, const char *path, uint64_t first, uint64_t bytes) {
  static uint8_t data[64u << 10];
  struct spate_exfat_file file;

  assert_int_equal(spate_exfat_open(volume, path, &file), SPATE_OK);
  assert_int_equal(file.bytes, bytes);
  for (uint64_t at = 0; at < bytes;) {
    size_t got = 0;
    assert_int_equal(spate_exfat_read(&file, at, data, sizeof data, &got), SPATE_OK);
    assert_true(got > 0);
    for (size_t i = 0; i < got; i++)
      if (data[i] != s2mm_model_byte(first + at + i)) fail_msg("byte %llu is wrong", (unsigned long long)(at + i));
    at += got;
  }
}

#endif
