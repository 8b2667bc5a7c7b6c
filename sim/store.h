/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a drive holds: terabytes, in megabytes of memory.
 *
 * A page of a simulated stream carries a stamp in its first and last 32 bytes: which clip, and which byte of it. A
 * drive that is written such a page reads the stamps by DMA like any data and keeps runs of them; every other page is
 * kept in full. A stamp's two copies must agree and must say where they are, otherwise the page is an ordinary one; the
 * bytes between a page's stamps are not kept and read as zeros.
 *
 * Contents are kept per 4 KiB page; a page written in part becomes an ordinary one.
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

/* What a source does to a page: its head and tail. The rest is left as it is. */
void sim_stamp_put(uint8_t page[SIM_PAGE], struct sim_stamp stamp);
/* Is this a stamped page? Looks at the head and the tail only. */
bool sim_stamp_get(const uint8_t page[SIM_PAGE], struct sim_stamp *stamp);

struct sim_store;

struct sim_store *sim_store_new(uint64_t bytes);
void sim_store_free(struct sim_store *store);

/* `bytes` at byte `at`, both multiples of 512: any range, and the larger the cheaper. Returns how many of the written
 * bytes went where nothing was (512 byte granularity is not kept: a page is something or nothing). */
uint64_t sim_store_write(struct sim_store *store, uint64_t at, const uint8_t *data, uint64_t bytes);
void sim_store_read(const struct sim_store *store, uint64_t at, uint8_t *data, uint64_t bytes);
/* Whole pages hold nothing afterwards and read as zeros; parts of pages at the ends are zeroed. Returns how many bytes
 * hold something no more. */
uint64_t sim_store_discard(struct sim_store *store, uint64_t at, uint64_t bytes);

/* If the page at `at` is a stamped one, its stamp: lets a checker walk terabytes without making pages. */
bool sim_store_stamp(const struct sim_store *store, uint64_t at, struct sim_stamp *stamp);

/* The first page at `*at` (a multiple of 4096) or behind it that holds something. False: there is none. */
bool sim_store_next(const struct sim_store *store, uint64_t *at);

/* Memory used, for the limits in the README. */
size_t sim_store_memory(const struct sim_store *store);

#endif
