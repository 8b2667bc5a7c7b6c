/* SPDX-License-Identifier: Apache-2.0 */
/* From a board that just woke up to a drive ready for requests, telling a person what was found on the way. */
#ifndef SPATE_APPS_DRIVE_H
#define SPATE_APPS_DRIVE_H

#include <board.h>
#include <spate/nvme_pcie.h>
#include <spate/partition.h>

struct drive {
  struct spate_pcie_host host;
  struct spate_pcie_device device;
  struct spate_nvme_pcie way; /* from the controller to both */
  struct spate_nvme controller;
  struct spate_nvme_queue queue;
  struct spate_region ring; /* the whole of the board's */
  void *cache, *bitmap;     /* of the volume; NULL: not taken yet */
};

/* Prints link, controller and namespace. Ends the run with a sentence on failure. */
void drive_open(struct drive *drive, unsigned depth);

/* Errors that the driver recovered from, if there were any. */
void drive_print_counters(const struct drive *drive);

/*
 * Write a GPT with one partition and make an exFAT volume in it. Ends the run on failure, so also when the drive holds
 * something and is not to be erased. Board arguments:
 *   erase=1        overwrite what is there
 *   trim=1         trim the whole drive first: its write cache and spare blocks are as new
 *   table=none     no partition table, the whole drive is the volume
 */
void drive_format(struct drive *drive, const char *label, struct spate_partition *partition);

/* An exFAT volume on this partition: one at a time, as each has the same memory, from the board's arenas. */
struct spate_exfat_config drive_volume(struct drive *drive, const struct spate_partition *partition);

/* Ends the run with "FAILED at STEP: NAME. What to do." */
__attribute__((noreturn)) void give_up(const char *step, enum spate_error error);

/* The same, unless `error` is OK. */
void must(const char *step, enum spate_error error);

/* A board argument's value as a number; 0 where it is none. */
uint64_t number_argument(const char *name, const char *fallback);

/* A size for people: one decimal and a binary unit, in a buffer of the caller's. */
struct size_text {
  char text[16];
};
const char *size_text(struct size_text *buffer, uint64_t bytes);

#endif
