/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespaces that two drivers reach: this program's through one controller of an NVM subsystem, the kernel's through
 * another one. Neither driver knows of the other's requests. So what this program writes to is claimed from the kernel,
 * as a mount claims it: what somebody uses is refused, and what is written to nobody can mount meanwhile.
 */
#ifndef SPATE_HOSTED_SHARED_H
#define SPATE_HOSTED_SHARED_H

#include <spate/nvme.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHARED_CLAIMS_MAX 128u
#define SHARED_WHY_BYTES  4608u /* a path, and words */

/* What is to be written to. */
struct shared_place {
  const char *address; /* of this program's controller: 0000:01:00.0 */
  const struct spate_nvme_identity *identity;
  uint32_t nsid;              /* 0: every namespace of the subsystem */
  uint64_t first_byte, bytes; /* of the namespace; bytes 0: all of it, and its table of partitions */
};

/* Disks and partitions of the kernel's, open exclusively. */
struct shared_claims {
  int fds[SHARED_CLAIMS_MAX];
  uint64_t numbers[SHARED_CLAIMS_MAX]; /* dev_t */
  unsigned count;
  bool whole;
};

/* Claims what the kernel has of this place, which may be nothing. False, with a sentence without its subject ("is also
 * /dev/nvme0n1p1 of the kernel's, by the controller 0000:02:00.0, which is mounted on /mnt"): somebody uses it, and
 * nothing is claimed. */
bool shared_claim(struct shared_claims *claims, const struct shared_place *place, char *why, size_t why_bytes);
/* The kernel reads the tables of partitions of whole namespaces again. */
void shared_release(struct shared_claims *claims);

/* Does the kernel reach this disk (nvme0n1) by another controller than that at this address? */
bool shared_path_elsewhere(const char *address, const char *disk);

#endif
