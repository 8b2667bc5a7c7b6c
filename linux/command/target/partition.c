/* SPDX-License-Identifier: Apache-2.0 */
#include "partition.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#define SECTOR_BYTES 512u /* the kernel's unit, whatever the device's blocks are */

/* Reads a file with a number, such as /sys/dev/block/8:1/start. False: there is no such file. */
static bool read_number(const char *folder, const char *name, unsigned long long *number) {
  char path[PATH_MAX + 16];

  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  const bool good = fscanf(file, "%llu", number) == 1;
  (void)fclose(file);
  return good;
}

void partition_of_device(dev_t device, struct target_partition *partition) {
  char link[64], folder[PATH_MAX];
  unsigned long long number, start;

  (void)snprintf(link, sizeof link, "/sys/dev/block/%u:%u", major(device), minor(device));
  if (realpath(link, folder) == NULL || !read_number(folder, "partition", &number) ||
      !read_number(folder, "start", &start))
    return;
  partition->number = (unsigned)number;
  partition->offset_bytes = start * SECTOR_BYTES;
  /* .../block/sda/sda1: the partition's folder is in the disk's folder. */
  *strrchr(folder, '/') = '\0';
  partition_take_type(strrchr(folder, '/') + 1, partition);
}
