/* SPDX-License-Identifier: Apache-2.0 */
#include "partition.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SECTOR_BYTES   512u /* libblkid's unit and the kernel's, whatever the device's blocks are */
#define BASIC_DATA     "ebd0a0a2-b9e5-4433-87c0-68b6b72699c7"
#define MBR_BASIC_DATA 0x07 /* NTFS, HPFS and exFAT */

/* ---- through libblkid ---- */

static void take_type(blkid_partition found, struct target_partition *partition) {
  const char *guid = blkid_partition_get_type_string(found);

  if (guid != NULL)
    (void)snprintf(partition->type, sizeof partition->type, "%s", guid);
  else
    (void)snprintf(partition->type, sizeof partition->type, "0x%02x", (unsigned)blkid_partition_get_type(found));
  partition->basic_data =
      guid != NULL ? strcasecmp(guid, BASIC_DATA) == 0 : blkid_partition_get_type(found) == MBR_BASIC_DATA;
}

bool partition_in(blkid_probe probe, struct target_partition *partition, uint64_t *bytes) {
  (void)blkid_probe_enable_superblocks(probe, 0);
  (void)blkid_probe_enable_partitions(probe, 1);
  blkid_partlist list = blkid_probe_get_partitions(probe);
  blkid_partition found = list == NULL ? NULL : blkid_partlist_get_partition_by_partno(list, (int)partition->number);
  /* An extended partition of an MBR only contains other partitions. */
  if (found == NULL || blkid_partition_is_extended(found)) return false;
  partition->offset_bytes = (uint64_t)blkid_partition_get_start(found) * SECTOR_BYTES;
  *bytes = (uint64_t)blkid_partition_get_size(found) * SECTOR_BYTES;
  take_type(found, partition);
  return true;
}

/* ---- through the kernel ---- */

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

static void take_type_of(const char *disk, struct target_partition *partition) {
  char path[NAME_MAX + 8];
  struct target_partition same = *partition;
  uint64_t bytes;

  (void)snprintf(path, sizeof path, "/dev/%s", disk);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  blkid_probe probe = blkid_new_probe();
  if (probe != NULL && blkid_probe_set_device(probe, fd, 0, 0) == 0 && partition_in(probe, &same, &bytes) &&
      same.offset_bytes == partition->offset_bytes)
    *partition = same;
  if (probe != NULL) blkid_free_probe(probe);
  (void)close(fd);
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
  take_type_of(strrchr(folder, '/') + 1, partition);
}
