/* SPDX-License-Identifier: Apache-2.0 */
/*
 * N block devices seen as one: RAID 0 in the layout of Linux md with its version 1.2 superblock, so that a Linux PC
 * assembles the drives by itself (`mdadm --assemble --scan`), and sees the partitions and files on them.
 *
 * Chunk c of the array lies on member c mod N, at chunk c / N of its data area. All members contribute the same size,
 * the smallest one's rounded down to whole chunks: md then sees a single zone, whose layout is the same in all kernels.
 *
 * A request is cut into parts, one for each chunk it touches; a TRIM or ZERO into one for each member, because what it
 * covers there is contiguous. Parts complete in any order. One that its member has no room for waits in that member's
 * own line, so that the others are not held up by it, as long as there are parts. A request is taken when a part is
 * free and every request before it has been cut to its end; what is still to be cut then takes parts as they come back.
 * So a large request needs no more parts than a small one, and a FLUSH gets in beside streams that keep the array full.
 *
 * FLUSH goes to every member and completes when all have flushed. FUA goes with the part that carries it. power_losses
 * is the members' sum, and true when a request is answered. What the members can do
 * (TRIM, ZERO, a cache that is volatile) is what the stripe can do, also when it changes.
 *
 * The first error of a part is the error of the request, once all its parts are back; after an error no further parts
 * of it are sent. A member that is gone makes requests that touch it fail; the others go on.
 *
 * Members are the stripe's alone from create or open on: whoever else writes to them damages the array. Their own
 * while_waiting hooks are called only while they are read and written for these two.
 */
#ifndef SPATE_STRIPE_H
#define SPATE_STRIPE_H

#include <spate/block.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPATE_STRIPE_MEMBERS_MAX     8u
#define SPATE_STRIPE_CHUNK_BYTES     (512u * 1024u) /* the default: md's own */
#define SPATE_STRIPE_CHUNK_BYTES_MIN 4096u
#define SPATE_STRIPE_CHUNK_BYTES_MAX (UINT32_C(1) << 30)
#define SPATE_STRIPE_CHUNKS_MAX      (UINT32_C(1) << 31) /* fewer than these: 1 PiB of the default's */
#define SPATE_STRIPE_PARTS_MAX       4096u
#define SPATE_STRIPE_NAME_BYTES_MAX  32u
/* The superblock is at byte 4096 of each member, the data area here unless an array made by others says otherwise. */
#define SPATE_STRIPE_DATA_OFFSET_BYTES (UINT32_C(1) << 20)
#define SPATE_STRIPE_SCRATCH_BYTES     4096u

struct spate_stripe_part;

struct spate_stripe_config {
  struct spate_block *const *members; /* in any order: superblocks say which is which. All of one block size */
  uint8_t member_count;               /* 2 … SPATE_STRIPE_MEMBERS_MAX: all that the array has */
  /* Requests to members, in flight or waiting: as many as the members' depths together keep all of them busy. Not used
   * by spate_stripe_create(). */
  struct spate_stripe_part *parts;
  uint16_t part_count; /* 2 × member_count … SPATE_STRIPE_PARTS_MAX */
  void *scratch;       /* SPATE_STRIPE_SCRATCH_BYTES of DMA memory, SPATE_DMA_ALIGN: superblocks while opening and
                          creating */
};

struct spate_stripe_create {
  uint8_t uuid[16];     /* from a random source; not all zeros */
  const char *name;     /* up to SPATE_STRIPE_NAME_BYTES_MAX bytes, what Linux shows; NULL: none */
  uint32_t chunk_bytes; /* a power of two in the limits above; 0: the default */
  uint64_t created_s;   /* seconds since 1970, 0 if there is no clock */
  bool erase_foreign;   /* go ahead over partition tables, file systems and other arrays */
};

/* What one member is and did. */
struct spate_stripe_member {
  struct spate_block *block;
  uint64_t data_lba;      /* of its data area */
  uint64_t errors;        /* parts that failed */
  enum spate_error error; /* the last of them */
  uint16_t in_flight, in_flight_max;
  uint16_t waiting; /* parts in its line */
  uint64_t full;    /* parts that it had no room for, and that waited there */
  /* private */
  struct spate_stripe_part *first_waiting, *last_waiting;
};

/* Private: shown so that the caller can allocate them. */
struct spate_stripe_part {
  struct spate_io io;      /* to the member */
  struct spate_io *parent; /* the request it is a part of */
  struct spate_stripe *stripe;
  struct spate_stripe_part *next; /* in the member's line, or among the free */
  uint8_t member;
};

struct spate_stripe {
  struct spate_block block;                                     /* first: a stripe is a block device */
  struct spate_stripe_member members[SPATE_STRIPE_MEMBERS_MAX]; /* by their place in the array */
  uint8_t member_count;
  uint8_t chunk_shift; /* log2 of a chunk's logical blocks */
  uint8_t uuid[16];
  /* private */
  uint8_t reciprocal_shift; /* chunk / member_count = chunk × reciprocal >> reciprocal_shift */
  uint8_t turn;             /* the member that is polled first */
  uint32_t reciprocal;
  struct spate_stripe_part *free;
  struct spate_io *to_cut; /* the request that is being cut */
  uint32_t cut_position;   /* READ and WRITE: blocks that have their parts; otherwise members */
};

/*
 * Write superblocks that make the members an array; what was on them is lost. Waits. All of them are looked at
 * before the first is written: without `erase_foreign` their first 2 MiB and their last MiB, where every file system,
 * array and table says what it is, must be blank (zeros, or ones as a trimmed drive may read); with it they are zeroed.
 * Errors: INVALID, BLOCK_SIZE (members differ), TOO_SMALL (less than one chunk of data area), UNSUPPORTED (more chunks
 * than SPATE_STRIPE_CHUNKS_MAX), FOREIGN (something worth keeping is there), and those of the devices.
 */
SPATE_MUST_CHECK enum spate_error spate_stripe_create(const struct spate_stripe_config *config,
                                                      const struct spate_stripe_create *create);

/*
 * Read the superblocks, ours or mdadm's, and become the array. Waits; writes nothing. Errors: INVALID, BLOCK_SIZE,
 * NO_STRIPE (a member without a superblock), STRIPE (superblocks of different arrays, a member twice or missing, an
 * array of another level, with more than one zone, with features that this library does not know, or larger than its
 * drives), CORRUPT (a superblock whose checksum is wrong, or that is not where it says), UNSUPPORTED (more chunks than
 * SPATE_STRIPE_CHUNKS_MAX), and those of the devices.
 */
SPATE_MUST_CHECK enum spate_error spate_stripe_open(struct spate_stripe *stripe,
                                                    const struct spate_stripe_config *config);

#ifdef __cplusplus
}
#endif
#endif
