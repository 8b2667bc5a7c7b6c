/* SPDX-License-Identifier: Apache-2.0 */
#include "before.h"

#include <stdlib.h>
#include <string.h>

#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

static uint64_t hash_piece(uint64_t hash, const uint8_t *data, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    memcpy(&word, data + at, bytes - at < 8 ? bytes - at : 8);
    hash = (hash ^ word) * FACTOR;
    hash ^= hash >> 29;
  }
  return hash;
}

/* Of the file's first bytes, cluster by cluster. */
static uint64_t hash_of(const struct oracle *oracle, const struct oracle_file *file, uint64_t bytes) {
  uint64_t hash = 0;
  for (uint64_t at = 0; at < bytes; at += oracle->cluster_bytes) {
    uint64_t piece = bytes - at < oracle->cluster_bytes ? bytes - at : oracle->cluster_bytes;
    hash = hash_piece(hash, oracle_at(oracle, file, at), piece);
  }
  return hash;
}

void before_free(struct before *before) {
  free(before->files);
  *before = (struct before){0};
}

void before_note(struct before *before, const struct oracle *oracle) {
  if (oracle->file_count > before->capacity) {
    before->capacity = oracle->file_count * 2;
    struct before_file *larger = realloc(before->files, before->capacity * sizeof *before->files);
    if (larger == NULL) abort();
    before->files = larger;
  }
  before->count = 0;
  for (uint32_t i = 0; i < oracle->file_count; i++) {
    const struct oracle_file *file = &oracle->files[i];
    if (file->directory || strcmp(file->path, ".spate") == 0) continue;
    struct before_file *noted = &before->files[before->count++];
    memcpy(noted->path, file->path, sizeof noted->path);
    noted->bytes = file->bytes;
    noted->hash = hash_of(oracle, file, file->bytes);
  }
}

const char *before_changed(const struct before *before, const struct oracle *oracle) {
  for (uint32_t i = 0; i < before->count; i++) {
    const struct before_file *noted = &before->files[i];
    const struct oracle_file *file = oracle_find(oracle, noted->path);
    if (file == NULL) continue;
    if (file->bytes < noted->bytes || hash_of(oracle, file, noted->bytes) != noted->hash) return noted->path;
  }
  return NULL;
}
