/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exFAT (Microsoft's specification, revision 1.00) for recorders: a volume as extents.
 *
 * A clip is reserved as one run of clusters before its stream begins. While it streams, the volume sees nothing but the
 * clip's data, and now and then one block: the clip's directory entries with a new length. docs/understand/design.md
 * argues why this order survives a power cut at any instant.
 *
 * Paths are UTF-8 with '/' between names, from the root; a leading '/' is allowed. Names compare without case, by the
 * volume's own up-case table. Functions wait for the device (spate_block_do) unless they say otherwise; while one of
 * them waits, any other on the same volume answers BUSY, except the publishing ones, which never wait. The deepest
 * takes 8 KiB of stack, without the device's.
 *
 * What contradicts itself is answered with CORRUPT, and what it does not concern goes on: a damaged entry set keeps
 * nobody from recording beside it. The volume then stays marked dirty, and nothing more is trimmed. Only where the
 * allocation bitmap or the up-case table cannot be believed is nothing new written: every change answers CORRUPT. So it
 * is after a deletion that met a file whose clusters cannot be its own. A change that the device
 * failed half-way answers with the device's error, as do all changes after it, until the volume is unmounted (or
 * abandoned) and the next mount has mended it; clips that are open go on. A volume that is not mounted answers
 * NOT_MOUNTED. The hidden file ".spate" in the root
 * directory holds the record by which mount does that; where a file that cannot be the record has that name, it is
 * ".spate_2", up to ".spate_9" (then: EXISTS). Of several that can be it, the one that was written last is.
 *
 * Mount frees what the record names and no entry owns, and only when it has seen every entry: the tree readable to its
 * end, up to 64 directories deep. Where it has not, the record stays, the clusters stay allocated, and recording goes
 * on; the volume stays dirty. A directory change that mount could not finish keeps further ones waiting: mkdir, delete,
 * rename, and arm where the directory has to grow answer CORRUPT.
 */
#ifndef SPATE_EXFAT_H
#define SPATE_EXFAT_H

#include <spate/block.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPATE_EXFAT_NAME_UNITS_MAX   255u
#define SPATE_EXFAT_NAME_BYTES_MAX   (SPATE_EXFAT_NAME_UNITS_MAX * 3u + 1u) /* UTF-8, with the NUL */
#define SPATE_EXFAT_LABEL_UNITS_MAX  11u
#define SPATE_EXFAT_CLIPS_MAX        16u /* reservations open at once: 8 streams, each with its next clip armed */
#define SPATE_EXFAT_CACHE_BLOCKS_MIN 4u  /* metadata blocks in memory, plus one for each clip armed at once */

struct spate_exfat;
struct spate_exfat_mounted;

struct spate_exfat_time {
  uint16_t year;                            /* 1980 … 2107; what is outside becomes the first or last of these */
  uint8_t month, day, hour, minute, second; /* 1 …, 1 …, 0 … */
  uint8_t centisecond;                      /* 0 … 99 */
  int8_t utc_quarters;                      /* offset from UTC in quarters of an hour, −64 … 63 */
  bool utc_known;
};

/* Where the volume is and which memory it may use. All of it is the caller's and must outlive the mount. */
struct spate_exfat_config {
  struct spate_block *block;
  uint64_t first_lba; /* of the partition */
  uint64_t blocks;    /* in the partition */
  /* Metadata blocks: DMA memory aligned to SPATE_DMA_ALIGN, a multiple of the logical block, at least
   * SPATE_EXFAT_CACHE_BLOCKS_MIN blocks and one more for each clip that is open at once. */
  void *cache;
  size_t cache_bytes;
  /* The allocation bitmap, or a window on it: DMA memory, SPATE_DMA_ALIGN, a multiple of 4096. A window smaller than
   * the bitmap (one byte for 8 clusters) works, and costs reads when arming. */
  void *bitmap;
  size_t bitmap_bytes;
  /* spate_exfat_salvage, where recordings are made of chunks that prove themselves (spate/chunk.h): mount then extends
   * a clip that a cut ended as far as its chunks go. NULL: it keeps its last published length. */
  enum spate_error (*salvage)(struct spate_exfat *volume, struct spate_exfat_mounted *found);
  /* Mount writes nothing, what a power cut left stays for a later mount, and every change answers READ_ONLY. */
  bool read_only;
  /* The board's clock; NULL: 1980-01-01. */
  void (*now)(void *context, struct spate_exfat_time *time);
  void *now_context;
};

