/* SPDX-License-Identifier: Apache-2.0 */
#include "exfat_oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UPCASE_UNITS 65536u

/* A limit, because directories may contain each other in a loop. */
#define OWNED_MAX(oracle) (4 * (oracle)->cluster_count)

static uint32_t get(const uint8_t *at, unsigned bytes) {
  uint32_t value = 0;
  while (bytes-- > 0)
    value = value << 8 | at[bytes];
  return value;
}

static uint64_t get64(const uint8_t *at) { return get(at, 4) | (uint64_t)get(at + 4, 4) << 32; }

__attribute__((format(printf, 2, 3))) static void fault(struct oracle *oracle, const char *format, ...) {
  va_list arguments;
  if (oracle->fault[0] != '\0') return;
  va_start(arguments, format);
  (void)vsnprintf(oracle->fault, sizeof oracle->fault, format, arguments);
  va_end(arguments);
}

static bool valid(const struct oracle *oracle, uint32_t cluster) {
  return cluster >= 2 && cluster - 2 < oracle->cluster_count;
}

static const uint8_t *cluster_at(const struct oracle *oracle, uint32_t cluster) {
  return oracle->image + oracle->heap + (uint64_t)(cluster - 2) * oracle->cluster_bytes;
}

static uint32_t next_of(const struct oracle *oracle, uint32_t cluster, bool contiguous) {
  return contiguous ? cluster + 1 : get(oracle->image + oracle->fat + 4ull * cluster, 4);
}

static uint32_t count_of(const struct oracle *oracle, uint64_t bytes) {
  return (uint32_t)((bytes + oracle->cluster_bytes - 1) / oracle->cluster_bytes);
}

/* Mark the clusters of one owner. Returns how many there are: up to the end of the FAT chain, or by the length. */
static uint32_t own(struct oracle *oracle, const char *path, uint32_t first, uint64_t bytes, bool contiguous,
                    bool by_chain) {
  uint32_t count = count_of(oracle, bytes);
  uint32_t seen = 0;
  for (uint32_t cluster = first; by_chain || seen < count; cluster = next_of(oracle, cluster, contiguous)) {
    if (by_chain && cluster == UINT32_MAX) break;
    if (!valid(oracle, cluster) || seen > oracle->cluster_count) {
      fault(oracle, "%s: cluster %u at %u", path, cluster, seen);
      return seen;
    }
    if (++oracle->owned > OWNED_MAX(oracle)) {
      fault(oracle, "%s: everything has many owners", path);
      return seen;
    }
    if (oracle->owners[cluster - 2]++ > 0) oracle->cross_linked++;
    seen++;
    bool last = !by_chain && !contiguous && seen == count;
    if (last && next_of(oracle, cluster, false) != UINT32_MAX) oracle->overlong++;
  }
  return seen;
}

static uint16_t set_checksum(const uint8_t *set, uint32_t entries) {
  uint16_t sum = 0;
  for (uint32_t i = 0; i < entries * 32; i++)
    if (i != 2 && i != 3) sum = (uint16_t)(((sum & 1u) << 15) + (sum >> 1) + set[i]);
  return sum;
}

struct directory {
  const char *path;
  uint32_t first;
  bool contiguous;
  uint64_t bytes;
};

static const uint8_t *entry_at(const struct oracle *oracle, const struct directory *directory, uint64_t offset) {
  uint32_t cluster = directory->first;
  uint32_t index = (uint32_t)(offset >> oracle->cluster_shift);
  if (directory->contiguous) cluster += index;
  for (; index > 0 && !directory->contiguous && valid(oracle, cluster); index--)
    cluster = next_of(oracle, cluster, false);
  if (!valid(oracle, cluster)) return NULL;
  return cluster_at(oracle, cluster) + (offset & (oracle->cluster_bytes - 1));
}

static uint32_t name_unit(const uint8_t *set, uint32_t i) {
  return get(set + 64 + 32 * (i / 15) + 2 + 2 * (i % 15), 2);
}

