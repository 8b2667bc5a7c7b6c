/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include "../text/fail.h"
#include "../text/units.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <linux/vfio.h>
#include <linux_port.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define HUGE_SHIFT 21
#define HUGE_BYTES ((size_t)1 << HUGE_SHIFT)
/* The size of the address range, not of memory. The range lies within what the IOMMU reports, which may be 2^39. */
#define POOL_BYTES ((size_t)1 << (sizeof(void *) > 4 ? 36 : 30))

static struct {
  int container;
  uint8_t *start; /* NULL: the pool is not open */
  size_t bytes, used_bytes;
  uint64_t iova; /* of start */
} pool;

struct range {
  uint64_t first, last;
};

/* ---- usable addresses ---- */

/* VFIO_IOMMU_GET_INFO, with the capabilities after it. The caller frees it. */
static struct vfio_iommu_type1_info *iommu_info(int container) {
  uint32_t bytes = sizeof(struct vfio_iommu_type1_info);

  for (;;) {
    struct vfio_iommu_type1_info *info = calloc(1, bytes);
    if (info == NULL) fail(EXIT_FAILED, "no memory");
    info->argsz = bytes;
    if (ioctl(container, VFIO_IOMMU_GET_INFO, info) != 0)
      fail(EXIT_FAILED, "/dev/vfio/vfio: VFIO_IOMMU_GET_INFO: %s", strerror(errno));
    if (info->argsz <= bytes) return info;
    bytes = info->argsz;
    free(info);
  }
}

/* The BARs of PCI functions, and the windows of bridges. A request to such an address may never reach the IOMMU: a
 * switch routes it to the function, and a drive treats its own BAR's addresses as its registers. */
#define TAKEN_MAX 512u

struct taken {
  struct range ranges[TAKEN_MAX];
  size_t count;
};

static void add_taken(struct taken *taken, const char *path) {
  FILE *file = fopen(path, "re");
  uint64_t first, last, flags;

  if (file == NULL) return; /* the function went away */
  while (taken->count < TAKEN_MAX && fscanf(file, "%" SCNx64 " %" SCNx64 " %" SCNx64, &first, &last, &flags) == 3)
    if (last > first) taken->ranges[taken->count++] = (struct range){first, last};
  (void)fclose(file);
}

static void find_taken(struct taken *taken) {
  glob_t found;

  if (glob("/sys/bus/pci/devices/*/resource", 0, NULL, &found) != 0) return;
  for (size_t i = 0; i < found.gl_pathc; i++)
    add_taken(taken, found.gl_pathv[i]);
  globfree(&found);
}

/* The lowest range that ends at `address` or above. NULL: there is none. */
static const struct range *next_taken(const struct taken *taken, uint64_t address) {
  const struct range *next = NULL;

  for (size_t i = 0; i < taken->count; i++)
    if (taken->ranges[i].last >= address && (next == NULL || taken->ranges[i].first < next->first))
      next = &taken->ranges[i];
  return next;
}

/* The longest free part of `range`, if it is longer than `best`; otherwise `best`. */
static struct range longer_gap(struct range best, struct range range, const struct taken *taken) {
  uint64_t first = range.first;

  for (;;) {
    const struct range *next = next_taken(taken, first);
    const uint64_t end = next == NULL || next->first > range.last ? range.last : next->first - 1u;
    if ((next == NULL || next->first > first) && end >= first && end - first >= best.last - best.first)
      best = (struct range){first, end};
    if (next == NULL || next->last >= range.last) return best;
    first = next->last + 1u;
  }
}

static struct range longest(const struct vfio_iommu_type1_info_cap_iova_range *ranges) {
  static struct taken taken;
  struct range best = {0, 0};

  taken.count = 0;
  find_taken(&taken);
  for (uint32_t i = 0; i < ranges->nr_iovas; i++)
    best = longer_gap(best, (struct range){ranges->iova_ranges[i].start, ranges->iova_ranges[i].end}, &taken);
  return best;
}

/* Kernels before 5.4 report no ranges, and accept any address that the IOMMU has: then the first 4 GiB are used. */
static struct range usable(int container) {
  struct vfio_iommu_type1_info *info = iommu_info(container);
  struct range range = {0, UINT32_MAX};

  for (uint32_t at = (info->flags & VFIO_IOMMU_INFO_CAPS) != 0 ? info->cap_offset : 0; at != 0;) {
    const struct vfio_info_cap_header *header = (const void *)((const uint8_t *)info + at);
    if (header->id == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE) range = longest((const void *)header);
    at = header->next;
  }
  free(info);
  return range;
}

/* Leaves out address 0, which means "none" in a pointer. */
static void choose_addresses(int container) {
  const struct range range = usable(container);
  const uint64_t first = range.first < HUGE_BYTES ? HUGE_BYTES : (range.first + HUGE_BYTES - 1u) & ~(HUGE_BYTES - 1u);

  if (range.last < first || range.last - first < HUGE_BYTES) fail(EXIT_FAILED, "the IOMMU leaves no addresses for DMA");
  pool.iova = first;
  pool.bytes =
      range.last - first < POOL_BYTES ? (size_t)((range.last - first) & ~(uint64_t)(HUGE_BYTES - 1u)) : POOL_BYTES;
}