struct spate_exfat_format {
  const char *label;      /* UTF-8, up to 11 UTF-16 units; NULL: none */
  uint32_t serial;        /* volume serial number: from a clock or a random source */
  uint32_t cluster_bytes; /* power of two, 1 MiB … 32 MiB; 0: by size (1 MiB up to 256 GiB, 4 MiB to 4 TiB, else 32) */
  uint64_t medium_lba;    /* where block 0 of the device is on its medium: not 0 where the device is itself a partition.
                             Clusters are aligned on the medium, and the boot sector says where the volume lies on it */
};

/* What follows up to the functions is the library's own: shown so that the caller can allocate it. */
#define SPATE_EXFAT_CACHE_BLOCKS_MAX 64u
#define SPATE_EXFAT_DELETIONS_MAX    16u /* remembered; a power of two */

struct spate_exfat;
struct spate_exfat_clip;

/* The clusters of a file or directory. */
struct spate_exfat_chain {
  uint32_t first_cluster;  /* 0: none */
  uint32_t cluster, index; /* where the last lookup in the FAT ended; cluster 0: at none yet */
  uint64_t bytes;          /* DataLength; the root directory: that of its chain */
  uint8_t contiguous;      /* NoFatChain */
};

/* A metadata block in memory. */
struct spate_exfat_block {
  uint64_t lba; /* UINT64_MAX: empty */
  uint8_t *data;
  uint32_t used; /* when: for choosing a victim */
  uint8_t pins;  /* clips whose entry set is in it */
  bool writing;  /* its image is on its way to the drive: do not touch */
  bool claimed;  /* a metadata operation waits for it: publishing stays behind */
  struct spate_io io;
  struct spate_exfat *volume;
  void (*written)(struct spate_exfat_block *block); /* called after a write of the cache's; NULL: nobody waits for it */
};

/* Free clusters, and the longest run of them. */
struct spate_exfat_free {
  uint64_t clusters;
  uint32_t run_first, run_clusters;
};

struct spate_exfat {
  struct spate_exfat_config config;
  const struct spate_exfat *mounted; /* itself, while it is */
  const void *recorder;              /* on it; NULL: none */

  /* geometry, checked by mount */
  uint64_t fat_lba, heap_lba; /* of the device */
  uint32_t cluster_count;     /* they are numbered from 2 */
  uint32_t serial;
  uint32_t block_mask, cluster_mask;  /* bytes − 1 */
  uint8_t block_shift, cluster_shift; /* log2 of bytes */
  uint8_t cluster_blocks_shift;       /* log2 of a cluster's blocks */
  uint8_t active_fat;
  struct spate_exfat_chain root, bitmap, upcase;

  /* state */
  enum spate_error failed; /* a change stopped half-way: no further ones until the next mount mends it */
  bool busy;               /* an operation is in progress */
  bool corrupt;            /* a contradiction was seen: the volume stays dirty, and nothing is trimmed */
  bool untrusted;          /* of such a kind that nothing new is written */
  bool from_backup;        /* the main boot region is to be repaired before the first change, ... */
  bool clear_to_zero;      /* ... and this flag to be cleared */
  bool foreign_dirty;      /* VolumeDirty was not set by us: it stays */
  bool dirty;              /* VolumeDirty is set by us */
  bool unflushed;          /* something was written without FUA */
  uint32_t power_losses;   /* of the device when the operation began */

  /* the window on the allocation bitmap */
  uint32_t window_first_byte, window_bytes; /* 0 bytes: nothing loaded */

  /* free space: counted once, and kept */
  struct spate_exfat_free free;
  bool free_known, run_known; /* how many clusters; which run is the longest, too */
  uint64_t turn_ticks;        /* between two turns of the streams in a long look at the bitmap */

  /* the reservation record */
  uint64_t record_lba;        /* 0: no file yet */
  uint32_t record_number;     /* of the slot that was written last */
  uint32_t record_slots;      /* bit i: slot i holds something, ... */
  uint32_t record_unresolved; /* ... which mount could not put right */