static char *put_utf8(char *to, uint32_t code) {
  if (code < 0x80) {
    *to++ = (char)code;
    return to;
  }
  if (code < 0x800) {
    *to++ = (char)(0xc0 + code / 64);
  } else if (code < 0x10000) {
    *to++ = (char)(0xe0 + code / 4096);
    *to++ = (char)(0x80 + code / 64 % 64);
  } else {
    *to++ = (char)(0xf0 + code / 262144);
    *to++ = (char)(0x80 + code / 4096 % 64);
    *to++ = (char)(0x80 + code / 64 % 64);
  }
  *to++ = (char)(0x80 + code % 64);
  return to;
}

static void read_name(const uint8_t *set, char *name) {
  uint32_t count = set[32 + 3];
  for (uint32_t i = 0; i < count; i++) {
    uint32_t code = name_unit(set, i);
    uint32_t low = i + 1 < count ? name_unit(set, i + 1) : 0;
    if (code >= 0xd800 && code < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
      code = 0x10000 + ((code & 0x3ffu) << 10 | (low & 0x3ffu));
      i++;
    } else if (code < 0x20 || code == 0x7f || (code >= 0xd800 && code < 0xe000)) {
      code = '?';
    }
    name = put_utf8(name, code);
  }
  *name = '\0';
}

/* ---- upper case, from the volume's own table ---- */

/* The table that was read last, kept because most states of a volume have the same one. */
static struct {
  uint32_t sum;
  uint64_t bytes;
  uint16_t units[UPCASE_UNITS];
} upcase;

static void expand_upcase(const uint8_t *words, uint64_t bytes, uint32_t sum) {
  uint32_t unit = 0;
  if (upcase.bytes == bytes && upcase.sum == sum) return;
  upcase.bytes = bytes;
  upcase.sum = sum;
  for (uint64_t at = 0; at + 2 <= bytes && unit < UPCASE_UNITS; at += 2) {
    uint32_t word = get(words + at, 2);
    if (word != 0xffff || at + 4 > bytes) {
      upcase.units[unit++] = (uint16_t)word;
      continue;
    }
    at += 2; /* a run of units that are their own upper case */
    for (uint32_t same = get(words + at, 2); same > 0 && unit < UPCASE_UNITS; same--, unit++)
      upcase.units[unit] = (uint16_t)unit;
  }
  for (; unit < UPCASE_UNITS; unit++)
    upcase.units[unit] = (uint16_t)unit;
}

static uint16_t name_hash(const uint8_t *set) {
  uint16_t hash = 0;
  for (uint32_t i = 0; i < set[32 + 3]; i++) {
    uint16_t unit = upcase.units[name_unit(set, i)];
    hash = (uint16_t)(((hash & 1u) << 15) + (hash >> 1) + (unit & 0xffu));
    hash = (uint16_t)(((hash & 1u) << 15) + (hash >> 1) + (unit >> 8));
  }
  return hash;
}

static void walk(struct oracle *oracle, const struct directory *directory, int depth);

static void read_file(struct oracle *oracle, const struct directory *directory, const uint8_t *set, uint32_t entries,
                      uint64_t set_offset, int depth) {
  char name[3 * 255 + 1];
  uint8_t flags = set[32 + 1];
  if (oracle->file_count == ORACLE_FILES_MAX) {
    fault(oracle, "%s: too many files", directory->path);
    return;
  }
  struct oracle_file *file = &oracle->files[oracle->file_count++];
  read_name(set, name);
  *file = (struct oracle_file){.directory = (get(set + 4, 2) & 0x10) != 0,
                               .contiguous = (flags & 2) != 0,
                               .bytes = get64(set + 32 + 24),
                               .valid_bytes = get64(set + 32 + 8),
                               .first_cluster = get(set + 32 + 20, 4),
                               .set_offset = set_offset,
                               .entries = (uint8_t)entries};
  const int room = (int)(sizeof file->path - sizeof "/" - strlen(name)); /* for the directory part */
  (void)snprintf(file->path, sizeof file->path, "%.*s%s%s", room, directory->path, directory->path[0] ? "/" : "", name);
  if (name_hash(set) != get(set + 32 + 4, 2)) fault(oracle, "%s: name hash", file->path);
  if (file->valid_bytes > file->bytes) fault(oracle, "%s: valid length above length", file->path);
  if (file->bytes == 0 && (file->first_cluster != 0 || file->contiguous))
    fault(oracle, "%s: empty, with a first cluster or NoFatChain", file->path);
  if (file->bytes > 0) own(oracle, file->path, file->first_cluster, file->bytes, file->contiguous, false);
  if (!file->directory || file->bytes == 0 || oracle->fault[0] != '\0') return;
  char path[sizeof file->path];
  memcpy(path, file->path, sizeof path);
  struct directory below = {path, file->first_cluster, file->contiguous, file->bytes};
  if (depth == 0)
    fault(oracle, "%s: too deep", path);
  else
    walk(oracle, &below, depth - 1);
}

