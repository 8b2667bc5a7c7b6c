/* SPDX-License-Identifier: Apache-2.0 */
/* Finds NVMe drives, and ports with nothing below them. */
#include "../device/sysfs.h"
#include "checkup.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASS_PCI_BRIDGE 0x0604u

static bool is_function(const struct dirent *entry) {
  char address[SYSFS_ADDRESS_BYTES];

  return sysfs_address(entry->d_name, address) && strcmp(entry->d_name, address) == 0;
}

static int filter(const struct dirent *entry) { return is_function(entry); }

static bool has_function_below(const char *address) {
  char path[SYSFS_PATH_BYTES];
  bool found = false;

  sysfs_path(path, address, "");
  DIR *entries = opendir(path);
  if (entries == NULL) return false;
  for (struct dirent *entry; !found && (entry = readdir(entries)) != NULL;)
    found = is_function(entry);
  (void)closedir(entries);
  return found;
}

/* A port has a link, and the kernel has this file for every function with a link. */
static bool is_port(const char *address) {
  char path[SYSFS_PATH_BYTES], text[32];

  sysfs_path(path, address, "max_link_width");
  return sysfs_read(path, text, sizeof text);
}

unsigned checkup_discover(void (*see)(void *context, enum checkup_kind kind, const char *address), void *context) {
  char folder[PATH_MAX];
  struct dirent **entries = NULL;
  unsigned drives = 0;

  (void)snprintf(folder, sizeof folder, "%s/bus/pci/devices", sysfs_root);
  const int count = scandir(folder, &entries, filter, alphasort);
  for (int i = 0; i < count; i++) {
    const char *address = entries[i]->d_name;
    uint64_t class_code = 0;
    (void)sysfs_number(address, "class", &class_code);
    if (class_code == SPATE_PCIE_CLASS_NVME) {
      drives++;
      see(context, CHECKUP_DRIVE, address);
    } else if (class_code >> 8 == CLASS_PCI_BRIDGE && is_port(address) && !has_function_below(address)) {
      see(context, CHECKUP_PORT, address);
    }
    free(entries[i]);
  }
  free(entries);
  return drives;
}
