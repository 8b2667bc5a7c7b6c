/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Make a volume: boot regions, FAT, bitmap, up-case table, root directory and the record's file, in that order of
 * address, with the cluster heap aligned to the cluster on the device.
 *
 * The order of the writes: first the old boot regions are erased, so that a half-made volume is no volume. The
 * structures follow, then the backup boot region, and the main one last. The volume is whole when the backup is
 * written.
 *
 * The whole FAT is zeroed. By the specification (4.1) only entries of allocated, linked clusters are read, but repair
 * tools read all of it, and stale entries have misled them. The FAT is one millionth of the volume.
 */
#include "internal.h"

#define FAT_OFFSET_BYTES    (UINT32_C(128) << 10)
#define CLUSTER_BYTES_MIN   (UINT32_C(1) << 20)
#define CLUSTER_BYTES_MAX   (UINT32_C(32) << 20)
#define CLUSTERS_MIN        5u   /* bitmap, up-case table, root, record, and one for a file */
#define BITMAP_CLUSTERS_MAX 500u /* so that one block of bits covers what format allocates */
#define EXTENDED_BLOCKS     8u

struct layout {
  const struct spate_exfat_config *config;
  uint8_t *scratch;    /* one block */
  uint64_t volume_lba; /* on the media */
  uint32_t block_shift, cluster_shift;
  uint32_t fat_offset, fat_length, heap_offset; /* blocks */
  uint32_t cluster_count;
  uint32_t bitmap_clusters;
  uint32_t upcase, root, record; /* clusters */
  struct exfat_table table;
};

static uint32_t default_cluster_bytes(uint64_t bytes) {
  if (bytes <= UINT64_C(256) << 30) return UINT32_C(1) << 20;
  return bytes <= UINT64_C(4) << 40 ? UINT32_C(4) << 20 : UINT32_C(32) << 20;
}

static enum spate_error plan(struct layout *layout, uint32_t cluster_bytes) {
  const struct spate_exfat_config *config = layout->config;
  uint64_t bytes = config->blocks << layout->block_shift;

  if (cluster_bytes == 0) cluster_bytes = default_cluster_bytes(bytes);
  if ((cluster_bytes & (cluster_bytes - 1u)) != 0 || cluster_bytes < CLUSTER_BYTES_MIN ||
      cluster_bytes > CLUSTER_BYTES_MAX)
    return SPATE_E_INVALID;
  while (UINT32_C(1) << layout->cluster_shift < cluster_bytes)
    layout->cluster_shift++;
  uint32_t to_cluster = layout->cluster_shift - layout->block_shift;
  uint64_t cluster_blocks = UINT64_C(1) << to_cluster;

  /* The FAT has room for as many clusters as there would be if the heap began where the FAT does. */
  layout->fat_offset = FAT_OFFSET_BYTES >> layout->block_shift;
  uint64_t fat_bytes = ((config->blocks >> to_cluster) + EXFAT_FIRST_CLUSTER) * 4u;
  uint64_t fat_blocks = (fat_bytes + spate_block_bytes(config->block) - 1u) >> layout->block_shift;
  uint64_t heap_lba = layout->volume_lba + layout->fat_offset + fat_blocks;
  uint64_t heap_offset = ((heap_lba + cluster_blocks - 1u) & ~(cluster_blocks - 1u)) - layout->volume_lba;
  if (heap_offset >= config->blocks) return SPATE_E_TOO_SMALL;
  uint64_t count = (config->blocks - heap_offset) >> to_cluster;
  uint64_t bitmap_bytes = (count + 7u) / 8u;
  uint64_t bitmap_clusters = (bitmap_bytes + cluster_bytes - 1u) >> layout->cluster_shift;
  if (count < CLUSTERS_MIN) return SPATE_E_TOO_SMALL;
  if (count > EXFAT_CLUSTERS_MAX || bitmap_clusters > BITMAP_CLUSTERS_MAX || heap_offset > UINT32_MAX)
    return SPATE_E_INVALID;
  layout->fat_length = (uint32_t)fat_blocks;
  layout->heap_offset = (uint32_t)heap_offset;
  layout->cluster_count = (uint32_t)count;
  layout->bitmap_clusters = (uint32_t)bitmap_clusters;
  layout->upcase = EXFAT_FIRST_CLUSTER + layout->bitmap_clusters;
  layout->root = layout->upcase + 1u;
  layout->record = layout->root + 1u;
  return SPATE_OK;
}

static uint64_t lba_of(const struct layout *layout, uint32_t cluster) {
  uint64_t blocks = (uint64_t)(cluster - EXFAT_FIRST_CLUSTER) << (layout->cluster_shift - layout->block_shift);

  return layout->config->first_lba + layout->heap_offset + blocks;
}

