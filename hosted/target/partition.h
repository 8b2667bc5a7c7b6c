/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the description of a partition from its table, with libblkid. */
#ifndef SPATE_HOSTED_PARTITION_H
#define SPATE_HOSTED_PARTITION_H

#include "target.h"

#include <blkid.h>
#include <sys/types.h>

/* Finds partition number partition->number and its length. False: the probe finds no table, or no such partition. */
bool partition_in(blkid_probe probe, struct target_partition *partition, uint64_t *bytes);

/* Fills in `partition` if the block device is a partition in the kernel; otherwise leaves it unchanged. The type stays
 * empty if the user may not read the whole disk. */
void partition_of_device(dev_t device, struct target_partition *partition);

#endif
