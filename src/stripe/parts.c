/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data path. A request is split into parts. A part is submitted to its member, or waits in the member's queue if
 * the member has no room. The last part that completes ends the request. Nothing here waits, allocates or divides.
 *
 * `parts_left` of a request is the number of its parts that have not completed, and one more while it is being split.
 */
#include "internal.h"

#include <spate/port.h>

static struct spate_stripe *stripe_of(struct spate_block *block) { return (struct spate_stripe *)(void *)block; }

/* ---- the layout ---- */

/* The place of a block of the array. */
struct place {
  uint64_t block; /* of the member's data area */
  uint8_t member;
};

static struct place place_of(const struct spate_stripe *stripe, uint64_t lba) {
  const uint32_t chunk = (uint32_t)(lba >> stripe->chunk_shift); /* there are fewer than SPATE_STRIPE_CHUNKS_MAX */
  const uint64_t within = lba & ((UINT64_C(1) << stripe->chunk_shift) - 1u);
  const uint32_t row = (uint32_t)((uint64_t)chunk * stripe->reciprocal >> stripe->reciprocal_shift);

  return (struct place){.block = ((uint64_t)row << stripe->chunk_shift) + within,
                        .member = (uint8_t)(chunk - row * stripe->member_count)};
}

/* How many of the array's first `blocks` blocks are on this member. They are the first blocks of its data area. */
static uint64_t blocks_on(const struct spate_stripe *stripe, uint64_t blocks, uint8_t member) {
  const struct place end = place_of(stripe, blocks);
  const uint64_t chunk_blocks = UINT64_C(1) << stripe->chunk_shift;
  const uint64_t row_start = end.block & ~(chunk_blocks - 1u);

  if (member < end.member) return row_start + chunk_blocks;
  return member == end.member ? end.block : row_start;
}

/* ---- the end of parts and requests ---- */

static void refresh(struct spate_stripe *stripe) {
  struct spate_block *block = &stripe->block;
  uint32_t power_losses = 0;
  uint32_t power_unknown = 0;
  bool volatile_cache = false;

  for (uint8_t i = 0; i < stripe->member_count; i++) {
    const struct spate_block *member = stripe->members[i].block;
    power_losses += member->power_losses;
    power_unknown += member->power_unknown;
    volatile_cache |= member->volatile_cache;
    block->can_trim &= member->can_trim;
    block->can_zero &= member->can_zero;
  }
  block->power_losses = power_losses;
  block->power_unknown = power_unknown;
  block->volatile_cache = volatile_cache;
}

static bool moves_data(const struct spate_io *io) { return io->op == SPATE_READ || io->op == SPATE_WRITE; }

/* All parts have completed. power_losses is refreshed first: `done` may read it. */
static void end_request(struct spate_stripe *stripe, struct spate_io *io) {
  refresh(stripe);
  io->done(io);
}

/* Frees the part. Its request may have ended then. */
static void end_part(struct spate_stripe *stripe, struct spate_stripe_part *part, enum spate_error error,
                     uint16_t detail) {
  struct spate_io *io = part->parent;

  if (error != SPATE_OK) {
    struct spate_stripe_member *member = &stripe->members[part->member];
    member->errors++;
    member->error = error;
    if (io->error == SPATE_OK) {
      io->error = error;
      io->detail = detail;
    }
  }
  part->next = stripe->free;
  stripe->free = part;
  io->parts_left--;
}

/* ---- sending parts ---- */

/* FULL: the part was not submitted. Otherwise it was submitted, or it ended with that error. */
static enum spate_error send(struct spate_stripe *stripe, struct spate_stripe_part *part) {
  struct spate_stripe_member *member = &stripe->members[part->member];
  const enum spate_error error = spate_block_submit(member->block, &part->io);

  if (error == SPATE_E_FULL) return error;
  if (error != SPATE_OK)
    end_part(stripe, part, error, 0);
  else if (++member->in_flight > member->in_flight_max)
    member->in_flight_max = member->in_flight;
  return error;
}

