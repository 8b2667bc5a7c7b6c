/* SPDX-License-Identifier: Apache-2.0 */
/* Partitions that the kernel has. */
#ifndef SPATE_COMMAND_PARTITION_H
#define SPATE_COMMAND_PARTITION_H

#include "target.h"

#include <sys/types.h>

/* Fills in `partition` if the block device is a partition in the kernel; otherwise leaves it unchanged. The type stays
 * empty if the user may not read the whole disk, and in builds without libblkid. */
void partition_of_device(dev_t device, struct target_partition *partition);

/* Fills in the type from the table of this disk, such as sda. Leaves it unchanged if the table cannot be read. */
void partition_take_type(const char *disk, struct target_partition *partition);

#endif
