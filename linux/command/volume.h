/* SPDX-License-Identifier: Apache-2.0 */
/* The exFAT volume on a target, mounted for a command. */
#ifndef SPATE_COMMAND_VOLUME_H
#define SPATE_COMMAND_VOLUME_H

#include "target/target.h"

#include <spate/exfat.h>
#include <spate/partition.h>

struct volume {
  struct target target;
  struct spate_partition partition;
  struct spate_exfat_config config;
  struct spate_exfat exfat;
  struct spate_exfat_block blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX];
  struct spate_exfat_mounted found;
  void *scratch; /* SPATE_PARTITION_SCRATCH_BYTES */
  uint8_t *ring; /* into which files are read (reading.c), and its region's table; NULL: none was read yet */
  void *ring_table;
};

/* Opens the target, finds the volume and mounts it. Ends the program if that is impossible. */
void volume_open(struct volume *volume, const char *name, enum target_access access);
/* Why the volume is only read, if that is damage; NULL: nothing was found. */
const char *volume_damage(const struct volume *volume);
/* Unmounts and closes. Ends the program if the volume cannot be left clean. */
void volume_close(struct volume *volume);
/* The same, but returns the error. */
enum spate_error volume_unmount(struct volume *volume);

/* Allocates the memory of a volume that is about to be made: fills in config without the partition's place. */
void volume_memory(struct volume *volume);

/* spate_exfat_config.now: the local time, and its offset from UTC. */
void volume_now(void *context, struct spate_exfat_time *now);

#endif
