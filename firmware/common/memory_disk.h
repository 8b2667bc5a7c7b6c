/* SPDX-License-Identifier: Apache-2.0 */
/* A drive in memory, behind the same interface as an NVMe namespace: exFAT and the recorder run on it where there is no
 * drive yet. Blocks of 512 bytes, no cache that loses data. Requests complete in order, at the next poll. */
#ifndef SPATE_FIRMWARE_MEMORY_DISK_H
#define SPATE_FIRMWARE_MEMORY_DISK_H

#include <spate/block.h>

struct memory_disk {
  struct spate_block block;

  /* private */
  uint8_t *memory;
  struct spate_io *first, *last; /* the requests that were submitted */
  unsigned queued;
};

/* `memory` stays the disk's; `bytes` is a multiple of 512. */
void memory_disk_open(struct memory_disk *disk, void *memory, size_t bytes);

#endif
