/* SPDX-License-Identifier: Apache-2.0 */
/* A volume's label, size and free space. */
#include "internal.h"

static enum spate_error read_label(struct spate_exfat *volume, char *label) {

  label[0] = '\0';
  for (uint32_t at = 0; at < volume->root.bytes; at += EXFAT_ENTRY_BYTES) {
    _Alignas(8) uint8_t raw[EXFAT_ENTRY_BYTES];
    uint16_t units[SPATE_EXFAT_LABEL_UNITS_MAX];
    enum spate_error error = spate_exfat_entry_read(volume, &volume->root, at, raw);
    if (error != SPATE_OK || raw[0] == EXFAT_TYPE_END) return error;
    if (raw[0] != EXFAT_TYPE_LABEL || raw[1] > SPATE_EXFAT_LABEL_UNITS_MAX) continue;
    for (uint32_t i = 0; i < SPATE_EXFAT_LABEL_UNITS_MAX; i++)
      units[i] = spate_field_get16(raw + 2u + 2u * i);
    spate_exfat_utf8(units, raw[1], label);
    return SPATE_OK;
  }
  return SPATE_OK;
}

enum spate_error spate_exfat_info(struct spate_exfat *volume, struct spate_exfat_info *info) {
  struct spate_exfat_free found;
  enum spate_error error = spate_exfat_begin(volume);

  if (error != SPATE_OK) return error;
  error = spate_exfat_bitmap_scan(volume, UINT32_MAX, &found);
  if (error == SPATE_OK) error = read_label(volume, info->label);
  spate_exfat_end(volume);
  if (error != SPATE_OK) return error;
  info->bytes = (uint64_t)volume->cluster_count << volume->cluster_shift;
  info->free_bytes = found.clusters << volume->cluster_shift;
  info->longest_free_bytes = (uint64_t)found.run_clusters << volume->cluster_shift;
  info->cluster_bytes = spate_exfat_cluster_bytes(volume);
  info->serial = volume->serial;
  return SPATE_OK;
}

enum spate_error spate_exfat_free_run(struct spate_exfat *volume, uint64_t from_lba, uint64_t *lba, uint64_t *blocks) {
  const uint64_t heap_lba = spate_exfat_cluster_lba(volume, EXFAT_FIRST_CLUSTER);
  const uint64_t skipped = from_lba <= heap_lba ? 0 : ((from_lba - heap_lba - 1u) >> volume->cluster_blocks_shift) + 1u;
  uint32_t first = 0, clusters = 0;
  enum spate_error error = spate_exfat_begin(volume);

  if (error != SPATE_OK) return error;
  if (skipped < volume->cluster_count) error = spate_exfat_bitmap_next(volume, (uint32_t)skipped, &first, &clusters);
  spate_exfat_end(volume);
  *lba = clusters == 0 ? 0 : spate_exfat_cluster_lba(volume, first);
  *blocks = spate_exfat_cluster_blocks(volume, clusters);
  return error;
}

enum spate_error spate_exfat_longest_free(struct spate_exfat *volume, uint32_t shares, uint64_t *bytes) {
  struct spate_exfat_free found;
  enum spate_error error = spate_exfat_begin(volume);

  if (error != SPATE_OK) return error;
  error = spate_exfat_bitmap_scan(volume, UINT32_MAX, &found);
  spate_exfat_end(volume);
  *bytes = (uint64_t)(found.run_clusters / shares) << volume->cluster_shift;
  return error;
}
