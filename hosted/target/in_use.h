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

/* True likewise if a loop device has the file. */
bool in_use_file(const char *path, char *why, size_t why_bytes);

/* True likewise if somebody may write to what is at this path just now: the kernel, or a spate that records. For those
 * who only read: what they find may be half of a change. */
bool in_use_now(const char *path, char *why, size_t why_bytes);

#endif
