/* SPDX-License-Identifier: Apache-2.0 */
#include "pc_internal.h"

#include <spate/bytes.h>
#include <string.h>

#define TYPE_BITMAP 0x81u
#define TYPE_UPCASE 0x82u
#define TYPE_LABEL  0x83u

/* What a format writes again: the bitmap (of each FAT, where there are two) and the up-case table stay where they are.
 */
struct kept {
  uint32_t clusters[64]; /* in the order of their chains */
  bool last[64];         /* a chain ends here */
  uint32_t cluster_count;
  uint8_t entries[4 * PC_ENTRY_BYTES];
  uint32_t entry_count;
};

/* False: there is no room. A chain of a sound volume ends. */
static bool keep_chain(struct kept *kept, const struct pc *pc, uint32_t cluster) {
  while (kept->cluster_count < sizeof kept->last) {
    const uint32_t next = pc_next(pc, cluster);
    kept->last[kept->cluster_count] = next == UINT32_MAX;
    kept->clusters[kept->cluster_count++] = cluster;
    if (next == UINT32_MAX) return true;
    cluster = next;
  }
  return false;
}

/* The system entries of the root directory's first cluster. False: they are not all there. */
static bool keep_system(struct kept *kept, const struct pc *pc) {
  const uint8_t *root = pc_look(pc, pc_cluster_offset(pc, pc->oracle->root));
  bool bitmap = false;
  bool upcase = false;
  for (uint32_t at = 0; at < pc->oracle->cluster_bytes && root[at] != 0; at += PC_ENTRY_BYTES) {
    const uint8_t *entry = root + at;
    if (entry[0] != TYPE_BITMAP && entry[0] != TYPE_UPCASE) continue;
    if (kept->entry_count == 4 || !keep_chain(kept, pc, spate_get32(entry + 20))) return false;
    memcpy(kept->entries + kept->entry_count++ * PC_ENTRY_BYTES, entry, PC_ENTRY_BYTES);
    bitmap = bitmap || (entry[0] == TYPE_BITMAP && (entry[1] & 1) == pc->oracle->active_fat);
    upcase = upcase || entry[0] == TYPE_UPCASE;
  }
  return bitmap && upcase;
}

static void put_zeros(struct pc *pc, uint64_t offset, uint64_t bytes) {
  static const uint8_t zeros[4096];
  for (uint64_t at = 0; at < bytes; at += sizeof zeros)
    pc_put(pc, offset + at, zeros, (uint32_t)(bytes - at < sizeof zeros ? bytes - at : sizeof zeros));
}

static void allocate(struct pc *pc, uint32_t cluster, uint32_t next) {
  pc_mark(pc, cluster, true);
  pc_link(pc, cluster, next);
}

void pc_format(struct pc *pc, struct promise_by_pc *by_pc) {
  const struct oracle *oracle = pc->oracle;
  const uint64_t root = pc_cluster_offset(pc, oracle->root);
  const uint8_t label[PC_ENTRY_BYTES] = {TYPE_LABEL};
  struct kept kept = {0};
  if (!keep_system(&kept, pc)) return;
  put_zeros(pc, oracle->bitmap, (oracle->cluster_count + 7) / 8);
  put_zeros(pc, oracle->fat + 8, 4ull * oracle->cluster_count);
  put_zeros(pc, root, oracle->cluster_bytes);
  pc_put(pc, root, label, PC_ENTRY_BYTES);
  pc_put(pc, root + PC_ENTRY_BYTES, kept.entries, kept.entry_count * PC_ENTRY_BYTES);
  for (uint32_t i = 0; i < kept.cluster_count; i++)
    allocate(pc, kept.clusters[i], kept.last[i] ? UINT32_MAX : kept.clusters[i + 1]);
  allocate(pc, oracle->root, UINT32_MAX);
  by_pc->formats = 1;
}
