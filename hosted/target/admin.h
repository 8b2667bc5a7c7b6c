/* SPDX-License-Identifier: Apache-2.0 */
/* What an NVMe drive is and how it is, whichever driver has it: the library's own, or the kernel's by its admin ioctl.
 */
#ifndef SPATE_HOSTED_ADMIN_H
#define SPATE_HOSTED_ADMIN_H

#include "target.h"

/* False: it is no NVMe drive, or the kernel does not let this user ask; `why` says which (ADMIN_WHY_BYTES of room). */
#define ADMIN_WHY_BYTES 192u
bool admin_identity(struct target *target, struct spate_nvme_identity *identity, char *why);
bool admin_health(struct target *target, struct spate_nvme_health *health, char *why);

/* Is it a whole NVMe drive, to which Format NVM can be given? Otherwise why not: a partition, a disk of another kind.
 */
bool admin_is_drive(const struct target *target, char *why);

/* The PCI function of the drive: 0000:01:00.0. `address` has 13 bytes of room. False: it has none. */
bool admin_pci_address(const struct target *target, char *address);

/*
 * Format NVM of the target's namespace with this erasure; the block size stays. Waits, minutes perhaps. False: the
 * drive did not do it, and `why` says why. All that was on it is lost.
 */
bool admin_format(struct target *target, enum spate_nvme_erase erase, char *why);

/* Start a sanitize, which takes all that is on the drive. False, with `why`: it did not start. A drive with several
 * namespaces is refused. */
bool admin_sanitize(struct target *target, enum spate_nvme_sanitize_action action, char *why);
bool admin_sanitize_status(struct target *target, struct spate_nvme_sanitize_status *status, char *why);

#endif