static void read_system(struct oracle *oracle, const uint8_t *entry) {
  uint32_t first = get(entry + 20, 4);
  uint64_t bytes = get64(entry + 24);
  if (!valid(oracle, first)) {
    fault(oracle, "system entry: cluster %u", first);
    return;
  }
  bool active = entry[0] == 0x81 && (entry[1] & 1u) == oracle->active_fat;
  if (active && oracle->bitmap != 0) fault(oracle, "two bitmaps");
  if (active) oracle->bitmap = (uint64_t)(cluster_at(oracle, first) - oracle->image);
  if (entry[0] == 0x81 && bytes != (oracle->cluster_count + 7ull) / 8) fault(oracle, "bitmap length");
  if (own(oracle, "system", first, bytes, false, true) != count_of(oracle, bytes)) fault(oracle, "system chain");
  if (entry[0] != 0x82 || oracle->fault[0] != '\0') return;
  struct directory table = {"", first, false, bytes};
  static uint8_t words[2 * UPCASE_UNITS]; /* too large for the stack in a recursive walk */
  uint32_t sum = 0;
  if (bytes > sizeof words) {
    fault(oracle, "up-case table of %llu bytes", (unsigned long long)bytes);
    return;
  }
  for (uint64_t i = 0; i < bytes; i++) {
    words[i] = *entry_at(oracle, &table, i);
    sum = ((sum & 1u) << 31) + (sum >> 1) + words[i];
  }
  if (sum != get(entry + 4, 4)) fault(oracle, "up-case table checksum");
  expand_upcase(words, bytes, sum);
}

static void walk(struct oracle *oracle, const struct directory *directory, int depth) {
  static const uint8_t zeros[512]; /* no cluster is smaller, and most of a directory is zeros */
  bool ended = false;
  for (uint64_t at = 0; at < directory->bytes && oracle->fault[0] == '\0'; at += 32) {
    const uint8_t *entry = entry_at(oracle, directory, at);
    if (entry == NULL) {
      fault(oracle, "%s: chain", directory->path);
      return;
    }
    /* A long set is written from its end, after the end marker while that is still there: hidden, but not clean. */
    if (ended && entry[0] >= 0xc0)
      oracle->strays++;
    else if (ended && (entry[0] & 0x80) != 0)
      fault(oracle, "%s: entry past the end", directory->path);
    if (entry[0] == 0) ended = true;
    if (ended && at % sizeof zeros == 0 && memcmp(entry, zeros, sizeof zeros) == 0) {
      at += sizeof zeros - 32;
      continue;
    }
    if (ended || (entry[0] & 0x80) == 0) continue;
    if (entry[0] == 0x81 || entry[0] == 0x82) read_system(oracle, entry);
    if (entry[0] >= 0xc0) oracle->strays++;
    if (entry[0] != 0x85) continue;
    uint8_t set[19 * 32];
    uint32_t entries = entry[1] + 1u;
    /* An entry that begins before the directory's end counts as a whole. */
    if (entries < 3 || entries > 19 || at + (entries - 1) * 32 >= directory->bytes) {
      fault(oracle, "%s: set of %u at %llu", directory->path, entries, (unsigned long long)at);
      return;
    }
    for (uint32_t i = 0; i < entries; i++)
      memcpy(set + i * 32, entry_at(oracle, directory, at + i * 32), 32);
    bool types = set[32] == 0xc0;
    for (uint32_t i = 2; i < entries; i++)
      types &= set[i * 32] == 0xc1;
    if (!types || set[32 + 3] == 0 || (set[32 + 3] + 14u) / 15 != entries - 2 ||
        set_checksum(set, entries) != get(set + 2, 2)) {
      fault(oracle, "%s: torn set at %llu", directory->path, (unsigned long long)at);
      return;
    }
    read_file(oracle, directory, set, entries, (uint64_t)(entry - oracle->image), depth);
    at += (entries - 1) * 32;
  }
}