static void send_or_wait(struct spate_stripe *stripe, struct spate_stripe_part *part) {
  struct spate_stripe_member *member = &stripe->members[part->member];

  if (member->waiting == 0) {
    if (send(stripe, part) != SPATE_E_FULL) return;
    member->first_waiting = part;
  } else {
    member->last_waiting->next = part;
  }
  part->next = NULL;
  member->last_waiting = part;
  member->waiting++;
  member->full++;
}

/* ---- splitting ---- */

/* The blocks of one part. */
struct range {
  uint64_t block;       /* of the member's data area */
  uint32_t blocks;      /* 0: a FLUSH */
  uint32_t first_block; /* counted from the request's first */
  uint8_t member;
};

static bool next_chunk(struct spate_stripe *stripe, struct range *range) {
  const struct spate_io *io = stripe->splitting;
  const uint32_t first_block = stripe->split_position;
  const uint32_t left_blocks = io->blocks - first_block;

  if (left_blocks == 0) return false;
  const struct place place = place_of(stripe, io->lba + first_block);
  const uint32_t chunk_blocks = UINT32_C(1) << stripe->chunk_shift;
  const uint32_t room_blocks = chunk_blocks - ((uint32_t)place.block & (chunk_blocks - 1u));
  *range = (struct range){.block = place.block,
                          .blocks = left_blocks < room_blocks ? left_blocks : room_blocks,
                          .first_block = first_block,
                          .member = place.member};
  stripe->split_position += range->blocks;
  return true;
}

/* For TRIM and ZERO: a range of the array is one range on each member, or none. */
static bool next_erase(struct spate_stripe *stripe, struct range *range) {
  const struct spate_io *io = stripe->splitting;

  while (stripe->split_position < stripe->member_count) {
    const uint8_t member = (uint8_t)stripe->split_position++;
    const uint64_t start = blocks_on(stripe, io->lba, member);
    const uint64_t end = blocks_on(stripe, io->lba + io->blocks, member);
    if (start == end) continue;
    *range = (struct range){.block = start, .blocks = (uint32_t)(end - start), .member = member};
    return true;
  }
  return false;
}

static bool next_flush(struct spate_stripe *stripe, struct range *range) {
  if (stripe->split_position == stripe->member_count) return false;
  *range = (struct range){.member = (uint8_t)stripe->split_position++};
  return true;
}

/* False: the whole request has its parts. */
static bool next_range(struct spate_stripe *stripe, struct range *range) {
  if (moves_data(stripe->splitting)) return next_chunk(stripe, range);
  return stripe->splitting->op == SPATE_FLUSH ? next_flush(stripe, range) : next_erase(stripe, range);
}

static void part_done(struct spate_io *io);

static void fill_part(const struct spate_stripe *stripe, struct spate_stripe_part *part, const struct range *range) {
  const struct spate_io *io = stripe->splitting;
  const size_t skipped_bytes = (size_t)range->first_block << stripe->block.block_shift;

  part->parent = stripe->splitting;
  part->member = range->member;
  part->io = (struct spate_io){.lba = range->blocks == 0 ? 0 : stripe->members[range->member].data_lba + range->block,
                               .blocks = range->blocks,
                               .op = io->op,
                               .flags = io->flags,
                               .done = part_done,
                               .context = part};
  if (!moves_data(io)) return;
  part->io.region = io->region;
  if (io->region != NULL)
    part->io.offset_bytes = io->offset_bytes + skipped_bytes;
  else
    part->io.buffer = (uint8_t *)io->buffer + skipped_bytes;
}

/*
 * Splits the request as far as there are free parts. After an error the rest of the request is not sent. Returns the
 * request if it is split completely and all its parts have ended, otherwise NULL.
 */
static struct spate_io *split(struct spate_stripe *stripe) {
  struct spate_io *io = stripe->splitting;

