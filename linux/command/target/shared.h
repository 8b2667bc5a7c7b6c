/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespaces that two drivers reach: this program's driver through one controller of an NVM subsystem, the kernel's
 * driver through another. Neither driver sees the other's requests. So this program claims what it writes to from the
 * kernel, as a mount does. It refuses a namespace or partition in use, and nobody can mount one that it has claimed.
 */
#ifndef SPATE_COMMAND_SHARED_H
#define SPATE_COMMAND_SHARED_H

#include <spate/nvme.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHARED_CLAIMS_MAX 128u
#define SHARED_WHY_BYTES  4608u /* a path and some text */

/* What will be written to. */
struct shared_place {
  const char *address; /* of this program's controller: 0000:01:00.0 */
  const struct spate_nvme_identity *identity;
  uint32_t nsid;              /* 0: every namespace of the subsystem */
  uint64_t first_byte, bytes; /* of the namespace; bytes 0: all of it, including its partition table */
};

/* The kernel's disks and partitions that are open exclusively. */
struct shared_claims {
  int fds[SHARED_CLAIMS_MAX];
  uint64_t numbers[SHARED_CLAIMS_MAX]; /* dev_t */
  unsigned count;
  bool whole;
};

/* Claims the kernel's disks and partitions of this place; there may be none. False: one is in use, and nothing is
 * claimed. `why` is then a sentence without its subject: "is also the kernel's /dev/nvme0n1p1, through the controller
 * 0000:02:00.0, which is mounted on /mnt". */
bool shared_claim(struct shared_claims *claims, const struct shared_place *place, char *why, size_t why_bytes);
/* Releases the claims. For whole namespaces the kernel then reads the partition tables again. */
void shared_release(struct shared_claims *claims);

/* True if the kernel reaches this disk (nvme0n1) through a controller at another address. */
bool shared_path_elsewhere(const char *address, const char *disk);

#endif
