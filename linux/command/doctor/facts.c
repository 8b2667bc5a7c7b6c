/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the functions on the path from sysfs: configuration space, and files that need no root. */
#include "../device/sysfs.h"
#include "checkup.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONFIG_BYTES   4096u
#define RESOURCE_UNSET UINT64_C(0x20000000) /* the kernel's IORESOURCE_UNSET */

/* ---- configuration space ---- */

struct config {
  uint32_t dwords[CONFIG_BYTES / 4u];
  unsigned bytes;
};

static uint32_t read_config(const void *context, unsigned offset) {
  return ((const struct config *)context)->dwords[offset / 4u];
}

/* Without root only 64 bytes can be read. */
static void load_config(struct config *config, const char *address) {
  char path[SYSFS_PATH_BYTES];
  ssize_t got = 1;

  config->bytes = 0;
  sysfs_path(path, address, "config");
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  while (got > 0 && config->bytes < CONFIG_BYTES) {
    got = pread(fd, (uint8_t *)config->dwords + config->bytes, CONFIG_BYTES - config->bytes, (off_t)config->bytes);
    if (got > 0) config->bytes += (unsigned)got;
  }
  (void)close(fd);
  config->bytes &= ~3u;
}

static struct spate_pcie_address address_of(const char *text) {
  unsigned domain, bus, device, function;

  if (sscanf(text, "%8x:%2x:%2x.%1x", &domain, &bus, &device, &function) != 4) return (struct spate_pcie_address){0};
  return (struct spate_pcie_address){(uint8_t)bus, (uint8_t)device, (uint8_t)function};
}

/* ---- other files ---- */

/* Reads the link from files that need no root, if the capability in configuration space could not be read. */
static void read_link(struct spate_doctor_function *function, const char *address) {
  if (function->kind != SPATE_DOCTOR_KIND_UNKNOWN) return;
  function->link = sysfs_pcie_link(address);
}

/* Reads the line of BAR 0: first address, last address, flags. In configuration space its size can only be found by
 * writing. */
static void read_bar(struct spate_doctor_function *function, const char *address) {
  char path[SYSFS_PATH_BYTES], text[128];
  uint64_t first, last, flags;

  sysfs_path(path, address, "resource");
  if (!sysfs_read(path, text, sizeof text) ||
      sscanf(text, "%" SCNx64 " %" SCNx64 " %" SCNx64, &first, &last, &flags) != 3 || last <= first)
    return;
  function->bar0_bytes = last - first + 1u;
  if (flags & RESOURCE_UNSET) function->bar0 = 0;
}

/* Adds up the kernel's counters in a file with lines such as "BadTLP 3". Leaves out unsupported requests, which every
 * search for devices causes. False: the kernel has no counters here. */
static bool read_counter(const char *address, const char *name, uint64_t *sum) {
  char path[SYSFS_PATH_BYTES], kind[64];
  uint64_t count;

  sysfs_path(path, address, name);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  while (fscanf(file, "%63s %" SCNu64, kind, &count) == 2)
    if (strncmp(kind, "TOTAL_", 6) != 0 && strcmp(kind, "UnsupReq") != 0) *sum += count;
  (void)fclose(file);
  return true;
}

static void read_counters(struct spate_doctor_errors *errors, const char *address) {
  const bool corrected = read_counter(address, "aer_dev_correctable", &errors->corrected_count);
  const bool fatal = read_counter(address, "aer_dev_fatal", &errors->uncorrected_count);
  const bool other = read_counter(address, "aer_dev_nonfatal", &errors->uncorrected_count);

  errors->known = errors->known || corrected || fatal || other;
}

/* ---- the path ---- */

static void read_function(struct checkup_path *path, const char *address) {
  static struct config config;
  struct spate_doctor_function *function = &path->functions[path->count];

  (void)snprintf(path->addresses[path->count++], sizeof path->addresses[0], "%s", address);
  load_config(&config, address);
  const struct spate_doctor_space space = {.read = read_config, .context = &config, .bytes = config.bytes};
  spate_doctor_function_read(function, address_of(address), &space);
  if (config.bytes < path->config_bytes) path->config_bytes = config.bytes;
  read_link(function, address);
  read_bar(function, address);
  read_counters(&function->errors, address);
}

/* A path begins at a host bridge, pci0000:00. Intel's VMD is a function that acts as a host bridge for the drives
 * behind it: their path begins at the VMD, without the functions above it. */
static void begin(struct checkup_path *path) {
  path->count = 0;
  path->config_bytes = CONFIG_BYTES;
}

bool checkup_read_path(struct checkup_path *path, const char *address) {
  char link[SYSFS_PATH_BYTES], whole[PATH_MAX], part[SYSFS_ADDRESS_BYTES], *rest = NULL;

  sysfs_path(link, address, "");
  if (realpath(link, whole) == NULL) return false;
  begin(path);
  for (char *name = strtok_r(whole, "/", &rest); name != NULL; name = strtok_r(NULL, "/", &rest)) {
    if (strncmp(name, "pci", 3) == 0)
      begin(path);
    else if (path->count < CHECKUP_FUNCTIONS_MAX && sysfs_address(name, part) && strcmp(name, part) == 0)
      read_function(path, part);
  }
  return path->count > 0;
}