/* ---- memory ---- */

/* Uses huge pages if there are any, because they are mapped in a sixth of the time; otherwise ordinary pages. */
static void *populate(uint8_t *at, size_t bytes) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  void *memory = MAP_FAILED;

  if (bytes % HUGE_BYTES == 0)
    memory = mmap(at, bytes, PROT_READ | PROT_WRITE, flags | MAP_HUGETLB | HUGE_SHIFT << MAP_HUGE_SHIFT | MAP_POPULATE,
                  -1, 0);
  if (memory != MAP_FAILED) return memory;
  memory = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  /* Has no effect without transparent huge pages. */
  (void)madvise(memory, bytes, MADV_HUGEPAGE);
  return memset(memory, 0, bytes);
}

__attribute__((noreturn)) static void refuse_map(size_t bytes, int error) {
  char size[UNITS_TEXT_BYTES], most[UNITS_TEXT_BYTES];
  struct rlimit limit;

  (void)units_text(bytes, size);
  if (error == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    fail(EXIT_REFUSED,
         "%s cannot be locked for DMA: the limit is %s. Raise it with ulimit -l unlimited, with memlock in "
         "/etc/security/limits.conf, or run as root",
         size, units_text(limit.rlim_cur, most));
  fail(EXIT_FAILED, "%s cannot be mapped for DMA: %s", size, strerror(error));
}

static size_t up_to(size_t bytes, size_t step) { return (bytes + step - 1u) & ~(step - 1u); }

static bool map_dma(void *memory, size_t bytes, uint32_t flags) {
  struct vfio_iommu_type1_dma_map map = {.argsz = sizeof map,
                                         .flags = flags,
                                         .vaddr = (uintptr_t)memory,
                                         .iova = pool.iova + (uint64_t)((uint8_t *)memory - pool.start),
                                         .size = bytes};

  return ioctl(pool.container, VFIO_IOMMU_MAP_DMA, &map) == 0;
}

static void *take(size_t bytes) {
  const size_t step = bytes >= HUGE_BYTES ? HUGE_BYTES : (size_t)sysconf(_SC_PAGESIZE);
  const size_t at = up_to(pool.used_bytes, step);

  bytes = up_to(bytes, step);
  if (at > pool.bytes || bytes > pool.bytes - at) return NULL;
  void *memory = populate(pool.start + at, bytes);
  if (memory == NULL) return NULL;
  if (!map_dma(memory, bytes, VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE)) refuse_map(bytes, errno);
  pool.used_bytes = at + bytes;
  return memory;
}

/* Returns the addresses to the pool. */
static void *unmap(void *memory, size_t bytes) {
  if (mmap(memory, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    fail(EXIT_FAILED, "mmap: %s", strerror(errno));
  return NULL;
}

/* The file may have huge pages, which need whole huge pages of the pool's addresses. The drive only reads this memory.
 */
static void *map(int fd, uint64_t offset_bytes, size_t bytes, const char **why) {
  const size_t at = up_to(pool.used_bytes, HUGE_BYTES), pages_bytes = up_to(bytes, HUGE_BYTES);

  *why = "no addresses for DMA are left";
  if (at > pool.bytes || pages_bytes > pool.bytes - at) return NULL;
  void *memory =
      mmap(pool.start + at, bytes, PROT_READ, MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, (off_t)offset_bytes);
  *why = strerror(errno);
  if (memory == MAP_FAILED) return unmap(pool.start + at, pages_bytes);
  if (!map_dma(memory, bytes, VFIO_DMA_MAP_FLAG_READ)) {
    if (errno == ENOMEM) refuse_map(bytes, errno);
    *why = strerror(errno);
    return unmap(pool.start + at, pages_bytes);
  }
  pool.used_bytes = at + pages_bytes;
  return memory;
}

const struct memory_kind pool_memory = {.take = take, .take_ring = take, .map = map};

void pool_open(int container) {
  if (pool.start != NULL) return;
  choose_addresses(container);
  /* HUGE_BYTES more, so that the pool can start at a huge page. */
  uint8_t *start = mmap(NULL, pool.bytes + HUGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) fail(EXIT_FAILED, "no addresses for DMA memory: %s", strerror(errno));
  pool.start = start + (HUGE_BYTES - (uintptr_t)start % HUGE_BYTES) % HUGE_BYTES;
  pool.container = container;
  pool.used_bytes = 0;
  linux_port_dma_offset(pool.iova - (uintptr_t)pool.start);
}

void pool_close(void) {
  if (pool.start == NULL) return;
  struct vfio_iommu_type1_dma_unmap unmap = {.argsz = sizeof unmap, .iova = pool.iova, .size = pool.used_bytes};
  if (pool.used_bytes > 0 && ioctl(pool.container, VFIO_IOMMU_UNMAP_DMA, &unmap) != 0)
    (void)fprintf(stderr, "spate: DMA memory cannot be unmapped: %s\n", strerror(errno)); /* closing VFIO unmaps it */
  (void)munmap(pool.start, pool.bytes);
  pool.start = NULL;
  linux_port_dma_offset(0);
}
