/* SPDX-License-Identifier: Apache-2.0 */
#include "physical.h"

#include "../text/fail.h"
#include "bus_memory.h"
#include "sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux_port.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define HUGE_SHIFT  21
#define HUGE_BYTES  ((size_t)1 << HUGE_SHIFT)
#define MAPPINGS    16u
#define PIN_BYTES   ((size_t)1 << 30) /* of one buffer, at most */
#define PIN_RANGES  64u
#define PFN_PRESENT (UINT64_C(1) << 63)
#define PFN_MASK    ((UINT64_C(1) << 55) - 1u)

static struct {
  unsigned drives;
  int file;
  size_t file_bytes;
  int pagemap; /* /proc/self/pagemap: 8 bytes for each page of this program */
  struct spate_arena metadata;
  struct {
    void *start;
    size_t bytes;
    struct io_uring pin;
  } mappings[MAPPINGS];
  unsigned mapping_count;
  struct given { /* contiguous memory of a kernel driver */
    uint8_t *start;
    size_t bytes;
    uint64_t address;
  } given[MAPPINGS];
  unsigned given_count;
} physical = {.file = -1, .pagemap = -1};

static uint64_t address_of(const void *memory) {
  const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  const uintptr_t at = (uintptr_t)memory;
  uint64_t entry = 0;

  if (pread(physical.pagemap, &entry, sizeof entry, (off_t)(at / page_bytes * sizeof entry)) != (ssize_t)sizeof entry ||
      (entry & PFN_PRESENT) == 0)
    fail(EXIT_FAILED, "/proc/self/pagemap: %s", strerror(errno));
  if ((entry & PFN_MASK) == 0) fail(EXIT_REFUSED, "pci: needs physical addresses, which the kernel shows only to root");
  return (entry & PFN_MASK) * page_bytes + at % page_bytes;
}

/* Keeps huge pages at their physical addresses. The kernel may move them when it needs contiguous memory, but not while
 * they are registered as buffers of an io_uring. */
static void pin(struct io_uring *ring, uint8_t *start, size_t bytes) {
  struct iovec ranges[PIN_RANGES];
  unsigned count = 0;

  for (size_t at = 0; at < bytes && count < PIN_RANGES; at += ranges[count++].iov_len)
    ranges[count] = (struct iovec){.iov_base = start + at, .iov_len = bytes - at < PIN_BYTES ? bytes - at : PIN_BYTES};
  int error = io_uring_queue_init(1, ring, 0);
  if (error == 0) error = io_uring_register_buffers(ring, ranges, count);
  if (error != 0) fail(EXIT_REFUSED, "pci: needs io_uring to keep its memory at fixed addresses: %s", strerror(-error));
}

static void *map(size_t bytes) {
  bytes = (bytes + HUGE_BYTES - 1u) & ~(HUGE_BYTES - 1u);
  if (physical.mapping_count == MAPPINGS) return NULL;
  void *memory = MAP_FAILED;
  if (ftruncate(physical.file, (off_t)(physical.file_bytes + bytes)) == 0)
    memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, physical.file, (off_t)physical.file_bytes);
  if (memory == MAP_FAILED)
    fail(EXIT_REFUSED,
         "%zu more huge pages of 2 MiB are needed: echo %zu > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages "
         "(%s)",
         bytes >> HUGE_SHIFT, (bytes >> HUGE_SHIFT) + 16u, strerror(errno));
  physical.file_bytes += bytes;
  pin(&physical.mappings[physical.mapping_count].pin, memory, bytes);
  physical.mappings[physical.mapping_count].start = memory;
  physical.mappings[physical.mapping_count++].bytes = bytes;
  return memory;
}

static void *take(size_t bytes) { return spate_arena_take(&physical.metadata, bytes, SPATE_PAGE_BYTES); }

/* The kernel driver keeps this memory at its address as long as it is mapped. The guardian need not hold it, because
 * the drive only reads it. */
static void *map_given(int fd, uint64_t offset_bytes, size_t bytes, const char **why) {
  struct given *given = &physical.given[physical.given_count];

  *why = "there are too many rings of this kind";
  if (physical.given_count == MAPPINGS) return NULL;
  if (!bus_memory_find(fd, offset_bytes, bytes, &given->address, why)) return NULL;
  given->start = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)offset_bytes);
  *why = strerror(errno);
  if (given->start == MAP_FAILED) return NULL;
  given->bytes = bytes;
  physical.given_count++;
  return given->start;
}

static uint64_t page_address(void *ring, uint64_t page) {
  for (unsigned i = 0; i < physical.given_count; i++)
    if (physical.given[i].start == ring) return physical.given[i].address + page * SPATE_PAGE_BYTES;
  return address_of((const uint8_t *)ring + page * SPATE_PAGE_BYTES);
}

const struct memory_kind physical_memory = {
    .take = take, .take_ring = map, .page_address = page_address, .map = map_given};

int physical_join(void) {
  if (physical.drives++ > 0) return physical.file;
  physical.file = memfd_create("spate", MFD_CLOEXEC | MFD_HUGETLB | (unsigned)HUGE_SHIFT << MAP_HUGE_SHIFT);
  if (physical.file < 0) fail(EXIT_FAILED, "this kernel has no huge pages of 2 MiB: %s", strerror(errno));
  physical.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (physical.pagemap < 0) fail(EXIT_REFUSED, "/proc/self/pagemap: %s", strerror(errno));
  physical.metadata = (struct spate_arena){.start = map(HUGE_BYTES), .bytes = HUGE_BYTES};
  linux_port_dma_offset(address_of(physical.metadata.start) - (uintptr_t)physical.metadata.start);
  return physical.file;
}

void physical_leave(const char *address) {
  char path[SYSFS_PATH_BYTES];

  sysfs_path(path, address, "enable");
  (void)sysfs_write(path, "0"); /* fails if the function was removed, and then there is nothing to disable */
  if (--physical.drives > 0) return;
  linux_port_dma_offset(0);
  while (physical.mapping_count > 0) {
    physical.mapping_count--;
    io_uring_queue_exit(&physical.mappings[physical.mapping_count].pin);
    (void)munmap(physical.mappings[physical.mapping_count].start, physical.mappings[physical.mapping_count].bytes);
  }
  while (physical.given_count > 0) {
    physical.given_count--;
    (void)munmap(physical.given[physical.given_count].start, physical.given[physical.given_count].bytes);
  }
  (void)close(physical.pagemap);
  (void)close(physical.file);
  physical.pagemap = physical.file = -1;
  physical.file_bytes = 0;
}