  /* clusters that have two owners, counted from the heap's start, lie between these, where that is known; end 0: none
   */
  uint32_t shared_first, shared_end;
  uint64_t areas_known; /* bit i: of part i of the heap */

  /* the first clusters of what was deleted last, for handles that are still open */
  uint32_t deleted[SPATE_EXFAT_DELETIONS_MAX], deletions;

  struct spate_exfat_clip *clips; /* open ones */
  uint32_t block_count, used_now;
  uint64_t next_lba; /* behind what was read last into the blocks */
  struct spate_exfat_block blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX];
};

/* ---- volume ---- */

/* Make a volume. Everything in the partition is lost. The main boot region is written last. Errors: INVALID, TOO_SMALL,
 * MEMORY, NAME and NAME_LONG (label), OPEN (a volume there is mounted), FULL (four of the device are), and those of the
 * device. */
SPATE_MUST_CHECK enum spate_error spate_exfat_format(const struct spate_exfat_config *config,
                                                     const struct spate_exfat_format *format);

/* What spate_exfat_mount() found and, unless the volume is read only, mended. */
struct spate_exfat_mounted {
  bool backup_boot;      /* the main boot region was damaged: the backup was used */
  bool dirty;            /* the volume was not closed properly */
  uint32_t reservations; /* left by a cut, now given back; on a read-only volume still there */
  uint64_t reclaimed_bytes;
  uint64_t salvaged_bytes; /* by which clips became longer than their last published length */
};

/* Use a volume, ours or anybody's; reclaims reservations that a power cut left. `found` may be NULL. If the tree cannot
 * be read completely nothing is reclaimed, and found->reservations stay for a later mount. A volume of two FATs
 * (TexFAT) of which only the backup boot region is left is read only, as is one whose up-case table has a wrong
 * checksum: changes answer CORRUPT. Errors: NOT_EXFAT,
 * SECTOR_SIZE, CORRUPT, MEMORY, INVALID, OPEN (it is mounted already, here or elsewhere), FULL (four volumes of the
 * device are), and those of the device. */
SPATE_MUST_CHECK enum spate_error spate_exfat_mount(struct spate_exfat *volume, const struct spate_exfat_config *config,
                                                    struct spate_exfat_mounted *found);

/* Everything durable, the volume marked clean, and no longer mounted. IN_USE while a clip is open, BUSY while a
 * function waits. Any other error: it stays marked dirty, and is not mounted any more; CORRUPT: because of a
 * contradiction, or of what mount could not reclaim. */
SPATE_MUST_CHECK enum spate_error spate_exfat_unmount(struct spate_exfat *volume);

/* Give the volume up as it is: with clips that could not be closed, or because the drive is gone. Nothing is written;
 * the next mount finds what a power cut would have left. The clips, and a recorder on the volume, are no longer used.
 */
void spate_exfat_abandon(struct spate_exfat *volume);

struct spate_exfat_info {
  uint64_t bytes, free_bytes;
  uint64_t longest_free_bytes; /* the longest run: what the next clip can have */
  uint32_t cluster_bytes, serial;
  char label[SPATE_EXFAT_LABEL_UNITS_MAX * 3u + 1u];
};

SPATE_MUST_CHECK enum spate_error spate_exfat_info(struct spate_exfat *volume, struct spate_exfat_info *info);

/* The longest free run shared among `shares` clips, in whole clusters: what each can have. */
SPATE_MUST_CHECK enum spate_error spate_exfat_longest_free(struct spate_exfat *volume, uint32_t shares,
                                                           uint64_t *bytes);

/* ---- files and directories ---- */

struct spate_exfat_entry {
  char name[SPATE_EXFAT_NAME_BYTES_MAX]; /* UTF-8; unpaired surrogates become U+FFFD */
  uint64_t bytes;                        /* DataLength */
  uint64_t valid_bytes;                  /* ValidDataLength: beyond it a file reads as zeros */
  uint16_t attributes;                   /* as on disk: 1 read only, 2 hidden, 4 system, 0x10 directory, 0x20 archive */
  bool directory, contiguous;
  struct spate_exfat_time modified;
};

