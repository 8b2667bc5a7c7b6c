/* SPDX-License-Identifier: Apache-2.0 */
#include <spate/ring.h>

#include "memory.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TOTAL_BYTES_MAX (UINT64_C(1) << (sizeof(size_t) > 4 ? 36 : 30))
#define OPEN_MS         500
#define SLEEP_MS        100 /* the longest sleep: then the counter is read again, even if the recorder wakes nobody */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the layout is little-endian"
#endif
/* A counter that is read in two halves can be wrong. */
_Static_assert(__GCC_ATOMIC_LLONG_LOCK_FREE == 2, "counters of 64 bits are read and written at once");

/* Only what the recorder writes is read from the shared header. Everything else is kept here as well, so that a faulty
 * recorder cannot change it. */
struct spate_ring {
  struct ring_memory memory;
  struct spate_ring_header *header;
  uint32_t *table;
  uint8_t *slots_start;
  uint32_t slot_bytes, slots;
  uint64_t filled;
  bool claimed, over;
  uint32_t open_bytes; /* in the next slot, written by spate_ring_write() and not published yet */
  int64_t open_since_ms;
};

static uint64_t load(const uint64_t *counter) { return __atomic_load_n(counter, __ATOMIC_SEQ_CST); }

static int64_t now_ms(void) {
  struct timespec now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- creation ---- */

static bool is_power_of_two(uint32_t number, uint32_t least, uint32_t most) {
  return number >= least && number <= most && (number & (number - 1u)) == 0;
}

static void fill_in(struct spate_ring *ring, uint64_t slots_offset_bytes) {
  struct spate_ring_header *header = ring->header;

  header->layout = SPATE_RING_LAYOUT;
  header->slot_bytes = ring->slot_bytes;
  header->slots = ring->slots;
  header->producer_pid = (uint32_t)getpid();
  header->table_offset_bytes = SPATE_RING_PAGE;
  header->slots_offset_bytes = slots_offset_bytes;
  header->total_bytes = ring->memory.bytes;
  /* A recorder that opens the file or device meanwhile accepts it as a ring as soon as it sees the magic. */
  __atomic_thread_fence(__ATOMIC_RELEASE);
  uint64_t magic;
  memcpy(&magic, SPATE_RING_MAGIC, sizeof magic);
  __atomic_store_n((uint64_t *)(void *)header->magic, magic, __ATOMIC_RELEASE);
}

static int open_ring(struct spate_ring *ring, const char *name) {
  const uint64_t slots_bytes = (uint64_t)ring->slot_bytes * ring->slots;
  const size_t head_bytes = SPATE_RING_PAGE + ring->slots * sizeof *ring->table;
  uint64_t slots_offset_bytes;
  const int error = ring_memory_open(&ring->memory, name, head_bytes, slots_bytes, &slots_offset_bytes);

  if (error != 0) return error;
  ring->header = (struct spate_ring_header *)(void *)ring->memory.start;
  ring->table = (uint32_t *)(void *)(ring->memory.start + SPATE_RING_PAGE);
  ring->slots_start = ring->memory.start + slots_offset_bytes;
  fill_in(ring, slots_offset_bytes);
  return ring_memory_show(&ring->memory);
}

int spate_ring_create(struct spate_ring **ring, const char *name, uint32_t slot_bytes, uint32_t slots) {
  *ring = NULL;
  if (!is_power_of_two(slot_bytes, SPATE_RING_SLOT_BYTES_MIN, SPATE_RING_SLOT_BYTES_MAX) ||
      !is_power_of_two(slots, 2, SPATE_RING_SLOTS_MAX) || (uint64_t)slot_bytes * slots > TOTAL_BYTES_MAX)
    return EINVAL;
  struct spate_ring *made = calloc(1, sizeof *made);
  if (made == NULL) return ENOMEM;
  made->slot_bytes = slot_bytes;
  made->slots = slots;
  const int error = open_ring(made, name);
  if (error != 0) {
    ring_memory_close(&made->memory);
    free(made);
    return error;
  }
  *ring = made;
  return 0;
}

/* ---- room ---- */

/* Counts the free slots. EPROTO: the recorder's counter is impossible. */
static int free_slots(const struct spate_ring *ring, uint32_t *count) {
  const uint64_t held = ring->filled - load(&ring->header->released);

  if (held > ring->slots) return EPROTO;
  *count = ring->slots - (uint32_t)held;
  return 0;
}

/* On 32-bit machines SYS_futex takes the kernel's old timespec: two longs, as on 64-bit machines. */
static void sleep_on(uint32_t *futex, uint32_t seen, int64_t limit_ms) {
  const long limit[2] = {(long)(limit_ms / 1000), (long)(limit_ms % 1000) * 1000000L};

  (void)syscall(SYS_futex, futex, FUTEX_WAIT, seen, limit, NULL, 0);
}

/* The recorder changes `released`, then the futex, then reads `waiting`. So no wake-up is lost: either the recorder
 * sees `waiting`, or this function sees the free slots, or the futex has changed and the kernel does not sleep. */
static int wait_once(struct spate_ring *ring, uint32_t wanted, int64_t limit_ms) {
  struct spate_ring_header *header = ring->header;
  const uint32_t seen = __atomic_load_n(&header->released_events, __ATOMIC_SEQ_CST);
  uint32_t count;

  __atomic_store_n(&header->waiting, 1u, __ATOMIC_SEQ_CST);
  const int error = free_slots(ring, &count);
  if (error == 0 && count < wanted) sleep_on(&header->released_events, seen, limit_ms);
  __atomic_store_n(&header->waiting, 0u, __ATOMIC_SEQ_CST);
  return error;
}

static int wait_for(struct spate_ring *ring, uint32_t wanted, int timeout_ms) {
  const int64_t begin_ms = timeout_ms > 0 ? now_ms() : 0;

  for (;;) {
    int64_t left_ms = SLEEP_MS;
    uint32_t count;
    int error = free_slots(ring, &count);
    if (error != 0 || count >= wanted) return error;
    if (timeout_ms >= 0) left_ms = timeout_ms == 0 ? 0 : begin_ms + timeout_ms - now_ms();
    if (left_ms <= 0) return EAGAIN;
    error = wait_once(ring, wanted, left_ms < SLEEP_MS ? left_ms : SLEEP_MS);
    if (error != 0) return error;
  }
}

/* ---- slots ---- */

static uint8_t *slot_at(const struct spate_ring *ring, uint64_t number) {
  return ring->slots_start + (size_t)(number & (ring->slots - 1u)) * ring->slot_bytes;
}

static void hand_over(struct spate_ring *ring, uint32_t bytes) {
  ring->table[ring->filled & (ring->slots - 1u)] = bytes;
  ring->filled++;
  __atomic_store_n(&ring->header->filled, ring->filled, __ATOMIC_SEQ_CST);
  if (bytes % SPATE_RING_PAGE != 0) ring->over = true;
}

void *spate_ring_claim(struct spate_ring *ring, int timeout_ms) {
  const int error = ring->over ? EPIPE : ring->open_bytes > 0 ? EINVAL : wait_for(ring, 1, timeout_ms);

  ring->claimed = error == 0;
  if (error == 0) return slot_at(ring, ring->filled);
  errno = error;
  return NULL;
}

int spate_ring_publish(struct spate_ring *ring, uint32_t bytes) {
  if (ring->over) return EPIPE;
  if (!ring->claimed || bytes == 0 || bytes > ring->slot_bytes) return EINVAL;
  ring->claimed = false;
  hand_over(ring, bytes);
  return 0;
}

void spate_ring_lost(struct spate_ring *ring, uint64_t bytes) {
  /* Only the producer writes this counter, so a load and a store are enough. */
  __atomic_store_n(&ring->header->lost_bytes, load(&ring->header->lost_bytes) + bytes, __ATOMIC_SEQ_CST);
}

/* ---- bytes ---- */

/* Publishes the whole pages of a partly filled slot, so that the data of a slow source do not wait until the slot is
 * full. The rest moves to the next slot. If no slot is free for it, nothing is published: the recorder is behind
 * anyway.
 */
static void hand_over_pages(struct spate_ring *ring) {
  const uint32_t whole = ring->open_bytes & ~(SPATE_RING_PAGE - 1u), rest = ring->open_bytes - whole;
  uint32_t count;

  if (whole == 0 || free_slots(ring, &count) != 0 || count < 2) return;
  memcpy(slot_at(ring, ring->filled + 1u), slot_at(ring, ring->filled) + whole, rest);
  hand_over(ring, whole);
  ring->open_bytes = rest;
  ring->open_since_ms = now_ms();
}

static void copy_in(struct spate_ring *ring, const uint8_t *data, uint32_t bytes) {
  if (ring->open_bytes == 0) ring->open_since_ms = now_ms();
  memcpy(slot_at(ring, ring->filled) + ring->open_bytes, data, bytes);
  ring->open_bytes += bytes;
  if (ring->open_bytes < ring->slot_bytes) return;
  hand_over(ring, ring->slot_bytes);
  ring->open_bytes = 0;
}

/* How many slots `bytes` more need, counting the one that is partly filled. */
static uint64_t slots_for(const struct spate_ring *ring, size_t bytes) {
  return ((uint64_t)ring->open_bytes + bytes + ring->slot_bytes - 1u) / ring->slot_bytes;
}

static int wait_for_all(struct spate_ring *ring, size_t bytes, int timeout_ms) {
  const uint64_t wanted = slots_for(ring, bytes);
  const int error = wanted > ring->slots ? EMSGSIZE : wait_for(ring, (uint32_t)wanted, timeout_ms);

  if (error == EAGAIN || error == EMSGSIZE) spate_ring_lost(ring, bytes);
  return error;
}

int spate_ring_write(struct spate_ring *ring, const void *data, size_t bytes, int timeout_ms) {
  const uint8_t *from = data;

  if (ring->over) return EPIPE;
  ring->claimed = false;
  if (ring->open_bytes > 0 && now_ms() - ring->open_since_ms >= OPEN_MS) hand_over_pages(ring);
  int error = timeout_ms >= 0 ? wait_for_all(ring, bytes, timeout_ms) : 0;
  while (error == 0 && bytes > 0) {
    const uint32_t room = ring->slot_bytes - ring->open_bytes, now = bytes < room ? (uint32_t)bytes : room;
    if (timeout_ms < 0) error = wait_for(ring, 1, -1);
    if (error != 0) break;
    copy_in(ring, from, now);
    from += now;
    bytes -= now;
  }
  return error;
}

/* ---- the end ---- */

void spate_ring_end(struct spate_ring *ring) {
  if (ring->open_bytes > 0) hand_over(ring, ring->open_bytes);
  ring->open_bytes = 0;
  ring->over = true;
  __atomic_store_n(&ring->header->ended, 1u, __ATOMIC_SEQ_CST);
}

static bool is_empty(const struct spate_ring *ring) {
  uint32_t count;

  return free_slots(ring, &count) == 0 && count == ring->slots;
}

/* A ring that still holds data is kept for a recorder that starts later. */
void spate_ring_close(struct spate_ring *ring) {
  if (ring == NULL) return;
  ring_memory_unlock(&ring->memory);
  if (is_empty(ring)) ring_memory_remove(&ring->memory);
  ring_memory_close(&ring->memory);
  free(ring);
}

void spate_ring_detach(struct spate_ring *ring) {
  __atomic_store_n(&ring->header->producer_pid, 0u, __ATOMIC_SEQ_CST);
  ring_memory_close(&ring->memory);
  free(ring);
}

/* ---- state and errors ---- */

bool spate_ring_has_recorder(const struct spate_ring *ring) {
  return ring_memory_is_locked(ring->memory.fd, SPATE_RING_LOCK_RECORDER);
}

void spate_ring_count(const struct spate_ring *ring, struct spate_ring_counts *counts) {
  *counts = (struct spate_ring_counts){.slot_bytes = ring->slot_bytes,
                                       .slots = ring->slots,
                                       .filled = ring->filled,
                                       .released = load(&ring->header->released),
                                       .lost_bytes = load(&ring->header->lost_bytes)};
}

const char *spate_ring_sentence(int error) {
  switch (error) {
  case 0: return "no error";
  case EAGAIN: return "every slot is full: the recorder is slower than the source, or there is none";
  case EBUSY: return "another producer has this ring, or a recorder still writes from it";
  case EEXIST: return "the file is not a ring, and is not overwritten";
  case EINVAL: return "a name, a size, a number of slots or a length is wrong, or a slot was not claimed";
  case EMSGSIZE: return "the data are more than the whole ring holds";
  case ENOSPC:
  case ENOMEM: return "there is not enough memory: make the ring smaller, or /dev/shm larger";
  case EPIPE: return "the ring has ended: spate_ring_end() was called, or a slot was not a multiple of 4096 bytes";
  case EPROTO: return "the recorder's counter is invalid: something else has written to the ring";
  default: return strerror(error);
  }
}
