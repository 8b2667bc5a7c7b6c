/* SPDX-License-Identifier: Apache-2.0 */
/* From a board that has just started to a drive that is ready for requests. Prints what it finds. */
#ifndef SPATE_FIRMWARE_DRIVE_H
#define SPATE_FIRMWARE_DRIVE_H

#include <board.h>
#include <spate/nvme_pcie.h>
#include <spate/partition.h>

#define DRIVE_DEPTH_MAX    64u
#define DRIVE_CACHE_BLOCKS 32u

struct drive {
  struct spate_pcie_host host;
  struct spate_pcie_device device;
  struct spate_nvme_pcie pcie_bus; /* connects the controller to both */
  struct spate_nvme controller;
  struct spate_nvme_queue queue;
  struct spate_nvme_slot slots[SPATE_NVME_SLOTS(DRIVE_DEPTH_MAX)];
  struct spate_region ring; /* all of the board's ring */
  void *cache, *bitmap;     /* of the volume; NULL: not allocated yet */
  struct spate_exfat_block blocks[DRIVE_CACHE_BLOCKS];
};

/* At most DRIVE_DEPTH_MAX commands. Prints link, controller and namespace. On failure, prints a sentence and ends the
 * run. */
void drive_open(struct drive *drive, unsigned depth);

/* Prints errors and recoveries, if there were any. */
void drive_print_counters(const struct drive *drive);

/*
 * Writes a GPT with one partition, and formats it with exFAT. Ends the run on failure, also if the drive is not empty
 * and erase=1 is not given. Board arguments:
 *
 *   erase=1          overwrites what is there
 *   trim=1           trims the whole drive first, which frees its write cache and its spare blocks
 *   table=none       no partition table: the whole drive is the volume
 */
void drive_format(struct drive *drive, const char *label, struct spate_partition *partition);

/* The configuration of an exFAT volume on this partition. Use one volume at a time: all share the same memory from the
 * board's arenas. */
struct spate_exfat_config drive_volume(struct drive *drive, const struct spate_partition *partition);

/* Ends the run with "FAILED at STEP: NAME. What to do." */
__attribute__((noreturn)) void give_up(const char *step, enum spate_error error);

/* The same, unless `error` is OK. */
void must(const char *step, enum spate_error error);

/* A board argument's value as a number; 0 if it is not a number. */
uint64_t number_argument(const char *name, const char *fallback);

/* A size as text: one decimal and a binary unit, in the caller's buffer. */
struct size_text {
  char text[16];
};
const char *size_text(struct size_text *buffer, uint64_t bytes);

#endif
