/* SPDX-License-Identifier: Apache-2.0 */
#include "pc_internal.h"

#include <spate/bytes.h>
#include <string.h>

const uint8_t *pc_look(const struct pc *pc, uint64_t offset) { return pc->oracle->image + offset; }

/* Block by block, so that the media can undo the change and update its hash. */
void pc_put(struct pc *pc, uint64_t offset, const void *data, uint32_t bytes) {
  struct medium *medium = pc->medium;
  uint8_t block[4096];
  const uint8_t *from = data;
  offset += pc->volume_offset_bytes;
  while (bytes > 0) {
    const uint64_t number = offset / medium->block_bytes;
    const uint32_t at = (uint32_t)(offset % medium->block_bytes);
    const uint32_t piece = bytes < medium->block_bytes - at ? bytes : medium->block_bytes - at;
    memcpy(block, medium_at(medium, number), medium->block_bytes);
    memcpy(block + at, from, piece);
    medium_keep(medium, number, 1);
    medium_write(medium, number, block, 0);
    offset += piece;
    from += piece;
    bytes -= piece;
  }
}

uint64_t pc_cluster_offset(const struct pc *pc, uint32_t cluster) {
  return pc->oracle->heap + (uint64_t)(cluster - 2) * pc->oracle->cluster_bytes;
}

bool pc_is_free(const struct pc *pc, uint32_t cluster) {
  return (*pc_look(pc, pc->oracle->bitmap + (cluster - 2) / 8) >> ((cluster - 2) % 8) & 1) == 0;
}

void pc_mark(struct pc *pc, uint32_t cluster, bool used) {
  const uint64_t at = pc->oracle->bitmap + (cluster - 2) / 8;
  const uint8_t bit = (uint8_t)(1u << ((cluster - 2) % 8));
  const uint8_t byte = (uint8_t)(used ? *pc_look(pc, at) | bit : *pc_look(pc, at) & ~bit);
  pc_put(pc, at, &byte, 1);
}

uint32_t pc_next(const struct pc *pc, uint32_t cluster) {
  return spate_get32(pc_look(pc, pc->oracle->fat + 4ull * cluster));
}

void pc_link(struct pc *pc, uint32_t cluster, uint32_t next) {
  uint8_t entry[4];
  spate_put32(entry, next);
  pc_put(pc, pc->oracle->fat + 4ull * cluster, entry, sizeof entry);
}

/* ---- entry sets ---- */

uint64_t pc_find_slots(const struct pc *pc, uint32_t directory, uint32_t entries) {
  const uint64_t start = pc_cluster_offset(pc, directory);
  uint32_t found = 0;
  for (uint32_t at = 0; at < pc->oracle->cluster_bytes; at += PC_ENTRY_BYTES) {
    found = (*pc_look(pc, start + at) & 0x80) == 0 ? found + 1 : 0;
    if (found == entries) return start + at - (entries - 1) * PC_ENTRY_BYTES;
  }
  return 0;
}

bool pc_is_plain(const struct pc *pc, const struct oracle_file *file) {
  const uint64_t first = file->set_offset - pc->oracle->heap;
  const uint64_t last = first + file->entries * PC_ENTRY_BYTES - 1;
  return first / pc->oracle->cluster_bytes == last / pc->oracle->cluster_bytes;
}

static uint16_t rotated(uint16_t sum, uint8_t byte) { return (uint16_t)(((sum & 1u) << 15) + (sum >> 1) + byte); }

void pc_checksum(uint8_t *set, uint32_t entries) {
  uint16_t sum = 0;
  for (uint32_t i = 0; i < entries * PC_ENTRY_BYTES; i++)
    if (i != 2 && i != 3) sum = rotated(sum, set[i]);
  spate_put16(set + 2, sum);
}

void pc_seal(uint8_t *set, uint32_t entries) {
  uint16_t hash = 0;
  for (uint32_t i = 0; i < set[35]; i++)
    hash = rotated(rotated(hash, set[64 + 32 * (i / 15) + 2 + 2 * (i % 15)]), 0);
  spate_put16(set + 36, hash);
  pc_checksum(set, entries);
}

void pc_name(uint8_t *set, uint32_t entries, char *name) {
  for (uint32_t i = 0; i < set[35]; i++) {
    uint8_t *unit = set + 64 + 32 * (i / 15) + 2 + 2 * (i % 15);
    unit[0] = (uint8_t)('P' + i % 8);
    unit[1] = 0;
    name[i] = (char)unit[0];
  }
  name[set[35]] = '\0';
  pc_seal(set, entries);
}

void pc_unuse(struct pc *pc, const struct oracle_file *file) {
  for (uint32_t i = 0; i < file->entries; i++) {
    const uint64_t at = file->set_offset + i * PC_ENTRY_BYTES;
    const uint8_t unused = *pc_look(pc, at) & 0x7f;
    pc_put(pc, at, &unused, 1);
  }
}

void pc_free(struct pc *pc, const struct oracle_file *file) {
  uint32_t cluster = file->first_cluster;
  for (uint64_t at = 0; at < file->bytes; at += pc->oracle->cluster_bytes) {
    pc_mark(pc, cluster, false);
    cluster = file->contiguous ? cluster + 1 : pc_next(pc, cluster);
  }
}
