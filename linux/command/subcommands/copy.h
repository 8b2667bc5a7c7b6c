/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of this machine that is written from its beginning to its end. Until it is complete it has a temporary name
 * beside its own, so that its name never stands for a part, and a file that it replaces is there until then. A run that
 * fails or is interrupted removes it. What it replaces is another file from then on: other hard links keep the old one.
 * It is written past the page cache where its file system can do that. Each function ends the program on an error.
 */
#ifndef SPATE_COMMAND_COPY_H
#define SPATE_COMMAND_COPY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct copy {
  const char *name; /* as the user gave it */
  char path[PATH_MAX], temporary[PATH_MAX];
  int fd;
  bool direct, replace;
  bool replaces; /* a file has the name, whose owner and permissions the new one gets */
  unsigned mode, owner, group;
  uint64_t at_bytes; /* written so far */
};

/* Refuses a name that exists, unless `replace` is true and it is a regular file. `bytes` is how many will be written:
 * space for them is reserved where the file system can do that. */
void copy_open(struct copy *copy, const char *name, bool replace, uint64_t bytes);
/* `data` begins at a page, and can be read up to the end of its last page. */
void copy_write(struct copy *copy, const uint8_t *data, uint32_t bytes);
/* Sets the length, makes the file durable, and gives it its name. Bytes that were not written are a hole. */
void copy_close(struct copy *copy, uint64_t size_bytes);

#endif
