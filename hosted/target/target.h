/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command works on: a name from the command line, opened as a block device of the library.
 *
 *   rec.img          an image file
 *   /dev/nvme0n1     a block device of the kernel
 *
 * A target that is opened for reading is never written to: the file is opened so. One that is opened for writing is
 * opened exclusively, and refused when the kernel or another program has it.
 */
#ifndef SPATE_HOSTED_TARGET_H
#define SPATE_HOSTED_TARGET_H

#include <spate/block.h>
#include <stdbool.h>

enum target_access { TARGET_READ, TARGET_WRITE };

/* Requests in flight, at most. */
#define TARGET_DEPTH 32u
/* Of one request; a power of two. */
#define TARGET_REQUEST_BYTES (UINT32_C(4) << 20)

struct target {
  struct spate_block *block;
  const char *name; /* as the user gave it */
  bool device;      /* of the kernel's; otherwise an image file */
  int wait_fd;      /* readable when something may have completed; −1: there is no such thing, poll */
  void *backend;    /* the target's own */
  void (*close)(struct target *target);
};

/* Ends the program, with a sentence, if it cannot be opened. `block_bytes` (512 or 4096) is the logical block of an
 * image file, 0: what it was formatted with; a device has its own. */
void target_open(struct target *target, const char *name, enum target_access access, uint32_t block_bytes);
void target_close(struct target *target);

#endif
