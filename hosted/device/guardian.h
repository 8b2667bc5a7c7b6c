/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Without an IOMMU a drive that still has requests goes on writing into memory whose program was killed, and that
 * belongs to another by then. A second process prevents it: it holds the memory and waits. When the program dies, it
 * takes bus mastering from the drive and resets it before it lets the memory go.
 */
#ifndef SPATE_HOSTED_GUARDIAN_H
#define SPATE_HOSTED_GUARDIAN_H

struct guardian {
  int alive; /* the writing end of a pipe: it closes with the program. −1: there is no guardian */
  int gone;  /* the reading end of one that closes with the guardian */
};

/* What the guardian keeps open. */
struct guarded {
  int config_fd; /* the drive's configuration space */
  int reset_fd;  /* its file "reset"; −1: it has none */
  int memory_fd;
};

/* The program has no threads yet. Ends the program if there can be no guardian. */
void guardian_start(struct guardian *guardian, const struct guarded *guarded);
/* The drive is off already, and the guardian has nothing to do any more. Waits until it has gone. */
void guardian_end(struct guardian *guardian);

#endif
