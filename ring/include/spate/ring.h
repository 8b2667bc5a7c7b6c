/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand a stream to `spate record TARGET PATH --from ring:NAME` without a copy: a ring of slots in memory that a
 * producer and the recorder both map. The producer fills slots; the recorder writes them to the drive from where they
 * are.
 *
 *   struct spate_ring *ring;
 *   int error = spate_ring_create(&ring, "camera", 1 << 20, 64);
 *   while (error == 0 && more) {
 *     void *slot = spate_ring_claim(ring, 0);
 *     if (slot == NULL) { spate_ring_lost(ring, frame_bytes); continue; }
 *     fill(slot);
 *     error = spate_ring_publish(ring, frame_bytes);
 *   }
 *   spate_ring_end(ring);
 *   spate_ring_close(ring);
 *
 * A source that has its data elsewhere already calls spate_ring_write() instead.
 *
 * Functions that return int return 0 or an errno value. A ring is used by one thread at a time. Link with
 * -lspate-ring; it needs nothing but the C library.
 */
#ifndef SPATE_RING_H
#define SPATE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPATE_RING_SLOT_BYTES_MIN UINT32_C(65536)
#define SPATE_RING_SLOT_BYTES_MAX UINT32_C(4194304)
#define SPATE_RING_SLOTS_MAX      UINT32_C(65536)

/* ---- the producer's ---- */

struct spate_ring;

struct spate_ring_counts {
  uint32_t slot_bytes, slots;
  uint64_t filled;   /* slots published so far */
  uint64_t released; /* of these, slots that the recorder has written, and that may be filled again */
  uint64_t lost_bytes;
};

/*
 * Makes a ring. `name` is one of
 *   - a plain name of letters, digits, '.', '_' and '-': shared memory /dev/shm/spate-NAME, mode 0600. It goes when the
 *     producer and the recorder are done with it.
 *   - an absolute path: a file or a device that is there already and can be mapped, such as /dev/udmabuf0 or a file of
 *     hugetlbfs. It stays.
 * `slot_bytes` and `slots` are powers of two: 64 KiB to 4 MiB, and 2 to 65536. The memory is allocated here.
 * What an earlier producer had left in a ring of this name, and no recorder has taken, is given up.
 *
 * EINVAL: a name or a number is none of these. EBUSY: another producer has the ring, or a recorder still writes from
 * it. EEXIST: the file at the path holds something that is no ring. ENOSPC, ENOMEM: there is not so much memory.
 * Others: of open, ftruncate, fcntl and mmap.
 */
int spate_ring_create(struct spate_ring **ring, const char *name, uint32_t slot_bytes, uint32_t slots);

/*
 * The next free slot: slot_bytes at a multiple of 4096, the producer's until spate_ring_publish(). Asking again before
 * that gives the same slot. Waits up to `timeout_ms` for one; 0: not at all, negative: for good.
 * NULL: errno is EAGAIN (every slot is full), EPIPE (nothing can follow any more), EINVAL (spate_ring_write() has left
 * a slot partly filled) or EPROTO (the recorder's counter is wrong).
 */
void *spate_ring_claim(struct spate_ring *ring, int timeout_ms);

/*
 * Hands the slot of spate_ring_claim() over, with `bytes` in it, 1 to slot_bytes. Unless it is a multiple of 4096 this
 * is the last slot. EINVAL: wrong bytes, or no slot was claimed. EPIPE.
 */
int spate_ring_publish(struct spate_ring *ring, uint32_t bytes);

/* The source had `bytes` for which there was no slot. The recorder reports them. */
void spate_ring_lost(struct spate_ring *ring, uint64_t bytes);

/*
 * Copies `bytes` into the ring, behind what was written before, across slots: what fwrite() is to a file. Waits for
 * room as spate_ring_claim() does. A slot goes to the recorder when it is full, or, in whole pages, with the first
 * write half a second later. With a time limit all of the bytes are in the ring afterwards, or none, and then they are
 * counted as lost: EAGAIN, or EMSGSIZE if the whole ring is smaller. Without one the call waits. EPIPE, EPROTO as
 * above.
 */
int spate_ring_write(struct spate_ring *ring, const void *data, size_t bytes, int timeout_ms);

/* Nothing will follow: the recorder closes the file once it has written what was published. */
void spate_ring_end(struct spate_ring *ring);

