/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out with libblkid what is on a target: file systems, arrays, partitions. */
#ifndef SPATE_COMMAND_CONTENTS_H
#define SPATE_COMMAND_CONTENTS_H

#include "target.h"

#include <stdio.h>

/*
 * Writes a line for each finding, such as NAME: partition 1: 1.9 GB, exfat "SPATE". Reads the first and last megabytes
 * of the target and the first ones of its partitions. True: something was found, or could not be read, which also gives
 * a line.
 */
bool contents_write(const struct target *target, FILE *to);

/* Finds the place and length of partition number partition->number. False: there is none that lies within the target on
 * block boundaries. Logical partitions of an MBR are not supported. */
bool contents_partition(const struct target *target, struct target_partition *partition, uint64_t *bytes);

#endif
