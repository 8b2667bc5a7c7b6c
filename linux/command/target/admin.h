/* SPDX-License-Identifier: Apache-2.0 */
/* Admin commands to an NVMe drive, through the library's own driver or through the kernel's admin ioctl. */
#ifndef SPATE_COMMAND_ADMIN_H
#define SPATE_COMMAND_ADMIN_H

#include "target.h"

/* False: it is not an NVMe drive, or the user may not send the command; `why` says which (ADMIN_WHY_BYTES of room). */
#define ADMIN_WHY_BYTES 192u
bool admin_identity(struct target *target, struct spate_nvme_identity *identity, char *why);
bool admin_health(struct target *target, struct spate_nvme_health *health, char *why);

/*
 * Read from a drive of the kernel's driver through the node of its controller (/dev/nvme0), which exists even without a
 * namespace: the pages of Identify for the controller, the active namespaces and a namespace (4096 bytes each), and the
 * SMART / Health log (512 bytes). The memory begins at a multiple of 8.
 */
bool admin_node_controller(const char *node, void *page, char *why);
bool admin_node_namespaces(const char *node, void *page, char *why);
bool admin_node_namespace(const char *node, uint32_t nsid, void *page, char *why);
bool admin_node_health(const char *node, void *log, char *why);

/* True if it is a whole NVMe drive. False: `why` says what else it is: a partition, a disk of another kind. */
bool admin_is_drive(const struct target *target, char *why);

/* The PCI function of the drive: 0000:01:00.0. `address` has SYSFS_ADDRESS_BYTES of room. False: it has none. */
bool admin_pci_address(const struct target *target, char *address);

/* The link of a drive: its present state, and the best that it can do. False: not known. */
bool admin_link(const struct target *target, struct spate_pcie_link *link);

/*
 * Sends Format NVM for the target's namespace with this kind of erase; the block size stays. All data are lost. Waits
 * for the end, which may take minutes. False: the command failed, and `why` says why.
 */
bool admin_format(struct target *target, enum spate_nvme_erase erase, char *why);

/* Starts a sanitize, which erases the whole drive. False: it did not start, and `why` says why. Refuses a drive with
 * several namespaces. */
bool admin_sanitize(struct target *target, enum spate_nvme_sanitize_action action, char *why);
bool admin_sanitize_status(struct target *target, struct spate_nvme_sanitize_status *status, char *why);

#endif
