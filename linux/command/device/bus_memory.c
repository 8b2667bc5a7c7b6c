/* SPDX-License-Identifier: Apache-2.0 */
#include "bus_memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define BARS       6u
#define DEVICES_AT "/sys/devices/"
#ifndef CHARACTER_DEVICES /* a test sets its own folder */
#define CHARACTER_DEVICES "/sys/dev/char"
#endif

/* Contiguous memory at an address of the bus. */
struct range {
  uint64_t address, bytes;
};

/* ---- u-dma-buf ---- */

/* A number as C writes it: 0x3f000000, 4194304. */
static bool read_number(const char *folder, const char *name, uint64_t *number) {
  char path[PATH_MAX + 16];

  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  const bool good = fscanf(file, "%" SCNi64, (int64_t *)number) == 1;
  (void)fclose(file);
  return good;
}

static bool find_device(dev_t device, struct range *range, const char **why) {
  char folder[PATH_MAX];

  (void)snprintf(folder, sizeof folder, "%s/%u:%u", CHARACTER_DEVICES, major(device), minor(device));
  *why = "its driver does not report the address of its memory; u-dma-buf does, as phys_addr and size in sysfs";
  return read_number(folder, "phys_addr", &range->address) && read_number(folder, "size", &range->bytes);
}

/* ---- BARs ---- */

/* The number of the BAR whose file in sysfs has this path; BARS: it is not a BAR. Removes the last part of the path. */
static unsigned bar_of(char *path) {
  char *name = strrchr(path, '/');
  unsigned bar;
  int end = -1;

  if (strncmp(path, DEVICES_AT, sizeof DEVICES_AT - 1u) != 0 || name == NULL ||
      sscanf(name, "/resource%1u%n", &bar, &end) != 1 || bar >= BARS ||
      (name[end] != '\0' && strcmp(name + end, "_wc") != 0))
    return BARS;
  *name = '\0';
  return bar;
}

/* The bits of a BAR: base specification 4.0, 7.5.1.2.1. */
#define CONFIG_BAR       0x10
#define BAR_IS_PORTS     UINT32_C(1)
#define BAR_IS_64_BITS   UINT32_C(4)
#define BAR_ADDRESS_MASK UINT32_C(0xfffffff0)

/* The address in the BAR itself. If the host bridge translates addresses, the processors use another one for this
 * memory. */
static bool read_bus_address(const char *folder, unsigned bar, uint64_t *address) {
  uint32_t words[2] = {
      0}; /* a 64-bit BAR continues in the next register; PCI is little-endian, and so are these machines */
  char path[PATH_MAX + 16];

  (void)snprintf(path, sizeof path, "%s/config", folder);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool good = pread(fd, words, sizeof words, (off_t)(CONFIG_BAR + 4u * bar)) == (ssize_t)sizeof words;
  (void)close(fd);
  *address = words[0] & BAR_ADDRESS_MASK;
  if ((words[0] & BAR_IS_64_BITS) != 0) *address |= (uint64_t)words[1] << 32;
  return good && (words[0] & BAR_IS_PORTS) == 0;
}

/* A line for each BAR: first address, last address, flags. */
static bool read_bar(const char *folder, unsigned bar, struct range *range) {
  char path[PATH_MAX + 16];
  uint64_t first = 0, last = 0, flags;

  (void)snprintf(path, sizeof path, "%s/resource", folder);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  bool good = true;
  for (unsigned line = 0; good && line <= bar; line++)
    good = fscanf(file, "%" SCNx64 " %" SCNx64 " %" SCNx64, &first, &last, &flags) == 3;
  (void)fclose(file);
  range->bytes = last - first + 1u;
  return good && last > first && read_bus_address(folder, bar, &range->address);
}

static bool find_bar(int fd, struct range *range, const char **why) {
  char link[64], path[PATH_MAX];

  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  *why = "its pages are not contiguous, and may move: pci: accepts memory of u-dma-buf or of a PCI function";
  const ssize_t length = readlink(link, path, sizeof path - 1u);
  if (length <= 0) return false;
  path[length] = '\0';
  const unsigned bar = bar_of(path);
  return bar < BARS && read_bar(path, bar, range);
}

/* ---- lookup ---- */

bool bus_memory_find(int fd, uint64_t offset_bytes, size_t bytes, uint64_t *address, const char **why) {
  struct range range;
  struct stat status;

  *why = "the type of the file cannot be read";
  if (fstat(fd, &status) != 0) return false;
  if (S_ISCHR(status.st_mode) ? !find_device(status.st_rdev, &range, why) : !find_bar(fd, &range, why)) return false;
  *why = "it has less memory than the ring needs, or its address is not a multiple of the page size";
  if (offset_bytes > range.bytes || bytes > range.bytes - offset_bytes) return false;
  *address = range.address + offset_bytes;
  return *address % PAGE_BYTES == 0;
}
