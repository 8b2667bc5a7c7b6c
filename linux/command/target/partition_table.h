/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the description of a partition from its table, with libblkid. */
#ifndef SPATE_COMMAND_PARTITION_TABLE_H
#define SPATE_COMMAND_PARTITION_TABLE_H

#include "target.h"

#include <blkid.h>

/* Finds partition number partition->number and its length. False: the probe finds no table, or no such partition. */
bool partition_in(blkid_probe probe, struct target_partition *partition, uint64_t *bytes);

#endif
