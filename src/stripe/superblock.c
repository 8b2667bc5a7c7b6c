/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version 1 superblock of Linux md (struct mdp_superblock_1 in its raid/md_p.h). Fields are little endian. Sizes
 * and offsets are in sectors of 512 bytes.
 */
#include "../core/fields.h"
#include "internal.h"

#include <string.h>

#define MD_MAGIC           UINT32_C(0xa92b4efc)
#define MD_MAJOR           1u
#define MD_ROLE_SPARE      0xffffu
#define MD_RESYNC_COMPLETE UINT64_MAX
#define HEADER_BYTES       256u
#define ROLES_MAX          ((SPATE_STRIPE_SCRATCH_BYTES - HEADER_BYTES) / 2u)
#define ROLES_WRITTEN      128u /* as mdadm: the header and these roles are one sector */

/* The only feature that RAID 0 may have. With more than one zone, kernels from 5.4 on need it, and `layout` then is the
 * layout of the second zone. With one zone `layout` has no meaning; mdadm writes it without the feature, too. */
#define MD_FEATURE_RAID0_LAYOUT UINT32_C(4096)
#define MD_LAYOUT_ORIGINAL      1u

enum {
  MD_MAGIC_AT = 0,
  MD_MAJOR_AT = 4,
  MD_FEATURES_AT = 8,
  MD_SET_UUID_AT = 16,
  MD_SET_NAME_AT = 32,
  MD_CREATED_AT = 64, /* 40 bits of seconds, 24 of microseconds */
  MD_LEVEL_AT = 72,
  MD_LAYOUT_AT = 76,
  MD_CHUNK_AT = 88,
  MD_RAID_DISKS_AT = 92,
  MD_DATA_OFFSET_AT = 128,
  MD_DATA_SIZE_AT = 136,
  MD_SUPER_OFFSET_AT = 144,
  MD_DEV_NUMBER_AT = 160,
  MD_DEVICE_UUID_AT = 168,
  MD_UPDATED_AT = 192,
  MD_RESYNC_OFFSET_AT = 208,
  MD_CHECKSUM_AT = 216,
  MD_ROLE_COUNT_AT = 220, /* max_dev */
  MD_ROLES_AT = 256,
};

/* The sum of all 32-bit words, folded to 32 bits. The checksum itself counts as zero. A half word at the end counts as
 * a word. */
static uint32_t checksum(const uint8_t *at, uint32_t role_count) {
  const uint32_t bytes = HEADER_BYTES + role_count * 2u;
  uint64_t sum = 0;
  uint32_t offset = 0;

  for (; offset + 4u <= bytes; offset += 4u)
    if (offset != MD_CHECKSUM_AT) sum += spate_field_get32(at + offset);
  if (offset < bytes) sum += spate_field_get16(at + offset);
  return (uint32_t)sum + (uint32_t)(sum >> 32);
}

void spate_stripe_superblock_put(uint8_t *at, const struct stripe_superblock *superblock,
                                 const struct spate_stripe_create *create) {
  memset(at, 0, SPATE_STRIPE_SCRATCH_BYTES);
  spate_field_put32(at + MD_MAGIC_AT, MD_MAGIC);
  spate_field_put32(at + MD_MAJOR_AT, MD_MAJOR);
  memcpy(at + MD_SET_UUID_AT, superblock->uuid, sizeof superblock->uuid);
  for (uint32_t i = 0; create->name != NULL && create->name[i] != '\0'; i++)
    at[MD_SET_NAME_AT + i] = (uint8_t)create->name[i];
  spate_field_put64(at + MD_CREATED_AT, create->created_s);
  spate_field_put32(at + MD_LAYOUT_AT, MD_LAYOUT_ORIGINAL);
  spate_field_put32(at + MD_CHUNK_AT, superblock->chunk_bytes >> SECTOR_SHIFT);
  spate_field_put32(at + MD_RAID_DISKS_AT, superblock->member_count);
  spate_field_put64(at + MD_DATA_OFFSET_AT, superblock->data_offset_bytes >> SECTOR_SHIFT);
  spate_field_put64(at + MD_DATA_SIZE_AT, superblock->data_bytes >> SECTOR_SHIFT);
  spate_field_put64(at + MD_SUPER_OFFSET_AT, SUPERBLOCK_OFFSET_BYTES >> SECTOR_SHIFT);
  spate_field_put32(at + MD_DEV_NUMBER_AT, superblock->role);
  /* Each member has its own UUID, made of the array's UUID and the member's place. */
  memcpy(at + MD_DEVICE_UUID_AT, superblock->uuid, sizeof superblock->uuid);
  at[MD_DEVICE_UUID_AT] = (uint8_t)(superblock->uuid[0] ^ (0x80u + superblock->role));
  spate_field_put64(at + MD_UPDATED_AT, create->created_s);
  spate_field_put64(at + MD_RESYNC_OFFSET_AT, MD_RESYNC_COMPLETE);
  spate_field_put32(at + MD_ROLE_COUNT_AT, ROLES_WRITTEN);
  for (uint32_t i = 0; i < ROLES_WRITTEN; i++)
    spate_field_put16(at + MD_ROLES_AT + i * 2u, i < superblock->member_count ? (uint16_t)i : (uint16_t)MD_ROLE_SPARE);
  spate_field_put32(at + MD_CHECKSUM_AT, checksum(at, ROLES_WRITTEN));
}

