/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share. "Specification" is Microsoft's exFAT file system specification, revision 1.00.
 *
 * Layers, lowest first: cache (blocks), chain (clusters and the FAT), bitmap; entry_set, directory, path; boot, record;
 * then the operations. Operations wait, and only one runs at a time (volume.busy). Publishing (publish.c) runs while an
 * operation waits, and uses only pinned blocks and clips.
 */
#ifndef SPATE_EXFAT_INTERNAL_H
#define SPATE_EXFAT_INTERNAL_H

#include "../core/boot_sector.h"
#include "../core/fields.h"
#include <spate/exfat.h>
#include <spate/port.h>
#include <string.h>

/* ---- on the volume (specification, chapters 3, 6 and 7) ---- */

#define EXFAT_ENTRY_BYTES         32u
#define EXFAT_SET_ENTRIES_MAX     19u /* file, stream extension, 17 of name: 255 units */
#define EXFAT_NAME_UNITS          15u /* in one file name entry */
#define EXFAT_DIRECTORY_BYTES_MAX (UINT32_C(256) << 20)
#define EXFAT_FIRST_CLUSTER       2u
#define EXFAT_CLUSTERS_MAX        UINT32_C(0xfffffff5)
#define EXFAT_CLUSTER_END         UINT32_C(0xffffffff)

enum {
  EXFAT_TYPE_END = 0x00, /* no entry in use follows */
  EXFAT_TYPE_UNUSED = 0x05,
  EXFAT_TYPE_BITMAP = 0x81,
  EXFAT_TYPE_UPCASE = 0x82,
  EXFAT_TYPE_LABEL = 0x83,
  EXFAT_TYPE_FILE = 0x85,
  EXFAT_TYPE_STREAM = 0xc0,
  EXFAT_TYPE_NAME = 0xc1,
  EXFAT_TYPE_IN_USE = 0x80,    /* bit: in use */
  EXFAT_TYPE_SECONDARY = 0x40, /* bit: secondary */
  EXFAT_TYPE_BENIGN = 0x20,    /* bit: may be ignored */
};

enum { EXFAT_READ_ONLY = 1, EXFAT_HIDDEN = 2, EXFAT_SYSTEM = 4, EXFAT_DIRECTORY = 0x10, EXFAT_ARCHIVE = 0x20 };
enum { EXFAT_ALLOCATION_POSSIBLE = 1, EXFAT_NO_FAT_CHAIN = 2 };

/* Fields of the boot sector. */
enum {
  BOOT_PARTITION_OFFSET = 64,
  BOOT_VOLUME_LENGTH = 72,
  BOOT_FAT_OFFSET = 80,
  BOOT_FAT_LENGTH = 84,
  BOOT_HEAP_OFFSET = 88,
  BOOT_CLUSTER_COUNT = 92,
  BOOT_ROOT_CLUSTER = 96,
  BOOT_SERIAL = 100,
  BOOT_REVISION = 104,
  BOOT_FLAGS = 106,
  BOOT_CLUSTER_SHIFT = 109,
  BOOT_FATS = 110,
  BOOT_PERCENT = 112
};
enum { BOOT_ACTIVE_FAT = 1, BOOT_DIRTY = 2, BOOT_CLEAR_TO_ZERO = 8 };
#define BOOT_PERCENT_UNKNOWN 0xffu

/* Fields of a file entry, and of a stream extension counted from the start of the set. */
enum {
  FILE_SECONDARIES = 1,
  FILE_CHECKSUM = 2,
  FILE_ATTRIBUTES = 4,
  FILE_CREATED = 8,
  FILE_MODIFIED = 12,
  FILE_ACCESSED = 16,
  FILE_CREATED_10MS = 20,
  FILE_MODIFIED_10MS = 21,
  FILE_CREATED_UTC = 22,
  FILE_MODIFIED_UTC = 23,
  FILE_ACCESSED_UTC = 24,
  STREAM_FLAGS = 32 + 1,
  STREAM_NAME_LENGTH = 32 + 3,
  STREAM_NAME_HASH = 32 + 4,
  STREAM_VALID_BYTES = 32 + 8,
  STREAM_FIRST_CLUSTER = 32 + 20,
  STREAM_BYTES = 32 + 24
};

static inline bool spate_exfat_bit(uint8_t byte, uint32_t index) { return ((uint32_t)byte >> (index & 7u) & 1u) != 0; }

/* ---- format.c, upcase_write.c ---- */

struct exfat_table {
  uint32_t bytes, checksum;
};
/* Write the recommended up-case table from `lba` on, through the first block of the configured cache. */
enum spate_error spate_exfat_upcase_write(const struct spate_exfat_config *config, uint64_t lba,
                                          struct exfat_table *table);

