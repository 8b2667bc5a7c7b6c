/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the files of PCI functions in /sys/bus/pci/devices. `address` is as in 0000:01:00.0. */
#ifndef SPATE_COMMAND_SYSFS_H
#define SPATE_COMMAND_SYSFS_H

#include <spate/pcie.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYSFS_PATH_BYTES    512u
#define SYSFS_ADDRESS_BYTES 17u /* the longest is ffffffff:ff:1f.7 */

/* Where sysfs is: /sys, or a copy of another machine's. */
extern const char *sysfs_root;
/* True if it is a copy. Then no drive can be asked. */
bool sysfs_is_copy(void);

/* Parses 0000:01:00.0, or 01:00.0 without the domain. A domain can have more than four digits: 10000:e1:00.0 (Intel's
 * VMD). False: it is not an address. `address` has SYSFS_ADDRESS_BYTES of room. */
bool sysfs_address(const char *text, char *address);
bool sysfs_exists(const char *address);
/* The path of the function's file `name`; `path` has SYSFS_PATH_BYTES of room. */
void sysfs_path(char *path, const char *address, const char *name);
/* Reads the first line of a file, without the newline. False: it cannot be read. */
bool sysfs_read(const char *path, char *text, size_t text_bytes);
/* Reads a number as the kernel writes it: 0x144d, 16. False: there is none. */
bool sysfs_number(const char *address, const char *name, uint64_t *number);
/* Returns 0 or an errno value. */
int sysfs_write(const char *path, const char *text);
/* The last part of the path to which a symbolic link points: for `driver`, the driver's name. False: no such link. */
bool sysfs_link(const char *address, const char *name, char *target, size_t target_bytes);

/* Finds the first entry of a folder that `accept` accepts. False: there is none. */
bool sysfs_find(const char *folder, bool (*accept)(const char *folder, const char *name, void *context), void *context,
                char *name, size_t name_bytes);
/* The name of the disk for an entry in an NVMe controller's folder: nvme0n1 for nvme0n1, and also for nvme0c1n1, which
 * is one of several paths to the disk. False: the entry is not a disk. */
bool sysfs_nvme_disk(const char *entry, char *disk, size_t disk_bytes);

/* The link above the function, as the kernel reports it, even without root. Unknown values are 0. */
struct spate_pcie_link sysfs_pcie_link(const char *address);

#endif
