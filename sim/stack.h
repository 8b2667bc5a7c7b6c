/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library brought up on a machine: what each program that uses the simulator begins with. Enumerates, opens each
 * drive's controller and one queue, and stripes them if there are several.
 */
#ifndef SPATE_SIM_STACK_H
#define SPATE_SIM_STACK_H

#include "drive.h"
#include "memory.h"
#include <spate/exfat.h>
#include <spate/nvme_pcie.h>
#include <spate/pcie.h>
#include <spate/stripe.h>

#define SIM_STACK_PARTS 1024u /* requests to members of a stripe */

/* What the driver is told of the bus below it. */
enum sim_stack_bus {
  SIM_STACK_PCIE,     /* all of spate/nvme_pcie.h */
  SIM_STACK_RESTORES, /* restoring, but not whether the link is up */
  SIM_STACK_WATCHES,  /* whether the link is up, and nothing else */
  SIM_STACK_ISOLATES, /* how to keep the drive from memory, and nothing else */
  SIM_STACK_ALONE,    /* nothing */
};

struct sim_stack_config {
  struct sim_config machine;
  const char *profile; /* of every drive, a name or a path; NULL: "ideal" */
  struct sim_drive_options options;
  unsigned drives;      /* 0: 1 */
  unsigned depth;       /* of each queue; 0: 64 */
  uint32_t chunk_bytes; /* of the stripe; 0: 512 KiB */
  uint32_t command_timeout_ms;
  uint64_t host_buffer_bytes; /* for each drive that wants a host memory buffer; 0: none */
  enum sim_stack_bus bus;
};

struct sim_stack_drive {
  struct sim_stack *stack;
  struct sim_drive *drive;
  struct spate_pcie_device *device;
  struct spate_nvme_pcie way;
  struct spate_arena queue_memory;
  void *host_buffer;
  struct spate_nvme nvme;
  struct spate_nvme_queue queue;
};

struct sim_stack {
  struct sim_stack_config config;
  struct sim *sim;
  struct spate_pcie_host host;
  struct sim_stack_drive drives[SIM_DRIVES_MAX];
  struct spate_stripe stripe;
  struct spate_stripe_part parts[SIM_STACK_PARTS];
  struct spate_block *block; /* the queue's, or the stripe's */
  void *scratch;             /* of the stripe */
  struct sim_stack_region *regions;
  void *exfat_cache, *exfat_bitmap;
};

/* Machine and drives, nothing opened yet: faults can be planted, Identify pages spoiled. Free with sim_stack_free(). */
struct sim_stack *sim_stack_new(const struct sim_stack_config *config);

/* Enumerate, open, stripe (creates the array when the members hold none). The first error that the library gives. */
enum spate_error sim_stack_open(struct sim_stack *stack);

/* The host restarts: library objects are made anew, drives stay as they are. Then sim_stack_open() again. */
void sim_stack_restart(struct sim_stack *stack);

/* Shut down each controller. */
enum spate_error sim_stack_close(struct sim_stack *stack);
void sim_stack_free(struct sim_stack *stack);

/* A region over fresh memory of this kind; the stack's. Ends the program if there is no memory. It outlives a restart.
 */
struct spate_region *sim_stack_region(struct sim_stack *stack, uint64_t bytes, enum sim_memory_kind kind);

/* An exFAT volume over the whole device: config filled in. Its cache and bitmap window are the stack's, and the same
 * each time: one volume at a time. */
struct spate_exfat_config sim_stack_exfat(struct sim_stack *stack);

#endif
