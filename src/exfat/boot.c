/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot regions (specification, chapter 3), and VolumeDirty. The main region is read first, and its backup if the
 * main one is damaged. No field of a boot sector is used before the region's checksum is right and the field was
 * checked against the partition.
 */
#include "internal.h"

#define SECTOR_SHIFT_MIN   9u
#define SECTOR_SHIFT_MAX   12u
#define CLUSTER_SHIFT_MAX  25u /* 32 MiB */
#define FAT_OFFSET_MIN     24u
#define VOLUME_BYTES_MIN   (UINT64_C(1) << 20)
#define REVISION_MAJOR     1u
#define SIGNATURE          0xaa55u
#define MUST_BE_ZERO_START 11u
#define MUST_BE_ZERO_END   64u

static const char file_system_name[] = "EXFAT   ";

uint32_t spate_exfat_boot_checksum(uint32_t sum, const uint8_t *block, uint32_t bytes, bool first) {
  for (uint32_t i = 0; i < bytes; i++) {
    bool volatile_field = i == BOOT_FLAGS || i == BOOT_FLAGS + 1u || i == BOOT_PERCENT;
    if (!first || !volatile_field) sum = spate_exfat_checksum32(sum, block[i]);
  }
  return sum;
}

static enum spate_error check_region(struct spate_exfat *volume, uint64_t lba) {
  struct spate_exfat_block *block;
  uint32_t sum = 0;

  for (uint32_t i = 0; i < EXFAT_BOOT_BLOCKS; i++) {
    enum spate_error error = spate_exfat_block_get(volume, lba + i, &block);
    if (error != SPATE_OK) return error;
    if (i < EXFAT_BOOT_BLOCKS - 1u)
      sum = spate_exfat_boot_checksum(sum, block->data, spate_exfat_block_bytes(volume), i == 0);
  }
  for (uint32_t i = 0; i < spate_exfat_block_bytes(volume); i += 4u)
    if (spate_field_get32(block->data + i) != sum) return SPATE_E_NOT_EXFAT;
  return SPATE_OK;
}

static bool fields_sane(const struct spate_exfat *volume, const uint8_t *boot) {
  uint64_t length = spate_field_get64(boot + BOOT_VOLUME_LENGTH);
  uint64_t fat_offset = spate_field_get32(boot + BOOT_FAT_OFFSET);
  uint64_t fat_length = spate_field_get32(boot + BOOT_FAT_LENGTH);
  uint64_t heap_offset = spate_field_get32(boot + BOOT_HEAP_OFFSET);
  uint64_t count = spate_field_get32(boot + BOOT_CLUSTER_COUNT);
  uint32_t root = spate_field_get32(boot + BOOT_ROOT_CLUSTER);
  uint32_t block_shift = spate_exfat_block_shift(volume);
  uint8_t fats = boot[BOOT_FATS];

  for (uint32_t i = MUST_BE_ZERO_START; i < MUST_BE_ZERO_END; i++)
    if (boot[i] != 0) return false;
  if (boot[BOOT_REVISION + 1] != REVISION_MAJOR || (fats != 1 && fats != 2)) return false;
  if (boot[BOOT_CLUSTER_SHIFT] > CLUSTER_SHIFT_MAX - block_shift) return false;
  if (length > volume->config.blocks || length < VOLUME_BYTES_MIN >> block_shift) return false;
  if (fat_offset < FAT_OFFSET_MIN || fat_length << block_shift < (count + EXFAT_FIRST_CLUSTER) * 4u) return false;
  if (fat_offset + fat_length * fats > heap_offset || heap_offset >= length) return false;
  if (count == 0 || count > EXFAT_CLUSTERS_MAX || count > (length - heap_offset) >> boot[BOOT_CLUSTER_SHIFT])
    return false;
  return root >= EXFAT_FIRST_CLUSTER && root - EXFAT_FIRST_CLUSTER < count;
}

