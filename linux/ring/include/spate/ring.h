/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand a stream to `spate record TARGET PATH --from ring:NAME` without a copy. The ring is an array of slots in memory
 * that a producer and the recorder both map. The producer fills slots; the recorder writes them to the drive straight
 * from that memory.
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
 * A source whose data already lie in other memory calls spate_ring_write() instead, which copies them.
 *
 * Functions that return int return 0 or an errno value. Only one thread may use a ring at a time. Link with
 * -lspate-ring; it needs only the C library.
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

/* ---- the producer's side ---- */

struct spate_ring;

/* Progress of the producer and the recorder. */
struct spate_ring_counts {
  uint32_t slot_bytes, slots;
  uint64_t filled;   /* slots published so far */
  uint64_t released; /* of these, slots that the recorder has written; they may be filled again */
  uint64_t lost_bytes;
};

/*
 * Makes a ring. `name` is one of
 *   - a plain name of letters, digits, '.', '_' and '-': shared memory /dev/shm/spate-NAME, mode 0600. It is removed
 *     when the producer and the recorder have both finished with it.
 *   - an absolute path: an existing file or device that can be mapped, such as /dev/udmabuf0 or a file in hugetlbfs. It
 *     is not removed.
 * `slot_bytes` and `slots` are powers of two: 64 KiB to 4 MiB, and 2 to 65536. This call allocates the memory.
 * Data that an earlier producer left in a ring of this name and that no recorder has read are discarded.
 *
 * EINVAL: a name or a number is not valid. EBUSY: another producer has the ring, or a recorder still writes from it.
 * EEXIST: the file at the path is not a ring. ENOSPC, ENOMEM: there is not enough memory. Other values come from open,
 * ftruncate, fcntl and mmap.
 */
int spate_ring_create(struct spate_ring **ring, const char *name, uint32_t slot_bytes, uint32_t slots);

/*
 * Returns the next free slot: slot_bytes at a multiple of 4096. It belongs to the producer until spate_ring_publish();
 * another call before that returns the same slot. Waits up to `timeout_ms` for a slot; 0: does not wait, negative:
 * waits without limit.
 * NULL: errno is EAGAIN (every slot is full), EPIPE (the ring has ended), EINVAL (spate_ring_write() has left a slot
 * partly filled) or EPROTO (the recorder's counter is invalid).
 */
void *spate_ring_claim(struct spate_ring *ring, int timeout_ms);

/*
 * Hands the slot from spate_ring_claim() to the recorder, with `bytes` in it, 1 to slot_bytes. If `bytes` is not a
 * multiple of 4096, this is the last slot. EINVAL: `bytes` is out of range, or no slot was claimed. EPIPE: the ring has
 * ended.
 */
int spate_ring_publish(struct spate_ring *ring, uint32_t bytes);

/* Counts `bytes` that the source lost because no slot was free. The recorder reports them. */
void spate_ring_lost(struct spate_ring *ring, uint64_t bytes);

/*
 * Appends a copy of `bytes` to the ring, across slots, as fwrite() does to a file. Waits for room as spate_ring_claim()
 * does. A slot goes to the recorder when it is full. A slot that is still partly filled after half a second goes with
 * the next write: its whole pages are published, the rest moves on to the next slot.
 * With a time limit, the call copies all bytes or none. If it copies none, it counts them as lost and returns EAGAIN,
 * or EMSGSIZE if the bytes are more than the whole ring. Without a limit the call waits. EPIPE, EPROTO: as above.
 */
int spate_ring_write(struct spate_ring *ring, const void *data, size_t bytes, int timeout_ms);

/* Ends the stream: the recorder closes the file once it has written all published slots. */
void spate_ring_end(struct spate_ring *ring);

/* Frees the ring. If spate_ring_end() was not called, the recorder closes the file and reports that its producer went
 * away. */
void spate_ring_close(struct spate_ring *ring);

/* Frees the ring and leaves it to logic that fills it by itself. The recorder then watches no process. It records until
 * the logic sets `ended`, or the recorder is stopped. */
void spate_ring_detach(struct spate_ring *ring);

/* True while a recorder has the ring open. */
bool spate_ring_has_recorder(const struct spate_ring *ring);

/* Reads the counts. They may change at any time. */
void spate_ring_count(const struct spate_ring *ring, struct spate_ring_counts *counts);

/* Describes an error of these functions, as a sentence without a full stop. */
const char *spate_ring_sentence(int error);

/* ---- the layout ---- */

/*
 * For logic that fills a ring by DMA, and for other implementations. Numbers are little-endian. The memory is coherent
 * for both sides, or accesses bypass the caches.
 *
 *   offset                content
 *   0                     struct spate_ring_header, in a page of its own
 *   table_offset_bytes    slots × uint32: bytes in each slot, valid once the slot is published
 *   slots_offset_bytes    slots × slot_bytes
 *
 * Slots are numbered from 0 and the number never wraps. To fill slot number n:
 *   1. wait until n − released < slots,
 *   2. write the data to slots_offset_bytes + (n mod slots) × slot_bytes,
 *   3. write their length to table_offset_bytes + (n mod slots) × 4,
 *   4. write n + 1 to `filled`.
 * The writes have to become visible in this order. PCIe keeps the order of posted writes; AXI keeps it if each write
 * waits for the response to the one before. The 64 bytes at offset 64 may be written as a whole. Each length is a
 * multiple of 4096, except that of the last slot. Set `ended` to 1 together with the last `filled`, or after it.
 */
#define SPATE_RING_MAGIC  "SPATERNG"
#define SPATE_RING_LAYOUT UINT32_C(1)
#define SPATE_RING_PAGE   UINT32_C(4096)

/* The first page of the memory. */
struct spate_ring_header {
  /* offset 0: written once, `magic` last */
  char magic[8];
  uint32_t layout;
  uint32_t slot_bytes;
  uint32_t slots;
  uint32_t producer_pid; /* 0: logic fills the ring, and there is no process to watch */
  uint64_t table_offset_bytes;
  uint64_t slots_offset_bytes;
  uint64_t total_bytes;
  uint8_t reserved0[16];
  /* offset 64: written by the producer */
  uint64_t filled; /* slots published since the ring was made; never wraps */
  uint64_t lost_bytes;
  uint32_t ended;
  uint32_t waiting; /* 1: the producer sleeps on released_events; logic leaves it 0 */
  uint8_t reserved1[40];
  /* offset 128: written by the recorder */
  uint64_t released; /* slots written to the drive since the ring was made; they may be filled again */
  uint64_t reported_lost_bytes;
  uint32_t released_events; /* a futex that changes with every change of `released` */
  uint8_t reserved2[44];
};

/* Each side holds a lock on the file (fcntl F_OFD_SETLK, exclusive, one byte each). The kernel releases the lock when
 * the process ends, so a lock shows that its side is alive. */
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
