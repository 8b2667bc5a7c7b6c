/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the kernel's driver, and the requirements of vfio: and pci:. */
#include "../device/binding.h"
#include "../device/coherent.h"
#include "../device/device.h"
#include "../device/sysfs.h"
#include "../device/vfio.h"
#include "checkup.h"

#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Huge pages for a recording with the default ring of 64 MiB: 32 for the ring, one for queues and tables. */
#define HUGE_PAGES_NEEDED 33u
#define LOCKED_NEEDED     (UINT64_C(80) << 20)

static void judge_driver(struct checkup *checkup) {
  const char *driver = checkup->driver;

  if (driver[0] == '\0')
    checkup_found(checkup, SPATE_DOCTOR_NO_DRIVER, NULL, 0, 0);
  else if (strcmp(driver, "nvme") != 0 && strcmp(driver, "vfio-pci") != 0)
    checkup_found(checkup, SPATE_DOCTOR_FOREIGN_DRIVER, driver, 0, 0);
  if (strcmp(driver, "nvme") != 0 && binding_taken(checkup->address))
    checkup_found(checkup, SPATE_DOCTOR_TAKEN, NULL, 0, 0);
}

/* A copy of sysfs without a device tree may be from a PC, whose DMA is always coherent. */
static bool may_be_pc(void) {
  char path[SYSFS_PATH_BYTES];

  (void)snprintf(path, sizeof path, "%s/firmware/devicetree", sysfs_root);
  return sysfs_is_copy() && access(path, F_OK) != 0;
}

static void judge_coherency(struct checkup *checkup) {
  const enum coherent coherent = coherent_of(checkup->address);

  if (coherent == COHERENT_NO) checkup_found(checkup, SPATE_DOCTOR_NOT_COHERENT, NULL, 0, 0);
  /* With VFIO the IOMMU reports it. */
  if (coherent == COHERENT_UNKNOWN && checkup->use == CHECKUP_PCI && !may_be_pc())
    checkup_found(checkup, SPATE_DOCTOR_COHERENCY_UNKNOWN, NULL, 0, 0);
}

/* ---- vfio: ---- */

static void judge_group(struct checkup *checkup) {
  char group[64], others[CHECKUP_NAME_BYTES];

  if (!sysfs_link(checkup->address, "iommu_group", group, sizeof group)) {
    checkup_found(checkup, SPATE_DOCTOR_IOMMU_NONE, NULL, 0, 0);
    return;
  }
  vfio_others(checkup->address, others, sizeof others);
  if (others[0] != '\0') checkup_found(checkup, SPATE_DOCTOR_IOMMU_SHARED, others + 1, 0, 0);
  if (sysfs_is_copy()) return;

  char path[96];
  (void)snprintf(path, sizeof path, "/dev/vfio/%s", group);
  if (access("/dev/vfio/vfio", F_OK) != 0) checkup_found(checkup, SPATE_DOCTOR_VFIO_MISSING, NULL, 0, 0);
  /* The group's file exists while vfio-pci has the drive. */
  if (access(path, F_OK) == 0 && access(path, R_OK | W_OK) != 0)
    checkup_found(checkup, SPATE_DOCTOR_VFIO_FORBIDDEN, path, 0, 0);
}

static void judge_locked_memory(struct checkup *checkup) {
  struct rlimit limit;

  if (sysfs_is_copy() || geteuid() == 0 || getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < LOCKED_NEEDED)
    checkup_found(checkup, SPATE_DOCTOR_MEMORY_LOCK_SMALL, NULL, limit.rlim_cur, 0);
}

/* ---- pci: ---- */

/* A kernel without the file has no huge pages. In a copy of sysfs the missing file means nothing. */
static void judge_huge_pages(struct checkup *checkup) {
  char path[SYSFS_PATH_BYTES], text[32];
  unsigned long pages = 0;

  (void)snprintf(path, sizeof path, "%s/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", sysfs_root);
  const bool known = sysfs_read(path, text, sizeof text);
  if (known ? sscanf(text, "%lu", &pages) != 1 : sysfs_is_copy()) return;
  if (pages < HUGE_PAGES_NEEDED)
    checkup_found(checkup, SPATE_DOCTOR_HUGE_PAGES_MISSING, NULL, pages, HUGE_PAGES_NEEDED);
}

void checkup_system(struct checkup *checkup) {
  judge_driver(checkup);
  if (checkup->use == CHECKUP_KERNEL) return;
  judge_coherency(checkup);
  if (checkup->use == CHECKUP_VFIO) {
    judge_group(checkup);
    judge_locked_memory(checkup);
    return;
  }
  if (device_is_translated(checkup->address)) checkup_found(checkup, SPATE_DOCTOR_IOMMU_ACTIVE, NULL, 0, 0);
  judge_huge_pages(checkup);
}

/* ---- the machine ---- */

void checkup_machine(struct checkup *checkup) {
  struct io_uring ring;
  struct utsname system;

  if (sysfs_is_copy()) return;
  const int error = -io_uring_queue_init(1, &ring, 0);
  if (error == 0)
    io_uring_queue_exit(&ring);
  else if (error == ENOSYS && uname(&system) == 0)
    checkup_found(checkup, SPATE_DOCTOR_IO_URING_MISSING, system.release, 0, 0);
  else if (error == EPERM || error == EACCES)
    checkup_found(checkup, SPATE_DOCTOR_IO_URING_FORBIDDEN, NULL, 0, 0);
}