/* ---- volume.c ---- */

struct exfat_path;
/* What a volume mounted with spate_exfat_mount_own() goes without, and its program is linked without. */
struct spate_exfat_repairs {
  enum spate_error (*recover)(struct spate_exfat *volume, struct spate_exfat_mounted *found);
  enum spate_error (*boot)(struct spate_exfat *volume);   /* the main region from the backup */
  enum spate_error (*record)(struct spate_exfat *volume); /* make the record's file */
  enum spate_error (*grow)(struct spate_exfat *volume, struct exfat_path *path);
};

enum spate_error spate_exfat_config_check(const struct spate_exfat_config *config);

/* ---- operation.c: one operation at a time ---- */

enum spate_error spate_exfat_begin(struct spate_exfat *volume);
void spate_exfat_end(struct spate_exfat *volume);
/* begin, for an operation that may write: not on an inconsistent volume. */
enum spate_error spate_exfat_begin_change(struct spate_exfat *volume);
/* The same for a change that makes room on a full volume of another system, where the record's file does not fit: OK,
 * and the reason in *no_record. The change then has no record, so a power cut may leave clusters without an owner. */
enum spate_error spate_exfat_begin_removal(struct spate_exfat *volume, enum spate_error *no_record);
/* End a change that came to `error`: mark the volume clean if it may be. */
enum spate_error spate_exfat_end_change(struct spate_exfat *volume, enum spate_error error);
/* Note that the volume is inconsistent. */
static inline enum spate_error spate_exfat_corrupt(struct spate_exfat *volume) {
  volume->corrupt = true;
  return SPATE_E_CORRUPT;
}
/* The same where a new file could destroy an existing one. */
static inline enum spate_error spate_exfat_distrust(struct spate_exfat *volume) {
  volume->untrusted = true;
  return spate_exfat_corrupt(volume);
}

/* ---- cache.c: metadata blocks ---- */

void spate_exfat_cache_open(struct spate_exfat *volume);
/* The block at `lba`, valid until the next call for another block. */
enum spate_error spate_exfat_block_get(struct spate_exfat *volume, uint64_t lba, struct spate_exfat_block **found);
/* The same for changing it: no write of it is under way. Change its data and commit, and do not wait in between. */
enum spate_error spate_exfat_block_edit(struct spate_exfat *volume, uint64_t lba, struct spate_exfat_block **block);
/* Write it with FUA, and wait. */
enum spate_error spate_exfat_block_commit(struct spate_exfat_block *block);
/* Waits until no write of it is under way. A commit must follow: it is what writes the lengths that waited meanwhile.
 */
void spate_exfat_block_settle(struct spate_exfat_block *block);
/* A block for data that are not to be cached. */
struct spate_exfat_block *spate_exfat_block_scratch(struct spate_exfat *volume);
/* *blocks of them, one after the other in memory; or fewer, and never more than half of the cache. */
struct spate_exfat_block *spate_exfat_blocks_scratch(struct spate_exfat *volume, uint32_t *blocks);
/* Forget these blocks: they are written past the cache. */
void spate_exfat_cache_forget(struct spate_exfat *volume, uint64_t lba, uint64_t blocks);
/* How many blocks more may be pinned. */
uint32_t spate_exfat_cache_room(const struct spate_exfat *volume);
/* Flush the streams' data. POWER_LOST: since the operation began the drive has lost power, or may have. */
enum spate_error spate_exfat_flush_data(struct spate_exfat *volume);

/* ---- chain.c: clusters and the FAT ---- */

static inline bool spate_exfat_cluster_valid(const struct spate_exfat *volume, uint32_t cluster) {
  return cluster >= EXFAT_FIRST_CLUSTER && cluster - EXFAT_FIRST_CLUSTER < volume->cluster_count;
}
static inline uint32_t spate_exfat_block_shift(const struct spate_exfat *volume) { return volume->block_shift; }
static inline uint32_t spate_exfat_block_bytes(const struct spate_exfat *volume) { return volume->block_mask + 1u; }
static inline uint32_t spate_exfat_cluster_bytes(const struct spate_exfat *volume) { return volume->cluster_mask + 1u; }
static inline uint64_t spate_exfat_clusters(const struct spate_exfat *volume, uint64_t bytes) {
  return (bytes + volume->cluster_mask) >> volume->cluster_shift;
}
static inline uint64_t spate_exfat_cluster_blocks(const struct spate_exfat *volume, uint64_t clusters) {
  return clusters << volume->cluster_blocks_shift;
}
static inline uint64_t spate_exfat_cluster_lba(const struct spate_exfat *volume, uint32_t cluster) {
  return volume->heap_lba + spate_exfat_cluster_blocks(volume, cluster - EXFAT_FIRST_CLUSTER);
}

