/* SPDX-License-Identifier: Apache-2.0 */
/* What a table says of a partition, by libblkid. */
#ifndef SPATE_HOSTED_PARTITION_H
#define SPATE_HOSTED_PARTITION_H

#include "target.h"

#include <blkid.h>
#include <sys/types.h>

/* The partition of this number (partition->number), with its length. False: the probe finds no table, or no such
 * partition. */
bool partition_in(blkid_probe probe, struct target_partition *partition, uint64_t *bytes);

/* Of a block device that the kernel has as a partition of another one; of any other `partition` stays as it is. The
 * type stays empty where this user may not read the whole disk. */
void partition_of_device(dev_t device, struct target_partition *partition);

#endif
