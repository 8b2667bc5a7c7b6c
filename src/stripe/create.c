/* SPDX-License-Identifier: Apache-2.0 */
/* Creates an array: checks that the members are blank, or zeroes them, and writes superblocks. */
#include "internal.h"

#include <string.h>

#define MIB UINT64_C(1048576)

/*
 * The places where file systems, arrays, volume managers and partition tables have their signatures: both ends of the
 * member, and the start of the new data area, so that no old signature is at the start of the array.
 */
#define HEAD_BYTES (SPATE_STRIPE_DATA_OFFSET_BYTES + MIB)
#define TAIL_BYTES MIB

static bool name_fits(const char *name) {
  for (uint32_t i = 0; i <= SPATE_STRIPE_NAME_BYTES_MAX; i++)
    if (name[i] == '\0') return true;
  return false;
}

static enum spate_error check_create(const struct spate_stripe_create *create) {
  const uint32_t chunk_bytes = create->chunk_bytes;
  uint8_t any = 0;

  for (unsigned i = 0; i < sizeof create->uuid; i++)
    any |= create->uuid[i];
  if (any == 0) return SPATE_E_INVALID;
  if (create->name != NULL && !name_fits(create->name)) return SPATE_E_INVALID;
  if (chunk_bytes == 0) return SPATE_OK;
  return (chunk_bytes & (chunk_bytes - 1u)) != 0 || chunk_bytes < SPATE_STRIPE_CHUNK_BYTES_MIN ||
                 chunk_bytes > SPATE_STRIPE_CHUNK_BYTES_MAX
             ? SPATE_E_INVALID
             : SPATE_OK;
}

/* The data area of the smallest member, in whole chunks. */
static uint64_t data_bytes_of(const struct spate_stripe_config *config, uint32_t chunk_bytes) {
  const uint64_t offset_bytes = SPATE_STRIPE_DATA_OFFSET_BYTES;
  uint64_t least_bytes = UINT64_MAX;

  for (uint8_t i = 0; i < config->member_count; i++) {
    const uint64_t bytes = config->members[i]->blocks << config->members[i]->block_shift;
    if (bytes < least_bytes) least_bytes = bytes;
  }
  return least_bytes < offset_bytes ? 0 : (least_bytes - offset_bytes) & ~((uint64_t)chunk_bytes - 1u);
}

static bool is_filled_with(const uint8_t *at, uint32_t bytes, uint8_t byte) {
  for (uint32_t i = 0; i < bytes; i++)
    if (at[i] != byte) return false;
  return true;
}

static enum spate_error check_blank(struct spate_block *member, uint64_t lba, uint32_t blocks, void *scratch) {
  const uint32_t block_bytes = spate_block_bytes(member);

  enum spate_error error = spate_block_read(member, lba, blocks, scratch);
  if (error != SPATE_OK) return error;
  for (uint32_t i = 0; i < blocks; i++) {
    const uint8_t *found = (uint8_t *)scratch + (size_t)i * block_bytes;
    if (!is_filled_with(found, block_bytes, 0) && !is_filled_with(found, block_bytes, 0xff)) return SPATE_E_FOREIGN;
  }
  return SPATE_OK;
}

static enum spate_error zero(struct spate_block *member, uint64_t lba, uint32_t blocks, void *scratch) {
  memset(scratch, 0, SPATE_STRIPE_SCRATCH_BYTES);
  return spate_block_write(member, lba, blocks, scratch, 0);
}

/* Calls `act` for both ends of a member, in steps of the scratch memory. */
static enum spate_error at_both_ends(struct spate_block *member, void *scratch,
                                     enum spate_error (*act)(struct spate_block *member, uint64_t lba, uint32_t blocks,
                                                             void *scratch)) {
  const uint32_t step_blocks = SPATE_STRIPE_SCRATCH_BYTES >> member->block_shift;
  const uint64_t head_blocks = HEAD_BYTES >> member->block_shift;
  const uint64_t tail_lba = member->blocks - (TAIL_BYTES >> member->block_shift);

  for (uint64_t lba = 0; lba < member->blocks; lba += step_blocks) {
    if (lba >= head_blocks && lba < tail_lba) lba = tail_lba;
    const uint64_t left_blocks = member->blocks - lba;
    enum spate_error error = act(member, lba, left_blocks < step_blocks ? (uint32_t)left_blocks : step_blocks, scratch);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

static enum spate_error write_superblock(struct spate_block *member, void *scratch) {
  const uint8_t shift = member->block_shift;

  enum spate_error error =
      spate_block_write(member, SUPERBLOCK_OFFSET_BYTES >> shift, SPATE_STRIPE_SCRATCH_BYTES >> shift, scratch, 0);
  return error != SPATE_OK ? error : spate_block_flush(member);
}

enum spate_error spate_stripe_create(const struct spate_stripe_config *config,
                                     const struct spate_stripe_create *create) {
  enum spate_error error = spate_stripe_check_config(config);
  if (error == SPATE_OK) error = check_create(create);
  if (error != SPATE_OK) return error;

  struct stripe_superblock superblock = {
      .chunk_bytes = create->chunk_bytes != 0 ? create->chunk_bytes : SPATE_STRIPE_CHUNK_BYTES,
      .member_count = config->member_count,
      .data_offset_bytes = SPATE_STRIPE_DATA_OFFSET_BYTES,
  };
  memcpy(superblock.uuid, create->uuid, sizeof superblock.uuid);
  superblock.data_bytes = data_bytes_of(config, superblock.chunk_bytes);
  if (superblock.data_bytes == 0) return SPATE_E_TOO_SMALL;
  if (!spate_stripe_size_is_possible(config->member_count, superblock.chunk_bytes, superblock.data_bytes))
    return SPATE_E_UNSUPPORTED;

  for (uint8_t i = 0; i < config->member_count && !create->erase_foreign; i++) {
    error = at_both_ends(config->members[i], config->scratch, check_blank);
    if (error != SPATE_OK) return error;
  }
  for (uint8_t i = 0; i < config->member_count; i++) {
    if (create->erase_foreign) error = at_both_ends(config->members[i], config->scratch, zero);
    if (error != SPATE_OK) return error;
    superblock.role = i;
    spate_stripe_superblock_put(config->scratch, &superblock, create);
    error = write_superblock(config->members[i], config->scratch);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}
