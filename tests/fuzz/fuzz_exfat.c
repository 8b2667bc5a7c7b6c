/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any image: mount, walk, read, recover, write. The input patches a small valid volume. If the input says so, the
 * checksums are corrected afterwards, so that they do not reveal the patches. Whatever the volume contains, nothing
 * outside the partition is written, and every call ends. A volume in which the oracle finds no fault has none
 * afterwards.
 *
 * Input: byte 0 options, byte 1 the sizes of blocks and clusters; then patches of 4 bytes or more: area, offset (2),
 * count and flags, bytes.
 */
#include "core/crc32.h"
#include "exfat/internal.h"
#include "exfat_image.h"
#include "exfat_oracle.h"

#include <spate/bytes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VOLUME_BYTES (UINT32_C(1) << 20) /* the smallest that exFAT permits */
#define GUARD_BYTES  (UINT32_C(64) << 10)
#define DEPTH_MAX    4
#define CALLS_MAX    2000

enum option { SEAL_BOOT = 1, SEAL_SETS = 2, SEAL_RECORDS = 4, SECOND_FAT = 8, DIRTY = 16, NO_CACHE_ROOM = 32 };

static _Alignas(4096) uint8_t memory[VOLUME_BYTES + 2 * GUARD_BYTES];
static uint8_t *const start = memory + GUARD_BYTES;
static _Alignas(64) uint8_t cache[24 * 4096];
static _Alignas(64) uint8_t window[4096];
static struct ram_block ram;
static struct spate_exfat volume;
static struct spate_exfat_mounted found;
static struct spate_exfat_block cache_blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX];
static struct oracle oracle;
static unsigned calls;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

__attribute__((noreturn)) static void die(const char *what) {
  (void)fprintf(stderr, "%s: %s; %u cross-linked, %u free, %u overlong, %u strays, %u leaked\n", what, oracle.fault,
                oracle.cross_linked, oracle.unallocated, oracle.overlong, oracle.strays, oracle.leaked);
  abort();
}

static struct spate_exfat_config config_of(uint32_t shift) {
  return (struct spate_exfat_config){.block = &ram.block,
                                     .first_lba = GUARD_BYTES >> shift,
                                     .blocks = VOLUME_BYTES >> shift,
                                     .cache = cache,
                                     .cache_bytes = UINT32_C(24) << shift,
                                     .cache_blocks = cache_blocks,
                                     .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
                                     .bitmap = window,
                                     .bitmap_bytes = sizeof window};
}

static void seal(uint8_t options);

/* A volume with one of each structure, and the reservation record of a cut. Made once for each of the 8 geometries. */
static void make_template(uint32_t geometry, uint32_t block_shift, uint32_t cluster_shift) {
  static uint8_t *templates[8];
  struct spate_exfat_clip clip;
  if (templates[geometry] != NULL) {
    memcpy(memory, templates[geometry], sizeof memory);
    ram_block_open_memory(&ram, memory, sizeof memory, 1u << block_shift, -1);
    return;
  }
  struct spate_exfat_config config = config_of(block_shift);
  memset(memory, 0, sizeof memory);
  small_format(start, VOLUME_BYTES, block_shift, cluster_shift);
  small_add(start, "chained", 0x20, small_allocate(start, 3, 2), 3u << cluster_shift, 100, false);
  small_add(start, "directory", 0x10, small_allocate(start, 1, 1), 1u << cluster_shift, 1u << cluster_shift, false);
  ram_block_open_memory(&ram, memory, sizeof memory, 1u << block_shift, -1);
  if (spate_exfat_mount(&volume, &config, NULL) != SPATE_OK || spate_exfat_mkdir(&volume, "directory/d") != SPATE_OK ||
      spate_exfat_arm(&volume, &clip, "directory/clip", 5000) != SPATE_OK ||
      spate_exfat_close(&clip, 900) != SPATE_OK ||
      spate_exfat_arm(&volume, &clip, "cut", 3u << cluster_shift) != SPATE_OK)
    abort();
  templates[geometry] = malloc(sizeof memory);
  if (templates[geometry] == NULL) abort();
  memcpy(templates[geometry], memory, sizeof memory);
  /* Structures that the library seals are sealed again: otherwise no input passes the CRC of the records. */
  seal(SEAL_RECORDS);
  if (memcmp(templates[geometry], memory, sizeof memory) != 0) abort();
}

struct areas {
  uint32_t fat, heap, root, cluster_bytes, block_bytes;
};

static uint32_t area_start(const struct areas *areas, uint8_t area) {
  switch (area & 7) {
  case 0: return 0;
  case 1: return 12 * areas->block_bytes;
  case 2: return areas->fat;
  case 3: return areas->heap;
  case 4: return areas->root;
  default: return areas->heap + (area >> 3) * areas->cluster_bytes;
  }
}

static void patch(const uint8_t *data, size_t size, uint32_t block_shift, uint32_t cluster_shift) {
  struct areas areas = {.fat = spate_get32(start + 80) << block_shift,
                        .heap = spate_get32(start + 88) << block_shift,
                        .cluster_bytes = 1u << cluster_shift,
                        .block_bytes = 1u << block_shift};
  areas.root = areas.heap + ((spate_get32(start + 96) - 2) << cluster_shift);
  while (size > 4) {
    uint32_t at = area_start(&areas, data[0]) + spate_get16(data + 1) % 8192;
    size_t bytes = (data[3] & 15u) + 1;
    if (bytes > size - 4) bytes = size - 4;
    for (size_t i = 0; i < bytes; i++)
      start[(at + i) % VOLUME_BYTES] = data[4 + i];
    data += 4 + bytes;
    size -= 4 + bytes;
  }
}

