/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel tells of a PCI function in /sys/bus/pci/devices, and takes. `address` is as in 0000:01:00.0. */
#ifndef SPATE_HOSTED_SYSFS_H
#define SPATE_HOSTED_SYSFS_H

#include <spate/pcie.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYSFS_PATH_BYTES    512u
#define SYSFS_ADDRESS_BYTES 17u /* the longest is ffffffff:ff:1f.7 */
#define SYSFS_SYSTEM        "/sys"

/* Where sysfs is: SYSFS_SYSTEM, unless somebody wants a copy of it to be looked at. */
extern const char *sysfs_root;

/* 0000:01:00.0, also without the domain: 01:00.0. A domain can have more than four digits: 10000:e1:00.0 (Intel's VMD).
 * False: it is none of these. `address` has SYSFS_ADDRESS_BYTES of room. */
bool sysfs_address(const char *text, char *address);
bool sysfs_exists(const char *address);
/* The file `name` of the function; `path` has SYSFS_PATH_BYTES of room. */
void sysfs_path(char *path, const char *address, const char *name);
/* The first line of a file, without its end. False: it cannot be read. */
bool sysfs_read(const char *path, char *text, size_t text_bytes);
/* Of a number as the kernel writes it: 0x144d, 16; false: there is none. */
bool sysfs_number(const char *address, const char *name, uint64_t *number);
/* errno, 0: written. */
int sysfs_write(const char *path, const char *text);
/* The last name of what a symbolic link points to: of `driver` the driver's. False: there is no such link. */
bool sysfs_link(const char *address, const char *name, char *target, size_t target_bytes);

/* The name of the first entry of a folder that is accepted, in `name`. False: there is none. */
bool sysfs_find(const char *folder, bool (*accept)(const char *folder, const char *name, void *context), void *context,
                char *name, size_t name_bytes);
/* The disk that an entry of an NVMe controller's folder is: nvme0n1 of nvme0n1, and of nvme0c1n1, its path to the disk
 * where the kernel has several. False: the entry is something else. */
bool sysfs_nvme_disk(const char *entry, char *disk, size_t disk_bytes);

/* The link above the function, as the kernel found it; anybody may read that. What it does not tell is 0. */
struct spate_pcie_link sysfs_pcie_link(const char *address);

#endif
