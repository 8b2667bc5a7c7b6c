/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes on which files own the same clusters. Included by one test program each. */
#ifndef SHARED_FIXTURE_H
#define SHARED_FIXTURE_H

#include "exfat_fixture.h"

/* Files of one cluster take their numbers from here. */
static unsigned recorded;

static inline uint32_t cluster_bytes(void) { return 512u << image.ram.memory[109]; }

static inline bool is_allocated(uint32_t cluster) {
  return (small_cluster(image.ram.memory, 2)[(cluster - 2) / 8] >> ((cluster - 2) & 7) & 1) != 0;
}

static inline void open_volume(uint64_t bytes, uint32_t cluster_shift) {
  image_open(&image, bytes, 512, 0);
  small_format(image.ram.memory, bytes, 9, cluster_shift);
  recorded = 0;
}

static inline void read_volume(void) {
  if (!oracle_read(&oracle, image.ram.memory, image.ram.bytes)) fail_msg("%s", oracle.fault);
  oracle_free(&oracle);
  assert_int_equal(oracle.unallocated, 0); /* no file lies over free clusters */
  assert_int_equal(oracle.strays, 0);
}

/* A file of `clusters` from `first` on, by the FAT or in one run. */
static inline void add(const char *name, uint32_t first, uint32_t clusters, bool contiguous) {
  uint64_t bytes = (uint64_t)clusters * cluster_bytes() - 100;
  small_add(image.ram.memory, name, 0x20, first, bytes, bytes, contiguous);
}

#endif
