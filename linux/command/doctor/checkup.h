/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checkup of one drive, of a port with nothing below it, or of the machine. The code here collects facts from sysfs
 * and from the kernel's driver; the library judges them (spate/doctor.h).
 *
 *   facts.c      the functions from the root port down to the drive
 *   system.c     drivers, IOMMU, coherency, memory, io_uring
 *   ask.c        commands to the drive that only read
 *   transfer.c   reads from the drive
 *   findings.c   what the steps have found
 *   checkup.c    the order of the steps
 *   discover.c   finds drives, and ports with nothing below them
 *   print.c      output as text and as JSON
 *
 * A checkup writes nothing to the drive, to configuration space or to a file.
 */
#ifndef SPATE_COMMAND_CHECKUP_H
#define SPATE_COMMAND_CHECKUP_H

#include "../device/sysfs.h"

#include <spate/doctor.h>

#define CHECKUP_FUNCTIONS_MAX 16u
#define CHECKUP_FINDINGS_MAX  128u
#define CHECKUP_NAME_BYTES    256u

enum checkup_kind { CHECKUP_DRIVE, CHECKUP_PORT, CHECKUP_MACHINE };

/* How the drive will be used. vfio: and pci: have more requirements than the kernel's driver. */
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
  unsigned config_bytes; /* how much of configuration space could be read: the minimum over the functions */
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

/* findings.c */
void checkup_begin(struct checkup *checkup, enum checkup_kind kind, enum checkup_use use, const char *address);
/* Adds a finding that the code here has made. `name` may be NULL. */
void checkup_found(struct checkup *checkup, enum spate_doctor_code code, const char *name, uint64_t first,
                   uint64_t second);

/* checkup.c: collects facts, judges them, transfers data, and judges again. */
void checkup_run(struct checkup *checkup);

/* facts.c. False: there is no such function. */
bool checkup_read_path(struct checkup_path *path, const char *address);
/* system.c */
void checkup_system(struct checkup *checkup);
void checkup_machine(struct checkup *checkup);

/* ask.c. True if the controller can take commands. */
bool checkup_controller(struct checkup *checkup);
struct checkup_pages {
  bool known;
  struct spate_nvme_health health;
  struct spate_nvme_throttling throttling;
};
/* Read identity, health and namespaces; add a finding if the drive could not be asked. */
void checkup_ask(struct checkup *checkup, struct checkup_pages *pages);
void checkup_ask_again(const struct checkup *checkup, struct checkup_pages *pages);
void checkup_namespaces(struct checkup *checkup);
/* transfer.c. False: nothing was transferred, and a finding says why. */
bool checkup_transfer(struct checkup *checkup);

/* discover.c: calls `see` for each NVMe drive, and for each port with nothing below it. Returns how many drives. */
unsigned checkup_discover(void (*see)(void *context, enum checkup_kind kind, const char *address), void *context);

/* print.c: any number of checkups between begin and end. */
void checkup_print_begin(bool json);
void checkup_print(const struct checkup *checkup);
void checkup_print_end(enum spate_doctor_severity worst);
/* Lists all possible findings. */
void checkup_print_codes(bool json);

#endif
