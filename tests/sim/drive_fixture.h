/* SPDX-License-Identifier: Apache-2.0 */
/* A virtual drive under raw commands. Included by one test program each. */
#ifndef DRIVE_FIXTURE_H
#define DRIVE_FIXTURE_H

#include "machine/stack.h"
#include "raw_sim.h"
#include <setjmp.h>
#include <spate/bytes.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define OUT  16u /* pages: written from, read to, a PRP list */
#define BACK 512u

enum { GET_LOG = 2, IDENTIFY = 6, SET_FEATURES = 9, GET_FEATURES, EVENT = 12, FORMAT = 0x80 };
enum { FLUSH, WRITE, READ, ZEROES = 8, DATASET };

static inline struct raw_sim *start(const char *profile, struct sim_drive_options options) {
  if (options.bytes == 0) options.bytes = UINT64_C(64) << 20;
  return raw_sim_start(sim_profile_find(profile), &options, 7);
}

static inline void end(struct raw_sim *r) {
  const char *first = NULL;
  if (sim_take_violations(r->sim, &first) != 0) fail_msg("%s", first);
  raw_sim_free(r);
}

static inline struct raw_completion run(struct raw_sim *r, unsigned queue, struct raw_command command) {
  const struct raw_completion c = raw_do(&r->raw, queue, &command);
  assert_false(c.missing);
  assert_int_equal(c.status, 0);
  return c;
}

static inline void move_page(struct raw_sim *r, uint32_t opcode, uint32_t lba, uint32_t blocks) {
  run(r, 1,
      (struct raw_command){.opcode = opcode,
                           .nsid = 1,
                           .prp1 = raw_bus(&r->raw, opcode == WRITE ? OUT : BACK),
                           .dword10 = lba,
                           .dword12 = blocks - 1u});
}

static inline void trim(struct raw_sim *r, uint32_t lba, uint32_t blocks) {
  uint8_t *range = raw_at(&r->raw, OUT);
  memset(range, 0, 16);
  spate_put32(range + 4, blocks);
  spate_put64(range + 8, lba);
  run(r, 1, (struct raw_command){.opcode = DATASET, .nsid = 1, .prp1 = raw_bus(&r->raw, OUT), .dword11 = 4});
}

#endif