static enum spate_error zero(const struct layout *layout, uint64_t lba, uint64_t blocks) {
  const struct spate_exfat_config *config = layout->config;

  return spate_exfat_zero_blocks(config->block, lba, blocks, config->bitmap, config->bitmap_bytes);
}

static void clear_scratch(const struct layout *layout) {
  memset(layout->scratch, 0, UINT32_C(1) << layout->block_shift);
}

static enum spate_error put_scratch(const struct layout *layout, uint64_t lba) {
  return spate_block_write(layout->config->block, lba, 1, layout->scratch, 0);
}

/* The FAT entry of a cluster. The bitmap's clusters follow each other; table and root have one cluster each. */
static uint32_t link_of(const struct layout *layout, uint32_t cluster) {
  if (cluster == 0) return UINT32_C(0xfffffff8); /* media type */
  bool bitmap = cluster >= EXFAT_FIRST_CLUSTER && cluster + 1u < layout->upcase;
  return bitmap ? cluster + 1u : EXFAT_CLUSTER_END;
}

static enum spate_error write_fat(const struct layout *layout) {
  uint64_t lba = layout->config->first_lba + layout->fat_offset;
  uint32_t entries_in_block = (UINT32_C(1) << layout->block_shift) / 4u;
  enum spate_error error = zero(layout, lba, layout->fat_length);

  for (uint32_t first = 0; error == SPATE_OK && first <= layout->root; first += entries_in_block) {
    clear_scratch(layout);
    for (uint32_t i = 0; i < entries_in_block && first + i <= layout->root; i++)
      spate_field_put32(layout->scratch + 4u * i, link_of(layout, first + i));
    error = put_scratch(layout, lba++);
  }
  return error;
}

static enum spate_error write_bitmap(const struct layout *layout) {
  uint64_t lba = lba_of(layout, EXFAT_FIRST_CLUSTER);
  uint64_t bytes = (layout->cluster_count + UINT64_C(7)) / 8u;
  uint32_t block_bytes = UINT32_C(1) << layout->block_shift;
  enum spate_error error = zero(layout, lba, (bytes + block_bytes - 1u) >> layout->block_shift);

  if (error != SPATE_OK) return error;
  clear_scratch(layout);
  for (uint32_t i = 0; i <= layout->record - EXFAT_FIRST_CLUSTER; i++)
    layout->scratch[i / 8u] |= (uint8_t)(1u << (i & 7u));
  return put_scratch(layout, lba);
}

static enum spate_error put_label(const char *label, uint8_t *entry) {
  uint16_t units[SPATE_EXFAT_LABEL_UNITS_MAX];
  uint32_t count = 0;
  enum spate_error error = SPATE_OK;

  if (label != NULL) {
    size_t bytes = 0;
    while (label[bytes] != '\0')
      bytes++;
    error = spate_exfat_utf16(label, bytes, units, SPATE_EXFAT_LABEL_UNITS_MAX, &count);
  }
  entry[0] = count > 0 ? EXFAT_TYPE_LABEL : EXFAT_TYPE_LABEL & ~EXFAT_TYPE_IN_USE;
  entry[1] = (uint8_t)count;
  for (uint32_t i = 0; i < count; i++)
    spate_field_put16(entry + 2u + 2u * i, units[i]);
  return error;
}

static enum spate_error write_root(const struct layout *layout, const char *label) {
  uint8_t *bitmap = layout->scratch + EXFAT_ENTRY_BYTES;
  uint8_t *upcase = bitmap + EXFAT_ENTRY_BYTES;
  uint64_t cluster_blocks = UINT64_C(1) << (layout->cluster_shift - layout->block_shift);
  enum spate_error error = zero(layout, lba_of(layout, layout->root), cluster_blocks);

  if (error == SPATE_OK) error = zero(layout, lba_of(layout, layout->record), EXFAT_RECORD_SLOTS);
  if (error != SPATE_OK) return error;
  clear_scratch(layout);
  error = put_label(label, layout->scratch);
  if (error != SPATE_OK) return error;
  bitmap[0] = EXFAT_TYPE_BITMAP;
  spate_field_put32(bitmap + 20, EXFAT_FIRST_CLUSTER);
  spate_field_put64(bitmap + 24, (layout->cluster_count + UINT64_C(7)) / 8u);
  upcase[0] = EXFAT_TYPE_UPCASE;
  spate_field_put32(upcase + 4, layout->table.checksum);
  spate_field_put32(upcase + 20, layout->upcase);
  spate_field_put64(upcase + 24, layout->table.bytes);
  spate_exfat_record_build(upcase + EXFAT_ENTRY_BYTES, 1, layout->record, layout->block_shift, layout->config);
  return put_scratch(layout, lba_of(layout, layout->root));
}

