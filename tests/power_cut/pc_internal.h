/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the PC share. */
#ifndef SPATE_TESTS_PC_INTERNAL_H
#define SPATE_TESTS_PC_INTERNAL_H

#include "pc.h"

#define PC_ENTRY_BYTES 32u

/* ---- pc_image.c: the raw image ---- */

/* The present contents, with all changes so far. */
const uint8_t *pc_look(const struct pc *pc, uint64_t offset);
void pc_put(struct pc *pc, uint64_t offset, const void *data, uint32_t bytes);
uint64_t pc_cluster_offset(const struct pc *pc, uint32_t cluster);
bool pc_is_free(const struct pc *pc, uint32_t cluster);
void pc_mark(struct pc *pc, uint32_t cluster, bool used);
uint32_t pc_next(const struct pc *pc, uint32_t cluster);
void pc_link(struct pc *pc, uint32_t cluster, uint32_t next);

/* A gap for a set in the first cluster of a directory; 0: none. */
uint64_t pc_find_slots(const struct pc *pc, uint32_t directory, uint32_t entries);
/* Do the file's entries follow each other on the image? */
bool pc_is_plain(const struct pc *pc, const struct oracle_file *file);
/* Put the set's checksum in. */
void pc_checksum(uint8_t *set, uint32_t entries);
/* The hash of its name (capitals and digits), and the checksum. */
void pc_seal(uint8_t *set, uint32_t entries);
/* A name of capitals with the same length, which nobody else uses; also into `name`. */
void pc_name(uint8_t *set, uint32_t entries, char *name);
void pc_unuse(struct pc *pc, const struct oracle_file *file);
/* Free the clusters of its length. */
void pc_free(struct pc *pc, const struct oracle_file *file);

/* ---- pc_write.c ---- */

/* Write a small file into the first clusters that are free. */
void pc_write_small(struct pc *pc, struct promise_by_pc *by_pc);
/* Write a large one, beginning with cluster `from` if that is free, or only state its length. */
void pc_write_large(struct pc *pc, uint64_t *random, uint32_t from, struct promise_by_pc *by_pc);

/* ---- pc_format.c ---- */

/* A quick format with the same geometry and serial number: a new bitmap, FAT and root directory; all other clusters
 * keep their contents. */
void pc_format(struct pc *pc, struct promise_by_pc *by_pc);

/* ---- pc_folder.c ---- */

/* Delete a directory with all that is in it, move it into another one with a new name, or give it another first
 * cluster. Returns a cluster that is free by that; 0: none. */
uint32_t pc_change_folder(struct pc *pc, uint64_t *random, struct promise_by_pc *by_pc);

#endif
