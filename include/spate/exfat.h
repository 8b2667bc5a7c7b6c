/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exFAT (Microsoft's specification, revision 1.00) for recorders.
 *
 * A clip is reserved as one run of clusters before its stream begins. While it streams, it needs only its data and now
 * and then one block: its directory entries with a new length. docs/understand/design.md argues why this order survives
 * a power cut at any instant.
 *
 * Paths are UTF-8 with '/' between names, from the root; a leading '/' is allowed. Names compare without case, by the
 * volume's own up-case table. Functions wait for the device (spate_block_do) unless they say otherwise. While one of
 * them waits, any other on the same volume returns BUSY. spate_exfat_publish() never waits, may be called at any time,
 * and returns BUSY for other reasons. The functions need up to 8 KiB of stack, and what the device needs.
 *
 * The comments below refer to three groups of errors:
 *
 * Errors of the path: NAME, NAME_LONG, NOT_FOUND, NOT_DIRECTORY (a name before the last is that of a file).
 *
 * Errors of the volume: BUSY (another function waits), NOT_MOUNTED, CORRUPT (damage), and those of the device.
 *
 * Errors of the change: READ_ONLY (spate_exfat_mounted.read_only), POWER_LOST (the drive lost power meanwhile), MEDIA
 * (the record cannot be read: see below), and those of the volume.
 *
 * Damage. A function that meets a contradiction returns CORRUPT, and the volume stays marked dirty and is no longer
 * trimmed. Everything else continues: a damaged entry set does not prevent recording beside it. Two kinds of damage end
 * all changes, which then return CORRUPT: an allocation bitmap or up-case table that cannot be trusted, and a file to
 * be deleted or joined whose clusters cannot be its own.
 *
 * A change that failed half-way returns the device's error, and so do all later changes, until the volume is unmounted
 * or abandoned, and the next mount has repaired it. Open clips continue.
 *
 * The reservation record. The hidden file ".spate" in the root directory says what an interrupted change has to free or
 * finish. If another file has this name, the record is ".spate_2", up to ".spate_9" (then: EXISTS). Of several files
 * that can be the record, the one that was written last is the record. Mount frees what the record names and no entry
 * owns, but only if it can read the whole tree, up to 64 directories deep. Otherwise the record stays, the clusters
 * stay allocated, the volume stays dirty, and recording continues. If mount could not finish a directory change,
 * further ones return CORRUPT: mkdir, delete, rename, and arm where the directory has to grow.
 *
 * A block of the record that the device cannot read (MEDIA) does not prevent the mount. On a volume that is marked
 * clean nothing is unfinished: mount writes the block again. On a dirty one the block may name what is unfinished:
 * mount recovers nothing, as above, and what is deleted is not trimmed. The next mount that can read the block recovers
 * everything. If none can, check the volume on a PC, which marks it clean. Not every checker frees clusters without an
 * owner (fsck.exfat 1.2.0 does not): if space is missing after that, copy the files, and format the volume. If the
 * device cannot read where the record is, or blocks of two files that can be it, the volume can be read, and changes
 * return MEDIA until the next mount.
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
#define SPATE_EXFAT_CLIPS_MAX        16u /* clips open at once: 8 streams, each with its next clip armed */
#define SPATE_EXFAT_RECORD_BLOCKS    (SPATE_EXFAT_CLIPS_MAX + 1u) /* one for each clip, and one for directory changes */
#define SPATE_EXFAT_CACHE_BLOCKS_MIN 4u /* metadata blocks in memory, and one more for each open clip */
#define SPATE_EXFAT_CACHE_BLOCKS_MAX 64u

struct spate_exfat;
struct spate_exfat_block;
struct spate_exfat_mounted;

/* A local time, and its offset from UTC if it is known. */
struct spate_exfat_time {
  uint16_t year;                            /* 1980 … 2107; other years become the first or the last of these */
  uint8_t month, day, hour, minute, second; /* 1 …, 1 …, 0 … */
  uint8_t centisecond;                      /* 0 … 99 */
  int8_t utc_quarters;                      /* offset from UTC in quarters of an hour, −64 … 63 */
  bool utc_known;
};

/* Where the volume is, and which memory it may use: the caller's, valid as long as the volume is mounted. */
struct spate_exfat_config {
  struct spate_block *block;
  uint64_t first_lba; /* of the partition */
  uint64_t blocks;    /* in the partition */
  /* Metadata blocks: DMA memory aligned to SPATE_DMA_ALIGN, a multiple of the logical block, at least
   * SPATE_EXFAT_CACHE_BLOCKS_MIN blocks, and one more for each open clip. */
  void *cache;
  size_t cache_bytes;
  /* What the library knows of these blocks, in ordinary memory: one for each. If there are fewer, the other blocks are
   * not used. */
  struct spate_exfat_block *cache_blocks;
  uint32_t cache_block_count;
  /* For the allocation bitmap, or a section of it: DMA memory, SPATE_DMA_ALIGN, a multiple of 4096. Memory smaller than
   * the bitmap (one byte for 8 clusters) works, and costs reads when arming. */
  void *bitmap;
  size_t bitmap_bytes;
  /* spate_exfat_salvage, if recordings are made of chunks (spate/chunk.h): mount then extends a clip that a power cut
   * ended by the chunks that follow its last published length. NULL: it keeps that length. */
  enum spate_error (*salvage)(struct spate_exfat *volume, struct spate_exfat_mounted *found);
  /* Mount writes nothing and does not recover, and every change returns READ_ONLY. */
  bool read_only;
  /* The board's clock; NULL: 1980-01-01. */
  void (*now)(void *context, struct spate_exfat_time *time);
  void *now_context;
};

/* What a new volume gets. */
struct spate_exfat_format {
  const char *label;      /* UTF-8, up to 11 UTF-16 units; NULL: none */
  uint32_t serial;        /* volume serial number: from a clock or a random source */
  uint32_t cluster_bytes; /* power of two, 1 MiB … 32 MiB; 0: by size (1 MiB up to 256 GiB, 4 MiB to 4 TiB, else 32) */
  uint64_t media_lba;     /* where block 0 of the device is on its media: not 0 where the device is itself a partition.
                             Clusters are aligned on the media, and the boot sector says where the volume lies on it */
};

/* The objects that the caller allocates: struct spate_exfat, a volume, and struct spate_exfat_block, for
 * config.cache_blocks. All their fields are private. */
#include <spate/private/exfat.h>

/* ---- volume ---- */

/* Make an empty volume. Everything in the partition is lost. The main boot region is written last. Errors: INVALID
 * (also for more than 2^32 − 11 clusters: choose larger ones), TOO_SMALL, MEMORY, NAME and NAME_LONG (label), OPEN (a
 * volume there is mounted), FULL (four of the device are), and those of the device. */
SPATE_MUST_CHECK enum spate_error spate_exfat_format(const struct spate_exfat_config *config,
                                                     const struct spate_exfat_format *format);

/* Why a volume is read only although the caller did not ask for it: writing to it could destroy something. */
enum spate_exfat_read_only {
  SPATE_EXFAT_WRITABLE,
  SPATE_EXFAT_TWO_FATS,      /* two FATs (TexFAT), and only the backup boot region, which may name the wrong one */
  SPATE_EXFAT_ONLY_BACKUP,   /* the main boot region was overwritten: perhaps by another file system, array or swap */
  SPATE_EXFAT_TOO_LONG,      /* it is longer than the partition. For a file with clusters past the end: CORRUPT */
  SPATE_EXFAT_ROOT,          /* the root directory's chain is broken: only its first cluster is read */
  SPATE_EXFAT_SECTORS,       /* its sectors are several blocks of the device, so that a power cut could tear one */
  SPATE_EXFAT_UPCASE,        /* the up-case table is missing, damaged or cannot be read: names may not be found */
  SPATE_EXFAT_NO_BITMAP,     /* the allocation bitmap is missing, or too short */
  SPATE_EXFAT_SYSTEM_FREE,   /* clusters of root directory, bitmap or up-case table are free in the bitmap */
  SPATE_EXFAT_BITMAP_UNREAD, /* the part of the bitmap that has these clusters cannot be read, or its chain is broken */
};

/* What spate_exfat_mount() found, and repaired unless the volume is read only. */
struct spate_exfat_mounted {
  bool backup_boot;      /* the main boot region was damaged: the backup was used */
  bool dirty;            /* the volume was not closed properly */
  uint32_t reservations; /* that a power cut left; now recovered, but on a read-only volume still there */
  uint64_t reclaimed_bytes;
  uint64_t salvaged_bytes; /* that clips are longer than their last published length */
  uint32_t record_unread;  /* blocks of the reservation record that the device cannot read */
  uint8_t read_only;       /* enum spate_exfat_read_only: why nothing can be changed */
};

/* Use a volume that this library or another system made, and recover what a power cut left. `found` may be NULL. If the
 * tree or the record cannot be read completely, nothing is reclaimed, and found->reservations stay for a later mount.
 * A volume to which a change could do harm is read only, as with config.read_only: found->read_only says why.
 * Errors: NOT_EXFAT, SECTOR_SIZE (its sectors are smaller than the device's blocks), CORRUPT, MEMORY, INVALID, OPEN (it
 * is mounted already, here or elsewhere), FULL (four volumes of the device are mounted), POWER_LOST (the drive lost
 * power while the volume was repaired: mount it again), MEDIA, and those of the device. */
SPATE_MUST_CHECK enum spate_error spate_exfat_mount(struct spate_exfat *volume, const struct spate_exfat_config *config,
                                                    struct spate_exfat_mounted *found);

/*
 * Mount for a program that only records, on a volume that spate_exfat_format() made or this library has recorded on.
 * What needs a search or a repair is left to spate_exfat_mount(), and is not linked (docs/use/library.md):
 *
 * - What a power cut left is not recovered. It stays allocated and recorded, and found->reservations counts it. New
 *   clips are recorded beside it. Each cut may use up one of the SPATE_EXFAT_CLIPS_MAX blocks of the record for each
 *   clip that was open; without a free block arm returns FULL. The volume stays marked dirty, so unmount returns
 *   CORRUPT. The next spate_exfat_mount() recovers all of it.
 * - That mount salvages, too, unless the clip was renamed, moved, joined or deleted, or a checker has marked the volume
 *   clean.
 * - If the power cut interrupted a directory change, further ones return CORRUPT: mkdir, delete and rename.
 * - Directories do not grow: a change that needs another cluster in one returns NO_SPACE.
 *
 * Errors: UNSUPPORTED (the volume has no reservation record), MEDIA (the record cannot be read, unless the volume is
 * mounted `read_only`; or the main boot region), NOT_EXFAT (there is no main boot region), and otherwise as
 * spate_exfat_mount(). After the first three, mount it with spate_exfat_mount(). If it had no record, change something
 * on it.
 */
SPATE_MUST_CHECK enum spate_error spate_exfat_mount_own(struct spate_exfat *volume,
                                                        const struct spate_exfat_config *config,
                                                        struct spate_exfat_mounted *found);

/* Mark the volume clean, and unmount it. Its metadata and the data of closed clips are durable already. Errors: IN_USE
 * (a clip is open), BUSY (a function waits), NOT_MOUNTED. After any other error the volume is unmounted, and stays
 * marked dirty: CORRUPT (a contradiction, or mount could not recover everything), and the error of a change that failed
 * earlier or now, one of the errors of the change. */
SPATE_MUST_CHECK enum spate_error spate_exfat_unmount(struct spate_exfat *volume);

/* Unmount without writing: because clips could not be closed, or because the drive is gone. The next mount finds what a
 * power cut would have left. Clips and a recorder on the volume must not be used afterwards. It waits for lengths
 * that are being written (spate_exfat_publish()), until the device has ended these requests, and reports those that
 * waited: clips, streams and recorder must exist until it returns. Requests of a recorder still use the recorder, its
 * streams and their pieces: keep this memory until the device has ended them. */
void spate_exfat_abandon(struct spate_exfat *volume);

/* While an operation on a volume of this device waits, `turn` is called: see while_waiting in spate/block.h. It ends
 * with spate_exfat_leave_turns(), and with the volume. `context` tells whose turns they are.
 * Errors: INVALID (no turn or no context), NOT_MOUNTED, OPEN (another has the turns of this device). A recorder takes
 * them while it is open. */
SPATE_MUST_CHECK enum spate_error spate_exfat_take_turns(struct spate_exfat *volume, void (*turn)(void *context),
                                                         void *context);

/* End the turns of this context. Does nothing if they are another's. */
void spate_exfat_leave_turns(struct spate_exfat *volume, const void *context);

/* Size, free space and label of a volume. */
struct spate_exfat_info {
  uint64_t bytes, free_bytes;
  uint64_t longest_free_bytes; /* the longest run: what the next clip can have */
  uint32_t cluster_bytes, serial;
  char label[SPATE_EXFAT_LABEL_UNITS_MAX * 3u + 1u];
};

/* Read them. The first call scans the bitmap for free space. Errors: those of the volume. */
SPATE_MUST_CHECK enum spate_error spate_exfat_info(struct spate_exfat *volume, struct spate_exfat_info *info);

/* The first run of free clusters that begins at or after block `from_lba` of the device: `blocks` blocks at `lba`. 0
 * blocks: there is none. Errors: those of the volume. */
SPATE_MUST_CHECK enum spate_error spate_exfat_free_run(struct spate_exfat *volume, uint64_t from_lba, uint64_t *lba,
                                                       uint64_t *blocks);

/* The longest free run divided by `shares`, in whole clusters: what each of so many clips can have. Errors: those of
 * the volume. */
SPATE_MUST_CHECK enum spate_error spate_exfat_longest_free(struct spate_exfat *volume, uint32_t shares,
                                                           uint64_t *bytes);

/* ---- files and directories ---- */

/* What a directory says of a file or a directory. */
struct spate_exfat_entry {
  /* UTF-8, which the functions below take as part of a path (but for "." and "..", which are no names). U+FFFD stands
   * for a character that cannot be shown: a control character, a slash, an unpaired surrogate. In a path it also
   * matches any of them, if no file has U+FFFD itself there. If several files are shown so, the error is NAME. */
  char name[SPATE_EXFAT_NAME_BYTES_MAX];
  uint64_t bytes;       /* DataLength */
  uint64_t valid_bytes; /* ValidDataLength: beyond it a file reads as zeros */
  uint16_t attributes;  /* as on disk: 1 read only, 2 hidden, 4 system, 0x10 directory, 0x20 archive */
  bool directory, contiguous;
  uint32_t first_cluster; /* 0: none */
  struct spate_exfat_time created, modified;
  uint32_t deletions; /* private */
};

/* A walk through a directory: list, then next until *more is false. The directory may change meanwhile: the walk never
 * reads outside of it, and sees a changed entry as it was or as it is. */
struct spate_exfat_directory {
  struct spate_exfat *volume; /* private, as are the rest */
  struct spate_exfat_chain chain;
  uint32_t deletions;
  uint32_t offset_bytes;
};

/* Begin a walk. Errors: NOT_DIRECTORY (it is a file), those of the path and those of the volume. */
SPATE_MUST_CHECK enum spate_error spate_exfat_list(struct spate_exfat *volume, const char *path,
                                                   struct spate_exfat_directory *directory);

/* The next entry; *more false: there is none. Errors: CORRUPT with *more true (a damaged entry set: the next call skips
 * it; entry->name has its name if only its clusters or lengths are impossible, and is "" otherwise), STALE (the
 * directory was deleted), and those of the volume, which end the walk. */
SPATE_MUST_CHECK enum spate_error spate_exfat_list_next(struct spate_exfat_directory *directory,
                                                        struct spate_exfat_entry *entry, bool *more);

/* The entry of a path. Errors: CORRUPT (entry->name as with a walk), those of the path and those of the volume. */
SPATE_MUST_CHECK enum spate_error spate_exfat_stat(struct spate_exfat *volume, const char *path,
                                                   struct spate_exfat_entry *entry);

/* Begin a walk through a directory that another walk has returned, without a search by its name, as it was then. If it
 * was deleted, spate_exfat_list_next() says so. Errors: NOT_DIRECTORY, CORRUPT. */
SPATE_MUST_CHECK enum spate_error spate_exfat_list_entry(struct spate_exfat *volume,
                                                         const struct spate_exfat_entry *entry,
                                                         struct spate_exfat_directory *directory);

/* An open file. It needs no close. */
struct spate_exfat_file {
  uint64_t bytes, valid_bytes;
  struct spate_exfat *volume; /* private, as are the next */
  struct spate_exfat_chain chain;
  uint32_t deletions; /* the volume's count when this file was last known not to be deleted */
};

/* Open a file for reading. Errors: IS_DIRECTORY, those of the path and those of the volume. */
SPATE_MUST_CHECK enum spate_error spate_exfat_open(struct spate_exfat *volume, const char *path,
                                                   struct spate_exfat_file *file);

/* Open a file that a walk has returned, without a search by its name, as it was then. A directory can be opened, too:
 * its contents are its entries. If it was deleted, the calls below say so. Errors: CORRUPT. */
SPATE_MUST_CHECK enum spate_error spate_exfat_open_entry(struct spate_exfat *volume,
                                                         const struct spate_exfat_entry *entry,
                                                         struct spate_exfat_file *file);

/* Check that a file is still the one that was opened. For callers that read a file's extents by themselves: call it
 * after each read has completed. Errors: STALE (the file was deleted, and its clusters may belong to another file; or
 * it was not used during more than SPATE_EXFAT_DELETIONS_MAX deletions on the volume). */
SPATE_MUST_CHECK enum spate_error spate_exfat_check(struct spate_exfat_file *file);

/* Read into any memory through the cache. Waits. *got < bytes only at the file's end, or after an error. For bulk data
 * use extents. Errors: STALE, and those of the volume. */
SPATE_MUST_CHECK enum spate_error spate_exfat_read(struct spate_exfat_file *file, uint64_t offset_bytes, void *to,
                                                   size_t bytes, size_t *got);

/* Where the file's bytes from `offset_bytes` on lie: `blocks` blocks at `lba` of the device, up to the end of the run
 * or of the file's valid bytes. 0 blocks: there are none from there on. Errors: INVALID (`offset_bytes` is not a
 * multiple of the logical block), STALE, and those of the volume. */
SPATE_MUST_CHECK enum spate_error spate_exfat_extent(struct spate_exfat_file *file, uint64_t offset_bytes,
                                                     uint64_t *lba, uint64_t *blocks);

/* Make an empty directory of one cluster. On return it is durable. Errors: EXISTS (the name; or no name is free for the
 * record), NO_SPACE, FRAGMENTED (no room for the directory, its entry or the record), IN_USE (the directory above is
 * being joined), those of the path and those of the change. */
SPATE_MUST_CHECK enum spate_error spate_exfat_mkdir(struct spate_exfat *volume, const char *path);

/*
 * Delete a file, or an empty directory. Its blocks are trimmed last, when the deletion is durable. They are not trimmed
 * on a volume that another system left dirty, because two files may share them. Clusters in the chain past the file's
 * length are freed with the file. Works on a volume of another system that has no room for the record's file; a power
 * cut may then leave the file's clusters allocated without an owner.
 *
 * Errors: IN_USE (an open clip, a directory that holds one, or part of a join), PROTECTED (it is marked read only),
 * NOT_EMPTY, INVALID (the root directory), UNSUPPORTED (it has an entry with clusters of a kind that this library does
 * not know), CORRUPT, and nothing was written (clusters that cannot be the file's: free, the volume's own, those of an
 * open clip, or a broken chain; or a tree of directories that leads back into itself many times over), those of the
 * path and those of the change.
 *
 * Clusters that another file owns as well stay allocated, and the volume stays marked dirty. The first deletion after a
 * mount searches for such clusters, by one walk through all entry sets: about 25 ms for 10 000 files of one run each,
 * and for fragmented files the time to read their share of the FAT. If the memory for the bitmap is smaller than the
 * bitmap, the volume has up to 64 sections, and there is such a walk for each section in which something is deleted,
 * once. Streams are served meanwhile, but no clip can be armed: if clips roll over, delete something before recording,
 * or supply memory for the whole bitmap. A damaged entry set owns nothing, and directories more than 64 deep are not
 * searched. If the device cannot read a block, the deletion ends with its error, and nothing was written.
 */
SPATE_MUST_CHECK enum spate_error spate_exfat_delete(struct spate_exfat *volume, const char *path);

/* The same without TRIM, which stalls some drives: for a recorder that deletes its oldest file while it streams. */
SPATE_MUST_CHECK enum spate_error spate_exfat_delete_untrimmed(struct spate_exfat *volume, const char *path);

/* Search now, in the whole volume, for clusters that two files own, so that no later deletion has to: call it before
 * the streams begin. What is found is no error, and is handled when a file that owns such clusters is deleted. Errors:
 * those of the change; CORRUPT as from a deletion. */
SPATE_MUST_CHECK enum spate_error spate_exfat_prepare_deletions(struct spate_exfat *volume);

/*
 * Set or clear the attribute "read only" of a file or directory, with one write of one block. A protected file cannot
 * be deleted. It can be renamed, and joined with others.
 *
 * Errors: IN_USE (an open clip, or part of a join), INVALID (the root directory), CORRUPT (mount could not finish a
 * directory change, and the journal still names entry sets), those of the path and those of the change.
 */
SPATE_MUST_CHECK enum spate_error spate_exfat_protect(struct spate_exfat *volume, const char *path, bool on);

/* Rename, move, or both. After a power cut and the next mount the file has the old name or the new one, never both and
 * never none. Errors: EXISTS (the new name), IN_USE (an open clip, a directory while any clip is open or any folder is
 * being joined, or a new place that is being joined), INVALID (the root directory, or a directory into itself),
 * NO_SPACE, FRAGMENTED, EXISTS (there is no room or no name for the record's file, and the new name does not fit in the
 * old one's place), those of the path and those of the change. */
SPATE_MUST_CHECK enum spate_error spate_exfat_rename(struct spate_exfat *volume, const char *from, const char *to);

/* ---- joining ---- */

/*
 * The files of a folder become one file with the folder's name and place: its data are theirs, in the order of the
 * folder's entries. Not a byte is copied: the FAT links their clusters (specification, 4.1), and one write of one block
 * turns the folder into the file. A power cut at any instant, and the next mount, leave the folder with all its files
 * or the whole file. The file's creation is that of the first part, its modification that of the last one. It is read
 * only if one of its parts was.
 *
 * spate_exfat_join_begin() checks all of it and writes nothing. Then call spate_exfat_join_work() until *more is false.
 * Each call writes at most 64 blocks of the FAT, the last one flushes and writes a few more blocks. If the drive may
 * have lost power since begin, the links are written again from the first on, and linked_bytes falls to 0. Between two
 * calls the volume can be used as always: record, delete, rename. But the folder and its files cannot be deleted,
 * renamed or protected, no directory can be renamed, and nothing new is made in the folder: IN_USE. A join ends when
 * *more is false, with any error of work except BUSY, with spate_exfat_join_cancel(), or when the volume is unmounted.
 * If it ends before the last call has changed the folder, the folder is as before. After that change, handles of the
 * folder and of the parts return STALE, and the folder's own clusters are free. They are not trimmed.
 *
 * A file of many clusters in a chain is slower to seek in than its parts, on every system.
 */
struct spate_exfat_join {
  uint64_t bytes, linked_bytes; /* of all parts; of those, in the chain so far */
  uint32_t parts;
  /* private */
  uint32_t crc;               /* of the parts' entry sets */
  struct spate_exfat *volume; /* NULL: the join has ended */
  const char *path;
  struct spate_exfat_chain folder;
  uint32_t offset_bytes;            /* in the folder, of what follows the next part */
  uint32_t first, clusters, linked; /* the part that is being linked */
  uint32_t next_first, next_clusters;
  uint32_t power_mark; /* of the device before the first link */
  uint32_t link_tries;
};

/*
 * Begin a join. `path` stays in place until the join has ended.
 *
 * Errors: NOT_DIRECTORY (a file), IN_USE (an open clip in the folder, or another join on this volume), PROTECTED (the
 * folder, not a part, is read only). INVALID: the root directory; an empty folder; or one with something else than
 * parts: a directory, an empty file, one whose valid_bytes are fewer than its bytes, one with clusters of a kind that
 * this library does not know, one before the last that does not end at the end of a cluster, or one that was created
 * before its predecessor, so that the order of the entries is not that of the recording. UNSUPPORTED: a part whose
 * clusters the FAT links already (not contiguous). CORRUPT: clusters that cannot be a part's, as from a deletion, or
 * that another file owns or may own; a damaged entry set; or mount could not finish a directory change. NO_SPACE,
 * FRAGMENTED, EXISTS: the volume has no record, and no room for one. STALE: the folder changed meanwhile. Those of the
 * path and those of the change.
 */
SPATE_MUST_CHECK enum spate_error spate_exfat_join_begin(struct spate_exfat *volume, struct spate_exfat_join *join,
                                                         const char *path);

/* The same for a program that has placed the parts in the folder one after the other, and knows their order. Their
 * times of creation do not matter: the board's clock may have been set meanwhile. */
SPATE_MUST_CHECK enum spate_error spate_exfat_join_begin_placed(struct spate_exfat *volume,
                                                                struct spate_exfat_join *join, const char *path);

/*
 * Continue a join by one step.
 *
 * Errors: BUSY (call again), INVALID (the join has ended). After STALE, NO_SPACE, FRAGMENTED and POWER_LOST nothing has
 * changed. STALE: the folder is not what begin saw, or the volume was mounted again. NO_SPACE, FRAGMENTED: another
 * system has placed the folder's entry set so that it has to be moved, and the directory above is full and cannot grow
 * (it does not on a volume of spate_exfat_mount_own()). POWER_LOST: the drive may have lost power four times. CORRUPT,
 * those of spate_exfat_join_begin() if another program changed the folder, and those of the change.
 */
SPATE_MUST_CHECK enum spate_error spate_exfat_join_work(struct spate_exfat_join *join, bool *more);

/* End a join that work has not ended. Not while another function of the volume waits. */
void spate_exfat_join_cancel(struct spate_exfat_join *join);

/* ---- clips ---- */

/* What became of a length (spate_exfat_publish()). OK: it is durable. FULL: the device had no room for the write,
 * publish the length again. NOT_MOUNTED: the volume was abandoned before the write began. Others: the device's error,
 * the write failed. It must not wait, and may publish a length. */
typedef void spate_exfat_published(void *context, enum spate_error error);

/*
 * A file that is being recorded. Set by spate_exfat_arm(), and not moved in memory until it is closed. The caller
 * writes the data to the device by itself: from first_lba on, at most reserved_bytes.
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
  uint64_t wanted_bytes;       /* the length that was handed over last */
  spate_exfat_published *done; /* of the length under way; NULL: none is */
  void *context;
  uint16_t entry_offset; /* of the entry set in the block */
  uint8_t entries;
  uint8_t record; /* its block of the reservation record */
  bool waiting;   /* wanted_bytes is in no image yet */
  bool ending;    /* it is being closed or discarded: it takes no more lengths */
};