/* Walk a directory: open, then next until *more is false. The walk survives changes made meanwhile in the sense that
 * it never reads outside the directory; an entry changed meanwhile may be seen in either state. CORRUPT with *more
 * true: a damaged entry set, which the next call steps over. */
struct spate_exfat_directory {
  struct spate_exfat *volume; /* private, as are the rest */
  struct spate_exfat_chain chain;
  uint32_t deletions;
  uint32_t offset_bytes;
};

SPATE_MUST_CHECK enum spate_error spate_exfat_list(struct spate_exfat *volume, const char *path,
                                                   struct spate_exfat_directory *directory);
SPATE_MUST_CHECK enum spate_error spate_exfat_list_next(struct spate_exfat_directory *directory,
                                                        struct spate_exfat_entry *entry, bool *more);
SPATE_MUST_CHECK enum spate_error spate_exfat_stat(struct spate_exfat *volume, const char *path,
                                                   struct spate_exfat_entry *entry);

struct spate_exfat_file {
  uint64_t bytes, valid_bytes;
  struct spate_exfat *volume; /* private, as are the next */
  struct spate_exfat_chain chain;
  uint32_t deletions; /* of the volume, when it was known last that this file was not among them */
};

/* A file, or a walk through a directory, that was deleted meanwhile answers STALE, because its clusters may be
 * another's; so does one that was not used during more than SPATE_EXFAT_DELETIONS_MAX deletions, of whatever. */
SPATE_MUST_CHECK enum spate_error spate_exfat_open(struct spate_exfat *volume, const char *path,
                                                   struct spate_exfat_file *file);

/* STALE, or OK. For those who read the extents of a file themselves: ask when a read of them has completed. */
SPATE_MUST_CHECK enum spate_error spate_exfat_check(struct spate_exfat_file *file);

/* Read into any memory through the cache, waiting; *got < bytes only at the end. For bulk data use extents. */
SPATE_MUST_CHECK enum spate_error spate_exfat_read(struct spate_exfat_file *file, uint64_t offset_bytes, void *to,
                                                   size_t bytes, size_t *got);

/* Where the file's bytes from `offset_bytes` (a multiple of the logical block) lie: a run of `blocks` blocks at `lba`
 * of the device, up to the end of the run or the file's last valid block; no blocks from there on. INVALID: unaligned.
 */
SPATE_MUST_CHECK enum spate_error spate_exfat_extent(struct spate_exfat_file *file, uint64_t offset_bytes,
                                                     uint64_t *lba, uint64_t *blocks);

SPATE_MUST_CHECK enum spate_error spate_exfat_mkdir(struct spate_exfat *volume, const char *path);
/* A file, or an empty directory. Its blocks are trimmed last, when the deletion is durable; not on a volume that others
 * left dirty, where two files may share them. IN_USE: an open clip, or a directory that holds one; PROTECTED: it is
 * marked read only; UNSUPPORTED: an entry with clusters of a kind this library does not know; CORRUPT: clusters that
 * cannot be the file's (free, the volume's own, those of an open clip, or a chain that breaks), or a tree of
 * directories that leads back into itself many times over, and nothing was written. Works on a volume of others that
 * has no room for the record's file: a cut may then leave the file's clusters allocated and owned by nobody.
 *
 * Clusters that another file owns, too, stay allocated and with it, and the volume stays marked dirty. Such clusters
 * are looked for once in a mount, before its first deletion, by one walk through all entry sets: about 25 ms for 10 000
 * files in one run each, and for files in pieces the time to read their part of the FAT. Where the window is smaller
 * than the bitmap there is such a walk for each part of the volume in which something is deleted, once, at most 64
 * parts. Streams are served meanwhile, but no clip can be armed: where clips roll over, delete something before
 * recording, or give the bitmap a window of its size. A damaged entry set owns nothing, and directories more than 64
 * deep are not looked into. What cannot be read for the device's error ends the deletion with that error, and nothing
 * was written. Clusters in the chain behind the file's length are freed with the file. */
SPATE_MUST_CHECK enum spate_error spate_exfat_delete(struct spate_exfat *volume, const char *path);
/* Rename, move, or both. After a cut, the next mount leaves the file under the old name or the new; never both, never
 * neither. IN_USE: an open clip, or a directory while any clip is open. INVALID: a directory into itself. NO_SPACE,
 * FRAGMENTED: there is no room for the record's file, and the new name does not fit in the old one's place. */
