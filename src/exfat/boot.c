/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot regions (specification, chapter 3), and VolumeDirty. The main region is read first, and its backup if the
 * main one is damaged. No field of a boot sector is used before the region's checksum is right and the field was
 * checked against the partition.
 */
#include "internal.h"

#define SECTOR_SHIFT_MIN   9u
#define CLUSTER_SHIFT_MAX  25u /* 32 MiB */
#define FAT_OFFSET_MIN     24u
#define VOLUME_BYTES_MIN   (UINT64_C(1) << 20)
#define REVISION_MAJOR     1u
#define MUST_BE_ZERO_START 11u
#define MUST_BE_ZERO_END   64u

uint32_t spate_exfat_boot_checksum(uint32_t sum, const uint8_t *block, uint32_t bytes, bool first) {
  for (uint32_t i = 0; i < bytes; i++) {
    bool volatile_field = i == BOOT_FLAGS || i == BOOT_FLAGS + 1u || i == BOOT_PERCENT;
    if (!first || !volatile_field) sum = spate_exfat_checksum32(sum, block[i]);
  }
  return sum;
}

/* A block of the sector that repeats the checksum. */
static bool holds_only(const struct spate_exfat *volume, const uint8_t *data, uint32_t sum) {
  for (uint32_t i = 0; i < spate_exfat_block_bytes(volume); i += 4u)
    if (spate_field_get32(data + i) != sum) return false;
  return true;
}

/* `shift`: blocks in a sector, as a power of two. */
static enum spate_error check_region(struct spate_exfat *volume, uint64_t lba, uint32_t shift) {
  const uint32_t summed = (BOOT_SECTORS_OF_REGION - 1u) << shift;
  uint32_t sum = 0;

  for (uint32_t i = 0; i < BOOT_SECTORS_OF_REGION << shift; i++) {
    struct spate_exfat_block *block;
    enum spate_error error = spate_exfat_block_get(volume, lba + i, &block);
    if (error != SPATE_OK) return error;
    if (i < summed)
      sum = spate_exfat_boot_checksum(sum, block->data, spate_exfat_block_bytes(volume), i == 0);
    else if (!holds_only(volume, block->data, sum))
      return SPATE_E_NOT_EXFAT;
  }
  return SPATE_OK;
}

/* The unit of all these fields is the volume's sector. */
static bool fields_sane(const uint8_t *boot) {
  uint64_t length = spate_field_get64(boot + BOOT_VOLUME_LENGTH);
  uint64_t fat_offset = spate_field_get32(boot + BOOT_FAT_OFFSET);
  uint64_t fat_length = spate_field_get32(boot + BOOT_FAT_LENGTH);
  uint64_t heap_offset = spate_field_get32(boot + BOOT_HEAP_OFFSET);
  uint64_t count = spate_field_get32(boot + BOOT_CLUSTER_COUNT);
  uint32_t root = spate_field_get32(boot + BOOT_ROOT_CLUSTER);
  uint32_t sector_shift = boot[BOOT_SECTOR_SHIFT];
  uint8_t fats = boot[BOOT_FATS];

  for (uint32_t i = MUST_BE_ZERO_START; i < MUST_BE_ZERO_END; i++)
    if (boot[i] != 0) return false;
  if (boot[BOOT_REVISION + 1] != REVISION_MAJOR || (fats != 1 && fats != 2)) return false;
  if (boot[BOOT_CLUSTER_SHIFT] > CLUSTER_SHIFT_MAX - sector_shift) return false;
  if (length < VOLUME_BYTES_MIN >> sector_shift) return false;
  if (fat_offset < FAT_OFFSET_MIN || fat_length << sector_shift < (count + EXFAT_FIRST_CLUSTER) * 4u) return false;
  if (fat_offset + fat_length * fats > heap_offset || heap_offset >= length) return false;
  if (count == 0 || count > EXFAT_CLUSTERS_MAX || count > (length - heap_offset) >> boot[BOOT_CLUSTER_SHIFT])
    return false;
  return root >= EXFAT_FIRST_CLUSTER && root - EXFAT_FIRST_CLUSTER < count;
}

