/* SPDX-License-Identifier: Apache-2.0 */
#include "keep.h"

#include "core/crc32.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096u

static FILE *create(const char *folder, unsigned volume, uint64_t state, bool recovered, const char *kind) {
  char path[4096];
  (void)snprintf(path, sizeof path, "%s/%u-%llu-%s.%s", folder, volume, (unsigned long long)state,
                 recovered ? "after" : "before", kind);
  FILE *file = fopen(path, "w");
  if (file != NULL) return file;
  perror(path);
  abort();
}

static void finish(FILE *file) {
  if (fclose(file) == 0) return;
  perror("a kept state");
  abort();
}

static uint32_t crc_of(const struct oracle *oracle, const struct oracle_file *file) {
  uint32_t crc = 0;
  for (uint64_t at = 0; at < file->bytes; at += oracle->block_bytes) {
    uint64_t piece = file->bytes - at < oracle->block_bytes ? file->bytes - at : oracle->block_bytes;
    crc = spate_crc32(crc, oracle_at(oracle, file, at), piece);
  }
  return crc;
}

void keep_state(const char *folder, unsigned volume, uint64_t state, bool recovered, const struct oracle *oracle,
                uint64_t bytes) {
  static const uint8_t zeros[PAGE];
  FILE *image = create(folder, volume, state, recovered, "img");
  if (ftruncate(fileno(image), (off_t)bytes) != 0) abort();
  for (uint64_t at = 0; at < bytes; at += PAGE) {
    uint64_t piece = bytes - at < PAGE ? bytes - at : PAGE;
    if (memcmp(oracle->image + at, zeros, piece) == 0) continue;
    if (pwrite(fileno(image), oracle->image + at, piece, (off_t)at) != (ssize_t)piece) abort();
  }
  finish(image);
  FILE *text = create(folder, volume, state, recovered, "txt");
  bool whole = oracle->cross_linked + oracle->overlong + oracle->strays == 0;
  (void)fprintf(text, "b %u %d %d\n", oracle->block_bytes, oracle->dirty, whole);
  for (uint32_t i = 0; i < oracle->file_count; i++) {
    const struct oracle_file *file = &oracle->files[i];
    (void)fprintf(text, "%c %llu %08x %s\n", file->directory ? 'd' : 'f', (unsigned long long)file->bytes,
                  file->directory ? 0 : crc_of(oracle, file), file->path);
  }
  finish(text);
}
