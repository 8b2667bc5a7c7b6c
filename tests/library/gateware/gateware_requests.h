/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the backend over the fake core, counted when they are done. Included by one test program each. */
#ifndef GATEWARE_REQUESTS_H
#define GATEWARE_REQUESTS_H

#include "gateware_fixture.h"

#define BLOCKS UINT64_C(8192)

static unsigned done_count;
static inline void count_done(struct spate_io *io) {
  (void)io;
  done_count++;
}

/* Poll until `count` requests are done. */
static inline void wait_for(unsigned count) {
  for (int i = 0; i < 1000000 && done_count < count; i++) {
    spate_block_poll(&gateware.block, 4);
    host_relax();
  }
  assert_int_equal(done_count, count);
}

static inline struct spate_io stream_write(uint64_t lba, uint32_t blocks) {
  return (struct spate_io){
      .op = SPATE_WRITE, .lba = lba, .blocks = blocks, .region = spate_gateware_region(&gateware), .done = count_done};
}

#endif
