/* SPDX-License-Identifier: Apache-2.0 */
/* Rings in /dev/shm that programs have left behind: a producer or a recorder that is killed cannot remove its ring. */
#ifndef SPATE_COMMAND_RINGS_H
#define SPATE_COMMAND_RINGS_H

#include <stdbool.h>
#include <stdint.h>

struct rings_entry {
  char name[256];  /* without the prefix of the file: what follows "ring:" */
  uint64_t bytes;  /* of memory */
  uint64_t unread; /* slots that no recorder has read yet */
  bool has_producer, has_recorder;
};

/* Calls `visit` for each ring that this user may open. */
void rings_list(void (*visit)(void *context, const struct rings_entry *entry), void *context);

/* Removes a ring that nobody has, with the data in it that no recorder has read. Ends the program if there is none of
 * this name, or if somebody has it. */
void rings_remove(const char *name);

#endif
