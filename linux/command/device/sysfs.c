/* SPDX-License-Identifier: Apache-2.0 */
#include "sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSTEM "/sys"

const char *sysfs_root = SYSTEM;

bool sysfs_is_copy(void) { return strcmp(sysfs_root, SYSTEM) != 0; }

bool sysfs_address(const char *text, char *address) {
  unsigned domain, bus, device, function;
  int end = -1;

  if (sscanf(text, "%8x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &end) != 4 || text[end] != '\0') {
    domain = 0;
    end = -1;
    if (sscanf(text, "%2x:%2x.%1x%n", &bus, &device, &function, &end) != 3 || text[end] != '\0') return false;
  }
  if (device > 31 || function > 7) return false;
  (void)snprintf(address, SYSFS_ADDRESS_BYTES, "%04x:%02x:%02x.%x", domain, bus & 0xffu, device & 31u, function & 7u);
  return true;
}

void sysfs_path(char *path, const char *address, const char *name) {
  (void)snprintf(path, SYSFS_PATH_BYTES, "%s/bus/pci/devices/%s/%s", sysfs_root, address, name);
}

bool sysfs_exists(const char *address) {
  char path[SYSFS_PATH_BYTES];

  sysfs_path(path, address, "");
  return access(path, F_OK) == 0;
}

bool sysfs_read(const char *path, char *text, size_t text_bytes) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);

  if (fd < 0) return false;
  const ssize_t got = read(fd, text, text_bytes - 1u);
  (void)close(fd);
  if (got < 0) return false;
  text[got] = '\0';
  text[strcspn(text, "\n")] = '\0';
  return true;
}

bool sysfs_number(const char *address, const char *name, uint64_t *number) {
  char path[SYSFS_PATH_BYTES], text[64], *end;

  sysfs_path(path, address, name);
  if (!sysfs_read(path, text, sizeof text)) return false;
  errno = 0;
  *number = strtoull(text, &end, 0);
  return errno == 0 && end != text;
}

int sysfs_write(const char *path, const char *text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  const size_t bytes = strlen(text);
  int error = 0;

  if (fd < 0) return errno;
  if (write(fd, text, bytes) != (ssize_t)bytes) error = errno;
  (void)close(fd);
  return error;
}

bool sysfs_link(const char *address, const char *name, char *target, size_t target_bytes) {
  char path[SYSFS_PATH_BYTES], whole[PATH_MAX];

  sysfs_path(path, address, name);
  if (realpath(path, whole) == NULL) return false;
  const char *last = strrchr(whole, '/');
  (void)snprintf(target, target_bytes, "%s", last == NULL ? whole : last + 1);
  return true;
}

bool sysfs_find(const char *folder, bool (*accept)(const char *folder, const char *name, void *context), void *context,
                char *name, size_t name_bytes) {
  DIR *entries = opendir(folder);
  bool found = false;

  if (entries == NULL) return false;
  for (struct dirent *entry; !found && (entry = readdir(entries)) != NULL;)
    if (entry->d_name[0] != '.' && accept(folder, entry->d_name, context)) {
      (void)snprintf(name, name_bytes, "%s", entry->d_name);
      found = true;
    }
  (void)closedir(entries);
  return found;
}

bool sysfs_nvme_disk(const char *entry, char *disk, size_t disk_bytes) {
  unsigned subsystem, namespace;
  int end = -1;

  if ((sscanf(entry, "nvme%uc%*un%u%n", &subsystem, &namespace, &end) != 2 || entry[end] != '\0') &&
      (sscanf(entry, "nvme%un%u%n", &subsystem, &namespace, &end) != 2 || entry[end] != '\0'))
    return false;
  (void)snprintf(disk, disk_bytes, "nvme%un%u", subsystem, namespace);
  return true;
}

/* ---- the link ---- */

#define SPEED_CODE_LAST 6u

/* Converts "8.0 GT/s PCIe" to the code of the Link Status register; 0: not a known speed. */
static uint8_t speed_code(const char *address, const char *name) {
  char path[SYSFS_PATH_BYTES], text[32];

  sysfs_path(path, address, name);
  if (!sysfs_read(path, text, sizeof text)) return 0;
  const double mts = strtod(text, NULL) * 1000.0;
  for (uint8_t code = 1; code <= SPEED_CODE_LAST; code++)
    if (mts > spate_pcie_speed_mts(code) - 1.0 && mts < spate_pcie_speed_mts(code) + 1.0) return code;
  return 0;
}

static uint8_t lanes(const char *address, const char *name) {
  uint64_t number;

  return sysfs_number(address, name, &number) && number <= 32 ? (uint8_t)number : 0;
}

struct spate_pcie_link sysfs_pcie_link(const char *address) {
  return (struct spate_pcie_link){.speed = speed_code(address, "current_link_speed"),
                                  .speed_max = speed_code(address, "max_link_speed"),
                                  .width = lanes(address, "current_link_width"),
                                  .width_max = lanes(address, "max_link_width"),
                                  .up = true};
}