/* What the bitmap needs. Its entry may state more: there are volumes in use whose entry counts a cluster that is not
 * the bitmap's, and that chkdsk calls clean ("Unable to mount exfat after commit 79c1587b", linux-fsdevel, December
 * 2025). */
static inline uint64_t spate_exfat_bitmap_bytes(const struct spate_exfat *volume) {
  return (volume->cluster_count + UINT64_C(7)) / 8u;
}

enum spate_error spate_exfat_fat_get(struct spate_exfat *volume, uint32_t cluster, uint32_t *next);
enum spate_error spate_exfat_fat_set(struct spate_exfat *volume, uint32_t cluster, uint32_t next);
/* log2 of the entries in a block of the FAT. */
static inline uint32_t spate_exfat_fat_shift(const struct spate_exfat *volume) { return volume->block_shift - 2u; }
/* Link clusters that follow each other on the volume, the last of them to `next`: the first *linked of them, in one
 * write of at most `blocks_max` blocks of the FAT. It is durable after a flush, not before. */
enum spate_error spate_exfat_fat_link(struct spate_exfat *volume, uint32_t cluster, uint32_t clusters, uint32_t next,
                                      uint32_t blocks_max, uint32_t *linked);
/* OK if a chain of this shape can exist on the volume. */
enum spate_error spate_exfat_chain_check(struct spate_exfat *volume, const struct spate_exfat_chain *chain);
/* Set `bytes` of a chain whose length is stated nowhere: up to its end in the FAT. */
enum spate_error spate_exfat_chain_measure(struct spate_exfat *volume, struct spate_exfat_chain *chain,
                                           uint64_t bytes_max);
/* The device's block that holds byte `offset_bytes` of the chain. */
enum spate_error spate_exfat_chain_lba(struct spate_exfat *volume, struct spate_exfat_chain *chain,
                                       uint64_t offset_bytes, uint64_t *lba);
/* That block in the cache, and the byte in it; for changing it, with `edit` (spate_exfat_block_edit). */
enum spate_error spate_exfat_chain_get(struct spate_exfat *volume, struct spate_exfat_chain *chain,
                                       uint64_t offset_bytes, bool edit, struct spate_exfat_block **block,
                                       uint8_t **byte);
/* From cluster number `index` of the chain: the first cluster, and how many follow each other on the volume. */
enum spate_error spate_exfat_chain_run(struct spate_exfat *volume, struct spate_exfat_chain *chain, uint32_t index,
                                       uint32_t *first, uint32_t *clusters);
/* Blocks read as zeros afterwards, durably. */
enum spate_error spate_exfat_zero(struct spate_exfat *volume, uint64_t lba, uint64_t blocks);
/* The same by a command, if the device has one and accepts it; else from the first part of `zeros`. */
enum spate_error spate_exfat_zero_blocks(struct spate_block *device, uint64_t lba, uint64_t blocks, void *zeros,
                                         size_t zeros_bytes);

/* ---- bitmap.c ---- */

/* The bitmap is read in words of so many bits. */
#define EXFAT_WORD_BITS 64u
/* A mask of the bits from `first` on and before `end`, in the word that begins with bit `at`. */
static inline uint64_t spate_exfat_word_mask(uint64_t at, uint64_t first, uint64_t end) {
  uint64_t mask = first > at ? UINT64_MAX << (first - at) : UINT64_MAX;

  return end - at < EXFAT_WORD_BITS ? mask & ((UINT64_C(1) << (end - at)) - 1u) : mask;
}
/* A long scan gives the streams a turn each millisecond, as waiting for a request does. Call this for each word; `at`
 * is the number of its first bit. */
void spate_exfat_give_turn(struct spate_exfat *volume, uint64_t at, uint64_t *since_ticks);

/* The first run of `enough` clusters, or the longest one if there is none, and how many are free (up to that run, if
 * there is one). Gives the streams their turns. */
enum spate_error spate_exfat_bitmap_scan(struct spate_exfat *volume, uint32_t enough, struct spate_exfat_free *found);
/* Mark a run as allocated or free, durably. */
enum spate_error spate_exfat_bitmap_set(struct spate_exfat *volume, uint32_t first, uint32_t clusters, bool allocated);
/* Are all of these clusters allocated? */
enum spate_error spate_exfat_bitmap_allocated(struct spate_exfat *volume, uint32_t first, uint32_t clusters, bool *all);
/* The first run of free clusters from number `index` of the bitmap on. 0 clusters: there is none. */
enum spate_error spate_exfat_bitmap_next(struct spate_exfat *volume, uint32_t index, uint32_t *first,
                                         uint32_t *clusters);