  while (io != NULL && stripe->free != NULL) {
    struct spate_stripe_part *part = stripe->free;
    struct range range;

    if (io->error != SPATE_OK || !next_range(stripe, &range)) {
      stripe->splitting = NULL;
      return --io->parts_left == 0 ? io : NULL;
    }
    stripe->free = part->next;
    fill_part(stripe, part, &range);
    io->parts_left++;
    send_or_wait(stripe, part);
  }
  return NULL;
}

/* A part of `io` has ended, in poll(). The request that is being split may use the free part. */
static void part_ended(struct spate_stripe *stripe, struct spate_io *io) {
  if (io->parts_left == 0) end_request(stripe, io);
  io = split(stripe);
  if (io != NULL) end_request(stripe, io);
}

static void part_done(struct spate_io *io) {
  struct spate_stripe_part *part = io->context;
  struct spate_stripe *stripe = part->stripe;
  struct spate_io *parent = part->parent;

  stripe->members[part->member].in_flight--;
  end_part(stripe, part, io->error, io->detail);
  part_ended(stripe, parent);
}

static void send_waiting(struct spate_stripe *stripe, struct spate_stripe_member *member) {
  while (member->waiting > 0) {
    struct spate_stripe_part *part = member->first_waiting;
    struct spate_stripe_part *next = part->next;
    struct spate_io *io = part->parent;
    const bool has_failed = io->error != SPATE_OK; /* by another part */
    const enum spate_error error = has_failed ? io->error : send(stripe, part);

    if (error == SPATE_E_FULL) return;
    if (has_failed) end_part(stripe, part, SPATE_OK, 0);
    member->first_waiting = next;
    member->waiting--;
    if (error != SPATE_OK) part_ended(stripe, io);
  }
}

/* ---- the block device ---- */

/* Refuses here what a member would refuse, before a part of the request is sent. */
static enum spate_error check_data(const struct spate_block *block, const struct spate_io *io) {
  const uint64_t bytes = (uint64_t)io->blocks << block->block_shift;
  const uint8_t *data = io->buffer;

  if (io->blocks > block->request_blocks_max) return SPATE_E_INVALID;
  if (io->region != NULL) {
    if ((io->offset_bytes & 3u) != 0 || bytes > io->region->bytes || io->offset_bytes > io->region->bytes - bytes)
      return SPATE_E_INVALID;
    data = io->region->start == NULL ? NULL : io->region->start + io->offset_bytes;
  } else if (io->buffer == NULL || ((uintptr_t)io->buffer & 3u) != 0) {
    return SPATE_E_INVALID;
  }
  if ((io->flags & SPATE_IO_CPU) == 0) return SPATE_OK;
  return data == NULL || ((uintptr_t)data & (SPATE_DMA_ALIGN - 1u)) != 0 ? SPATE_E_INVALID : SPATE_OK;
}

static enum spate_error check(const struct spate_block *block, const struct spate_io *io) {
  if (io->op == SPATE_FLUSH) return io->lba == 0 && io->blocks == 0 ? SPATE_OK : SPATE_E_INVALID;
  if (io->op > SPATE_ZERO || io->blocks == 0 || io->blocks > block->blocks || io->lba > block->blocks - io->blocks)
    return SPATE_E_INVALID;
  if (moves_data(io)) return check_data(block, io);
  return (io->op == SPATE_TRIM ? block->can_trim : block->can_zero) ? SPATE_OK : SPATE_E_UNSUPPORTED;
}

static enum spate_error submit(struct spate_block *block, struct spate_io *io) {
  struct spate_stripe *stripe = stripe_of(block);
  const enum spate_error error = check(block, io);

  if (error != SPATE_OK) return error;
  if (stripe->splitting != NULL || stripe->free == NULL) return SPATE_E_FULL;
  io->error = SPATE_OK;
  io->detail = 0;
  io->parts_left = 1;
  stripe->splitting = io;
  stripe->split_position = 0;
  if (split(stripe) == NULL) return SPATE_OK;
  refresh(stripe); /* the members refused all of it: perhaps they do not support the operation any more */
  return io->error;
}

