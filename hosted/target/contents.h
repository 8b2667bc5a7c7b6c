/* SPDX-License-Identifier: Apache-2.0 */
/* What is on a target, in the words of libblkid: file systems, arrays, partitions. */
#ifndef SPATE_HOSTED_CONTENTS_H
#define SPATE_HOSTED_CONTENTS_H

#include "target.h"

#include <stdio.h>

/*
 * Writes a line for each thing found, "NAME: partition 1: 1.9 GB, exfat "SPATE"". Reads the target's first megabytes
 * and its last, and those of its partitions. True: something was found, or something could not be read, which is a line
 * too.
 */
bool contents_write(const struct target *target, FILE *to);

/* The partition of this number (partition->number): where it is and how long. False: there is none that lies within the
 * target on block boundaries. Logical partitions of an MBR are not looked for. */
bool contents_partition(const struct target *target, struct target_partition *partition, uint64_t *bytes);

#endif