/* Are the clusters of these indices (from 0 on) marked? Reads past the section, which need not be loaded. */
enum spate_error spate_exfat_bitmap_marked(struct spate_exfat *volume, uint32_t index, uint32_t end, bool *marked);
/* The first run of `clusters`, or why there is none. */
enum spate_error spate_exfat_bitmap_find(struct spate_exfat *volume, uint32_t clusters, uint32_t *first);
/* TRIM, except where these clusters could hold the data of other files. */
enum spate_error spate_exfat_trim(struct spate_exfat *volume, uint32_t first, uint32_t clusters);

/* ---- upcase.c, name.c, time.c ---- */

enum spate_error spate_exfat_upcase_check(struct spate_exfat *volume, uint32_t checksum, bool *whole);
enum spate_error spate_exfat_upcase(struct spate_exfat *volume, const uint16_t *units, uint32_t count, uint16_t *upper);
static inline uint32_t spate_exfat_checksum32(uint32_t sum, uint8_t byte) { return (sum << 31 | sum >> 1) + byte; }

struct exfat_name {
  uint16_t units[SPATE_EXFAT_NAME_UNITS_MAX];
  uint16_t upper[SPATE_EXFAT_NAME_UNITS_MAX];
  uint16_t hash; /* of `upper` */
  uint8_t count; /* 0: the root directory */
  bool replaced; /* it has EXFAT_REPLACEMENT, which stands for any unit that cannot be shown */
};

/* UTF-8 up to `bytes` to UTF-16. NAME, NAME_LONG (more than `units_max`). */
enum spate_error spate_exfat_utf16(const char *text, size_t bytes, uint16_t *units, uint32_t units_max,
                                   uint32_t *count);
/* Put EXFAT_REPLACEMENT in the place of control characters, slashes and surrogates that are alone. */
#define EXFAT_REPLACEMENT 0xfffdu
void spate_exfat_name_shown(uint16_t *units, uint32_t count);
/* UTF-16 to UTF-8 with its NUL, after that; `text` has room for 3 bytes a unit and the NUL. */
void spate_exfat_utf8(uint16_t *units, uint32_t count, char *text);
uint16_t spate_exfat_name_hash(const uint16_t *upper, uint32_t count);
enum spate_error spate_exfat_name_parse(struct spate_exfat *volume, const char *text, size_t bytes,
                                        struct exfat_name *name);
/* No character that the specification forbids (7.7.3). Others may have made such files, and they are found. */
bool spate_exfat_name_allowed(const struct exfat_name *name);
/* OK if every system opens a file of that name: also no dot or space at its end. */
enum spate_error spate_exfat_name_creatable(const struct exfat_name *name);

/* Put the present time into a set as its modification, and with `created` also as its creation. */
void spate_exfat_time_stamp(const struct spate_exfat_config *config, uint8_t *set, bool created);
void spate_exfat_times_get(const uint8_t *set, struct spate_exfat_time *created, struct spate_exfat_time *modified);
/* Was the file of `set` created before that of `other`? By UTC if both sets have their offset from it. */
bool spate_exfat_created_before(const uint8_t *set, const uint8_t *other);

/* ---- entry_set.c, directory.c, path.c ---- */

/* Where an entry set lies. */
struct exfat_place {
  struct spate_exfat_chain directory;
  uint32_t offset_bytes;
  uint8_t entries; /* 0: nowhere, as for the root directory */
};

struct exfat_set {
  struct exfat_place place;
  _Alignas(8) uint8_t raw[EXFAT_SET_ENTRIES_MAX * EXFAT_ENTRY_BYTES];
};

/* Where an entry states its clusters: at the same place in all kinds of entries. */
enum { ENTRY_FLAGS = 1, ENTRY_FIRST_CLUSTER = 20, ENTRY_DATA_LENGTH = 24 };
void spate_exfat_entry_chain(const uint8_t *entry, uint8_t flags, struct spate_exfat_chain *chain);