/*
 * Create an empty file and reserve one run of clusters for it: `bytes` rounded up, or with 0 the longest free run.
 * On return everything is durable: a power cut before the first publish leaves an empty file and no lost clusters. The
 * entry set must fit into one logical block, so a name has at most 210 UTF-16 units on 512-byte blocks. Errors:
 * NOT_FOUND (the directory), IN_USE (the directory is being joined), EXISTS, NAME_LONG, NO_SPACE, FRAGMENTED (enough is
 * free, but not in one run), FULL (no more clips, or no cache block for this one), those of the path and those of the
 * change.
 */
SPATE_MUST_CHECK enum spate_error spate_exfat_arm(struct spate_exfat *volume, struct spate_exfat_clip *clip,
                                                  const char *path, uint64_t bytes);

/* A recording made of chunks: see spate/chunk.h. */
struct spate_exfat_chunks {
  uint8_t stream[16];    /* in every header; no other recording on the volume has the same */
  uint32_t chunk_bytes;  /* of every piece but the last: a multiple of the logical block */
  uint64_t first_number; /* lower numbers are of earlier clips of the stream */
};

/* The same for such a recording: the reservation record says how to recognise its chunks. */
SPATE_MUST_CHECK enum spate_error spate_exfat_arm_chunks(struct spate_exfat *volume, struct spate_exfat_clip *clip,
                                                         const char *path, uint64_t bytes,
                                                         const struct spate_exfat_chunks *chunks);

