/* SPDX-License-Identifier: Apache-2.0 */
#include "pc_internal.h"

#include <spate/bytes.h>
#include <string.h>

#define TYPE_LABEL  0x83u
#define TYPE_BITMAP 0x81u
#define TYPE_UPCASE 0x82u

/* An entry of the root directory's first cluster; NULL: none. */
static const uint8_t *find_entry(const struct pc *pc, uint8_t type) {
  const uint8_t *root = pc_look(pc, pc_cluster_offset(pc, pc->oracle->root));
  for (uint32_t at = 0; at < pc->oracle->cluster_bytes; at += PC_ENTRY_BYTES)
    if (root[at] == type) return root + at;
  return NULL;
}

static void put_zeros(struct pc *pc, uint64_t offset, uint64_t bytes) {
  static const uint8_t zeros[4096];
  for (uint64_t at = 0; at < bytes; at += sizeof zeros)
    pc_put(pc, offset + at, zeros, (uint32_t)(bytes - at < sizeof zeros ? bytes - at : sizeof zeros));
}

/* A chain of clusters in a row. */
static void allocate(struct pc *pc, uint32_t first, uint64_t bytes) {
  const uint32_t count = (uint32_t)((bytes + pc->oracle->cluster_bytes - 1) / pc->oracle->cluster_bytes);
  for (uint32_t i = 0; i < count; i++) {
    pc_mark(pc, first + i, true);
    pc_link(pc, first + i, i + 1 < count ? first + i + 1 : UINT32_MAX);
  }
}

void pc_format(struct pc *pc, struct promise_by_pc *by_pc) {
  const struct oracle *oracle = pc->oracle;
  const uint64_t bitmap_bytes = (oracle->cluster_count + 7) / 8;
  const uint8_t *bitmap = find_entry(pc, TYPE_BITMAP);
  const uint8_t *upcase = find_entry(pc, TYPE_UPCASE);
  uint8_t entries[3 * PC_ENTRY_BYTES] = {TYPE_LABEL};
  if (bitmap == NULL || upcase == NULL) return;
  memcpy(entries + PC_ENTRY_BYTES, bitmap, PC_ENTRY_BYTES);
  memcpy(entries + 2 * PC_ENTRY_BYTES, upcase, PC_ENTRY_BYTES);
  put_zeros(pc, oracle->bitmap, bitmap_bytes);
  put_zeros(pc, oracle->fat + 8, 4ull * oracle->cluster_count);
  put_zeros(pc, pc_cluster_offset(pc, oracle->root), oracle->cluster_bytes);
  pc_put(pc, pc_cluster_offset(pc, oracle->root), entries, sizeof entries);
  allocate(pc, spate_get32(entries + PC_ENTRY_BYTES + 20), bitmap_bytes);
  allocate(pc, spate_get32(entries + 2 * PC_ENTRY_BYTES + 20), spate_get64(entries + 2 * PC_ENTRY_BYTES + 24));
  allocate(pc, oracle->root, 1);
  by_pc->formats = 1;
}
