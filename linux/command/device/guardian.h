/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Without an IOMMU, a drive with requests in flight continues to write into memory after the program was killed, and
 * the kernel may have given that memory to another program. A second process, the guardian, prevents this. It holds the
 * memory and waits. When the program dies, it turns the drive's bus mastering off and resets the drive before it frees
 * the memory.
 */
#ifndef SPATE_COMMAND_GUARDIAN_H
#define SPATE_COMMAND_GUARDIAN_H

struct guardian {
  int alive; /* writing end of a pipe that closes when the program ends. −1: there is no guardian */
  int gone;  /* reading end of a pipe that closes when the guardian ends */
};

/* The files that the guardian keeps open. */
struct guarded {
  int config_fd; /* the drive's configuration space */
  int reset_fd;  /* its file "reset"; −1: it has none */
  int memory_fd;
};

/* Call it before the program has threads. Ends the program if the guardian cannot be started. */
void guardian_start(struct guardian *guardian, const struct guarded *guarded);
/* Call it when the drive's bus mastering is off. Ends the guardian, and waits for its end. */
void guardian_end(struct guardian *guardian);

#endif