static enum spate_error read_region(struct spate_exfat *volume, uint64_t lba, uint32_t sector_shift,
                                    struct spate_exfat_block **block) {
  const uint32_t shift = sector_shift - spate_exfat_block_shift(volume);
  enum spate_error error = check_region(volume, lba, shift);

  if (error == SPATE_OK) error = spate_exfat_block_get(volume, lba, block);
  if (error != SPATE_OK) return error;
  return fields_sane((*block)->data) ? SPATE_OK : SPATE_E_NOT_EXFAT;
}

/* What the first block says of the volume, before any of it is checked. */
struct beginning {
  enum spate_error error; /* of reading it */
  bool foreign;           /* of another file system, or an MBR */
  bool wiped;             /* without its name, as wipefs leaves it */
  bool blank;
};

static enum spate_error read_main(struct spate_exfat *volume, struct beginning *beginning,
                                  struct spate_exfat_block **block) {
  *beginning = (struct beginning){.error = spate_exfat_block_get(volume, volume->config.first_lba, block)};
  if (beginning->error != SPATE_OK) return beginning->error;
  const uint8_t *boot = (*block)->data;
  beginning->foreign = boot_sector_is_foreign(boot);
  beginning->blank = holds_only(volume, boot, 0);
  beginning->wiped = !beginning->blank && boot_sector_is_nameless(boot);
  if (!boot_sector_is_exfat(boot)) return SPATE_E_NOT_EXFAT;
  const uint8_t shift = boot[BOOT_SECTOR_SHIFT];
  if (shift < SECTOR_SHIFT_MIN || shift > BOOT_SECTOR_SHIFT_MAX) return SPATE_E_NOT_EXFAT;
  if (shift < spate_exfat_block_shift(volume)) return SPATE_E_SECTOR_SIZE;
  return read_region(volume, volume->config.first_lba, shift, block);
}

/* Where the backup is depends on the size of a sector, which only the backup states. */
static enum spate_error read_backup(struct spate_exfat *volume, struct spate_exfat_block **block) {
  const uint32_t least = spate_exfat_block_shift(volume);
  enum spate_error error = SPATE_E_NOT_EXFAT;

  for (uint32_t shift = least; shift <= BOOT_SECTOR_SHIFT_MAX && error == SPATE_E_NOT_EXFAT; shift++) {
    const uint64_t lba = volume->config.first_lba + (BOOT_SECTORS_OF_REGION << (shift - least));
    error = spate_exfat_block_get(volume, lba, block);
    if (error != SPATE_OK) return error;
    const bool there = boot_sector_is_exfat((*block)->data) && (*block)->data[BOOT_SECTOR_SHIFT] == shift;
    error = there ? read_region(volume, lba, shift, block) : SPATE_E_NOT_EXFAT;
  }
  return error;
}

/* ---- whose a main region is that does not describe a volume ---- */

struct rest {
  uint32_t sum; /* as of a checksum */
  bool blank;
};

/* All sectors of a region but the first and the last. */
static enum spate_error read_rest(struct spate_exfat *volume, uint64_t lba, uint32_t shift, struct rest *rest) {
  *rest = (struct rest){.blank = true};
  for (uint32_t i = 1u << shift; i < (BOOT_SECTORS_OF_REGION - 1u) << shift; i++) {
    struct spate_exfat_block *block;
    enum spate_error error = spate_exfat_block_get(volume, lba + i, &block);
    if (error != SPATE_OK) return error;
    rest->sum = spate_exfat_boot_checksum(rest->sum, block->data, spate_exfat_block_bytes(volume), false);
    rest->blank = rest->blank && holds_only(volume, block->data, 0);
  }
  return SPATE_OK;
}

/* Formatters of other file systems, arrays and swap may leave the backup as it was, and even the first block. So the
 * main region is this volume's only if it cannot be read, if it is blank, or if what follows the first block is as in
 * the backup. */