/* Entries of a set with a name of so many units. */
static inline uint32_t spate_exfat_set_entries(uint32_t units) {
  return 2u + (units + EXFAT_NAME_UNITS - 1u) / EXFAT_NAME_UNITS;
}
uint16_t spate_exfat_set_checksum(const uint8_t *raw, uint32_t entries);
void spate_exfat_set_seal(uint8_t *raw, uint32_t entries); /* put the checksum in */
/* A new set for an empty file or directory, sealed. Returns its number of entries. */
uint8_t spate_exfat_set_build(uint8_t *raw, const uint16_t *units, uint32_t count, uint16_t hash, uint16_t attributes);
void spate_exfat_set_lengths(uint8_t *raw, uint32_t first_cluster, uint64_t bytes, bool contiguous); /* does not seal */
uint32_t spate_exfat_set_name(const uint8_t *raw, uint16_t *units);
/* The clusters of the file: checked against the volume. */
enum spate_error spate_exfat_set_chain(struct spate_exfat *volume, const uint8_t *raw, struct spate_exfat_chain *chain);
/* Read and check the set that begins at `offset_bytes`. CORRUPT does not mark the volume. */
enum spate_error spate_exfat_set_read(struct spate_exfat *volume, const struct spate_exfat_chain *directory,
                                      uint32_t offset_bytes, struct exfat_set *set);
enum spate_error spate_exfat_entry_read(struct spate_exfat *volume, struct spate_exfat_chain *directory,
                                        uint32_t offset_bytes, uint8_t *raw);
/* Write entries block by block, each with FUA. The block of the first entry is written last. */
enum spate_error spate_exfat_entries_write(struct spate_exfat *volume, struct exfat_place *place, const uint8_t *raw);
/* Mark entries as unused. The block of the first entry is written first. */
enum spate_error spate_exfat_entries_erase(struct spate_exfat *volume, struct exfat_place *place);
bool spate_exfat_place_equal(const struct exfat_place *a, const struct exfat_place *b);

struct exfat_path {
  struct spate_exfat_chain directory; /* that has, or will have, the last name */
  struct exfat_place self;            /* the directory's own entry set; none for the root */
  struct exfat_name name;
};

/* The next set from *offset_bytes on. After CORRUPT *offset_bytes is after the damage. */
enum spate_error spate_exfat_directory_next(struct spate_exfat *volume, struct spate_exfat_chain *directory,
                                            uint32_t *offset_bytes, struct exfat_set *set, bool *more);
/* The set of that name in the path's directory. CORRUPT: it was not found, but a set could not be read. */
enum spate_error spate_exfat_directory_find(struct spate_exfat *volume, struct exfat_path *path, struct exfat_set *set);
/* OK: the name is free. A damaged set has no name, for other systems either. EXISTS: `set` has the name. */
enum spate_error spate_exfat_name_free(struct spate_exfat *volume, struct exfat_path *path, struct exfat_set *set);
/* Follow all names but the last. INVALID: the path leads through `avoid` (may be NULL). */
enum spate_error spate_exfat_path_walk(struct spate_exfat *volume, const char *text, const struct exfat_place *avoid,
                                       struct exfat_path *path);
/* Walk and find. The root directory has no set: it is found with place.entries 0 and the attribute of a directory. */
enum spate_error spate_exfat_path_find(struct spate_exfat *volume, const char *text, struct exfat_path *path,
                                       struct exfat_set *set);
/* Walk to a new name: it must be free, and one that every system opens. */
enum spate_error spate_exfat_path_new(struct spate_exfat *volume, const char *text, struct exfat_path *path);
/* Find and prepare room for a set of `entries` without growing the directory (NO_SPACE: there is none). Only the set
 * itself has to be written then. */
enum spate_error spate_exfat_slots_find(struct spate_exfat *volume, struct spate_exfat_chain *directory,
                                        uint8_t entries, struct exfat_place *place);
/* The same in the path's directory, which grows if it has to. */
enum spate_error spate_exfat_slots_take(struct spate_exfat *volume, struct exfat_path *path, uint8_t entries,
                                        struct exfat_place *place);
enum spate_error spate_exfat_directory_grow(struct spate_exfat *volume, struct exfat_path *path);

/* ---- search.c: what searches have shown ---- */

/* Of an earlier search for the path's last name; NULL: nothing is known. */
const struct spate_exfat_search *spate_exfat_search_recall(struct spate_exfat *volume, const struct exfat_path *path);
/* A search for it from the directory's beginning has shown that no name of its hash and length is in front of
 * `name_bytes`, and no room for it in front of `room_bytes`. */
void spate_exfat_search_note(struct spate_exfat *volume, const struct exfat_path *path, uint32_t name_bytes,
                             uint32_t room_bytes);
/* No room for a set of so many entries is in front of this offset. */
uint32_t spate_exfat_search_room(const struct spate_exfat *volume, const struct spate_exfat_chain *directory,
                                 uint32_t entries);
