/* SPDX-License-Identifier: Apache-2.0 */
#include "pc_internal.h"

#include "ram_block.h"

#include <spate/bytes.h>
#include <stdio.h>
#include <string.h>

#define NAME               "FROM A PC.TXT"
#define ENTRIES            3u
#define SMALL_BYTES        3000u
#define LARGE_CLUSTERS_MAX 6u

enum filling { CONTENT_FF, CONTENT_RANDOM, CONTENT_NONE, CONTENTS };

static uint8_t content_at(uint32_t at) { return (uint8_t)(at * 7u + (at >> 8) + 1u); }

/* What a file is made of. */
struct file {
  uint32_t clusters[LARGE_CLUSTERS_MAX];
  uint32_t count;
  uint64_t bytes, valid_bytes;
  bool contiguous;
};

static void put_set(struct pc *pc, uint64_t slots, const struct file *file, struct promise_by_pc *by_pc) {
  uint8_t set[ENTRIES * PC_ENTRY_BYTES] = {0x85, ENTRIES - 1};
  set[4] = 0x20;
  for (uint32_t time = 8; time < 20; time += 4)
    spate_put32(set + time, UINT32_C(0x00210000));
  set[32] = 0xc0;
  set[33] = file->contiguous ? 3 : 1;
  set[35] = sizeof NAME - 1;
  spate_put64(set + 40, file->valid_bytes);
  spate_put32(set + 52, file->clusters[0]);
  spate_put64(set + 56, file->bytes);
  set[64] = 0xc1;
  for (uint32_t i = 0; i < sizeof NAME - 1; i++)
    set[66 + 2 * i] = (uint8_t)NAME[i];
  pc_seal(set, ENTRIES);
  pc_put(pc, slots, set, sizeof set);
  (void)snprintf(by_pc->written, sizeof by_pc->written, "%s", NAME);
}

static void allocate(struct pc *pc, const struct file *file) {
  for (uint32_t i = 0; i < file->count; i++) {
    pc_mark(pc, file->clusters[i], true);
    if (!file->contiguous) pc_link(pc, file->clusters[i], i + 1 < file->count ? file->clusters[i + 1] : UINT32_MAX);
  }
}

/* Add the clusters from `from` on that are free. */
static void take_free(const struct pc *pc, struct file *file, uint32_t from, uint32_t count) {
  for (uint32_t cluster = from; file->count < count && cluster < pc->oracle->cluster_count + 2; cluster++) {
    const bool taken = file->count > 0 && cluster == file->clusters[0];
    if (pc_is_free(pc, cluster) && !taken) file->clusters[file->count++] = cluster;
  }
}

void pc_write_small(struct pc *pc, struct promise_by_pc *by_pc) {
  const uint32_t cluster_bytes = pc->oracle->cluster_bytes;
  const uint32_t count = (SMALL_BYTES + cluster_bytes - 1) / cluster_bytes;
  const uint64_t slots = pc_find_slots(pc, pc->oracle->root, ENTRIES);
  struct file file = {.bytes = SMALL_BYTES, .valid_bytes = SMALL_BYTES};
  take_free(pc, &file, 2, count);
  if (slots == 0 || file.count < count) return;
  allocate(pc, &file);
  for (uint32_t at = 0; at < SMALL_BYTES; at += cluster_bytes) {
    uint8_t data[SMALL_BYTES];
    const uint32_t piece = SMALL_BYTES - at < cluster_bytes ? SMALL_BYTES - at : cluster_bytes;
    for (uint32_t i = 0; i < piece; i++)
      data[i] = content_at(at + i);
    pc_put(pc, pc_cluster_offset(pc, file.clusters[at / cluster_bytes]), data, piece);
  }
  put_set(pc, slots, &file, by_pc);
}

static void fill_cluster(struct pc *pc, uint32_t cluster, enum filling content, uint64_t *random) {
  uint8_t data[4096];
  for (uint32_t at = 0; at < pc->oracle->cluster_bytes; at += sizeof data) {
    const uint32_t left = pc->oracle->cluster_bytes - at;
    const uint32_t piece = left < sizeof data ? left : sizeof data;
    memset(data, 0xff, sizeof data);
    for (uint32_t i = 0; i < piece && content == CONTENT_RANDOM; i += 8)
      spate_put64(data + i, ram_random(random));
    pc_put(pc, pc_cluster_offset(pc, cluster) + at, data, piece);
  }
}

void pc_write_large(struct pc *pc, uint64_t *random, uint32_t from, struct promise_by_pc *by_pc) {
  const enum filling content = (enum filling)(ram_random(random) % CONTENTS);
  const uint64_t slots = pc_find_slots(pc, pc->oracle->root, ENTRIES);
  struct file file = {.contiguous = (ram_random(random) & 1) != 0};
  if (slots == 0) return;
  if (from != 0) take_free(pc, &file, from, 1);
  if (file.count == 0) take_free(pc, &file, 2, 1);
  if (file.count == 0) return;
  const uint32_t end = pc->oracle->cluster_count + 2;
  uint32_t next = file.clusters[0] + 1;
  while (file.contiguous && file.count < LARGE_CLUSTERS_MAX && next < end && pc_is_free(pc, next))
    file.clusters[file.count++] = next++;
  if (!file.contiguous) take_free(pc, &file, 2, LARGE_CLUSTERS_MAX);
  file.bytes = (uint64_t)file.count * pc->oracle->cluster_bytes - ram_random(random) % 100;
  file.valid_bytes = content == CONTENT_NONE ? 0 : file.bytes;
  allocate(pc, &file);
  for (uint32_t i = 0; i < file.count && content != CONTENT_NONE; i++)
    fill_cluster(pc, file.clusters[i], content, random);
  put_set(pc, slots, &file, by_pc);
}
