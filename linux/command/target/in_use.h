/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out who uses a disk or an image file, so that a refusal can name the user. */
#ifndef SPATE_COMMAND_IN_USE_H
#define SPATE_COMMAND_IN_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* True if the block device, or a partition of it, is mounted, is used for swap, or belongs to md, LVM, dm or another
 * holder. `why` becomes a sentence without its subject: "is mounted on /media/disk". */
bool in_use_device(dev_t device, char *why, size_t why_bytes);

/* The same, without the partitions. */
bool in_use_alone(dev_t device, char *why, size_t why_bytes);

/*
 * Opens a device exclusively, as mounts, md, LVM and dm do. Tries for a second: if another spate has just given the
 * drive back, its node may not exist yet, or the kernel may be reading its partitions. −1: errno says why; ENXIO:
 * `path` is not the node of the device `number`.
 */
int in_use_claim(const char *path, dev_t number);

/* Like in_use_device(), for a file that a loop device has. */
bool in_use_file(const char *path, char *why, size_t why_bytes);

/* True if the kernel or a recording spate may currently be writing to this path, with `why` as above. For commands that
 * only read: they may see a change half done. */
bool in_use_now(const char *path, char *why, size_t why_bytes);

#endif