/* A set of this name was written there. */
void spate_exfat_search_add(struct spate_exfat *volume, const struct exfat_place *place, const struct exfat_name *name);
/* Some set is about to be written or erased. */
void spate_exfat_search_forget(struct spate_exfat *volume);

/* ---- boot.c ---- */

uint32_t spate_exfat_boot_checksum(uint32_t sum, const uint8_t *block, uint32_t bytes, bool first);
/* Mount without writing, for this reason (WRITABLE: there is none). Of several reasons the first is told. */
void spate_exfat_mount_read_only(struct spate_exfat *volume, struct spate_exfat_mounted *found,
                                 enum spate_exfat_read_only why);
/* Sets found->dirty and found->read_only. */
enum spate_error spate_exfat_boot_read(struct spate_exfat *volume, uint32_t *root_cluster,
                                       struct spate_exfat_mounted *found);
/* Copy the backup over a damaged main region. */
enum spate_error spate_exfat_boot_restore(struct spate_exfat *volume);
/* Before the first change: restore a damaged main region, and clear ClearToZero. */
enum spate_error spate_exfat_boot_repair(struct spate_exfat *volume);
/* VolumeDirty on (once) or off. */
enum spate_error spate_exfat_boot_dirty(struct spate_exfat *volume, bool dirty);

/* ---- record.c, recover.c: what a power cut would leave ---- */

#define EXFAT_RECORD_JOURNAL SPATE_EXFAT_CLIPS_MAX /* the slot of directory changes */
#define EXFAT_RECORD_SLOTS   SPATE_EXFAT_RECORD_BLOCKS

/* One slot of the record, as record.c reads and writes it. */
struct exfat_record {
  uint32_t number; /* counted from write to write: of two files with records the newer one has the highest */
  bool cleared;    /* the slot names nothing; it only has a number */
  bool foreign_dirty;
  uint32_t previous_cluster;         /* the FAT may link it to clusters.first_cluster: not if that is freed. 0: none */
  struct spate_exfat_chain clusters; /* to be freed if no entry owns them */
  struct exfat_place from, to;       /* entry sets that are being removed and made; entries 0: none */
  uint16_t from_checksum, to_checksum;
  /* A clip made of chunks: as in struct spate_exfat_chunks. Its entry set is at `to`. */
  uint8_t stream[16];
  uint64_t first_number;
  uint32_t chunk_bytes; /* 0: not made of chunks, like every directory change */
  uint16_t name_hash;   /* of the clip's name */
};

/* Its fields on the volume, from the start of the slot's block; bytes between them are zeros and mean nothing. Versions
 * up to commit b6997e8 left other values there. */
enum {
  RECORD_MAGIC = 0,
  RECORD_VERSION = 8,
  RECORD_SERIAL = 12, /* of the volume */
  RECORD_PREVIOUS_CLUSTER = 16,
  RECORD_FROM_CHECKSUM = 20,
  RECORD_TO_CHECKSUM = 22,
  RECORD_FOREIGN_DIRTY = 24,
  RECORD_CLEARED = 25,
  RECORD_NAME_HASH = 26,
  RECORD_NUMBER = 28,
  RECORD_CLUSTERS = 32, /* a chain */
  RECORD_FROM = 64,     /* a place */
  RECORD_TO = 104,      /* a place */
  RECORD_STREAM = 144,
  RECORD_FIRST_NUMBER = 160,
  RECORD_CHUNK_BYTES = 168,
  RECORD_CRC = 172, /* CRC-32 of all above */
  RECORD_BYTES = 176,
  /* a chain, and a place, which begins with the chain of its directory */
  RECORD_CHAIN_FIRST_CLUSTER = 0,
  RECORD_CHAIN_BYTES = 16,
  RECORD_CHAIN_CONTIGUOUS = 24,
  RECORD_PLACE_OFFSET = 32,
  RECORD_PLACE_ENTRIES = 36
};

#define EXFAT_RECORD_ENTRIES 3u /* in the file's entry set */
/* The entry set of the record's file of name `number`, whose clusters begin at `first_cluster`. */
void spate_exfat_record_build(uint8_t *raw, uint32_t number, uint32_t first_cluster, uint32_t block_shift,
                              const struct spate_exfat_config *config);
/* Clear VolumeDirty, if none of these slots is in use (no clip is open and nothing has to be recovered) and no
 * contradiction was met. */
