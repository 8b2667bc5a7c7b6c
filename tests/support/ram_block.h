/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A drive in memory for tests: a spate_block that obeys block.h exactly, and tolerates no more than a real drive must.
 *
 *   struct ram_block ram;
 *   ram_block_open(&ram, 131072, 512);       // 64 MiB, sparse
 *   ram.order = RAM_RANDOM, ram.random = 42; // any settings, also later
 *   spate_exfat_mount(..., &ram.block, ...);
 *   ram_block_close(&ram);
 *
 * Requests complete only in poll. A write takes its data and a read gives it at completion, so a buffer reused too
 * early is detected; a read's buffer is filled with RAM_POISON at submission. Misuse that a drive could not report ends
 * the program with a message: an object submitted twice, poll from `done`, a buffer that changed in flight (where
 * the log keeps data), a `buffer` without SPATE_IO_CPU.
 */
#ifndef SPATE_TESTS_RAM_BLOCK_H
#define SPATE_TESTS_RAM_BLOCK_H

#include <spate/block.h>

#define RAM_POISON     0xa5
#define RAM_DEPTH_MAX  256u
#define RAM_FAULTS_MAX 8u
#define RAM_OPS        5u
#define RAM_OP(op)     (1u << (op)) /* for masks of operations */
#define RAM_ANY_OP     0xffu
#define RAM_ALWAYS     UINT32_MAX

enum ram_order { RAM_IN_ORDER, RAM_REVERSED, RAM_RANDOM };

/* Requests of `ops` that touch first_lba … last_lba fail with `error`: after `skip` such requests, for `times` of
 * them. A failed request transfers nothing. */
struct ram_fault {
  unsigned ops;
  uint64_t first_lba, last_lba;
  uint32_t skip, times;
  enum spate_error error;
  uint16_t detail;
};

enum ram_lie_kind {
  RAM_HONEST,
  RAM_PHANTOM,   /* the data are nowhere */
  RAM_ELSEWHERE, /* the data are in the blocks from `other_lba` on */
};

/* One write ends with success, and its data are not in its place: the next one that touches first_lba … last_lba, after
 * `skip` such writes. */
struct ram_lie {
  enum ram_lie_kind kind; /* RAM_HONEST: none, or it has happened */
  uint64_t first_lba, last_lba, other_lba;
  uint32_t skip;
};

/* Submissions and completions are numbered together from 1, so that "A completed before B was submitted" is a
 * comparison. A request that never completed has completed_at UINT64_MAX. */
struct ram_log_entry {
  uint8_t op, flags;
  uint32_t blocks;
  uint64_t lba;
  uint64_t submitted_at, completed_at;
  enum spate_error error;
  uint8_t *data; /* WRITE, if keep_data: as submitted */
};

struct ram_block;

/* Observes without an effect: each request when it was accepted, and when it has its result, before `done`. */
struct ram_observer {
  void (*taken)(void *context, struct ram_block *ram, const struct spate_io *io);
  void (*over)(void *context, struct ram_block *ram, const struct spate_io *io);
  void (*dropped)(void *context, struct ram_block *ram); /* all pending requests were dropped */
  void *context;
};

struct ram_pending {
  struct spate_io *io;
  size_t log_index;       /* SIZE_MAX: not logged */
  uint64_t ready_at_poll; /* UINT64_MAX: its doorbell was not rung yet */
};

struct ram_block {
  struct spate_block block; /* first: pass &ram.block. Geometry, depth, volatile_cache, can_* may be changed */
  uint8_t *memory;          /* the media: tests may read and change it */
  uint64_t bytes;

  /* settings */
  enum ram_order order;
  uint64_t random;      /* state of RAM_RANDOM: set it to the seed */
  uint32_t delay_polls; /* a request is ready this many polls after its doorbell was rung */
  unsigned held_ops;    /* RAM_OP mask: for now these do not complete */
  int trim_fill;        /* the contents of trimmed blocks: a byte, or −1 for the old contents */
  bool keep_log;
  bool keep_data;
  struct ram_lie lie;
  const struct ram_observer *observer; /* may be NULL */

  /* results */
  uint64_t count[RAM_OPS]; /* accepted requests by enum spate_op */
  uint64_t fua_count, full_count, kicks, polls;
  /* accepted requests that touched blocks of a write in flight, or wrote to those of a read in flight */
  uint64_t overlaps;
  unsigned pending_count, pending_max;
  struct ram_log_entry *log;
  size_t log_count, log_capacity;
  uint64_t events;

  /* private */
  struct ram_pending pending[RAM_DEPTH_MAX];
  struct ram_fault faults[RAM_FAULTS_MAX];
  unsigned fault_count;
  bool polling;
  int fd;
};

/* All zeros, in order, no delay, depth 32, requests up to 8 MiB, with a volatile cache, TRIM and ZERO; log and its
 * data off. Ends the program if there is no memory. */
void ram_block_open(struct ram_block *ram, uint64_t blocks, uint32_t block_bytes);
void ram_block_close(struct ram_block *ram);

void ram_block_fault(struct ram_block *ram, struct ram_fault fault);
void ram_block_clear_faults(struct ram_block *ram);
void ram_block_clear_log(struct ram_block *ram); /* and the counts */

/* The data of a READ or WRITE, wherever the caller keeps them. */
void ram_block_data(const struct ram_block *ram, const struct spate_io *io, uint8_t *to);

/* Pending requests vanish without `done`, as when the machine loses power. The media keeps what had completed. */
void ram_block_drop_pending(struct ram_block *ram);

/* The host restarts: everything that it had opened on the device is gone. */
static inline void host_starts_again(struct spate_block *block) {
  for (unsigned i = 0; i < SPATE_BLOCK_USERS_MAX; i++)
    block->users[i] = (struct spate_block_user){.owner = NULL};
  block->while_waiting = NULL;
  block->while_waiting_context = NULL;
}

/* The next number of a sequence that depends on its state alone (splitmix64). */
uint64_t ram_random(uint64_t *state);

/* For other openers of the same drive: `memory` is a mapping of `bytes`, which close unmaps; fd −1 or closed then. */
void ram_block_open_memory(struct ram_block *ram, uint8_t *memory, uint64_t bytes, uint32_t block_bytes, int fd);

#endif
