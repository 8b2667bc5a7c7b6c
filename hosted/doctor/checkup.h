/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checkup: the facts of one drive, of a port with nothing below it, or of the machine, and what is wrong with them.
 * The library judges (spate/doctor.h); here facts are gathered, from sysfs and from the kernel's driver.
 *
 *   facts.c      the functions from the root port down to the drive
 *   system.c     drivers, IOMMU, coherency, memory, io_uring
 *   ask.c        what the drive says of itself
 *   transfer.c   reads from the drive
 *   checkup.c    one after the other
 *   discover.c   drives, and ports with nothing below them
 *   print.c      for people and for programs
 *
 * Nothing is written: neither to the drive nor to configuration space nor to a file.
 */
#ifndef SPATE_HOSTED_CHECKUP_H
#define SPATE_HOSTED_CHECKUP_H

#include "../device/sysfs.h"

#include <spate/doctor.h>

#define CHECKUP_FUNCTIONS_MAX 16u
#define CHECKUP_FINDINGS_MAX  128u
#define CHECKUP_NAME_BYTES    256u

enum checkup_kind { CHECKUP_DRIVE, CHECKUP_PORT, CHECKUP_MACHINE };

/* How the drive is to be used, if that was said: vfio: and pci: need more than the kernel's driver. */
enum checkup_use { CHECKUP_KERNEL, CHECKUP_VFIO, CHECKUP_PCI };

struct checkup_finding {
  struct spate_doctor_finding finding;
  char name[CHECKUP_NAME_BYTES];
};

/* The path to a function in sysfs, from the first bus down. */
struct checkup_path {
  char addresses[CHECKUP_FUNCTIONS_MAX][SYSFS_ADDRESS_BYTES];
  struct spate_doctor_function functions[CHECKUP_FUNCTIONS_MAX];
  unsigned count;
  unsigned config_bytes; /* of configuration space that could be read, the least of them */
};

struct checkup {
  enum checkup_kind kind;
  enum checkup_use use;
  char address[SYSFS_ADDRESS_BYTES];
  struct checkup_path path;
  char driver[64];     /* "": none */
  char controller[32]; /* of the kernel's driver: nvme0; "": none */
  char disk[64];       /* nvme0n1; "": none */
  bool identified;
  struct spate_nvme_identity identity;
  uint64_t transferred_bytes;

  struct spate_doctor doctor;
  struct checkup_finding findings[CHECKUP_FINDINGS_MAX];
  unsigned finding_count;
};

/* Every file of one machine, or a copy of its /sys that is looked at elsewhere: then nobody can be asked. */
bool checkup_is_copy(void);

void checkup_begin(struct checkup *checkup, enum checkup_kind kind, enum checkup_use use, const char *address);
/* Gather, judge, transfer, compare. */
void checkup_run(struct checkup *checkup);
/* A finding of this folder's own. `name` may be NULL. */
void checkup_found(struct checkup *checkup, enum spate_doctor_code code, const char *name, uint64_t first,
                   uint64_t second);

/* facts.c. False: the function is not there. */
bool checkup_read_path(struct checkup_path *path, const char *address);
/* system.c */
void checkup_system(struct checkup *checkup);
void checkup_machine(struct checkup *checkup);

/* ask.c: is the controller in order, so that it can be asked? */
bool checkup_controller(struct checkup *checkup);
struct checkup_pages {
  bool known;
  struct spate_nvme_health health;
  struct spate_nvme_throttling throttling;
};
/* Findings about what could not be asked; health and namespaces. */
void checkup_ask(struct checkup *checkup, struct checkup_pages *pages);
void checkup_ask_again(const struct checkup *checkup, struct checkup_pages *pages);
void checkup_namespaces(struct checkup *checkup);
/* transfer.c. False: none was made, and the findings say why. */
bool checkup_transfer(struct checkup *checkup);

/* discover.c: calls `see` for each NVMe drive, and for each port with nothing below it. Returns how many drives. */
unsigned checkup_discover(void (*see)(void *context, enum checkup_kind kind, const char *address), void *context);

/* print.c: checkups one after the other, between begin and end. */
void checkup_print_begin(bool json);
void checkup_print(const struct checkup *checkup);
void checkup_print_end(enum spate_doctor_severity worst);
/* All findings that there are. */
void checkup_print_codes(bool json);

#endif