enum spate_error spate_exfat_clean(struct spate_exfat *volume, uint32_t slots);
/* Find the file, the slots in use, and whether the volume was dirty before they were written. */
enum spate_error spate_exfat_record_open(struct spate_exfat *volume, struct spate_exfat_mounted *found);
/* Find the file again, or make it: before the first change of another system's volume. */
enum spate_error spate_exfat_record_make(struct spate_exfat *volume);
/* Write the slot, then set VolumeDirty. */
enum spate_error spate_exfat_record_begin(struct spate_exfat *volume, uint32_t slot, struct exfat_record *record);
/* The change that the slot describes is complete and durable: clear VolumeDirty if it was the last one, then the slot.
 */
enum spate_error spate_exfat_record_end(struct spate_exfat *volume, uint32_t slot);
/* Take the description of chunks out of the slots that are in use: nothing is salvaged from them any more. */
enum spate_error spate_exfat_record_forget_chunks(struct spate_exfat *volume);
enum spate_error spate_exfat_record_read(struct spate_exfat *volume, uint32_t slot, struct exfat_record *record,
                                         bool *valid);
/* The highest number in the slots of the file at `lba`; 0: none of this volume was ever written there. MEDIA: some of
 * them could not be read. */
enum spate_error spate_exfat_record_newest(struct spate_exfat *volume, uint64_t lba, uint32_t *number);
/* Mount could not finish a directory change, and the journal still describes it: no other change may overwrite it. */
static inline bool spate_exfat_journal_held(const struct spate_exfat *volume) {
  return (volume->record_unresolved >> EXFAT_RECORD_JOURNAL & 1u) != 0;
}
/* Begin a directory change: write the journal, and set VolumeDirty. */
enum spate_error spate_exfat_journal_begin(struct spate_exfat *volume, struct exfat_record *record);
/* End a directory change that came to `error`. After a failure the journal stays for the next mount. */
enum spate_error spate_exfat_journal_end(struct spate_exfat *volume, enum spate_error error);
enum spate_error spate_exfat_recover(struct spate_exfat *volume, struct spate_exfat_mounted *found);

/* ---- met.c: places that the record names, and what a walk meets there ---- */

struct exfat_met {
  uint32_t first_cluster;   /* of the directory, as recorded; 0: none */
  uint32_t offset_bytes;    /* in the directory */
  uint32_t directory_bytes; /* as the directory is now; 0: the walk has not met it */
  uint8_t entries;          /* as recorded; 0: no place */
  bool contiguous;          /* the directory, as it is now */
  bool whole;               /* the directory has a whole set there */
};

#define EXFAT_MET_TO   EXFAT_RECORD_JOURNAL /* of the journal; below it: of the clips */
#define EXFAT_MET_FROM EXFAT_RECORD_SLOTS
#define EXFAT_PLACES   (EXFAT_RECORD_SLOTS + 1u)

struct exfat_recorded {
  uint32_t previous_cluster; /* of the journal; 0: none */
  bool previous_met;         /* it is the last cluster of a directory */
  struct exfat_met places[EXFAT_PLACES];
};

/* The places that the slots in use name. */
enum spate_error spate_exfat_recorded_read(struct spate_exfat *volume, struct exfat_recorded *recorded);
/* Another walk begins: since the last one, sets may have been erased. */
void spate_exfat_forget_sets(struct exfat_recorded *recorded);
/* The walk meets a directory, whose chain was followed to its end; and a set that is whole. */
enum spate_error spate_exfat_meet_directory(struct spate_exfat *volume, struct exfat_recorded *recorded,
                                            struct spate_exfat_chain *directory);
void spate_exfat_meet_set(struct exfat_recorded *recorded, const struct exfat_place *place);
/* Is this entry in a place of the journal? A secondary entry without a set is then what is left of a set that was being
 * made or removed. */
bool spate_exfat_is_remains(const struct exfat_recorded *recorded, const struct spate_exfat_chain *directory,
                            uint32_t offset_bytes);
/* The directory as it is now. */
void spate_exfat_met_chain(const struct exfat_met *met, struct spate_exfat_chain *directory);

/* ---- owners.c, reclaim.c, shared.c: who owns which clusters ---- */

#define EXFAT_DEPTH_MAX 64u /* nested directories; the walk has its own stack */

struct exfat_level {
  struct spate_exfat_chain directory;
  uint32_t offset_bytes;
};

