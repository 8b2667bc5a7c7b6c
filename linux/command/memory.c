/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include "text/fail.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define HUGE_BYTES ((size_t)2 << 20)

static void *take_any(size_t bytes) {
  void *memory = aligned_alloc(SPATE_PAGE_BYTES, bytes);

  return memory == NULL ? NULL : memset(memory, 0, bytes);
}

/* Uses huge pages if the kernel has them: contiguous memory costs the kernel less to hand to a drive. */
static void *take_ring_any(size_t bytes) {
  if (bytes < HUGE_BYTES) return take_any(bytes);
  bytes = (bytes + HUGE_BYTES - 1u) & ~(HUGE_BYTES - 1u);
  void *memory = aligned_alloc(HUGE_BYTES, bytes);
  if (memory == NULL) return NULL;
  (void)madvise(memory, bytes, MADV_HUGEPAGE); /* has no effect without transparent huge pages */
  return memset(memory, 0, bytes);
}

/* True if the mapping has struct pages, which the kernel needs to write from it to a drive. Some drivers map page frame
 * numbers without them. process_vm_readv() needs the pages as well, so it is the test. */
static bool has_pages(void *memory) {
  uint8_t byte;
  const struct iovec to = {.iov_base = &byte, .iov_len = sizeof byte},
                     from = {.iov_base = memory, .iov_len = sizeof byte};

  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof byte;
}

static void *map_any(int fd, uint64_t offset_bytes, size_t bytes, const char **why) {
  void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)offset_bytes);

  *why = strerror(errno);
  if (memory == MAP_FAILED) return NULL;
  if (has_pages(memory)) return memory;
  *why = "its driver maps it without struct pages, so the kernel cannot write from it to a drive";
  (void)munmap(memory, bytes);
  return NULL;
}

static const struct memory_kind any = {.take = take_any, .take_ring = take_ring_any, .map = map_any};

static const struct memory_kind *kind_of(const struct memory_supply *supply) {
  return supply->kind == NULL ? &any : supply->kind;
}

void memory_watch(struct memory_supply *supply, struct memory_watcher *watcher) {
  watcher->next = supply->watchers;
  supply->watchers = watcher;
}

void memory_watch_no_more(struct memory_supply *supply, struct memory_watcher *watcher) {
  for (struct memory_watcher **at = &supply->watchers; *at != NULL; at = &(*at)->next)
    if (*at == watcher) {
      *at = watcher->next;
      return;
    }
}

static void tell_taken(const struct memory_supply *supply, void *ring, size_t bytes) {
  for (const struct memory_watcher *watcher = supply->watchers; watcher != NULL; watcher = watcher->next)
    watcher->taken(watcher->context, ring, bytes);
}

static void tell_given(const struct memory_supply *supply, const void *ring) {
  for (const struct memory_watcher *watcher = supply->watchers; watcher != NULL; watcher = watcher->next)
    watcher->given(watcher->context, ring);
}

static void *given(void *memory, size_t bytes) {
  if (memory == NULL) fail(EXIT_FAILED, "no memory for %zu bytes", bytes);
  return memory;
}

void *memory_take(const struct memory_supply *supply, size_t bytes) {
  return given(kind_of(supply)->take(bytes), bytes);
}

void *memory_take_ring(const struct memory_supply *supply, size_t bytes) {
  void *ring = given(kind_of(supply)->take_ring(bytes), bytes);

  tell_taken(supply, ring, bytes);
  return ring;
}

void *memory_map(const struct memory_supply *supply, int fd, uint64_t offset_bytes, size_t bytes, const char **why) {
  const struct memory_kind *kind = kind_of(supply);

  *why = "this target can only use its own memory";
  return kind->map == NULL ? NULL : kind->map(fd, offset_bytes, bytes, why);
}

void memory_unmap(const struct memory_supply *supply, void *memory, size_t bytes) {
  if (supply->kind == NULL) (void)munmap(memory, bytes);
}

void memory_give(const struct memory_supply *supply, void *memory) {
  if (memory == NULL) return;
  tell_given(supply, memory);
  if (supply->kind == NULL) free(memory);
}

void memory_region(const struct memory_supply *supply, struct spate_region *region, void *ring, uint64_t bytes,
                   void *table) {
  const struct memory_kind *kind = kind_of(supply);
  struct spate_arena arena = {.start = table, .bytes = (size_t)SPATE_REGION_TABLE_BYTES(bytes)};

  expect(kind->page_address == NULL
             ? spate_region_init(region, ring, bytes, &arena)
             : spate_region_init_scattered(region, ring, bytes, kind->page_address, ring, &arena),
         "mapping the ring");
}
