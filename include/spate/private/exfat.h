/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The volume of spate/exfat.h. It is installed because the caller allocates it. Its fields are private, and change
 * without notice.
 */
#ifndef SPATE_PRIVATE_EXFAT_H
#define SPATE_PRIVATE_EXFAT_H

#ifndef SPATE_EXFAT_H
#error "include <spate/exfat.h>, which defines what this header uses"
#endif

#define SPATE_EXFAT_DELETIONS_MAX 16u /* remembered; a power of two */
#define SPATE_EXFAT_SEARCHES_MAX  4u  /* the same: those of two paths in folders */

struct spate_exfat_clip;
struct spate_exfat_repairs;

/* The clusters of a file or directory. */
struct spate_exfat_chain {
  uint32_t first_cluster;  /* 0: none */
  uint32_t cluster, index; /* where the last lookup in the FAT ended; cluster 0: there was none */
  uint64_t bytes;          /* DataLength; the root directory: that of its chain */
  uint8_t contiguous;      /* NoFatChain */
};

/* A metadata block in memory. */
struct spate_exfat_block {
  uint64_t lba; /* UINT64_MAX: empty */
  uint8_t *data;
  uint32_t used; /* time of the last use: the oldest block is replaced */
  uint8_t pins;  /* clips whose entry set is in it */
  bool writing;  /* its image is on its way to the drive: do not touch */
  bool claimed;  /* a metadata operation waits for it: publishing waits until that has ended */
  struct spate_io io;
  struct spate_exfat *volume;
  void (*written)(struct spate_exfat_block *block); /* called after the cache has written the block; may be NULL */
};

/* Free clusters, and the longest run of them. */
struct spate_exfat_free {
  uint64_t clusters;
  uint32_t run_first, run_clusters;
};

/* What a search of a directory for a name has shown. */
struct spate_exfat_search {
  uint32_t first_cluster; /* of the directory */
  uint32_t name_bytes;    /* no name of this hash and length is before this offset, */
  uint32_t room_bytes;    /* and no room for a set with a name of this length before this one */
  uint16_t hash;
  uint8_t units; /* 0: nothing is known */
  uint8_t contiguous;
};

/* A mounted volume. */
struct spate_exfat {
  struct spate_exfat_config config;
  const struct spate_exfat *mounted;         /* this struct while it is mounted */
  const void *turns_of;                      /* who gets the turns while an operation waits; NULL: nobody */
  const struct spate_exfat_repairs *repairs; /* NULL: mounted with spate_exfat_mount_own() */

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
  enum spate_error failed; /* a change stopped half-way: no further changes until the next mount repairs it */
  bool busy;               /* an operation is in progress */
  bool corrupt;            /* a contradiction was met: the volume stays dirty, and nothing is trimmed */
  bool untrusted;          /* a new file could destroy another one: no more changes */
  bool from_backup;        /* the main boot region has to be repaired before the first change, ... */
  bool clear_to_zero;      /* ... and this flag has to be cleared */
  bool foreign_dirty;      /* VolumeDirty was set by another system: it stays */
  bool dirty;              /* VolumeDirty was set by this library */
  uint32_t power_mark;     /* of the device when the operation began */

  /* the section of the allocation bitmap that is in memory */
  uint32_t loaded_first_byte, loaded_bytes; /* 0 bytes: none */

  /* free space: counted once, and kept */
  struct spate_exfat_free free;
  bool free_known, run_known; /* free.clusters is right; the longest run is right, too */
  uint64_t turn_ticks;        /* time between two turns of the streams during a long scan of the bitmap */

  /* the reservation record */
  uint64_t record_lba;        /* 0: no file yet */
  uint32_t record_number;     /* of the block that was written last */
  uint32_t record_used;       /* bit i: block i is in use, ... */
  uint32_t record_unresolved; /* ... and mount could not recover what it names */

  /* all known clusters with two owners, counted from the heap's start, lie between these; end 0: there are none */
  uint32_t shared_first, shared_end;
  uint64_t areas_known; /* bit i: area i of the heap was searched for them */

  /* first clusters of the last deleted files: handles of them may still be open */
  uint32_t deleted[SPATE_EXFAT_DELETIONS_MAX], deletions;

  struct spate_exfat_search searches[SPATE_EXFAT_SEARCHES_MAX];
  uint32_t searches_noted;

  uint32_t joining_cluster; /* the first cluster of the folder that is being joined; 0: none is */

  struct spate_exfat_clip *clips; /* open ones */
  uint32_t block_count, used_now;
  uint64_t next_lba;                /* of the block after the last one that was read */
  struct spate_exfat_block *blocks; /* config.cache_blocks */
};

#endif
