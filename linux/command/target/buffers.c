/* SPDX-License-Identifier: Apache-2.0 */
#include "buffers.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/utsname.h>

#ifndef BUFFER_BYTES_MAX                   /* a test sets a smaller one */
#define BUFFER_BYTES_MAX ((size_t)1 << 30) /* io_uring's limit for one buffer */
#endif

bool buffers_pay(const char *release) {
  unsigned major = 0, minor = 0;

  if (sscanf(release, "%u.%u", &major, &minor) != 2) return false;
  return major > 6u || (major == 6u && minor >= 12u);
}

static bool update(struct buffers *buffers, unsigned number, struct iovec vector) {
  const __u64 tag = 0;

  if (io_uring_register_buffers_update_tag(buffers->ring, number, &vector, &tag, 1) < 0) return false;
  buffers->vectors[number] = vector;
  if (number >= buffers->used) buffers->used = number + 1u;
  return true;
}

/* Registers a ring. If the kernel refuses, for example because the user may not lock that much memory, its requests are
 * made without registered buffers. */
static void ring_taken(void *context, void *ring, size_t bytes) {
  struct buffers *buffers = context;
  uint8_t *start = ring;

  for (unsigned number = 0; number < BUFFERS_MAX && bytes > 0; number++) {
    const size_t now_bytes = bytes < BUFFER_BYTES_MAX ? bytes : BUFFER_BYTES_MAX;
    if (buffers->vectors[number].iov_base != NULL) continue;
    if (!update(buffers, number, (struct iovec){.iov_base = start, .iov_len = now_bytes})) return;
    start += now_bytes;
    bytes -= now_bytes;
  }
}

/* Removes the buffers of a ring. Otherwise, if other memory got the same addresses, the kernel would still write the
 * old pages. A ring of several buffers is contiguous in addresses. */
static void ring_given(void *context, const void *ring) {
  struct buffers *buffers = context;
  const uint8_t *next = ring;

  for (unsigned number = 0; number < buffers->used; number++) {
    const struct iovec vector = buffers->vectors[number];
    if (vector.iov_base == NULL || vector.iov_base != (const void *)next) continue;
    next += vector.iov_len;
    (void)update(buffers, number, (struct iovec){.iov_base = NULL});
    buffers->vectors[number] = (struct iovec){.iov_base = NULL};
  }
}

void buffers_open(struct buffers *buffers, struct io_uring *ring, struct memory_supply *memory) {
  struct utsname system;

  *buffers = (struct buffers){
      .ring = ring, .memory = memory, .watcher = {.taken = ring_taken, .given = ring_given, .context = buffers}};
  if (uname(&system) != 0 || !buffers_pay(system.release)) return;
  if (io_uring_register_buffers_sparse(ring, BUFFERS_MAX) == 0) memory_watch(memory, &buffers->watcher);
}

int buffers_find(const struct buffers *buffers, const void *start, size_t bytes) {
  for (unsigned number = 0; number < buffers->used; number++) {
    const struct iovec *vector = &buffers->vectors[number];
    const uintptr_t at = (uintptr_t)start - (uintptr_t)vector->iov_base;
    if (at < vector->iov_len && bytes <= vector->iov_len - at) return (int)number; /* an unused vector has length 0 */
  }
  return -1;
}

void buffers_close(struct buffers *buffers) { memory_watch_no_more(buffers->memory, &buffers->watcher); }