/* Clusters are counted from the heap's start. */
struct exfat_owners {
  struct spate_exfat *volume;
  struct exfat_recorded *recorded; /* what the walk meets of it is noted there; NULL: nothing */
  bool clips_grew;          /* lengths were published during the walk: it may have missed clusters with two owners */
  bool incomplete;          /* damage, or directories that are too deep: there may be owners that were not met */
  uint32_t first, clusters; /* those with a bit in the section */
  uint32_t shared_first, shared_end; /* clusters with two owners lie between these; end 0: there are none */
  uint64_t freed, kept; /* clusters that spate_exfat_reclaim_chain() freed; that have owners and were kept */
  uint64_t budget;      /* clusters that may still be marked: bounds the walk */
  uint64_t since_ticks; /* when the streams had their last turn */
  uint32_t depth;
  struct exfat_level levels[EXFAT_DEPTH_MAX];
};

static inline uint8_t *spate_exfat_owner_byte(const struct exfat_owners *owners, uint32_t at) {
  return (uint8_t *)owners->volume->config.bitmap + (at - owners->first) / 8u;
}
static inline bool spate_exfat_ownerless(const struct exfat_owners *owners, uint32_t at) {
  return !spate_exfat_bit(*spate_exfat_owner_byte(owners, at), at);
}
/* Walk the tree, and mark the clusters that have an owner, in a section that contains cluster `at`. */
enum spate_error spate_exfat_owners_mark(struct exfat_owners *owners, uint32_t at);
/* Note marked clusters that the bitmap calls free as shared. */
enum spate_error spate_exfat_owners_note_free(struct exfat_owners *owners);

/* The chain's first cluster from `at` on, if it is below *next: into *next. */
enum spate_error spate_exfat_reclaim_next(struct spate_exfat *volume, struct spate_exfat_chain *chain, uint32_t at,
                                          uint32_t *next);
/* Free the chain's clusters in the section that have no owner. */
enum spate_error spate_exfat_reclaim_chain(struct exfat_owners *owners, struct spate_exfat_chain *chain);

/* May other files own clusters of this file's chain? */
enum spate_error spate_exfat_shared_find(struct spate_exfat *volume, struct spate_exfat_chain *chain, bool *shared);
/* Search all areas that were not searched yet. */
enum spate_error spate_exfat_shared_prepare(struct spate_exfat *volume);
/* Free the clusters of a file whose entry set is erased, except those that another file owns. */
enum spate_error spate_exfat_shared_free(struct spate_exfat *volume, struct spate_exfat_chain *chain);

/* ---- change.c ---- */

/* Write `set`, which is `old` with or without another name, to a new place in the directory of `to`, and erase `old`.
 * After a power cut recovery leaves one of both. Sets set->place. */
enum spate_error spate_exfat_set_move(struct spate_exfat *volume, struct exfat_path *to, struct exfat_set *old,
                                      struct exfat_set *set);

/* ---- removal.c ---- */

/* IN_USE: it is an open clip or the record's file, or it is being joined. */
enum spate_error spate_exfat_check_idle(struct spate_exfat *volume, struct exfat_set *set);
/* Does a vendor's entry of the set own clusters? */
bool spate_exfat_has_vendor_clusters(const struct exfat_set *set);
/* Can these clusters be the file's? Adds the tail that would be freed with them to the chain. `shared`: another file
 * may own some of it. */
enum spate_error spate_exfat_removal_check(struct spate_exfat *volume, struct spate_exfat_chain *chain, bool *shared);
/* Free the clusters, which no entry set owns any more. */
enum spate_error spate_exfat_removal_free(struct spate_exfat *volume, struct spate_exfat_chain *chain, bool shared);

/* Is this cluster the first one of the folder that is being joined (join.c)? */
static inline bool spate_exfat_joins(const struct spate_exfat *volume, uint32_t cluster) {
  return cluster != 0 && cluster == volume->joining_cluster;
}

/* ---- file.c ---- */

/* Make open handles to the owner of these clusters stale. */
void spate_exfat_note_deletion(struct spate_exfat *volume, const struct spate_exfat_chain *chain);

/* ---- publish.c, clip.c ---- */

static inline uint8_t *spate_exfat_clip_set(const struct spate_exfat_clip *clip) {
  return clip->block->data + clip->entry_offset;
}
/* Put the length into the image of the clip's block, and seal the set. */
void spate_exfat_clip_put_length(const struct spate_exfat_clip *clip, uint64_t bytes);
/* Report what became of the length under way, if there is one. */
void spate_exfat_clip_end_publish(struct spate_exfat_clip *clip, enum spate_error error);
/* From now on the block stays in memory, and lengths that wait for it are written. */
void spate_exfat_clip_pin(struct spate_exfat_clip *clip);
void spate_exfat_clip_unpin(struct spate_exfat_clip *clip);
bool spate_exfat_clip_open_at(const struct spate_exfat *volume, uint64_t lba, uint32_t offset_in_block);

#endif
