/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checker of exFAT images that shares no code with the library: every structure is read from the raw image again. It
 * distinguishes what a power cut may leave from what it must not leave; fsck.exfat does not.
 */
#ifndef SPATE_TESTS_EXFAT_ORACLE_H
#define SPATE_TESTS_EXFAT_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORACLE_FILES_MAX 4096

struct oracle_file {
  char path[1024]; /* UTF-8; a control character or half a surrogate pair as '?' */
  bool directory, contiguous;
  uint64_t bytes, valid_bytes;
  uint32_t first_cluster;
  uint64_t set_offset; /* of the entry set on the image */
  uint8_t entries;
};

struct oracle {
  const uint8_t *image; /* the volume's start */
  uint32_t block_bytes, cluster_bytes, cluster_shift, cluster_count, root;
  uint64_t fat, heap, bitmap; /* byte offsets */
  uint32_t active_fat;        /* of two FATs, each with its bitmap: 0 or 1 */
  bool dirty;
  bool boot_torn;            /* a main boot sector of exFAT in a region that is incomplete */
  bool backup_whole;         /* of the backup boot region */
  uint32_t serial;           /* of the volume */
  uint32_t owned, allocated; /* clusters */
  uint32_t leaked;           /* allocated without an owner */
  uint32_t cross_linked;     /* owned twice */
  uint32_t unallocated;      /* owned but free in the bitmap: another file may get them */
  uint32_t overlong;         /* chains in the FAT that are longer than their owner's length */
  uint32_t strays;           /* secondary entries that belong to no set */
  char fault[256];           /* the first inconsistent structure; empty: none */
  uint32_t file_count;
  struct oracle_file files[ORACLE_FILES_MAX];
  uint8_t *owners; /* one byte a cluster */
};

/* Read everything. False: a fault was found. Free with oracle_free(). */
bool oracle_read(struct oracle *oracle, const uint8_t *image, uint64_t bytes);
void oracle_free(struct oracle *oracle);
const struct oracle_file *oracle_find(const struct oracle *oracle, const char *path);
/* The byte of the image that holds byte `offset` of the file; NULL beyond its clusters. */
const uint8_t *oracle_at(const struct oracle *oracle, const struct oracle_file *file, uint64_t offset);

#endif
