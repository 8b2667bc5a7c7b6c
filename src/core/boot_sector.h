/* SPDX-License-Identifier: Apache-2.0 */
/* What the first block of a volume says of its file system (exFAT specification, 3.1; the BPB of FAT and NTFS has its
 * name at the same place). */
#ifndef SPATE_CORE_BOOT_SECTOR_H
#define SPATE_CORE_BOOT_SECTOR_H

#include "fields.h"

#include <stdbool.h>
#include <string.h>

enum { BOOT_SECTOR_NAME = 3, BOOT_SECTOR_NAME_BYTES = 8, BOOT_SECTOR_SHIFT = 108, BOOT_SECTOR_SIGNATURE = 510 };
#define BOOT_SECTORS_OF_REGION 12u /* the backup's boot sector is so many sectors after the first */
#define BOOT_SECTOR_SHIFT_MAX  12u

static inline bool boot_sector_is_signed(const uint8_t *data) {
  return spate_field_get16(data + BOOT_SECTOR_SIGNATURE) == 0xaa55u;
}

static inline bool boot_sector_is_exfat(const uint8_t *data) {
  return boot_sector_is_signed(data) && memcmp(data + BOOT_SECTOR_NAME, "EXFAT   ", BOOT_SECTOR_NAME_BYTES) == 0;
}

/* Without a name: what wipefs leaves, a blank block, or an MBR without a boot program. */
static inline bool boot_sector_is_nameless(const uint8_t *data) {
  static const uint8_t zeros[BOOT_SECTOR_NAME_BYTES];

  return memcmp(data + BOOT_SECTOR_NAME, zeros, sizeof zeros) == 0;
}

/* Another file system's, or a boot program; or a damaged one of exFAT. */
static inline bool boot_sector_is_foreign(const uint8_t *data) {
  return boot_sector_is_signed(data) && !boot_sector_is_exfat(data) && !boot_sector_is_nameless(data);
}

#endif
