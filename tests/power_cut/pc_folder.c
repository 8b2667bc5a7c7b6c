/* SPDX-License-Identifier: Apache-2.0 */
#include "pc_internal.h"

#include "ram_block.h"

#include <spate/bytes.h>
#include <stdio.h>
#include <string.h>

/* Is it that path, or below it? */
static bool is_in(const char *path, const char *folder) {
  const size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

/* A directory whose set can be changed; NULL: none. */
static const struct oracle_file *choose_folder(const struct pc *pc, uint64_t *random) {
  const struct oracle *oracle = pc->oracle;
  const uint32_t from = oracle->file_count > 0 ? (uint32_t)(ram_random(random) % oracle->file_count) : 0;
  for (uint32_t i = 0; i < oracle->file_count; i++) {
    const struct oracle_file *file = &oracle->files[(from + i) % oracle->file_count];
    if (file->directory && file->bytes > 0 && pc_is_plain(pc, file)) return file;
  }
  return NULL;
}

/* `marks`: the entries inside are marked as unused, too. */
static void delete_folder(struct pc *pc, const struct oracle_file *folder, bool marks, struct promise_by_pc *by_pc) {
  for (uint32_t i = 0; i < pc->oracle->file_count; i++) {
    const struct oracle_file *file = &pc->oracle->files[i];
    if (is_in(file->path, folder->path)) pc_free(pc, file);
  }
  for (uint32_t i = 0; i < pc->oracle->file_count; i++) {
    const struct oracle_file *file = &pc->oracle->files[i];
    if (file == folder || (marks && is_in(file->path, folder->path) && pc_is_plain(pc, file))) pc_unuse(pc, file);
  }
  (void)snprintf(by_pc->from, sizeof by_pc->from, "%s", folder->path);
}

/* Into the directory `to`; NULL: the root. */
static void move_folder(struct pc *pc, const struct oracle_file *folder, const struct oracle_file *to,
                        struct promise_by_pc *by_pc) {
  uint8_t set[19 * PC_ENTRY_BYTES];
  char name[256];
  const uint64_t slots = pc_find_slots(pc, to != NULL ? to->first_cluster : pc->oracle->root, folder->entries);
  if (slots == 0) return;
  memcpy(set, pc_look(pc, folder->set_offset), folder->entries * PC_ENTRY_BYTES);
  pc_name(set, folder->entries, name);
  pc_unuse(pc, folder);
  pc_put(pc, slots, set, folder->entries * PC_ENTRY_BYTES);
  (void)snprintf(by_pc->from, sizeof by_pc->from, "%s", folder->path);
  const int room = (int)(sizeof by_pc->to - sizeof "/" - sizeof name);
  (void)snprintf(by_pc->to, sizeof by_pc->to, "%.*s%s%s", room, to != NULL ? to->path : "", to != NULL ? "/" : "",
                 name);
}

/* As a program does that defragments. Returns the cluster that the directory had. */
static uint32_t replace_first_cluster(struct pc *pc, const struct oracle_file *folder) {
  const uint32_t count = (uint32_t)((folder->bytes + pc->oracle->cluster_bytes - 1) / pc->oracle->cluster_bytes);
  uint8_t set[19 * PC_ENTRY_BYTES];
  uint8_t data[4096];
  uint32_t fresh = 2;
  while (fresh < pc->oracle->cluster_count + 2 && !pc_is_free(pc, fresh))
    fresh++;
  if (fresh == pc->oracle->cluster_count + 2 || pc->oracle->cluster_bytes > sizeof data) return 0;
  memcpy(data, pc_look(pc, pc_cluster_offset(pc, folder->first_cluster)), pc->oracle->cluster_bytes);
  pc_put(pc, pc_cluster_offset(pc, fresh), data, pc->oracle->cluster_bytes);
  pc_mark(pc, fresh, true);
  const uint32_t second = folder->contiguous ? folder->first_cluster + 1 : pc_next(pc, folder->first_cluster);
  pc_link(pc, fresh, count > 1 ? second : UINT32_MAX);
  for (uint32_t i = 1; i < count && folder->contiguous; i++)
    pc_link(pc, folder->first_cluster + i, i + 1 < count ? folder->first_cluster + i + 1 : UINT32_MAX);
  memcpy(set, pc_look(pc, folder->set_offset), folder->entries * PC_ENTRY_BYTES);
  spate_put32(set + 52, fresh);
  set[33] &= (uint8_t)~2u;
  pc_checksum(set, folder->entries);
  pc_put(pc, folder->set_offset, set, folder->entries * PC_ENTRY_BYTES);
  pc_mark(pc, folder->first_cluster, false);
  return folder->first_cluster;
}

uint32_t pc_change_folder(struct pc *pc, uint64_t *random, struct promise_by_pc *by_pc) {
  const struct oracle_file *folder = choose_folder(pc, random);
  if (folder == NULL) return 0;
  switch (ram_random(random) % 4) {
  case 0:
  case 1: delete_folder(pc, folder, (ram_random(random) & 1) != 0, by_pc); return folder->first_cluster;
  case 2: {
    const struct oracle_file *to = choose_folder(pc, random);
    if (is_in(to->path, folder->path)) to = NULL;
    move_folder(pc, folder, to, by_pc);
    return 0;
  }
  default: return pc->sound ? replace_first_cluster(pc, folder) : 0;
  }
}
