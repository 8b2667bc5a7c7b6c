/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a ring: a name in /dev/shm, or an existing file or device. */
#ifndef SPATE_RING_MEMORY_H
#define SPATE_RING_MEMORY_H

#include <spate/ring.h>

struct ring_memory {
  int fd;
  size_t bytes;
  uint8_t *start;
  char *path; /* of shared memory by name, which is removed at the end; NULL for a file or device, which is kept */
};

/* The page size of the memory (a huge page on hugetlbfs). The slots begin at a multiple of it. */
size_t ring_memory_step_bytes(int fd);

/* Maps memory for `head_bytes` and, after them, `slots_bytes` of slots; clears the header's page and takes the
 * producer's lock. *slots_offset_bytes is where the slots begin. Returns 0 or an errno value. Nobody else can open
 * shared memory by name before ring_memory_show(). */
int ring_memory_open(struct ring_memory *memory, const char *name, size_t head_bytes, uint64_t slots_bytes,
                     uint64_t *slots_offset_bytes);
int ring_memory_show(struct ring_memory *memory);
/* Releases the producer's lock. Each side releases its lock before it checks whether the other side has gone. So the
 * last of the two always sees that it is the last. */
void ring_memory_unlock(struct ring_memory *memory);
/* Removes the name, if it still names this file and no recorder has the ring. */
void ring_memory_remove(struct ring_memory *memory);
void ring_memory_close(struct ring_memory *memory);

/* True if another open file holds this lock. */
bool ring_memory_is_locked(int fd, short byte);
int ring_memory_lock(int fd, short byte);

#endif
