/* SPDX-License-Identifier: Apache-2.0 */
#include "pc.h"

#include "ram_block.h"

#include <spate/bytes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME        "FROM A PC.TXT"
#define ENTRIES     3u
#define ENTRY_BYTES 32u
#define SET_BYTES   (ENTRIES * ENTRY_BYTES)

static uint8_t content_at(uint32_t at) { return (uint8_t)(at * 7u + (at >> 8) + 1u); }

/* ---- the image ---- */

static const uint8_t *look(const struct pc *pc, uint64_t offset) { return pc->oracle->image + offset; }

/* Block by block, so that the medium can undo the change and update its hash. */
static void change(struct pc *pc, uint64_t offset, const void *data, uint32_t bytes) {
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

static uint64_t cluster_offset(const struct pc *pc, uint32_t cluster) {
  return pc->oracle->heap + (uint64_t)(cluster - 2) * pc->oracle->cluster_bytes;
}

static bool is_free(const struct pc *pc, uint32_t cluster) {
  return (*look(pc, pc->oracle->bitmap + (cluster - 2) / 8) >> ((cluster - 2) % 8) & 1) == 0;
}

static void mark(struct pc *pc, uint32_t cluster, bool used) {
  const uint64_t at = pc->oracle->bitmap + (cluster - 2) / 8;
  const uint8_t bit = (uint8_t)(1u << ((cluster - 2) % 8));
  const uint8_t byte = (uint8_t)(used ? *look(pc, at) | bit : *look(pc, at) & ~bit);
  change(pc, at, &byte, 1);
}

static uint32_t next_cluster(const struct pc *pc, uint32_t cluster) {
  return spate_get32(look(pc, pc->oracle->fat + 4ull * cluster));
}

static void link_to(struct pc *pc, uint32_t cluster, uint32_t next) {
  uint8_t entry[4];
  spate_put32(entry, next);
  change(pc, pc->oracle->fat + 4ull * cluster, entry, sizeof entry);
}

/* ---- entry sets ---- */

static uint16_t rotated(uint16_t sum, uint8_t byte) { return (uint16_t)(((sum & 1u) << 15) + (sum >> 1) + byte); }

/* The hash of its name (capitals and digits) and the checksum. */
static void seal(uint8_t *set, uint32_t entries) {
  uint16_t hash = 0;
  uint16_t sum = 0;
  for (uint32_t i = 0; i < set[35]; i++)
    hash = rotated(rotated(hash, set[64 + 32 * (i / 15) + 2 + 2 * (i % 15)]), 0);
  spate_put16(set + 36, hash);
  for (uint32_t i = 0; i < entries * ENTRY_BYTES; i++)
    if (i != 2 && i != 3) sum = rotated(sum, set[i]);
  spate_put16(set + 2, sum);
}

/* A gap for a set in the first cluster of the root directory; 0: none. */
static uint64_t find_slots(const struct pc *pc) {
  const uint64_t root = cluster_offset(pc, pc->oracle->root);
  uint32_t found = 0;
  for (uint32_t at = 0; at < pc->oracle->cluster_bytes; at += ENTRY_BYTES) {
    found = (*look(pc, root + at) & 0x80) == 0 ? found + 1 : 0;
    if (found == ENTRIES) return root + at - (ENTRIES - 1) * ENTRY_BYTES;
  }
  return 0;
}

/* Allocate its clusters: the first free ones, linked by the FAT. 0: not enough are free. */
static uint32_t allocate(struct pc *pc) {
  const uint32_t count = (PC_FILE_BYTES + pc->oracle->cluster_bytes - 1) / pc->oracle->cluster_bytes;
  uint32_t clusters[PC_FILE_BYTES / 512 + 1] = {0};
  uint32_t found = 0;
  for (uint32_t cluster = 2; found < count && cluster < pc->oracle->cluster_count + 2; cluster++)
    if (is_free(pc, cluster)) clusters[found++] = cluster;
  if (found < count) return 0;
  for (uint32_t i = 0; i < count; i++) {
    uint8_t data[PC_FILE_BYTES];
    const uint32_t from = i * pc->oracle->cluster_bytes;
    const uint32_t left = PC_FILE_BYTES - from;
    const uint32_t piece = left < pc->oracle->cluster_bytes ? left : pc->oracle->cluster_bytes;
    for (uint32_t at = 0; at < piece; at++)
      data[at] = content_at(from + at);
    mark(pc, clusters[i], true);
    link_to(pc, clusters[i], i + 1 < count ? clusters[i + 1] : UINT32_MAX);
    change(pc, cluster_offset(pc, clusters[i]), data, piece);
  }
  return clusters[0];
}

static void write_file(struct pc *pc, struct promise_by_pc *by_pc) {
  uint8_t set[SET_BYTES] = {0x85, ENTRIES - 1};
  const uint64_t slots = find_slots(pc);
  const uint32_t first = slots != 0 ? allocate(pc) : 0;
  if (first == 0) return;
  set[4] = 0x20;
  for (uint32_t time = 8; time < 20; time += 4)
    spate_put32(set + time, UINT32_C(0x00210000));
  set[32] = 0xc0;
  set[33] = 1;
  set[35] = sizeof NAME - 1;
  spate_put64(set + 40, PC_FILE_BYTES);
  spate_put32(set + 52, first);
  spate_put64(set + 56, PC_FILE_BYTES);
  set[64] = 0xc1;
  for (uint32_t i = 0; i < sizeof NAME - 1; i++)
    set[66 + 2 * i] = (uint8_t)NAME[i];
  seal(set, ENTRIES);
  change(pc, slots, set, sizeof set);
  (void)snprintf(by_pc->written, sizeof by_pc->written, "%s", NAME);
}

/* A file in the root directory whose set is contiguous; NULL: none. */
static const struct oracle_file *choose(const struct pc *pc, uint64_t *random) {
  const struct oracle *oracle = pc->oracle;
  const uint64_t root = cluster_offset(pc, oracle->root);
  const uint32_t from = oracle->file_count > 0 ? (uint32_t)(ram_random(random) % oracle->file_count) : 0;
  for (uint32_t i = 0; i < oracle->file_count; i++) {
    const struct oracle_file *file = &oracle->files[(from + i) % oracle->file_count];
    const bool plain = strchr(file->path, '/') == NULL && file->path[0] != '.' && !file->directory;
    const uint64_t end = file->set_offset + file->entries * ENTRY_BYTES;
    if (plain && file->set_offset >= root && end <= root + oracle->cluster_bytes) return file;
  }
  return NULL;
}

static void delete_file(struct pc *pc, const struct oracle_file *file, struct promise_by_pc *by_pc) {
  const uint64_t cluster_bytes = pc->oracle->cluster_bytes;
  uint32_t cluster = file->first_cluster;
  for (uint32_t i = 0; i < file->entries; i++) {
    const uint64_t at = file->set_offset + i * ENTRY_BYTES;
    const uint8_t unused = *look(pc, at) & 0x7f;
    change(pc, at, &unused, 1);
  }
  for (uint64_t at = 0; at < file->bytes; at += cluster_bytes) {
    mark(pc, cluster, false);
    cluster = file->contiguous ? cluster + 1 : next_cluster(pc, cluster);
  }
  (void)snprintf(by_pc->from, sizeof by_pc->from, "%s", file->path);
}

/* In place, to a name of capitals with the same length. */
static void rename_file(struct pc *pc, const struct oracle_file *file, struct promise_by_pc *by_pc) {
  uint8_t set[19 * ENTRY_BYTES];
  memcpy(set, look(pc, file->set_offset), file->entries * ENTRY_BYTES);
  for (uint32_t i = 0; i < set[35]; i++) {
    uint8_t *unit = set + 64 + 32 * (i / 15) + 2 + 2 * (i % 15);
    unit[0] = (uint8_t)('P' + i % 8);
    unit[1] = 0;
    by_pc->to[i] = (char)unit[0];
  }
  seal(set, file->entries);
  change(pc, file->set_offset, set, file->entries * ENTRY_BYTES);
  (void)snprintf(by_pc->from, sizeof by_pc->from, "%s", file->path);
}

void pc_change(struct pc *pc, uint64_t random, struct promise_by_pc *by_pc) {
  const struct oracle_file *file = choose(pc, &random);
  *by_pc = (struct promise_by_pc){0};
  const uint64_t what = ram_random(&random) % 4;
  if (file != NULL && what == 0) rename_file(pc, file, by_pc);
  if (file != NULL && what >= 2) delete_file(pc, file, by_pc);
  if (what == 1 || what == 2) write_file(pc, by_pc);
}

bool pc_file_whole(const struct oracle *oracle, const struct promise_by_pc *by_pc) {
  const struct oracle_file *file = oracle_find(oracle, by_pc->written);
  if (file == NULL || file->bytes != PC_FILE_BYTES) return false;
  for (uint32_t at = 0; at < PC_FILE_BYTES; at++)
    if (*oracle_at(oracle, file, at) != content_at(at)) return false;
  return true;
}