SPATE_MUST_CHECK enum spate_error spate_exfat_rename(struct spate_exfat *volume, const char *from, const char *to);

/* ---- clips ---- */

/*
 * A file that is being recorded. Set by spate_exfat_arm(); in place until closed. The data go to
 * [first_lba, first_lba + reserved_bytes) of the device by whoever streams; this layer never sees them.
 */
struct spate_exfat_clip {
  uint64_t first_lba;
  uint64_t reserved_bytes;  /* a multiple of the cluster */
  uint64_t published_bytes; /* durable length: what a power cut leaves */
  /* private */
  struct spate_exfat *volume;
  struct spate_exfat_clip *next;
  struct spate_exfat_block *block; /* pinned: holds the entry set */
  uint32_t first_cluster, clusters;
  uint64_t wanted_bytes;        /* the length that was handed over last */
  uint64_t writing_bytes;       /* the length in the image on its way to the drive; 0: none */
  enum spate_error write_error; /* what became of wanted_bytes; OK also once it was answered */
  uint16_t entry_offset;        /* of the entry set in the block */
  uint8_t entries;
  uint8_t record; /* its slot of the reservation record */
  bool waiting;   /* wanted_bytes is in no image yet */
};

/*
 * Create an empty file and reserve one run of clusters for it: `bytes` rounded up, or with 0 the longest free run.
 * On return everything is durable, and a power cut before the first publish costs nothing but the empty file. Missing
 * directories are NOT_FOUND. The name must leave the entry set inside one logical block: 210 UTF-16 units on 512-byte
 * blocks. Errors also: EXISTS, NO_SPACE, FRAGMENTED (enough in all, but no such run), FULL (clips or cache blocks).
 */
SPATE_MUST_CHECK enum spate_error spate_exfat_arm(struct spate_exfat *volume, struct spate_exfat_clip *clip,
                                                  const char *path, uint64_t bytes);

/* A recording made of chunks: see spate/chunk.h. */
struct spate_exfat_chunks {
  uint8_t stream[16];    /* in every header: no other recording on the volume has it */
  uint32_t chunk_bytes;  /* of every piece but the last: a multiple of the logical block */
  uint64_t first_number; /* lower numbers are of earlier clips of the stream */
};

/* The same for such a recording: the reservation record says how to tell its chunks from what lay there before. */
SPATE_MUST_CHECK enum spate_error spate_exfat_arm_chunks(struct spate_exfat *volume, struct spate_exfat_clip *clip,
                                                         const char *path, uint64_t bytes,
                                                         const struct spate_exfat_chunks *chunks);

/* For spate_exfat_config.salvage; not to be called otherwise. Its own hook, so that firmware without chunks does not
 * carry it. Reads the data past the last published length: seconds of it at most. */
SPATE_MUST_CHECK enum spate_error spate_exfat_salvage(struct spate_exfat *volume, struct spate_exfat_mounted *found);

/*
 * Make `bytes` the file's length, without waiting: one FUA write of one block, now or when the block's present write
 * is done. The caller has seen every one of these bytes completed, and a FLUSH submitted after that completed (where
 * the device has a volatile cache). Lengths only grow (INVALID). Call it again with the same length until it answers
 * OK: the length is durable.
 *
 * BUSY: the write is under way. FULL: the device has no room for it yet. Any other error: the write failed; the next
 * call starts another one. May be called while another function of the volume waits.
 */
SPATE_MUST_CHECK enum spate_error spate_exfat_publish(struct spate_exfat_clip *clip, uint64_t bytes);

/*
 * The stream is over and drained: flush, final length and time, give back what was reserved and not used, flush, mark
 * the volume clean if this was the last clip, trim the tail last. On an error the clip stays open and the volume dirty.
 */
SPATE_MUST_CHECK enum spate_error spate_exfat_close(struct spate_exfat_clip *clip, uint64_t bytes);

/* Close a clip of which nothing was published, and leave no file. On an error the clip stays open, as in close. */
SPATE_MUST_CHECK enum spate_error spate_exfat_discard(struct spate_exfat_clip *clip);

#ifdef __cplusplus
}
#endif
#endif
