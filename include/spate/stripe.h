/* SPDX-License-Identifier: Apache-2.0 */
/*
 * N block devices as one: RAID 0 in the layout of Linux md with its version 1.2 superblock. A Linux PC assembles the
 * drives by itself (`mdadm --assemble --scan`), and shows the partitions and files on them.
 *
 * Chunk c of the array is on member c mod N, at chunk c / N of its data area. All members contribute the same size:
 * that of the smallest, rounded down to whole chunks. So md has a single zone, whose layout is the same in all kernels.
 *
 * A request is split into parts: one for each chunk, or, for TRIM and ZERO, one for each member, where the blocks of
 * the request are contiguous. Parts complete in any order. If a member has no room for a part, the part waits in a
 * queue of that member, so that other members are not blocked as long as there are free parts. A request is accepted if
 * a part is free and every earlier request is split completely. It is split further whenever parts become free. So a
 * large request needs no more parts than a small one, and a FLUSH is accepted while streams keep the array full.
 *
 * FLUSH goes to every member and completes when all have flushed. FUA goes to the members with each part. power_losses
 * and power_unknown are sums over the members, and are up to date when a request ends. volatile_cache is true if any
 * member has a volatile cache; can_trim and can_zero are true while all members can. These may change.
 *
 * The first error of a part is the error of the request, which ends when all its parts have ended. After an error no
 * further parts of it are sent. If a member is gone, requests that need it fail, and others continue.
 *
 * From create or open on only the stripe may write to the members. Other writes damage the array. The members' own
 * while_waiting hooks are called only during create and open.
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
#define SPATE_STRIPE_CHUNK_BYTES     (512u * 1024u) /* the default, as of mdadm */
#define SPATE_STRIPE_CHUNK_BYTES_MIN 4096u
#define SPATE_STRIPE_CHUNK_BYTES_MAX (UINT32_C(1) << 30)
#define SPATE_STRIPE_CHUNKS_MAX      (UINT32_C(1) << 31) /* an array has fewer: 1 PiB with the default chunk */
#define SPATE_STRIPE_PARTS_MAX       4096u
#define SPATE_STRIPE_NAME_BYTES_MAX  32u
/* The superblock is at byte 4096 of each member, and the data area is here. Arrays made by mdadm may have another
 * offset.
 */
#define SPATE_STRIPE_DATA_OFFSET_BYTES (UINT32_C(1) << 20)
#define SPATE_STRIPE_SCRATCH_BYTES     4096u

struct spate_stripe_part;

/* The members and the memory of an array. `members` and `parts` are the caller's, and stay in place while the array is
 * open. */
struct spate_stripe_config {
  struct spate_block *const *members; /* in any order: the superblocks have the places. All of one block size. One
                                         whose depth is 2 refuses more than a page from an offset that is no multiple
                                         of a block: push() of a recorder cannot know that */
  uint8_t member_count;               /* 2 … SPATE_STRIPE_MEMBERS_MAX: all members of the array */
  /* Requests to members, in flight or waiting. The sum of the members' depths is enough to keep all of them busy. Not
   * used by spate_stripe_create(). */
  struct spate_stripe_part *parts;
  uint16_t part_count; /* 2 × member_count … SPATE_STRIPE_PARTS_MAX */
  void *scratch;       /* SPATE_STRIPE_SCRATCH_BYTES of DMA memory at SPATE_DMA_ALIGN, used during open and create */
};

/* What a new array gets. */
struct spate_stripe_create {
  uint8_t uuid[16];     /* from a random source; not all zeros */
  const char *name;     /* up to SPATE_STRIPE_NAME_BYTES_MAX bytes, shown by Linux; NULL: none */
  uint32_t chunk_bytes; /* a power of two in the limits above; 0: the default */
  uint64_t created_s;   /* seconds since 1970, 0 if there is no clock */
  bool erase_foreign;   /* overwrite partition tables, file systems and other arrays */
};

/* State and counters of one member. */
struct spate_stripe_member {
  struct spate_block *block;
  uint64_t data_lba;      /* start of the data area */
  uint64_t errors;        /* parts that failed */
  enum spate_error error; /* of the last part that failed */
  uint16_t in_flight, in_flight_max;
  uint16_t waiting; /* parts in the member's queue */
  uint64_t full;    /* parts that had to wait, because the member had no room */
  /* private */
  struct spate_stripe_part *first_waiting, *last_waiting;
};

/* Private. It is in this header so that the caller can allocate the parts. */
struct spate_stripe_part {
  struct spate_io io;      /* to the member */
  struct spate_io *parent; /* the request it is a part of */
  struct spate_stripe *stripe;
  struct spate_stripe_part *next; /* in the member's queue, or in the list of free parts */
  uint8_t member;
};

/* An open array. */
struct spate_stripe {
  struct spate_block block;                                     /* first: a stripe is a block device */
  struct spate_stripe_member members[SPATE_STRIPE_MEMBERS_MAX]; /* by their place in the array */
  uint8_t member_count;
  uint8_t chunk_shift; /* log2 of the logical blocks of a chunk */
  uint8_t uuid[16];
  /* private */
  uint8_t reciprocal_shift; /* chunk / member_count = chunk × reciprocal >> reciprocal_shift */
  uint8_t turn;             /* the member that is polled first */
  uint32_t reciprocal;
  struct spate_stripe_part *free;
  struct spate_io *splitting; /* the request that is being split */
  uint32_t split_position;    /* READ and WRITE: blocks that have parts. Others: members that have parts */
};

/*
 * Write superblocks that make the members an array. The data on them are lost. Waits. Without `erase_foreign` the first
 * 2 MiB and the last MiB of all members are checked before anything is written. File systems, arrays and tables have
 * their signatures there, so these ranges must be blank (zeros, or ones, which a trimmed drive may return). With
 * `erase_foreign` they are zeroed. Errors: INVALID, BLOCK_SIZE (the members differ), TOO_SMALL (less than one chunk of
 * data area), UNSUPPORTED (SPATE_STRIPE_CHUNKS_MAX chunks or more), FOREIGN (a member is not blank), and errors of the
 * device, for any member.
 */
SPATE_MUST_CHECK enum spate_error spate_stripe_create(const struct spate_stripe_config *config,
                                                      const struct spate_stripe_create *create);

/*
 * Read the superblocks, written by this library or by mdadm, and open the array. Waits; writes nothing. Errors:
 * INVALID, BLOCK_SIZE, NO_STRIPE (a member has no superblock), STRIPE (superblocks of different arrays, a member twice
 * or missing, an array of another level, with more than one zone, with features that this library does not support, or
 * larger than its drives), CORRUPT (a superblock with a wrong checksum, or at another place than it says), UNSUPPORTED
 * (SPATE_STRIPE_CHUNKS_MAX chunks or more), and errors of the device, for any member.
 */
SPATE_MUST_CHECK enum spate_error spate_stripe_open(struct spate_stripe *stripe,
                                                    const struct spate_stripe_config *config);

#ifdef __cplusplus
}
#endif
#endif