static bool is_power_of_two(uint32_t value) { return value != 0 && (value & (value - 1u)) == 0; }

/* Checks that this is an intact superblock. It may be of any array. */
static enum spate_error check(const uint8_t *at) {
  const uint32_t role_count = spate_field_get32(at + MD_ROLE_COUNT_AT);

  if (spate_field_get32(at + MD_MAGIC_AT) != MD_MAGIC) return SPATE_E_NO_STRIPE;
  if (role_count > ROLES_MAX || spate_field_get32(at + MD_CHECKSUM_AT) != checksum(at, role_count))
    return SPATE_E_CORRUPT;
  /* Superblocks of versions 1.0 and 1.1 are elsewhere: this one was copied here. */
  if (spate_field_get64(at + MD_SUPER_OFFSET_AT) != SUPERBLOCK_OFFSET_BYTES >> SECTOR_SHIFT) return SPATE_E_CORRUPT;
  return SPATE_OK;
}

enum spate_error spate_stripe_superblock_get(const uint8_t *at, struct stripe_superblock *superblock) {
  const enum spate_error error = check(at);
  if (error != SPATE_OK) return error;

  const uint32_t dev_number = spate_field_get32(at + MD_DEV_NUMBER_AT);
  const uint32_t chunk_sectors = spate_field_get32(at + MD_CHUNK_AT);
  const uint64_t data_offset_sectors = spate_field_get64(at + MD_DATA_OFFSET_AT);
  const uint64_t data_sectors = spate_field_get64(at + MD_DATA_SIZE_AT);

  if (spate_field_get32(at + MD_MAJOR_AT) != MD_MAJOR || spate_field_get32(at + MD_LEVEL_AT) != 0 ||
      (spate_field_get32(at + MD_FEATURES_AT) & ~MD_FEATURE_RAID0_LAYOUT) != 0)
    return SPATE_E_STRIPE;
  if (dev_number >= spate_field_get32(at + MD_ROLE_COUNT_AT)) return SPATE_E_STRIPE;
  if (!is_power_of_two(chunk_sectors) || chunk_sectors < SPATE_STRIPE_CHUNK_BYTES_MIN >> SECTOR_SHIFT ||
      chunk_sectors > SPATE_STRIPE_CHUNK_BYTES_MAX >> SECTOR_SHIFT)
    return SPATE_E_STRIPE;
  if (data_offset_sectors > UINT64_MAX >> SECTOR_SHIFT || data_sectors > UINT64_MAX >> SECTOR_SHIFT)
    return SPATE_E_STRIPE;

  *superblock = (struct stripe_superblock){
      .chunk_bytes = chunk_sectors << SECTOR_SHIFT,
      .member_count = spate_field_get32(at + MD_RAID_DISKS_AT),
      .role = spate_field_get16(at + MD_ROLES_AT + dev_number * 2u),
      .data_offset_bytes = data_offset_sectors << SECTOR_SHIFT,
      .data_bytes = (data_sectors & ~((uint64_t)chunk_sectors - 1u)) << SECTOR_SHIFT,
  };
  memcpy(superblock->uuid, at + MD_SET_UUID_AT, sizeof superblock->uuid);
  return SPATE_OK;
}
