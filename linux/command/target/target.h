/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target of a command: a name from the command line, opened as a block device of the library.
 *
 *   rec.img              an image file; rec.img/p2: partition 2 of it
 *   /dev/nvme0n1         a block device of the kernel
 *   vfio:0000:01:00.0    an NVMe drive under the library's own driver, behind an IOMMU
 *   pci:0000:01:00.0     the same on a machine without one
 *   sim:990pro           a virtual drive, new and empty; sim:990pro:FILE keeps its contents in a file
 *   sim:./my.profile     a virtual drive with your own profile (docs/use/calibrate.md)
 *   vfio:0000:01:00.0/n2, pci:0000:01:00.0/n1p3, sim:990pro/n1p3:FILE
 *                        namespace 2; partition 3 of namespace 1
 *   stripe:A,B,...       several of these as one
 *
 * A target that is opened for reading is never written to: the file is opened read-only, and the volume is mounted
 * read-only. A target for writing is opened exclusively, and refused if the kernel or another program uses it.
 */
#ifndef SPATE_COMMAND_TARGET_H
#define SPATE_COMMAND_TARGET_H

#include "../memory.h"

#include <spate/block.h>
#include <spate/nvme.h>
#include <spate/pcie.h>
#include <stdbool.h>

/* MAKE: like WRITE, for a target that will be formatted: the members of a stripe need not be an array yet. CONTROLLER:
 * like WRITE, but a drive under the library's own driver gets no I/O queue, and so no block. FUNCTION: like CONTROLLER,
 * but the controller is not started: the caller starts it and shuts it down. */
enum target_access { TARGET_READ, TARGET_WRITE, TARGET_MAKE, TARGET_CONTROLLER, TARGET_FUNCTION };
enum target_kind { TARGET_IMAGE, TARGET_DEVICE, TARGET_DRIVE, TARGET_STRIPE };

/* The default limit of requests in flight. */
#define TARGET_DEPTH 32u
/* The largest request; a power of two. */
#define TARGET_REQUEST_BYTES (UINT32_C(4) << 20)

struct block_range;

/* The place of a target on its media, if it is a partition. */
struct target_partition {
  unsigned number; /* in the table, from 1; 0: the target is not a partition */
  uint64_t offset_bytes;
  bool basic_data; /* its type in the table is the one that Windows mounts */
  char type[40];   /* its type in the table: a GUID, or 0x83; "": not known */
};

struct target {
  struct spate_block *block;    /* NULL: see TARGET_MAKE, TARGET_CONTROLLER and TARGET_FUNCTION */
  const char *name;             /* as the user gave it */
  struct memory_supply *memory; /* what its device reaches; the members of a stripe have that of the stripe */
  enum target_kind kind;
  struct spate_nvme *nvme; /* DRIVE: its controller, except with TARGET_FUNCTION; otherwise NULL */
  /* DRIVE: fills in a host with its PCI function; the functions that its driver needs of the bus. */
  void (*list)(const struct target *target, struct spate_pcie_host *host);
  struct spate_nvme_bus bus;
  uint32_t nsid; /* DRIVE: the namespace in the target's name; 0: the first */
  struct target_partition partition;
  struct block_range *range;          /* the range of the drive that `block` belongs to; NULL: none */
  const struct spate_pcie_link *link; /* of a virtual drive; NULL: ask the kernel (admin_link) */
  /* Marks a page of data, so that a virtual drive stores terabytes of them in little memory; NULL: a real drive. */
  void (*mark_page)(uint8_t *page, uint64_t offset_bytes);
  int fd;                 /* IMAGE and DEVICE: of the file or the device; otherwise −1 */
  uint64_t fd_bytes;      /* its size when it was opened */
  bool has_name;          /* IMAGE: it had one then. Memory files and deleted ones that are given by /proc have none */
  int wait_fd;            /* readable when a request may have completed; −1: not available, so poll */
  int removal_fd;         /* readable when the kernel wants the drive back; −1: not available */
  struct target *members; /* STRIPE: in the order of the name */
  unsigned member_count;
  void *backend; /* private data of the kind */
  void (*close)(struct target *target);
};

/* The queue depth that a command wants instead of TARGET_DEPTH, as far as the target allows; 0: the default. */
extern unsigned target_depth;

/* Set by --bind: a drive may be taken from the kernel's driver. */
extern bool target_bind;

/* "image file", "block device", "partition", ... */
const char *target_kind_name(const struct target *target);

/* False only for a path that does not exist. */
bool target_exists(const char *name);
bool target_is_path(const char *name);

/* Ends the program with a message if the target cannot be opened. `block_bytes` (512 or 4096) is the logical block of
 * an image file; 0: the one with which it was formatted. Other targets have their own. */
void target_open(struct target *target, const char *name, enum target_access access, uint32_t block_bytes);
/* Makes an array of the members, and sets `block`. Errors: those of spate_stripe_create(). */
SPATE_MUST_CHECK enum spate_error target_make_stripe(struct target *target, bool erase);
/* True if something may currently be writing to the target, or to a member of it; `why` is as in in_use.h. A drive
 * under the library's own driver is never in use: a second user is refused. */
bool target_in_use(const char *name, char *why, size_t why_bytes);
#define TARGET_WHY_BYTES 512u
/* True if the kernel wants a drive back. Close it soon: a process in the kernel waits. */
bool target_removal_asked(const struct target *target);
/* What has happened to an open target, or to the first member to which something has. REMOVED: its file has no name any
 * more, so that its contents end with the last program that has it open. TRUNCATED: its file is shorter than it was.
 * GONE: the kernel has removed the device. */
enum target_trouble { TARGET_WELL, TARGET_REMOVED, TARGET_TRUNCATED, TARGET_GONE };
enum target_trouble target_trouble(const struct target *target);
/* All requests must be complete. The memory supply ends with the target: what is to be freed before the program ends
 * has to be given back before. Ends the program if closing fails. */
void target_close(struct target *target);

#endif
