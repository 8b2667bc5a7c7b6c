/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library opened on a machine: how each program that uses the simulator begins. Enumerates, opens each drive's
 * controller and one queue, and stripes the drives if there are several.
 */
#ifndef SPATE_SIM_STACK_H
#define SPATE_SIM_STACK_H

#include "../bus/bridge.h"
#include "../drive/drive.h"
#include "memory.h"
#include <spate/exfat.h>
#include <spate/nvme_pcie.h>
#include <spate/pcie.h>
#include <spate/stripe.h>

#define SIM_STACK_PARTS 1024u /* requests to members of a stripe */

/* Which functions of the bus the driver gets. */
enum sim_stack_bus {
  SIM_STACK_PCIE,     /* all functions of spate/nvme_pcie.h */
  SIM_STACK_RESTORES, /* restore, but no link state */
  SIM_STACK_WATCHES,  /* only the link state */
  SIM_STACK_ISOLATES, /* only isolation from memory */
  SIM_STACK_ALONE,    /* no functions */
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
  struct sim_bridge_config bridge; /* family SIM_BRIDGE_NONE: the generic one. Others take one drive */
};

struct sim_stack_drive {
  struct sim_stack *stack;
  struct sim_drive *drive;
  struct spate_pcie_device *device;
  struct spate_nvme_pcie pcie_bus;
  struct spate_arena queue_memory;
  void *host_buffer;
  struct spate_nvme nvme;
  struct spate_nvme_queue queue;
  struct spate_nvme_slot slots[SPATE_NVME_SLOTS(SPATE_NVME_QUEUE_DEPTH_MAX)];
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
  struct spate_exfat_block exfat_blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX];
};

/* Machine and drives, nothing opened yet, so that a test can add faults or change Identify pages. Free with
 * sim_stack_free(). */
struct sim_stack *sim_stack_new(const struct sim_stack_config *config);

/* Enumerate, open, stripe (creates the array if the members hold none). Returns the library's first error. */
enum spate_error sim_stack_open(struct sim_stack *stack);

/* Opens the queue of a drive whose controller is open and whose queue is not, as sim_stack_open() does. */
enum spate_error sim_stack_queue_open(struct sim_stack_drive *drive, unsigned depth);

/* What the library needs to know of such a bridge. */
struct spate_pcie_xilinx_config sim_stack_xilinx(const struct sim_bridge_config *bridge);

/* The host restarts: library objects are created again, drives stay as they are. Call sim_stack_open() next. */
void sim_stack_restart(struct sim_stack *stack);

/* Shuts down each controller. */
enum spate_error sim_stack_close(struct sim_stack *stack);
void sim_stack_free(struct sim_stack *stack);

/* A region over new memory of this kind, owned by the stack. It survives a restart. Ends the program if there is no
 * memory. */
struct spate_region *sim_stack_region(struct sim_stack *stack, uint64_t bytes, enum sim_memory_kind kind);

/* The config of an exFAT volume over the whole device. Its cache and bitmap window belong to the stack and are the same
 * at each call, so open one volume at a time. */
struct spate_exfat_config sim_stack_exfat(struct sim_stack *stack);

#endif
