/* SPDX-License-Identifier: Apache-2.0 */
/* A drive without an IOMMU. Its registers are mapped through sysfs. Nothing keeps the drive from other memory. */
#include "../text/fail.h"
#include "binding.h"
#include "coherent.h"
#include "config_space.h"
#include "device.h"
#include "device_internal.h"
#include "physical.h"
#include "sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool device_is_translated(const char *address) {
  char group[64], path[SYSFS_PATH_BYTES], type[32];

  if (!sysfs_link(address, "iommu_group", group, sizeof group)) return false;
  (void)snprintf(path, sizeof path, "%s/kernel/iommu_groups/%s/type", sysfs_root, group);
  return !sysfs_read(path, type, sizeof type) || strcmp(type, "identity") != 0;
}

/* Refuses a drive behind an IOMMU that translates: there, physical addresses would lead nowhere or to other memory. */
static void check_untranslated(const char *address) {
  if (!device_is_translated(address)) return;
  fail(EXIT_REFUSED, "%s is behind an IOMMU: use vfio:%s instead", address, address);
}

static int open_file(const struct device *device, const char *name, int flags) {
  char path[SYSFS_PATH_BYTES];

  sysfs_path(path, device->address, name);
  const int fd = open(path, flags | O_CLOEXEC);
  if (fd < 0 && (errno == EACCES || errno == EPERM))
    fail(EXIT_REFUSED, "%s: only root may use it%s", path,
         errno == EPERM ? ", and not while the kernel is locked down (secure boot)" : "");
  if (fd < 0) fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
  return fd;
}

static void enable(struct device *device) {
  char path[SYSFS_PATH_BYTES];

  sysfs_path(path, device->address, "enable");
  const int error = sysfs_write(path, "1");
  if (error != 0) fail(EXIT_FAILED, "%s: %s", path, strerror(error));
  device->enabled = true;
}

/* NVMe 1.4, 3.1: CAP.TO, CC.EN, CSTS.RDY. */
enum { NVME_CAP = 0x00, NVME_CC = 0x14, NVME_CSTS = 0x1c };
#define NVME_CSTS_READY UINT32_C(1)
#define ALL_ONES        UINT32_C(0xffffffff)
#define NVME_TO(cap)    ((cap) >> 24 & 0xffu) /* in half seconds */
#define STEP_NS         1000000L

/*
 * Stops the controller before bus mastering is turned on. A program that was killed may have left it running, with
 * queues in memory that belongs to another program by now. A controller that does not stop within CAP.TO is refused.
 */
static void stop_controller(const struct device *device) {
  const struct timespec step = {.tv_nsec = STEP_NS};
  volatile uint32_t *registers = (volatile uint32_t *)device->registers;
  const uint32_t limit_ms = (NVME_TO(registers[NVME_CAP / 4]) + 1u) * 500u;

  if (registers[NVME_CSTS / 4] == ALL_ONES)
    fail(EXIT_FAILED, "%s: its registers read all ones: the drive is off the bus. Check power and the link",
         device->address);
  registers[NVME_CC / 4] = 0;
  for (uint32_t ms = 0; (registers[NVME_CSTS / 4] & NVME_CSTS_READY) != 0; ms++) {
    if (ms > limit_ms) fail(EXIT_FAILED, "%s: the controller does not stop. Power it off and on", device->address);
    (void)nanosleep(&step, NULL);
  }
}

static int open_reset(const struct device *device) {
  char path[SYSFS_PATH_BYTES];

  sysfs_path(path, device->address, "reset");
  return open(path, O_WRONLY | O_CLOEXEC);
}

/* Locks the drive before anything else touches it. If another spate has the lock, that one keeps the drive. */
static void lock(struct device *device) {
  if (flock(device->config_fd, LOCK_EX | LOCK_NB) == 0) return;
  (void)close(device->config_fd);
  device->config_fd = -1;
  fail(EXIT_REFUSED, "%s is in use by another spate", device->address);
}

static void guard(struct device *device) {
  const struct guarded guarded = {
      .config_fd = device->config_fd, .reset_fd = open_reset(device), .memory_fd = physical_join()};

  guardian_start(&device->guardian, &guarded);
  if (guarded.reset_fd >= 0) (void)close(guarded.reset_fd);
}

void device_open_pci(struct device *device, const char *address, bool bind) {
  struct stat status;

  *device =
      (struct device){.registers_fd = -1, .config_fd = -1, .group_fd = -1, .removal_fd = -1, .guardian = {-1, -1}};
  device_named(device, address);
  if (sysfs_exists(device->address)) {
    check_untranslated(device->address);
    coherent_check(device->address, coherent_of(device->address));
  }
  device->give_back = binding_take(device->address, NULL, bind);
  device_give_back_at_exit(device);
  device->config_fd = open_file(device, "config", O_RDWR);
  lock(device);
  guard(device);
  device->memory = &physical_memory;
  enable(device);
  device->registers_fd = open_file(device, "resource0", O_RDWR | O_SYNC);
  if (fstat(device->registers_fd, &status) != 0) fail(EXIT_FAILED, "%s: BAR 0: %s", device->address, strerror(errno));
  device->registers_bytes = (size_t)status.st_size;
  device_map(device);
  if (!config_space_registers(device->config_fd, 0))
    fail(EXIT_FAILED, "%s: its registers cannot be turned on", device->address);
  stop_controller(device);
  device_on(device);
}
