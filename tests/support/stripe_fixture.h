/* SPDX-License-Identifier: Apache-2.0 */
/* An array over drives in memory. Included by one test program each. */
#ifndef SPATE_TESTS_STRIPE_FIXTURE_H
#define SPATE_TESTS_STRIPE_FIXTURE_H

#include "ram_block.h"

#include <spate/bytes.h>
#include <spate/port.h>
#include <spate/stripe.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB       (UINT64_C(1) << 20)
#define MEMBERS   SPATE_STRIPE_MEMBERS_MAX
#define PARTS_MAX 256u

static const uint8_t array_uuid[16] = {0x5b, 0xa7, 0xe0, 1, 2, 3, 0x44, 5, 0x86, 7, 8, 9, 10, 11, 12, 13};

struct array {
  struct ram_block drives[MEMBERS];
  struct spate_block *blocks[MEMBERS]; /* in the order of the configuration, not of their roles */
  struct spate_stripe stripe;
  struct spate_stripe_part parts[PARTS_MAX];
  struct spate_stripe_config config;
  struct spate_stripe_create create;
  uint8_t *scratch;
};

static inline void must_be(enum spate_error got, enum spate_error wanted, int line) {
  if (got != wanted) fail_msg("line %d: %s instead of %s", line, spate_error_name(got), spate_error_name(wanted));
}
#define OK(call)            must_be(call, SPATE_OK, __LINE__)
#define GIVES(wanted, call) must_be(call, wanted, __LINE__)

/* Blank drives of `bytes` each; the last one is smaller by some blocks that do not fill a chunk. */
static inline struct array *open_drives(uint8_t count, uint64_t bytes, uint32_t block_bytes) {
  struct array *array = calloc(1, sizeof(*array));

  assert_non_null(array);
  array->scratch = aligned_alloc(SPATE_DMA_ALIGN, SPATE_STRIPE_SCRATCH_BYTES);
  assert_non_null(array->scratch);
  for (uint8_t i = 0; i < count; i++) {
    ram_block_open(&array->drives[i], bytes / block_bytes + count - i, block_bytes);
    array->blocks[i] = &array->drives[i].block;
  }
  array->config = (struct spate_stripe_config){.members = array->blocks,
                                               .member_count = count,
                                               .parts = array->parts,
                                               .part_count = PARTS_MAX,
                                               .scratch = array->scratch};
  array->create = (struct spate_stripe_create){.name = "test"};
  memcpy(array->create.uuid, array_uuid, sizeof array_uuid);
  return array;
}

static inline void close_drives(struct array *array) {
  for (uint8_t i = 0; i < array->config.member_count; i++)
    ram_block_close(&array->drives[i]);
  free(array->scratch);
  free(array);
}

/* Drives with `member_bytes` of data area each, created as an array and opened. */
static inline struct array *open_array(uint8_t count, uint64_t member_bytes, uint32_t chunk_bytes,
                                       uint32_t block_bytes) {
  struct array *array = open_drives(count, member_bytes + SPATE_STRIPE_DATA_OFFSET_BYTES, block_bytes);

  array->create.chunk_bytes = chunk_bytes;
  OK(spate_stripe_create(&array->config, &array->create));
  OK(spate_stripe_open(&array->stripe, &array->config));
  assert_int_equal(array->stripe.block.blocks, count * member_bytes / block_bytes);
  return array;
}

/* md's checksum, from its description: the sum of the 32-bit words, with its own field as zero, and the carries added
 * to it. */
static inline uint32_t checksum(const uint8_t *at) {
  const uint32_t bytes = 256 + 2 * spate_get32(at + 220);
  uint64_t sum = 0;

  for (uint32_t i = 0; i < bytes; i++)
    if (i < 216 || i >= 220) sum += (uint64_t)at[i] << 8 * (i % 4);
  return (uint32_t)((sum & UINT32_MAX) + (sum >> 32));
}

static inline void seal(uint8_t *at) { spate_put32(at + 216, checksum(at)); }

/* A request that records how often it ended, and with which error. */
struct request {
  struct spate_io io;
  unsigned ended;
};

static inline void request_done(struct spate_io *io) { ((struct request *)io->context)->ended++; }

static inline enum spate_error start(struct spate_stripe *stripe, struct request *request, struct spate_io io) {
  *request = (struct request){.io = io};
  request->io.done = request_done;
  request->io.context = request;
  enum spate_error error = spate_block_submit(&stripe->block, &request->io);
  if (error == SPATE_OK) assert_int_equal(request->ended, 0);
  return error;
}

static inline void poll_until(struct spate_stripe *stripe, const struct request *request) {
  for (unsigned i = 0; i < 10000 && request->ended == 0; i++)
    spate_block_poll(&stripe->block, 16);
  assert_int_equal(request->ended, 1);
}

static inline struct spate_io write_of(void *data, uint64_t lba, uint32_t blocks) {
  return (struct spate_io){.op = SPATE_WRITE, .flags = SPATE_IO_CPU, .lba = lba, .blocks = blocks, .buffer = data};
}

static inline uint8_t *take(size_t bytes) {
  uint8_t *memory = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);

  assert_non_null(memory);
  memset(memory, 0, bytes);
  return memory;
}

/* Nothing is in flight or waiting, and every part structure is free. */
static inline bool is_idle(const struct array *array) {
  const struct spate_stripe *stripe = &array->stripe;
  unsigned parts = 0;
  bool idle = stripe->splitting == NULL;

  for (const struct spate_stripe_part *part = stripe->free; part != NULL; part = part->next)
    parts++;
  for (uint8_t i = 0; i < stripe->member_count; i++)
    idle &= stripe->members[i].in_flight == 0 && stripe->members[i].waiting == 0;
  return idle && parts == array->config.part_count;
}

#endif
