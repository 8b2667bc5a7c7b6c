/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FatFs over integrations/fatfs on a block that the test supplies: a ring from which files are written asynchronously,
 * and FatFs's objects in memory outside of it or, in the worst case, inside. Included by one test program each.
 */
#ifndef SPATE_TESTS_DISKIO_FIXTURE_H
#define SPATE_TESTS_DISKIO_FIXTURE_H

#include <spate_diskio.h>

#include <ff.h>
#include <stdio.h>
#include <string.h>

#include <diskio.h> /* after ff.h, whose types it uses */

#define KIB           (1u << 10)
#define MIB           (1u << 20)
#define GIB           (UINT64_C(1) << 30)
#define PIECE_BYTES   (64u * KIB)
#define PIECES        16u
#define RING_BYTES    (PIECES * PIECE_BYTES)
#define OBJECTS_BYTES (64u * KIB)
#define REGION_BYTES  (RING_BYTES + OBJECTS_BYTES)
#define BOUNCE_BYTES  (8u * SPATE_DISKIO_SLOT_BYTES)
#define REQUESTS      24u
#define ALL_USES      (SPATE_DISKIO_WRITES | SPATE_DISKIO_READS | SPATE_DISKIO_CPU)
#define DRIVE_BYTES   (8 * GIB) /* enough for FAT32 in clusters of 64 KiB; memory is used only where it is written */

struct objects {
  FATFS volume;
  FIL file, busy;
  DIR directory;
};

struct fixture {
  struct spate_block *block;
  const struct spate_region *region; /* REGION_BYTES */
  void *bounce;                      /* BOUNCE_BYTES */
  struct spate_diskio disk;
  struct spate_diskio_request requests[REQUESTS];
  struct spate_diskio_range range;
  struct objects own, *objects;
  unsigned next_piece;
};

/* How a volume is made. */
struct volume_kind {
  const char *name;
  BYTE format;
  uint32_t block_bytes, cluster_bytes;
  /* FatFs's objects are in the registered range, too, and not as memory of the CPU: any multiple of 4 may be streamed.
   * For a machine whose devices see the CPU's stores at once. */
  bool everything;
};

#define VOLUME_KINDS                                                                                                   \
  {"exFAT, 512", FM_EXFAT, 512, 32 * KIB, false}, {"exFAT, 4096", FM_EXFAT, 4096, 32 * KIB, false},                    \
      {"FAT32, 512", FM_FAT32, 512, 64 * KIB, false}, {"FAT32, 4096", FM_FAT32, 4096, 64 * KIB, false},                \
      {"exFAT, 512, all memory registered", FM_EXFAT, 512, 32 * KIB, true},                                            \
      {"FAT32, 512, all memory registered", FM_FAT32, 512, 64 * KIB, true}, {                                          \
    "FAT32, 4096, all memory registered", FM_FAT32, 4096, 64 * KIB, true                                               \
  }

DWORD get_fattime(void) { return (DWORD)(2026 - 1980) << 25 | 1u << 21 | 1u << 16; }

/* `block`, `region` and `bounce` are set. Returns FatFs's first error. */
static inline FRESULT fixture_format(struct fixture *fixture, const struct volume_kind *kind) {
  const struct spate_diskio_config config = {.block = fixture->block,
                                             .requests = fixture->requests,
                                             .request_count = REQUESTS,
                                             .bounce = fixture->bounce,
                                             .bounce_bytes = BOUNCE_BYTES};
  const MKFS_PARM options = {.fmt = (BYTE)(kind->format | FM_SFD), .au_size = kind->cluster_bytes};
  static BYTE work[64 * KIB];

  fixture->objects = kind->everything ? (struct objects *)(void *)(fixture->region->start + RING_BYTES) : &fixture->own;
  memset(fixture->objects, 0, sizeof *fixture->objects);
  if (spate_diskio_open(&fixture->disk, 0, &config) != SPATE_OK ||
      spate_diskio_register(&fixture->disk, &fixture->range, fixture->region, 0,
                            kind->everything ? REGION_BYTES : RING_BYTES,
                            kind->everything ? SPATE_DISKIO_WRITES | SPATE_DISKIO_READS : ALL_USES) != SPATE_OK)
    return FR_INT_ERR;
  const FRESULT result = f_mkfs("", &options, work, sizeof work);
  return result == FR_OK ? f_mount(&fixture->objects->volume, "", 1) : result;
}

/* The volume as the next program finds it: nothing of it is left in FatFs's memory. */
static inline FRESULT fixture_remount(struct fixture *fixture) {
  (void)f_unmount("");
  memset(&fixture->objects->volume, 0, sizeof fixture->objects->volume);
  return f_mount(&fixture->objects->volume, "", 1);
}

static inline void fixture_close(struct fixture *fixture) {
  (void)f_unmount("");
  (void)spate_diskio_close(&fixture->disk);
}

/* ---- contents ---- */

/* Byte `at` of the file with this number. */
static inline uint8_t content(unsigned number, uint64_t at) {
  return (uint8_t)((at * UINT64_C(0x9e3779b97f4a7c15) + number * UINT64_C(0xbf58476d1ce4e5b9)) >> 56);
}

static inline void fill(uint8_t *to, unsigned number, uint64_t at, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    to[i] = content(number, at + i);
}

/* The next piece of the ring, when nothing uses it any more. */
static inline uint8_t *piece_take(struct fixture *fixture) {
  uint8_t *piece = fixture->region->start + (size_t)(fixture->next_piece++ % PIECES) * PIECE_BYTES;

  (void)spate_diskio_wait(&fixture->disk, piece, PIECE_BYTES);
  return piece;
}

/* Appends a piece to a file, without waiting for it. */
static inline FRESULT append(struct fixture *fixture, FIL *file, unsigned number) {
  uint8_t *piece = piece_take(fixture);
  UINT put_bytes = 0;

  fill(piece, number, f_tell(file), PIECE_BYTES);
  const FRESULT result = f_write(file, piece, PIECE_BYTES, &put_bytes);
  return result == FR_OK && put_bytes != PIECE_BYTES ? FR_DENIED : result;
}

/* NULL, or what is wrong with the file. */
static inline const char *wrong_file(struct fixture *fixture, const char *path, unsigned number, uint64_t bytes) {
  static char text[160];
  static uint8_t data[PIECE_BYTES];
  FIL *file = &fixture->objects->file;
  FRESULT result = f_open(file, path, FA_READ);

  if (result == FR_OK && f_size(file) != bytes) {
    (void)snprintf(text, sizeof text, "%s has %llu bytes", path, (unsigned long long)f_size(file));
    return text;
  }
  for (uint64_t at = 0; result == FR_OK && at < bytes;) {
    UINT got_bytes = 0;
    result = f_read(file, data, sizeof data, &got_bytes);
    for (UINT i = 0; result == FR_OK && i < got_bytes; i++) {
      if (data[i] == content(number, at + i)) continue;
      (void)snprintf(text, sizeof text, "%s: byte %llu is wrong", path, (unsigned long long)(at + i));
      return text;
    }
    at += got_bytes;
    if (result == FR_OK && got_bytes == 0) result = FR_INT_ERR;
  }
  if (result == FR_OK) result = f_close(file);
  if (result == FR_OK) return NULL;
  (void)snprintf(text, sizeof text, "%s: FatFs's answer %d", path, (int)result);
  return text;
}

#endif
