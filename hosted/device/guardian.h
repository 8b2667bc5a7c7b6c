/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Without an IOMMU a drive that still has requests goes on writing into memory whose program was killed, and that
 * belongs to another by then. A second process prevents it: it holds the memory, waits for the program's end, however
 * that comes, and takes bus mastering from the drive before it lets the memory go.
 */
#ifndef SPATE_HOSTED_GUARDIAN_H
#define SPATE_HOSTED_GUARDIAN_H

struct guardian {
  int alive; /* the writing end of a pipe that nobody writes to: it closes with the program. −1: there is none */
};

/* For the drive whose configuration space is `config_fd`, and the memory of `memory_fd`. The program has no threads
 * yet. Ends the program if there can be none. */
void guardian_start(struct guardian *guardian, int config_fd, int memory_fd);
/* Waits until it has done its work. */
void guardian_end(struct guardian *guardian);

#endif