static bool is_ours(struct spate_exfat *volume, const struct beginning *beginning, uint32_t shift) {
  const uint64_t lba = volume->config.first_lba;
  struct rest main, backup;

  if (beginning->error != SPATE_OK || read_rest(volume, lba, shift, &main) != SPATE_OK) return true;
  if (beginning->blank && main.blank) return true;
  if (read_rest(volume, lba + (BOOT_SECTORS_OF_REGION << shift), shift, &backup) != SPATE_OK) return false;
  return main.sum == backup.sum && !beginning->wiped;
}

void spate_exfat_mount_read_only(struct spate_exfat *volume, struct spate_exfat_mounted *found,
                                 enum spate_exfat_read_only why) {
  if (why == SPATE_EXFAT_WRITABLE) return;
  spate_port_log("exfat: the volume is read only, because (enum spate_exfat_read_only)", (uint64_t)why);
  if (found->read_only == SPATE_EXFAT_WRITABLE) found->read_only = (uint8_t)why;
  volume->config.read_only = true;
}

/* What makes a volume read only before its root directory is read. */
static enum spate_exfat_read_only reason(const struct spate_exfat *volume, const uint8_t *boot) {
  const uint32_t shift = boot[BOOT_SECTOR_SHIFT] - spate_exfat_block_shift(volume);

  if (spate_field_get64(boot + BOOT_VOLUME_LENGTH) > volume->config.blocks >> shift) return SPATE_EXFAT_TOO_LONG;
  return shift != 0 ? SPATE_EXFAT_SECTORS : SPATE_EXFAT_WRITABLE;
}

/* Clusters that are there. Those past the partition's end may be another volume's. */
static uint32_t clusters_there(const struct spate_exfat *volume, uint64_t heap_blocks, uint32_t stated) {
  const uint64_t blocks = volume->config.blocks > heap_blocks ? volume->config.blocks - heap_blocks : 0;
  const uint64_t there = blocks >> volume->cluster_blocks_shift;

  return there < stated ? (uint32_t)there : stated;
}

/* The valid boot sector, in the cache. */
static enum spate_error find_boot(struct spate_exfat *volume, struct spate_exfat_mounted *found,
                                  struct spate_exfat_block **block) {
  struct beginning beginning;
  const enum spate_error main_error = read_main(volume, &beginning, block);

  /* The backup is also used if the main region cannot be read. */
  volume->from_backup = main_error != SPATE_OK;
  if (main_error == SPATE_OK || volume->repairs == NULL || read_backup(volume, block) != SPATE_OK) return main_error;
  const uint64_t backup_lba = (*block)->lba;
  const uint32_t shift = (*block)->data[BOOT_SECTOR_SHIFT] - spate_exfat_block_shift(volume);
  if (!is_ours(volume, &beginning, shift)) {
    if (beginning.foreign) return SPATE_E_NOT_EXFAT;
    spate_exfat_mount_read_only(volume, found, SPATE_EXFAT_ONLY_BACKUP);
  }
  return spate_exfat_block_get(volume, backup_lba, block);
}

