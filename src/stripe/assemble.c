/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles an array: each member gets the place that its superblock has. */
#include "internal.h"

#include <spate/port.h>
#include <string.h>

enum spate_error spate_stripe_check_config(const struct spate_stripe_config *config) {
  const uint8_t count = config->member_count;

  if (count < 2 || count > SPATE_STRIPE_MEMBERS_MAX) return SPATE_E_INVALID;
  if (config->scratch == NULL || ((uintptr_t)config->scratch & (SPATE_DMA_ALIGN - 1u)) != 0) return SPATE_E_INVALID;
  for (uint8_t i = 0; i < count; i++) {
    if (config->members[i]->block_shift != config->members[0]->block_shift) return SPATE_E_BLOCK_SIZE;
    for (uint8_t j = 0; j < i; j++)
      if (config->members[i] == config->members[j]) return SPATE_E_INVALID;
  }
  return SPATE_OK;
}

bool spate_stripe_size_is_possible(uint32_t member_count, uint32_t chunk_bytes, uint64_t member_data_bytes) {
  const uint32_t unit_bytes = SPATE_STRIPE_CHUNK_BYTES_MIN; /* both are multiples: nothing overflows */

  return member_data_bytes / unit_bytes * member_count < (uint64_t)SPATE_STRIPE_CHUNKS_MAX * (chunk_bytes / unit_bytes);
}

static enum spate_error read_superblock(struct spate_block *member, void *scratch,
                                        struct stripe_superblock *superblock) {
  const uint8_t shift = member->block_shift;

  if (member->blocks < (SUPERBLOCK_OFFSET_BYTES + SPATE_STRIPE_SCRATCH_BYTES) >> shift) return SPATE_E_NO_STRIPE;
  enum spate_error error =
      spate_block_read(member, SUPERBLOCK_OFFSET_BYTES >> shift, SPATE_STRIPE_SCRATCH_BYTES >> shift, scratch);
  return error != SPATE_OK ? error : spate_stripe_superblock_get(scratch, superblock);
}

/* Whether the data area is on the drive, after the superblock, in whole blocks. */
static bool fits(const struct spate_block *member, const struct stripe_superblock *superblock) {
  const uint64_t member_bytes = member->blocks << member->block_shift;
  const uint64_t offset_bytes = superblock->data_offset_bytes;

  return (offset_bytes & (spate_block_bytes(member) - 1u)) == 0 &&
         offset_bytes >= SUPERBLOCK_OFFSET_BYTES + SPATE_STRIPE_SCRATCH_BYTES && superblock->data_bytes > 0 &&
         superblock->data_bytes <= member_bytes && offset_bytes <= member_bytes - superblock->data_bytes;
}

/* Members of one array with a single zone. If members have different sizes, md has a second zone on the larger ones. */
static bool belong_together(const struct stripe_superblock *a, const struct stripe_superblock *b) {
  return memcmp(a->uuid, b->uuid, sizeof a->uuid) == 0 && a->chunk_bytes == b->chunk_bytes &&
         a->member_count == b->member_count && a->data_bytes == b->data_bytes;
}

static enum spate_error take_member(struct spate_stripe *stripe, struct spate_block *block,
                                    const struct stripe_superblock *superblock) {
  if (superblock->member_count != stripe->member_count || superblock->role >= stripe->member_count ||
      !fits(block, superblock))
    return SPATE_E_STRIPE;
  struct spate_stripe_member *member = &stripe->members[superblock->role];
  if (member->block != NULL) return SPATE_E_STRIPE;
  member->block = block;
  member->data_lba = superblock->data_offset_bytes >> block->block_shift;
  return SPATE_OK;
}

enum spate_error spate_stripe_open(struct spate_stripe *stripe, const struct spate_stripe_config *config) {
  struct stripe_superblock first = {.member_count = 0};
  struct stripe_superblock superblock;

  enum spate_error error = spate_stripe_check_config(config);
  if (error != SPATE_OK) return error;
  if (config->parts == NULL || config->part_count < 2u * config->member_count) return SPATE_E_INVALID;
  if (config->part_count > SPATE_STRIPE_PARTS_MAX) return SPATE_E_INVALID;

  *stripe = (struct spate_stripe){.member_count = config->member_count};
  for (uint8_t i = 0; i < config->member_count; i++) {
    error = read_superblock(config->members[i], config->scratch, &superblock);
    if (error != SPATE_OK) return error;
    if (i == 0) first = superblock;
    if (!belong_together(&first, &superblock)) return SPATE_E_STRIPE;
    error = take_member(stripe, config->members[i], &superblock);
    if (error != SPATE_OK) return error;
  }
  /* There are as many members as places, and no place has two: the array is complete. */
  if (!spate_stripe_size_is_possible(config->member_count, first.chunk_bytes, first.data_bytes))
    return SPATE_E_UNSUPPORTED;
  memcpy(stripe->uuid, first.uuid, sizeof stripe->uuid);
  spate_stripe_start(stripe, config, first.chunk_bytes, first.data_bytes >> config->members[0]->block_shift);
  return SPATE_OK;
}
