/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A drive's contents: terabytes, stored in megabytes of memory.
 *
 * A page of a simulated stream carries a stamp in its first and last 32 bytes: the clip, and the offset in it. A drive
 * reads the stamps of such a page by DMA like any data, and stores them as runs; every other page is stored in full. If
 * a stamp's two copies do not agree, or do not say where they are, the page counts as an ordinary one. The bytes
 * between a page's stamps are not stored and read as zeros.
 *
 * Contents are stored per 4 KiB page. A page that is written in part becomes an ordinary one.
 */
#ifndef SPATE_SIM_STORE_H
#define SPATE_SIM_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_PAGE        4096u
#define SIM_STAMP_BYTES 32u

struct sim_stamp {
  uint64_t clip;   /* any number but 0 */
  uint64_t offset; /* of the page in the clip, a multiple of 4096 */
};

/* What a source writes to a page: its head and tail. The rest stays as it is. */
void sim_stamp_put(uint8_t page[SIM_PAGE], struct sim_stamp stamp);
/* Is this a stamped page? Reads the head and the tail only. */
bool sim_stamp_get(const uint8_t page[SIM_PAGE], struct sim_stamp *stamp);

struct sim_store;

struct sim_store *sim_store_new(uint64_t bytes);
void sim_store_free(struct sim_store *store);

/* `bytes` at byte `at`, both multiples of 512. Large ranges cost less per byte. Returns how many of the written bytes
 * went to empty places. (A page counts as empty or not as a whole.) */
uint64_t sim_store_write(struct sim_store *store, uint64_t at, const uint8_t *data, uint64_t bytes);
void sim_store_read(const struct sim_store *store, uint64_t at, uint8_t *data, uint64_t bytes);
/* Whole pages become empty and read as zeros; parts of pages at the ends are zeroed. Returns how many bytes became
 * empty. */
uint64_t sim_store_discard(struct sim_store *store, uint64_t at, uint64_t bytes);

/* The stamp of the page at `at`, if it is a stamped one. A checker can walk terabytes with it without composing
 * pages. */
bool sim_store_stamp(const struct sim_store *store, uint64_t at, struct sim_stamp *stamp);

/* The first page that is not empty, from `*at` (a multiple of 4096) on. False: there is none. */
bool sim_store_next(const struct sim_store *store, uint64_t *at);

/* Memory used. */
size_t sim_store_memory(const struct sim_store *store);

#endif
