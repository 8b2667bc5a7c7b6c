/* SPDX-License-Identifier: Apache-2.0 */
#include "medium.h"

#include "images.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u

static void *map(int fd, void *at, uint64_t bytes, uint64_t offset) {
  int flags = MAP_SHARED | MAP_NORESERVE | (at != NULL ? MAP_FIXED : 0);
  void *mapped = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
  if (mapped == MAP_FAILED) abort();
  return mapped;
}

void medium_open(struct medium *medium, unsigned drives, uint64_t drive_blocks, uint32_t block_bytes) {
  *medium = (struct medium){.block_bytes = block_bytes, .drives = drives, .drive_blocks = drive_blocks};
  uint64_t bytes = drives * drive_blocks * block_bytes;
  medium->fd = memfd_create("medium", MFD_CLOEXEC);
  if (medium->fd < 0 || ftruncate(medium->fd, (off_t)bytes) != 0) abort();
  medium->memory = map(medium->fd, NULL, bytes, 0);
  medium->view = medium->memory;
  medium->view_bytes = bytes;
}

void medium_close(struct medium *medium) {
  if (medium->view != medium->memory && munmap(medium->view, medium->view_bytes) != 0) abort();
  if (munmap(medium->memory, medium->drives * medium->drive_blocks * medium->block_bytes) != 0) abort();
  if (close(medium->fd) != 0) abort();
  free(medium->undo);
  *medium = (struct medium){0};
}

void medium_stripe(struct medium *medium, uint64_t data_bytes, uint32_t chunk_bytes, const uint8_t *order) {
  uint64_t drive_bytes = medium->drive_blocks * medium->block_bytes;
  uint64_t rows = (drive_bytes - data_bytes) / chunk_bytes;
  if (data_bytes % PAGE != 0 || chunk_bytes % PAGE != 0 || drive_bytes % PAGE != 0) abort();
  medium->view_bytes = rows * chunk_bytes * medium->drives;
  medium->view = mmap(NULL, medium->view_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (medium->view == MAP_FAILED) abort();
  for (uint64_t chunk = 0; chunk < rows * medium->drives; chunk++) {
    uint64_t on_drive = data_bytes + chunk / medium->drives * chunk_bytes;
    (void)map(medium->fd, medium->view + chunk * chunk_bytes, chunk_bytes,
              order[chunk % medium->drives] * drive_bytes + on_drive);
  }
}

void medium_load(struct medium *medium, unsigned drive, const uint8_t *memory) {
  static const uint8_t zeros[PAGE];
  uint64_t bytes = medium->drive_blocks * medium->block_bytes;
  for (uint64_t at = 0; at < bytes; at += PAGE) {
    size_t piece = bytes - at < PAGE ? (size_t)(bytes - at) : PAGE;
    if (memcmp(memory + at, zeros, piece) == 0) continue; /* stays sparse */
    for (size_t i = 0; i < piece; i += medium->block_bytes)
      medium_write(medium, drive * medium->drive_blocks + (at + i) / medium->block_bytes, memory + at + i, 0);
  }
}

void medium_write(struct medium *medium, uint64_t block, const uint8_t *data, uint8_t fill) {
  uint8_t *to = medium_at(medium, block);
  medium->hash -= image_block_hash(block, to, medium->block_bytes);
  if (data != NULL)
    memcpy(to, data, medium->block_bytes);
  else
    memset(to, fill, medium->block_bytes);
  medium->hash += image_block_hash(block, to, medium->block_bytes);
}

void medium_keep(struct medium *medium, uint64_t block, uint64_t blocks) {
  size_t each = sizeof block + medium->block_bytes;
  if (medium->undo_bytes + blocks * each > medium->undo_capacity) {
    medium->undo_capacity = (medium->undo_bytes + blocks * each) * 2;
    uint8_t *larger = realloc(medium->undo, medium->undo_capacity);
    if (larger == NULL) abort();
    medium->undo = larger;
  }
  for (uint64_t i = block; i < block + blocks; i++) {
    uint8_t *to = medium->undo + medium->undo_bytes;
    memcpy(to, &i, sizeof i);
    memcpy(to + sizeof i, medium_at(medium, i), medium->block_bytes);
    medium->undo_bytes += each;
  }
}

struct medium_mark medium_mark(const struct medium *medium) {
  return (struct medium_mark){medium->undo_bytes, medium->hash};
}

void medium_undo(struct medium *medium, struct medium_mark mark) {
  size_t each = sizeof(uint64_t) + medium->block_bytes;
  while (medium->undo_bytes > mark.undo_bytes) {
    uint64_t block;
    medium->undo_bytes -= each;
    memcpy(&block, medium->undo + medium->undo_bytes, sizeof block);
    memcpy(medium_at(medium, block), medium->undo + medium->undo_bytes + sizeof block, medium->block_bytes);
  }
  medium->hash = mark.hash;
}