static void seal_set(uint8_t *set) {
  uint32_t bytes = (set[1] + 1u) * 32;
  uint16_t sum = 0;
  if (set + bytes > start + VOLUME_BYTES) return;
  for (uint32_t i = 0; i < bytes; i++)
    if (i != 2 && i != 3) sum = (uint16_t)(((sum & 1u) << 15) + (sum >> 1) + set[i]);
  spate_put16(set + 2, sum);
}

static void seal_record(uint8_t *record) { spate_put32(record + RECORD_CRC, spate_crc32(0, record, RECORD_CRC)); }

static void seal(uint8_t options) {
  for (uint32_t at = 0; at < VOLUME_BYTES; at += 32) {
    if ((options & SEAL_SETS) && start[at] == 0x85) seal_set(start + at);
    if ((options & SEAL_RECORDS) && at % 512 == 0 && memcmp(start + at, "SPATE", 5) == 0) seal_record(start + at);
  }
  if (options & SECOND_FAT) start[110] = 2;
  if (options & DIRTY) start[106] |= 2;
  if ((options & SEAL_BOOT) && (start[108] == 9 || start[108] == 12)) small_checksum_boot(start);
}

static void read_file(const char *path) {
  struct spate_exfat_file file;
  uint8_t data[600];
  size_t got;
  uint64_t lba;
  uint64_t blocks;
  if (spate_exfat_open(&volume, path, &file) != SPATE_OK) return;
  (void)spate_exfat_read(&file, 0, data, sizeof data, &got);
  if (file.bytes > 300) (void)spate_exfat_read(&file, file.bytes - 300, data, sizeof data, &got);
  uint64_t at = 0;
  for (unsigned i = 0; i < 20; i++) {
    if (spate_exfat_extent(&file, at, &lba, &blocks) != SPATE_OK || blocks == 0) break;
    if (lba < volume.heap_lba || lba + blocks > ram.block.blocks) abort();
    at += blocks << ram.block.block_shift;
  }
}

static void walk(const char *path, int depth) {
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  bool more = true;
  if (spate_exfat_list(&volume, path, &directory) != SPATE_OK) return;
  while (more && calls++ < CALLS_MAX) {
    char below[2 * SPATE_EXFAT_NAME_BYTES_MAX + 8];
    if (spate_exfat_list_next(&directory, &entry, &more) != SPATE_OK || !more) continue;
    const int length = snprintf(below, sizeof below, "%s/%s", path, entry.name);
    if (length < 0 || (size_t)length >= sizeof below) continue;
    if (entry.directory && depth > 0) walk(below, depth - 1);
    if (!entry.directory) read_file(below);
  }
}

static void change(void) {
  static struct spate_exfat_clip clip;
  struct spate_exfat_info info;
  (void)spate_exfat_info(&volume, &info);
  if (spate_exfat_arm(&volume, &clip, "directory/new clip", 3000) == SPATE_OK) {
    (void)image_publish(&ram.block, &clip, 600);
    (void)spate_exfat_close(&clip, 700);
  }
  (void)spate_exfat_mkdir(&volume, "directory/d/and one more of a longer name");
  (void)spate_exfat_rename(&volume, "chained", "directory/d/chained");
  (void)spate_exfat_rename(&volume, "directory", "DIRECTORY");
  (void)spate_exfat_delete(&volume, "directory/clip");
  (void)spate_exfat_delete(&volume, "chained");
  (void)spate_exfat_delete(&volume, "directory/d");
  (void)spate_exfat_unmount(&volume);
}

/* The oracle reads one FAT and the main boot region, and trusts a geometry that the library has checked. */
static bool ask_oracle(void) {
  if (found.backup_boot || start[110] != 1) return false;
  bool readable = oracle_read(&oracle, start, VOLUME_BYTES);
  oracle_free(&oracle);
  return readable && oracle.cross_linked == 0 && oracle.unallocated == 0 && oracle.overlong == 0 && oracle.strays == 0;
}

static void check_guards(void) {
  static const uint8_t zeros[GUARD_BYTES];
  if (memcmp(memory, zeros, GUARD_BYTES) != 0 || memcmp(start + VOLUME_BYTES, zeros, GUARD_BYTES) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  uint32_t block_shift = data[1] & 1 ? 12 : 9;
  uint32_t cluster_shift = block_shift + (data[1] >> 1) % 4;
  make_template(data[1] & 7, block_shift, cluster_shift);
  patch(data + 2, size - 2, block_shift, cluster_shift);
  seal(data[0]);
  struct spate_exfat_config config = config_of(block_shift);
  if (data[0] & NO_CACHE_ROOM) config.cache_bytes = UINT32_C(5) << block_shift;
  calls = 0;
  for (unsigned mounts = 0; mounts < 2; mounts++) {
    host_starts_again(&ram.block);
    if (spate_exfat_mount(&volume, &config, &found) != SPATE_OK) break;
    bool whole = ask_oracle();
    uint32_t leaked = oracle.leaked;
    walk("", DEPTH_MAX);
    change();
    if (whole && !ask_oracle()) die("a volume in order was damaged");
    if (whole && !oracle.dirty && oracle.leaked > leaked) die("clusters leaked on a clean volume");
  }
  check_guards();
  return 0;
}