/* For spate_exfat_config.salvage; never called directly. It is a hook so that firmware without chunks does not link it.
 * It reads the data past the last published length: at most what was recorded since the last checkpoint. A clip is
 * extended only if the whole tree can be read, has the clip where it was armed, and has no other owner for the
 * clusters. Errors: CORRUPT, POWER_LOST, and those of the device. */
SPATE_MUST_CHECK enum spate_error spate_exfat_salvage(struct spate_exfat *volume, struct spate_exfat_mounted *found);

/*
 * Make `bytes` the file's length, without waiting: one FUA write of one block, now or when the block's present write
 * is done. The caller has seen every one of these bytes completed, and a FLUSH submitted after that completed (where
 * the device has a volatile cache). Lengths only grow. May be called while another function of the volume waits.
 *
 * If it returns OK, `done` is called once with `context`: from a later poll of the device, from a function of the
 * volume, or, if the length is durable already, before this one returns.
 *
 * After an error `done` is not called: BUSY (an earlier length of the clip is under way, or the clip is being closed or
 * discarded), NOT_MOUNTED (the volume was abandoned), FULL (the device has no room for the write: poll it and call
 * again), INVALID (no `done`, the clip is closed or was not armed, fewer bytes than before, more than reserved_bytes,
 * or a discard has erased the file), and those of the device.
 */
