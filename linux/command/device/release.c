/* SPDX-License-Identifier: Apache-2.0 */
#include "release.h"

#include "../text/fail.h"
#include "binding.h"
#include "sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

/* A program that has the drive open through VFIO has its group open. Unbinding would wait until it closes the group. */
static bool group_in_use(const char *address) {
  char number[64], path[96];

  if (!sysfs_link(address, "iommu_group", number, sizeof number)) return false;
  (void)snprintf(path, sizeof path, "/dev/vfio/%s", number);
  const int group = open(path, O_RDWR | O_CLOEXEC);
  if (group >= 0) (void)close(group);
  return group < 0 && errno == EBUSY;
}

static bool locked(const char *address) {
  char path[SYSFS_PATH_BYTES];

  sysfs_path(path, address, "config");
  const int config = open(path, O_RDONLY | O_CLOEXEC);
  const bool taken = config >= 0 && flock(config, LOCK_EX | LOCK_NB) != 0;
  if (config >= 0) (void)close(config);
  return taken;
}

bool release_device(const char *address) {
  if (!sysfs_exists(address)) fail(EXIT_FAILED, "there is no PCI function %s. lspci -D lists them", address);
  if (!binding_taken(address)) return false;
  if (group_in_use(address) || locked(address))
    fail(EXIT_REFUSED, "%s is in use by another program, which gives it back when it ends", address);
  if (!binding_give_back(address)) fail(EXIT_FAILED, "%s has no driver now", address);
  return true;
}