/* Gives the ring back. Without spate_ring_end() the recorder closes the file and says that its producer went away. */
void spate_ring_close(struct spate_ring *ring);

/* Gives the ring back to logic that fills it by itself: the recorder watches no process, and goes on until the logic
 * sets `ended`, or the recorder is stopped. */
void spate_ring_detach(struct spate_ring *ring);

/* Does a recorder have the ring now? */
bool spate_ring_has_recorder(const struct spate_ring *ring);
void spate_ring_count(const struct spate_ring *ring, struct spate_ring_counts *counts);

/* What an error of these functions means, as a sentence without a full stop. */
const char *spate_ring_sentence(int error);

/* ---- the layout ---- */

/*
 * For logic that fills a ring by DMA, and for other implementations. Numbers are little-endian. Memory is coherent for
 * both sides, or accesses bypass caches.
 *
 *   at offset             what
 *   0                     struct spate_ring_header, in a page of its own
 *   table_offset_bytes    slots × uint32: bytes in each slot, valid once the slot is published
 *   slots_offset_bytes    slots × slot_bytes
 *
 * To fill slot number n, counted from 0 on and on: wait until n − released < slots; write the data to
 * slots_offset_bytes + (n mod slots) × slot_bytes, their length to table_offset_bytes + (n mod slots) × 4, then n + 1
 * to `filled`. The writes have to become visible in this order; PCIe keeps the order of posted writes, and AXI does
 * when each waits for the response to the one before. The line at 64 may be written as a whole. A length is a multiple
 * of 4096, but for the last slot's. `ended` = 1 goes with, or after, the last `filled`.
 */
#define SPATE_RING_MAGIC  "SPATERNG"
#define SPATE_RING_LAYOUT UINT32_C(1)
#define SPATE_RING_PAGE   UINT32_C(4096)

struct spate_ring_header {
  /* 0: written once, `magic` last */
  char magic[8];
  uint32_t layout;
  uint32_t slot_bytes;
  uint32_t slots;
  uint32_t producer_pid; /* 0: logic, whose life nobody can watch */
  uint64_t table_offset_bytes;
  uint64_t slots_offset_bytes;
  uint64_t total_bytes;
  uint8_t reserved0[16];
  /* 64: the producer writes */
  uint64_t filled; /* slots published, counted on and on */
  uint64_t lost_bytes;
  uint32_t ended;
  uint32_t waiting; /* the producer sleeps on released_events; logic leaves it 0 */
  uint8_t reserved1[40];
  /* 128: the recorder writes */
  uint64_t released; /* slots that may be filled again, counted on and on */
  uint64_t reported_lost_bytes;
  uint32_t released_events; /* a futex: changes with every change of `released` */
  uint8_t reserved2[44];
};

/* Locks on the file (fcntl F_OFD_SETLK, exclusive, one byte each) say who lives: the kernel takes them from the dead.
 */
#define SPATE_RING_LOCK_PRODUCER 0
#define SPATE_RING_LOCK_RECORDER 1

#ifdef __cplusplus
#define SPATE_RING_ASSERT(what) static_assert(what, #what)
#else
#define SPATE_RING_ASSERT(what) _Static_assert(what, #what)
#endif
#define SPATE_RING_AT(field, offset) SPATE_RING_ASSERT(offsetof(struct spate_ring_header, field) == (offset))
SPATE_RING_AT(magic, 0);
SPATE_RING_AT(layout, 8);
SPATE_RING_AT(slot_bytes, 12);
SPATE_RING_AT(slots, 16);
SPATE_RING_AT(producer_pid, 20);
SPATE_RING_AT(table_offset_bytes, 24);
SPATE_RING_AT(slots_offset_bytes, 32);
SPATE_RING_AT(total_bytes, 40);
SPATE_RING_AT(filled, 64);
SPATE_RING_AT(lost_bytes, 72);
SPATE_RING_AT(ended, 80);
SPATE_RING_AT(waiting, 84);
SPATE_RING_AT(released, 128);
SPATE_RING_AT(reported_lost_bytes, 136);
SPATE_RING_AT(released_events, 144);
SPATE_RING_ASSERT(sizeof(struct spate_ring_header) == 192);
#undef SPATE_RING_AT
#undef SPATE_RING_ASSERT

#ifdef __cplusplus
}
#endif
#endif
