/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. */
#ifndef SPATE_STRIPE_INTERNAL_H
#define SPATE_STRIPE_INTERNAL_H

#include <spate/stripe.h>

#define SECTOR_SHIFT 9u /* md counts in units of 512 bytes, whatever the drives' blocks */

#define SUPERBLOCK_OFFSET_BYTES 4096u

/* What a member's superblock says, in bytes. */
struct stripe_superblock {
  uint8_t uuid[16];           /* of the array */
  uint32_t chunk_bytes;       /* a power of two */
  uint32_t member_count;      /* of the array */
  uint32_t role;              /* the member's place in it */
  uint64_t data_offset_bytes; /* of the data area */
  uint64_t data_bytes;        /* of it, in whole chunks */
};

/* Fill in a superblock as it is on the member, SPATE_STRIPE_SCRATCH_BYTES; and the other way round. Errors: NO_STRIPE,
 * CORRUPT, STRIPE: what one superblock can tell. */
void spate_stripe_superblock_put(uint8_t *at, const struct stripe_superblock *superblock,
                                 const struct spate_stripe_create *create);
SPATE_MUST_CHECK enum spate_error spate_stripe_superblock_get(const uint8_t *at, struct stripe_superblock *superblock);

/* Members that can be one array as far as the devices themselves tell, and the memory. Errors: INVALID, BLOCK_SIZE. */
SPATE_MUST_CHECK enum spate_error spate_stripe_check_config(const struct spate_stripe_config *config);

/* Fewer than SPATE_STRIPE_CHUNKS_MAX chunks? */
bool spate_stripe_size_is_possible(uint32_t member_count, uint32_t chunk_bytes, uint64_t member_data_bytes);

/* Geometry and free parts; the members are in their places, and each has this many blocks of whole chunks. */
void spate_stripe_start(struct spate_stripe *stripe, const struct spate_stripe_config *config, uint32_t chunk_bytes,
                        uint64_t member_blocks);

#endif
