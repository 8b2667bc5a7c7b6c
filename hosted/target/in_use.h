/* SPDX-License-Identifier: Apache-2.0 */
/* Who has a disk or an image file, so that a refusal can say it. */
#ifndef SPATE_HOSTED_IN_USE_H
#define SPATE_HOSTED_IN_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* True, with a sentence without its subject ("is mounted on /media/disk"), if the block device, or a partition of it,
 * is mounted, is used for swap, or belongs to md, LVM, dm or another holder. */
bool in_use_device(dev_t device, char *why, size_t why_bytes);

/* True likewise, but partitions do not count. */
bool in_use_alone(dev_t device, char *why, size_t why_bytes);

/*
 * Exclusive use, as mounts, md, LVM and dm have it, until the file is closed. The kernel's driver may have the drive
 * for a moment only, after another spate: then its node is still to come, or the kernel is reading its partitions. So
 * for a second it is tried again. −1: errno says why; ENXIO: `path` is not the node of the device `number`.
 */
int in_use_claim(const char *path, dev_t number);

/* As in_use_device(), if a loop device has the file. */
bool in_use_file(const char *path, char *why, size_t why_bytes);

/* True likewise if somebody may write to what is at this path just now: the kernel, or a spate that records. For those
 * who only read: what they find may be half of a change. */
bool in_use_now(const char *path, char *why, size_t why_bytes);

#endif