static enum spate_error read_region(struct spate_exfat *volume, uint64_t lba, struct spate_exfat_block **block) {
  enum spate_error error = spate_exfat_block_get(volume, lba, block);

  if (error != SPATE_OK) return error;
  const uint8_t *boot = (*block)->data;
  if (memcmp(boot + BOOT_NAME, file_system_name, sizeof file_system_name - 1u) != 0 ||
      spate_field_get16(boot + BOOT_SIGNATURE) != SIGNATURE)
    return SPATE_E_NOT_EXFAT;
  uint8_t shift = boot[BOOT_BLOCK_SHIFT];
  if (shift != spate_exfat_block_shift(volume))
    return shift >= SECTOR_SHIFT_MIN && shift <= SECTOR_SHIFT_MAX ? SPATE_E_SECTOR_SIZE : SPATE_E_NOT_EXFAT;
  error = check_region(volume, lba);
  if (error == SPATE_OK) error = spate_exfat_block_get(volume, lba, block);
  if (error != SPATE_OK) return error;
  return fields_sane(volume, (*block)->data) ? SPATE_OK : SPATE_E_NOT_EXFAT;
}

enum spate_error spate_exfat_boot_read(struct spate_exfat *volume, uint32_t *root_cluster, bool *dirty) {
  struct spate_exfat_block *block;
  uint64_t lba = volume->config.first_lba;
  enum spate_error main_error = read_region(volume, lba, &block);
  enum spate_error error = main_error;

  /* The backup is also used if the main region cannot be read. */
  volume->from_backup = main_error != SPATE_OK;
  if (volume->from_backup && volume->repairs != NULL) error = read_region(volume, lba + EXFAT_BOOT_BLOCKS, &block);
  if (error != SPATE_OK) return main_error;

  const uint8_t *boot = block->data;
  uint64_t fat_length = spate_field_get32(boot + BOOT_FAT_LENGTH);
  uint16_t flags = spate_field_get16(boot + BOOT_FLAGS);
  /* The backup's ActiveFat may be old as well. It is then unknown which FAT and bitmap are right, so nothing is
   * written.
   */
  volume->untrusted = volume->from_backup && boot[BOOT_FATS] == 2;
  volume->active_fat = boot[BOOT_FATS] == 2 ? flags & BOOT_ACTIVE_FAT : 0;
  volume->fat_lba = lba + spate_field_get32(boot + BOOT_FAT_OFFSET) + fat_length * volume->active_fat;
  volume->heap_lba = lba + spate_field_get32(boot + BOOT_HEAP_OFFSET);
  volume->cluster_count = spate_field_get32(boot + BOOT_CLUSTER_COUNT);
  volume->cluster_blocks_shift = boot[BOOT_CLUSTER_SHIFT];
  volume->cluster_shift = (uint8_t)(volume->cluster_blocks_shift + volume->block_shift);
  volume->cluster_mask = (UINT32_C(1) << volume->cluster_shift) - 1u;
  volume->serial = spate_field_get32(boot + BOOT_SERIAL);
  volume->clear_to_zero = (flags & BOOT_CLEAR_TO_ZERO) != 0;
  *root_cluster = spate_field_get32(boot + BOOT_ROOT_CLUSTER);
  /* The backup's flags may be old. What damaged the main region did not leave a clean volume. */
  *dirty = (flags & BOOT_DIRTY) != 0 || volume->from_backup;
  return SPATE_OK;
}

/* The boot sector comes last. The backup's flags may be old. */
enum spate_error spate_exfat_boot_restore(struct spate_exfat *volume) {
  for (uint32_t i = EXFAT_BOOT_BLOCKS; i-- > 0;) {
    struct spate_exfat_block *block;
    uint64_t lba = volume->config.first_lba + i;
    enum spate_error error = spate_exfat_block_get(volume, lba + EXFAT_BOOT_BLOCKS, &block);
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
  if (dirty) volume->dirty = true; /* also when the write fails: it may have reached the medium */
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
