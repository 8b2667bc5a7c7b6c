/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this folder. */
#ifndef SPATE_STRIPE_INTERNAL_H
#define SPATE_STRIPE_INTERNAL_H

#include <spate/stripe.h>

#define SECTOR_SHIFT 9u /* md uses units of 512 bytes, whatever the drives' block size is */

#define SUPERBLOCK_OFFSET_BYTES 4096u

/* The contents of a member's superblock, with sizes in bytes. */
struct stripe_superblock {
  uint8_t uuid[16];           /* of the array */
  uint32_t chunk_bytes;       /* a power of two */
  uint32_t member_count;      /* of the array */
  uint32_t role;              /* the member's place in the array */
  uint64_t data_offset_bytes; /* of the data area */
  uint64_t data_bytes;        /* of the data area, in whole chunks */
};

/* Encode and decode a superblock of SPATE_STRIPE_SCRATCH_BYTES. Errors, as far as one superblock shows them: NO_STRIPE,
 * CORRUPT, STRIPE. */
void spate_stripe_superblock_put(uint8_t *at, const struct stripe_superblock *superblock,
                                 const struct spate_stripe_create *create);
SPATE_MUST_CHECK enum spate_error spate_stripe_superblock_get(const uint8_t *at, struct stripe_superblock *superblock);

/* Checks the memory, and whether the devices can be members of one array. Errors: INVALID, BLOCK_SIZE. */
SPATE_MUST_CHECK enum spate_error spate_stripe_check_config(const struct spate_stripe_config *config);

/* Whether the array has fewer than SPATE_STRIPE_CHUNKS_MAX chunks. */
bool spate_stripe_size_is_possible(uint32_t member_count, uint32_t chunk_bytes, uint64_t member_data_bytes);

/* Sets geometry and free parts. The members are in their places. `member_blocks` is a whole number of chunks. */
void spate_stripe_start(struct spate_stripe *stripe, const struct spate_stripe_config *config, uint32_t chunk_bytes,
                        uint64_t member_blocks);

#endif
