/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address at which the recorder of a target is reached: an abstract socket, so that nothing is left behind when the
 * recorder is killed. Its name is made of the target's device and file, so that every path to the target leads to it.
 */
#ifndef SPATE_COMMAND_ADDRESS_H
#define SPATE_COMMAND_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* The file or device of the target, and the partition of an image; of a stripe its first member, of a virtual drive the
 * file that keeps it. False: it has none, as a drive without the kernel. `number` 0: no partition. */
bool address_file(const char *target, struct stat *status, unsigned *number);

/* Returns the address's length. */
socklen_t address_of(const char *target, struct sockaddr_un *address);

#endif
