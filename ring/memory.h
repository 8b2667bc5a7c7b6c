/* SPDX-License-Identifier: Apache-2.0 */
/* Where a ring's memory comes from: a name in /dev/shm, or a file or device that is there already. */
#ifndef SPATE_RING_MEMORY_H
#define SPATE_RING_MEMORY_H

#include <spate/ring.h>

struct ring_memory {
  int fd;
  size_t bytes;
  uint8_t *start;
  char *path; /* of shared memory by name; NULL: of others, which stay */
};

/* Whole pages of the kind that the memory has; the slots begin at a multiple of it. */
size_t ring_memory_step_bytes(int fd);

/* Memory for `slots` slots behind `head_bytes`, the producer's lock taken, nothing in it. *slots_offset_bytes is where
 * the slots begin. An errno value. Nobody else sees shared memory by name before ring_memory_show(). */
int ring_memory_open(struct ring_memory *memory, const char *name, size_t head_bytes, uint64_t slots_bytes,
                     uint64_t *slots_offset_bytes);
int ring_memory_show(struct ring_memory *memory);
/* Gives up the producer's lock. Each side does this before it looks whether the other has gone and nothing is left, so
 * that the last one sees that it is the last. */
void ring_memory_unlock(struct ring_memory *memory);
/* The name goes if it still leads here and no recorder has it. */
void ring_memory_remove(struct ring_memory *memory);
void ring_memory_close(struct ring_memory *memory);

/* Does somebody else hold this lock? */
bool ring_memory_is_locked(int fd, short byte);
int ring_memory_lock(int fd, short byte);

#endif
