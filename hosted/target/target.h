/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command works on: a name from the command line, opened as a block device of the library.
 *
 *   rec.img              an image file
 *   /dev/nvme0n1         a block device of the kernel
 *   vfio:0000:01:00.0    an NVMe drive under the library's own driver, behind an IOMMU
 *   pci:0000:01:00.0     the same on a machine without one
 *   sim:990pro           a virtual drive, new and empty; sim:990pro:FILE keeps what is on it in a file
 *   sim:./my.profile     one of a profile of its own (docs/use/calibrate.md)
 *   vfio:0000:01:00.0/n2, pci:0000:01:00.0/n1p3, sim:990pro/n1p3:FILE
 *                        another namespace than the first, and a partition of a namespace
 *   stripe:A,B,...       several of these as one
 *
 * A target that is opened for reading is never written to: the file is opened so, and the volume is mounted so. One
 * that is opened for writing is opened exclusively, and refused when the kernel or another program has it.
 */
#ifndef SPATE_HOSTED_TARGET_H
#define SPATE_HOSTED_TARGET_H

#include <spate/block.h>
#include <spate/nvme.h>
#include <spate/pcie.h>
#include <stdbool.h>

/* MAKE: as WRITE, and what it holds is to be made anew: a stripe need not be one yet. CONTROLLER: as WRITE, but a drive
 * under the library's own driver has no I/O queue, and so no block. FUNCTION: as WRITE, and its controller is not
 * started either: the caller starts it, and shuts it down. */
enum target_access { TARGET_READ, TARGET_WRITE, TARGET_MAKE, TARGET_CONTROLLER, TARGET_FUNCTION };
enum target_kind { TARGET_IMAGE, TARGET_DEVICE, TARGET_DRIVE, TARGET_STRIPE };

/* Requests in flight, at most. */
#define TARGET_DEPTH 32u
/* Of one request; a power of two. */
#define TARGET_REQUEST_BYTES (UINT32_C(4) << 20)

struct window;

/* Where a target lies on its medium, if it is a partition. */
struct target_partition {
  unsigned number; /* in the table, from 1; 0: the target is no partition */
  uint64_t offset_bytes;
  bool basic_data; /* its type in the table is the one that Windows mounts */
  char type[40];   /* that type: a GUID, or 0x83; "": not known */
};

struct target {
  struct spate_block *block; /* NULL: see TARGET_MAKE, TARGET_CONTROLLER and TARGET_FUNCTION */
  const char *name;          /* as the user gave it */
  enum target_kind kind;
  struct spate_nvme *nvme; /* DRIVE: its controller; otherwise, and with TARGET_FUNCTION, NULL */
  /* DRIVE: its PCI function, and what its driver asks of the bus. */
  void (*list)(const struct target *target, struct spate_pcie_host *host);
  struct spate_nvme_bus bus;
  uint32_t nsid; /* DRIVE: the namespace that is meant; 0: the first */
  struct target_partition partition;
  struct window *window;              /* `block` is this window's; NULL: there is none */
  const struct spate_pcie_link *link; /* of a virtual drive; NULL: the kernel knows (admin_link) */
  /* Marks a page of data so that a virtual drive keeps terabytes of them in little memory; NULL: a real one. */
  void (*mark_page)(uint8_t *page, uint64_t offset_bytes);
  int wait_fd;            /* readable when something may have completed; −1: there is no such thing, poll */
  int removal_fd;         /* readable when the kernel wants the drive back; −1: it cannot ask */
  struct target *members; /* STRIPE: in the order of the name */
  unsigned member_count;
  void *backend; /* the target's own */
  void (*close)(struct target *target);
};

/* Requests in flight that a command wants instead of TARGET_DEPTH, as far as the target takes them; 0: none. */
extern unsigned target_depth;

/* --bind was given: a drive may be taken from the kernel's driver. */
extern bool target_bind;

/* "image file", "block device", "partition", ... */
const char *target_kind_name(const struct target *target);

/* Is there something to open, as far as that can be told without opening it? Only a file can be made. */
bool target_exists(const char *name);
bool target_is_path(const char *name);

/* Ends the program, with a sentence, if it cannot be opened. `block_bytes` (512 or 4096) is the logical block of an
 * image file, 0: what it was formatted with; others have their own. */
void target_open(struct target *target, const char *name, enum target_access access, uint32_t block_bytes);
/* Make the members an array, whose block is there then. Errors: those of spate_stripe_create(). */
SPATE_MUST_CHECK enum spate_error target_make_stripe(struct target *target, bool erase);
/* May somebody be writing to it just now, be it to one member of several? True, with a sentence without its subject
 * (in_use.h). A drive under the library's own driver has one user only, who has it or is refused. */
bool target_in_use(const char *name, char *why, size_t why_bytes);
#define TARGET_WHY_BYTES 512u
/* Does the kernel want a drive back? The sooner it is closed, the better: somebody waits. */
bool target_removal_asked(const struct target *target);
/* Has the kernel removed the device, or that of a member? Requests fail then with EIO, as on a medium that failed. */
bool target_is_gone(const struct target *target);
/* All requests are complete. Ends the program if the target cannot be left as it should be. */
void target_close(struct target *target);

#endif