enum spate_error spate_exfat_boot_read(struct spate_exfat *volume, uint32_t *root_cluster,
                                       struct spate_exfat_mounted *found) {
  struct spate_exfat_block *block;
  const uint64_t lba = volume->config.first_lba;
  enum spate_error error = find_boot(volume, found, &block);

  if (error != SPATE_OK) return error;
  const uint8_t *boot = block->data;
  const uint32_t shift = boot[BOOT_SECTOR_SHIFT] - spate_exfat_block_shift(volume);
  const uint64_t fat_blocks = (uint64_t)spate_field_get32(boot + BOOT_FAT_LENGTH) << shift;
  const uint64_t heap_blocks = (uint64_t)spate_field_get32(boot + BOOT_HEAP_OFFSET) << shift;
  uint16_t flags = spate_field_get16(boot + BOOT_FLAGS);
  spate_exfat_mount_read_only(volume, found, reason(volume, boot));
  volume->active_fat = boot[BOOT_FATS] == 2 ? flags & BOOT_ACTIVE_FAT : 0;
  volume->fat_lba =
      lba + ((uint64_t)spate_field_get32(boot + BOOT_FAT_OFFSET) << shift) + fat_blocks * volume->active_fat;
  volume->heap_lba = lba + heap_blocks;
  volume->cluster_blocks_shift = (uint8_t)(boot[BOOT_CLUSTER_SHIFT] + shift);
  volume->cluster_count = clusters_there(volume, heap_blocks, spate_field_get32(boot + BOOT_CLUSTER_COUNT));
  volume->cluster_shift = (uint8_t)(volume->cluster_blocks_shift + volume->block_shift);
  volume->cluster_mask = (UINT32_C(1) << volume->cluster_shift) - 1u;
  volume->serial = spate_field_get32(boot + BOOT_SERIAL);
  volume->clear_to_zero = (flags & BOOT_CLEAR_TO_ZERO) != 0;
  *root_cluster = spate_field_get32(boot + BOOT_ROOT_CLUSTER);
  /* The backup's flags may be old. What damaged the main region did not leave a clean volume. */
  found->dirty = (flags & BOOT_DIRTY) != 0 || volume->from_backup;
  /* The backup's ActiveFat may be old as well. It is then unknown which FAT and bitmap are right. */
  if (volume->from_backup && boot[BOOT_FATS] == 2) spate_exfat_mount_read_only(volume, found, SPATE_EXFAT_TWO_FATS);
  return SPATE_OK;
}

/* The boot sector comes last. The backup's flags may be old. */
enum spate_error spate_exfat_boot_restore(struct spate_exfat *volume) {
  for (uint32_t i = BOOT_SECTORS_OF_REGION; i-- > 0;) {
    struct spate_exfat_block *block;
    uint64_t lba = volume->config.first_lba + i;
    enum spate_error error = spate_exfat_block_get(volume, lba + BOOT_SECTORS_OF_REGION, &block);
    if (error != SPATE_OK) return error;
    spate_exfat_cache_forget(volume, lba, 1);
    block->lba = lba;
    if (i == 0 && (volume->foreign_dirty || volume->dirty)) block->data[BOOT_FLAGS] |= BOOT_DIRTY;
    error = spate_exfat_block_commit(block);
    if (error != SPATE_OK) return error;
  }
  volume->from_backup = false;
  return SPATE_OK;
}

static enum spate_error put_flags(struct spate_exfat *volume, bool dirty) {
  struct spate_exfat_block *block;
  enum spate_error error = spate_exfat_block_edit(volume, volume->config.first_lba, &block);

  if (error != SPATE_OK) return error;
  uint32_t flags = spate_field_get16(block->data + BOOT_FLAGS) & ~(uint32_t)(BOOT_DIRTY | BOOT_CLEAR_TO_ZERO);
  if (dirty || volume->foreign_dirty) flags |= BOOT_DIRTY;
  spate_field_put16(block->data + BOOT_FLAGS, (uint16_t)flags);
  block->data[BOOT_PERCENT] = BOOT_PERCENT_UNKNOWN;
  if (dirty) volume->dirty = true; /* also when the write fails: it may have reached the media */
  error = spate_exfat_block_commit(block);
  if (error != SPATE_OK) return error;
  volume->dirty = dirty;
  volume->clear_to_zero = false;
  return SPATE_OK;
}

enum spate_error spate_exfat_boot_repair(struct spate_exfat *volume) {
  enum spate_error error = volume->from_backup ? volume->repairs->boot(volume) : SPATE_OK;

  return error == SPATE_OK && volume->clear_to_zero ? put_flags(volume, volume->dirty) : error;
}

enum spate_error spate_exfat_boot_dirty(struct spate_exfat *volume, bool dirty) {
  enum spate_error error = spate_exfat_boot_repair(volume);

  return error == SPATE_OK && volume->dirty != dirty ? put_flags(volume, dirty) : error;
}