static void build_boot_sector(const struct layout *layout, uint32_t serial) {
  static const uint8_t jump_and_name[] = {0xeb, 0x76, 0x90, 'E', 'X', 'F', 'A', 'T', ' ', ' ', ' '};
  uint8_t *boot = layout->scratch; /* zeros */

  memcpy(boot, jump_and_name, sizeof jump_and_name);
  spate_field_put64(boot + BOOT_PARTITION_OFFSET, layout->volume_lba);
  spate_field_put64(boot + BOOT_VOLUME_LENGTH, layout->config->blocks);
  spate_field_put32(boot + BOOT_FAT_OFFSET, layout->fat_offset);
  spate_field_put32(boot + BOOT_FAT_LENGTH, layout->fat_length);
  spate_field_put32(boot + BOOT_HEAP_OFFSET, layout->heap_offset);
  spate_field_put32(boot + BOOT_CLUSTER_COUNT, layout->cluster_count);
  spate_field_put32(boot + BOOT_ROOT_CLUSTER, layout->root);
  spate_field_put32(boot + BOOT_SERIAL, serial);
  spate_field_put16(boot + BOOT_REVISION, 0x0100);
  boot[BOOT_SECTOR_SHIFT] = (uint8_t)layout->block_shift;
  boot[BOOT_CLUSTER_SHIFT] = (uint8_t)(layout->cluster_shift - layout->block_shift);
  boot[BOOT_FATS] = 1;
  boot[BOOT_FATS + 1] = 0x80;                            /* DriveSelect: the first fixed disk */
  memset(boot + 120, 0xf4, BOOT_SECTOR_SIGNATURE - 120); /* boot code: halt */
  spate_field_put16(boot + BOOT_SECTOR_SIGNATURE, 0xaa55);
}

/* Boot sector, extended boot sectors, OEM parameters, reserved, checksum (specification, 3.1 to 3.4). */
static enum spate_error write_boot_region(const struct layout *layout, uint64_t lba, uint32_t serial) {
  uint32_t block_bytes = UINT32_C(1) << layout->block_shift;
  uint32_t sum = 0;

  for (uint32_t i = 0; i < BOOT_SECTORS_OF_REGION; i++) {
    clear_scratch(layout);
    if (i == 0) build_boot_sector(layout, serial);
    if (i >= 1 && i <= EXTENDED_BLOCKS) spate_field_put32(layout->scratch + block_bytes - 4u, UINT32_C(0xaa550000));
    for (uint32_t at = 0; i == BOOT_SECTORS_OF_REGION - 1u && at < block_bytes; at += 4u)
      spate_field_put32(layout->scratch + at, sum);
    sum = spate_exfat_boot_checksum(sum, layout->scratch, block_bytes, i == 0);
    enum spate_error error = put_scratch(layout, lba + i);
    if (error != SPATE_OK) return error;
  }
  return spate_block_flush(layout->config->block);
}

static enum spate_error write_all(struct layout *layout, const struct spate_exfat_format *format) {
  struct spate_block *device = layout->config->block;
  uint64_t lba = layout->config->first_lba;
  enum spate_error error = zero(layout, lba, 2u * BOOT_SECTORS_OF_REGION);

  if (error == SPATE_OK) error = spate_block_flush(device);
  if (error == SPATE_OK) error = write_fat(layout);
  if (error == SPATE_OK) error = write_bitmap(layout);
  if (error == SPATE_OK)
    error = spate_exfat_upcase_write(layout->config, lba_of(layout, layout->upcase), &layout->table);
  if (error == SPATE_OK) error = write_root(layout, format->label);
  if (error == SPATE_OK) error = spate_block_flush(device);
  if (error == SPATE_OK) error = write_boot_region(layout, lba + BOOT_SECTORS_OF_REGION, format->serial);
  return error == SPATE_OK ? write_boot_region(layout, lba, format->serial) : error;
}

enum spate_error spate_exfat_format(const struct spate_exfat_config *config, const struct spate_exfat_format *format) {
  struct layout layout = {.config = config,
                          .scratch = config->cache,
                          .volume_lba = format->media_lba + config->first_lba,
                          .block_shift = config->block->block_shift};
  uint8_t label[EXFAT_ENTRY_BYTES];
  enum spate_error error = spate_exfat_config_check(config);

  if (error == SPATE_OK) error = put_label(format->label, label); /* before anything is lost */
  if (error == SPATE_OK) error = plan(&layout, format->cluster_bytes);
  if (error == SPATE_OK) error = spate_block_claim(config->block, config, config->first_lba, config->blocks);
  if (error != SPATE_OK) return error;
  error = write_all(&layout, format);
  spate_block_release(config->block, config);
  return error;
}