static bool region_good(const uint8_t *region, uint32_t block_bytes) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 11 * block_bytes; i++)
    if (i != 106 && i != 107 && i != 112) sum = ((sum & 1u) << 31) + (sum >> 1) + region[i];
  for (uint32_t i = 0; i < block_bytes; i += 4)
    if (get(region + 11 * block_bytes + i, 4) != sum) return false;
  return memcmp(region + 3, "EXFAT   ", 8) == 0;
}

bool oracle_read(struct oracle *oracle, const uint8_t *image, uint64_t bytes) {
  memset(oracle, 0, offsetof(struct oracle, files));
  oracle->owners = NULL;
  oracle->image = image;
  uint32_t shift = image[108];
  if (shift != 9 && shift != 12) shift = image[12 * 512 + 108] == 9 ? 9 : 12;
  oracle->block_bytes = 1u << shift;
  const uint8_t *backup = image + 12 * oracle->block_bytes;
  bool main_whole = region_good(image, oracle->block_bytes);
  const uint8_t *boot = main_whole ? image : backup;
  oracle->boot_torn = !main_whole && memcmp(image + 3, "EXFAT   ", 8) == 0;
  oracle->backup_whole = region_good(backup, oracle->block_bytes);
  if (!main_whole && !oracle->backup_whole) {
    fault(oracle, "boot regions");
    return false;
  }
  oracle->serial = get(boot + 100, 4);
  oracle->active_fat = boot[110] == 2 ? boot[106] & 1u : 0;
  oracle->fat = (get(boot + 80, 4) + (uint64_t)oracle->active_fat * get(boot + 84, 4)) << shift;
  oracle->heap = (uint64_t)get(boot + 88, 4) << shift;
  oracle->cluster_count = get(boot + 92, 4);
  oracle->root = get(boot + 96, 4);
  oracle->dirty = (boot[106] & 2) != 0;
  oracle->cluster_shift = shift + boot[109];
  oracle->cluster_bytes = UINT32_C(1) << oracle->cluster_shift;
  if (oracle->heap + (uint64_t)oracle->cluster_count * oracle->cluster_bytes > bytes) fault(oracle, "geometry");
  oracle->owners = calloc(oracle->cluster_count, 1);
  if (oracle->owners == NULL) abort();
  struct directory root = {"", oracle->root, false, 0};
  root.bytes = (uint64_t)own(oracle, "root", oracle->root, 0, false, true) * oracle->cluster_bytes;
  walk(oracle, &root, 64);
  if (oracle->bitmap == 0) fault(oracle, "no bitmap");
  for (uint32_t i = 0; oracle->fault[0] == '\0' && i < oracle->cluster_count; i++) {
    bool allocated = (image[oracle->bitmap + i / 8] >> (i % 8) & 1) != 0;
    oracle->allocated += allocated;
    if (allocated && oracle->owners[i] == 0) oracle->leaked++;
    if (!allocated && oracle->owners[i] > 0) oracle->unallocated++;
  }
  return oracle->fault[0] == '\0';
}

void oracle_free(struct oracle *oracle) { free(oracle->owners); }

const struct oracle_file *oracle_find(const struct oracle *oracle, const char *path) {
  for (uint32_t i = 0; i < oracle->file_count; i++)
    if (strcmp(oracle->files[i].path, path) == 0) return &oracle->files[i];
  return NULL;
}

const uint8_t *oracle_at(const struct oracle *oracle, const struct oracle_file *file, uint64_t offset) {
  struct directory as = {file->path, file->first_cluster, file->contiguous, file->bytes};
  return offset < file->bytes ? entry_at(oracle, &as, offset) : NULL;
}