SPATE_MUST_CHECK enum spate_error spate_exfat_publish(struct spate_exfat_clip *clip, uint64_t bytes,
                                                      spate_exfat_published *done, void *context);

/*
 * All data are written: flush, write the final length and time, free the unused clusters, mark the volume clean if
 * this was the last clip, and trim the unused clusters. On an error the clip stays open, and the volume dirty. Errors:
 * INVALID (fewer bytes than published_bytes or than a length under way, more than reserved_bytes, or the clip is
 * closed), POWER_LOST (meanwhile the drive lost power, or may have; what it had not flushed has to be written again),
 * and those of the volume.
 */
SPATE_MUST_CHECK enum spate_error spate_exfat_close(struct spate_exfat_clip *clip, uint64_t bytes);

/* Tell the volume that the published bytes past `bytes` are lost, or are in another file. The next close may then end
 * the clip there, and after `bytes` 0 it may be discarded. Writes nothing: until then the file keeps its length. Must
 * not be called while a length of the clip is under way. */
void spate_exfat_take_back(struct spate_exfat_clip *clip, uint64_t bytes);

/* Close a clip and delete its file. On an error the clip stays open, and its file may be gone: only another discard is
 * certain to be accepted. Errors: INVALID (spate_exfat_publish() was called with a length, or the clip is closed),
 * and those of the volume. */
SPATE_MUST_CHECK enum spate_error spate_exfat_discard(struct spate_exfat_clip *clip);

#ifdef __cplusplus
}
#endif
#endif