static void kick(struct spate_block *block) {
  struct spate_stripe *stripe = stripe_of(block);

  for (uint8_t i = 0; i < stripe->member_count; i++)
    spate_block_kick(stripe->members[i].block);
}

static uint8_t after(const struct spate_stripe *stripe, uint8_t member) {
  return member + 1u < stripe->member_count ? (uint8_t)(member + 1u) : 0;
}

/* Another member is polled first in each call, so that one member does not always use up a small `max`. */
static unsigned poll(struct spate_block *block, unsigned max) {
  struct spate_stripe *stripe = stripe_of(block);
  uint8_t turn = stripe->turn;
  unsigned reaped = 0;

  stripe->turn = after(stripe, turn);
  for (uint8_t i = 0; i < stripe->member_count && reaped < max; i++) {
    struct spate_stripe_member *member = &stripe->members[turn];
    reaped += spate_block_poll(member->block, max - reaped);
    send_waiting(stripe, member);
    turn = after(stripe, turn);
  }
  kick(block);
  refresh(stripe);
  return reaped;
}

static const struct spate_block_ops stripe_ops = {.submit = submit, .kick = kick, .poll = poll};

/* ---- set up ---- */

/*
 * chunk / N without a division. With k = 31 + ⌈log2 N⌉ and M = ⌈2^k / N⌉, M·N = 2^k + e where e < N ≤ 2^(k−31), and
 * chunk·M / 2^k = chunk/N + chunk·e / (N·2^k). The second term is less than 1/N if chunk·e < 2^k, which is true for
 * every chunk < 2^31. The fraction of chunk/N is at most (N−1)/N, so the sum has the same whole part. M has 32 bits,
 * and the product has 63.
 */
#define RECIPROCAL(n, log2)                                                                                            \
  [n] = {.shift = 31u + (log2), .value = (uint32_t)(((UINT64_C(1) << (31u + (log2))) + (n)-1u) / (n))}

static const struct {
  uint32_t value;
  uint8_t shift;
} reciprocals[SPATE_STRIPE_MEMBERS_MAX + 1u] = {
    RECIPROCAL(2, 1), RECIPROCAL(3, 2), RECIPROCAL(4, 2), RECIPROCAL(5, 3),
    RECIPROCAL(6, 3), RECIPROCAL(7, 3), RECIPROCAL(8, 3),
};

static void free_parts(struct spate_stripe *stripe, const struct spate_stripe_config *config) {
  for (uint16_t i = config->part_count; i-- > 0;) {
    struct spate_stripe_part *part = &config->parts[i];
    part->stripe = stripe;
    part->next = stripe->free;
    stripe->free = part;
  }
}

void spate_stripe_start(struct spate_stripe *stripe, const struct spate_stripe_config *config, uint32_t chunk_bytes,
                        uint64_t member_blocks) {
  struct spate_block *block = &stripe->block;
  uint32_t depth = 0;

  block->ops = &stripe_ops;
  block->block_shift = stripe->members[0].block->block_shift;
  block->blocks = member_blocks * stripe->member_count;
  block->can_trim = block->can_zero = true;
  block->command_bytes_max = chunk_bytes;
  block->request_blocks_max = UINT32_MAX;
  for (uint8_t i = 0; i < stripe->member_count; i++) {
    const struct spate_block *member = stripe->members[i].block;
    depth += member->depth;
    if (member->command_bytes_max < block->command_bytes_max) block->command_bytes_max = member->command_bytes_max;
    if (member->request_blocks_max < block->request_blocks_max) block->request_blocks_max = member->request_blocks_max;
  }
  block->depth = depth < config->part_count ? (uint16_t)depth : config->part_count;
  refresh(stripe);

  while (UINT32_C(1) << stripe->chunk_shift < chunk_bytes >> block->block_shift)
    stripe->chunk_shift++;
  stripe->reciprocal = reciprocals[stripe->member_count].value;
  stripe->reciprocal_shift = reciprocals[stripe->member_count].shift;
  free_parts(stripe, config);
}
