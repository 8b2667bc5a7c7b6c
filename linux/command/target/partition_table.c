/* SPDX-License-Identifier: Apache-2.0 */
#include "partition_table.h"

#include "partition.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define SECTOR_BYTES   512u /* libblkid's unit, whatever the device's blocks are */
#define BASIC_DATA     "ebd0a0a2-b9e5-4433-87c0-68b6b72699c7"
#define MBR_BASIC_DATA 0x07 /* NTFS, HPFS and exFAT */

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

void partition_take_type(const char *disk, struct target_partition *partition) {
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
