/* SPDX-License-Identifier: Apache-2.0 */
#include "vfio.h"

#include "../text/fail.h"
#include "coherent.h"
#include "pool.h"
#include "sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int container = -1;
static unsigned groups;

/* ---- the container ---- */

__attribute__((noreturn)) static void refuse_vfio(const char *path, int error) {
  if (error == ENOENT || error == ENODEV)
    fail(EXIT_FAILED, "%s does not exist: load VFIO with modprobe vfio-pci; the machine needs an IOMMU", path);
  if (error == EACCES || error == EPERM)
    fail(EXIT_REFUSED, "%s: you may not open it. Run as root, or have root change its owner: chown USER %s", path,
         path);
  if (error == EBUSY) fail(EXIT_REFUSED, "%s is in use by another program, or twice by this one", path);
  fail(EXIT_FAILED, "%s: %s", path, strerror(error));
}

static void open_container(void) {
  static const char path[] = "/dev/vfio/vfio";

  container = open(path, O_RDWR | O_CLOEXEC);
  if (container < 0) refuse_vfio(path, errno);
  if (ioctl(container, VFIO_GET_API_VERSION) != VFIO_API_VERSION ||
      ioctl(container, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) != 1)
    fail(EXIT_FAILED, "%s: this kernel's VFIO has no type 1 IOMMU: modprobe vfio_iommu_type1", path);
}

/* If the device tree says nothing, the IOMMU may report that it makes all DMA coherent. */
static void check_coherent(const char *address) {
  const enum coherent coherent = coherent_of(address);

  if (coherent == COHERENT_UNKNOWN && ioctl(container, VFIO_CHECK_EXTENSION, VFIO_DMA_CC_IOMMU) == 1) return;
  coherent_check(address, coherent);
}

/* ---- the group ---- */

void vfio_others(const char *address, char *others, size_t others_bytes) {
  char path[SYSFS_PATH_BYTES];
  size_t used = 0;

  sysfs_path(path, address, "iommu_group/devices");
  DIR *entries = opendir(path);
  others[0] = '\0';
  if (entries == NULL) return;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    char driver[64];
    if (entry->d_name[0] == '.' || strcmp(entry->d_name, address) == 0 ||
        !sysfs_link(entry->d_name, "driver", driver, sizeof driver) || strcmp(driver, "vfio-pci") == 0 ||
        strcmp(driver, "pcieport") == 0)
      continue;
    const int more = snprintf(others + used, others_bytes - used, " %s (%s)", entry->d_name, driver);
    if (more < 0 || (size_t)more >= others_bytes - used) break;
    used += (size_t)more;
  }
  (void)closedir(entries);
}

static void check_viable(const char *address, int group, const char *number) {
  struct vfio_group_status status = {.argsz = sizeof status};
  char others[512];

  if (ioctl(group, VFIO_GROUP_GET_STATUS, &status) != 0)
    fail(EXIT_FAILED, "VFIO group %s: %s", number, strerror(errno));
  if ((status.flags & VFIO_GROUP_FLAGS_VIABLE) != 0) return;
  vfio_others(address, others, sizeof others);
  fail(EXIT_REFUSED,
       "%s shares IOMMU group %s with functions that the kernel uses:%s. The IOMMU cannot isolate them from each "
       "other. Use a slot behind a root port with ACS, which has its own group",
       address, number, others);
}

void vfio_check(const char *address) {
  char number[64];

  if (!sysfs_exists(address)) return;
  if (coherent_of(address) == COHERENT_NO) coherent_check(address, COHERENT_NO);
  if (!sysfs_link(address, "iommu_group", number, sizeof number))
    fail(EXIT_REFUSED,
         "%s is not behind an IOMMU. If this machine has one, turn it on in the firmware or on the kernel's command "
         "line (intel_iommu=on); if it has none, use pci:%s",
         address, address);
}

static int open_group(const char *address, char *number, size_t number_bytes) {
  char path[96];

  if (!sysfs_link(address, "iommu_group", number, number_bytes)) fail(EXIT_FAILED, "%s has left its IOMMU", address);
  (void)snprintf(path, sizeof path, "/dev/vfio/%s", number);
  const int group = open(path, O_RDWR | O_CLOEXEC);
  if (group < 0) refuse_vfio(path, errno);
  return group;
}

__attribute__((noreturn)) static void refuse_iommu(const char *address, int error) {
  if (error == EPERM)
    fail(EXIT_REFUSED,
         "%s: this machine's IOMMU does not isolate interrupts. If you trust the drive: echo 1 > "
         "/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts",
         address);
  fail(EXIT_FAILED, "%s: VFIO cannot use its IOMMU: %s", address, strerror(error));
}

void vfio_join(const char *address, int *group) {
  char number[64];

  *group = open_group(address, number, sizeof number);
  const bool first = groups++ == 0; /* from here on vfio_leave() closes the group */
  check_viable(address, *group, number);
  if (container < 0) open_container();
  if (ioctl(*group, VFIO_GROUP_SET_CONTAINER, &container) != 0)
    fail(EXIT_FAILED, "VFIO group %s: %s", number, strerror(errno));
  if (first && ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) != 0) refuse_iommu(address, errno);
  check_coherent(address);
  pool_open(container);
}

void vfio_leave(int group) {
  groups--;
  if (groups == 0) pool_close();
  (void)ioctl(group, VFIO_GROUP_UNSET_CONTAINER);
  (void)close(group);
  if (groups > 0 || container < 0) return;
  (void)close(container);
  container = -1;
}
