/* SPDX-License-Identifier: Apache-2.0 */
#include "pc_internal.h"

#include "ram_block.h"

#include <stdio.h>
#include <string.h>

#define BOOT_FLAGS 106u
#define BOOT_DIRTY 2u

/* ---- files of the root directory ---- */

/* A file in the root directory's first cluster; NULL: none. */
static const struct oracle_file *choose(const struct pc *pc, uint64_t *random) {
  const struct oracle *oracle = pc->oracle;
  const uint64_t root = pc_cluster_offset(pc, oracle->root);
  const uint32_t from = oracle->file_count > 0 ? (uint32_t)(ram_random(random) % oracle->file_count) : 0;
  for (uint32_t i = 0; i < oracle->file_count; i++) {
    const struct oracle_file *file = &oracle->files[(from + i) % oracle->file_count];
    const bool plain = strchr(file->path, '/') == NULL && file->path[0] != '.' && !file->directory;
    const uint64_t end = file->set_offset + file->entries * PC_ENTRY_BYTES;
    if (plain && file->set_offset >= root && end <= root + oracle->cluster_bytes) return file;
  }
  return NULL;
}

static void delete_file(struct pc *pc, const struct oracle_file *file, struct promise_by_pc *by_pc) {
  pc_unuse(pc, file);
  pc_free(pc, file);
  (void)snprintf(by_pc->from, sizeof by_pc->from, "%s", file->path);
}

static void rename_file(struct pc *pc, const struct oracle_file *file, struct promise_by_pc *by_pc) {
  uint8_t set[19 * PC_ENTRY_BYTES];
  memcpy(set, pc_look(pc, file->set_offset), file->entries * PC_ENTRY_BYTES);
  pc_name(set, file->entries, by_pc->to);
  pc_put(pc, file->set_offset, set, file->entries * PC_ENTRY_BYTES);
  (void)snprintf(by_pc->from, sizeof by_pc->from, "%s", file->path);
}

static void change_files(struct pc *pc, uint64_t *random, struct promise_by_pc *by_pc) {
  const struct oracle_file *file = choose(pc, random);
  const uint64_t what = ram_random(random) % 4;
  if (file != NULL && what == 0) rename_file(pc, file, by_pc);
  if (file != NULL && what >= 2) delete_file(pc, file, by_pc);
  if (what == 1 || what == 2) pc_write_small(pc, by_pc);
}

/* ---- what a checker does ---- */

/* Free clusters without an owner. Returns one of them; 0: there were none. */
static uint32_t free_ownerless(struct pc *pc, uint64_t *random) {
  const struct oracle *oracle = pc->oracle;
  uint32_t count = 0;
  uint32_t chosen = 0;
  for (uint32_t cluster = 2; cluster < oracle->cluster_count + 2; cluster++) {
    if (oracle->owners[cluster - 2] > 0 || pc_is_free(pc, cluster)) continue;
    pc_mark(pc, cluster, false);
    if (ram_random(random) % ++count == 0) chosen = cluster;
  }
  return chosen;
}

static void mark_clean(struct pc *pc, struct promise_by_pc *by_pc) {
  const uint8_t flags = *pc_look(pc, BOOT_FLAGS) & (uint8_t)~BOOT_DIRTY;
  pc_put(pc, BOOT_FLAGS, &flags, 1);
  by_pc->marks_clean = 1;
}

/* ---- */

void pc_change(struct pc *pc, uint64_t random, struct promise_by_pc *by_pc) {
  const uint64_t what = ram_random(&random) % 9;
  *by_pc = (struct promise_by_pc){0};
  if (what >= 3) {
    uint32_t from = 0;
    if (what < 7) from = pc_change_folder(pc, &random, by_pc);
    if (what == 7 && pc->sound) from = free_ownerless(pc, &random);
    if (what == 8) pc_format(pc, by_pc);
    if (from != 0 || (ram_random(&random) & 1) != 0) pc_write_large(pc, &random, from, by_pc);
  } else if (pc->sound) {
    change_files(pc, &random, by_pc);
  }
  if (by_pc->formats != 0 || (ram_random(&random) & 1) != 0) mark_clean(pc, by_pc);
}
