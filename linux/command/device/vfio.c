/* SPDX-License-Identifier: Apache-2.0 */
/* A drive through VFIO. */
#include "vfio.h"

#include "../text/fail.h"
#include "binding.h"
#include "device.h"
#include "device_internal.h"
#include "pool.h"

#include <errno.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Registers and configuration space are regions of the same file. */
static void open_function(struct device *device) {
  device->registers_fd = ioctl(device->group_fd, VFIO_GROUP_GET_DEVICE_FD, device->address);
  device->config_fd = device->registers_fd;
  if (device->registers_fd < 0) fail(EXIT_FAILED, "%s: VFIO cannot open it: %s", device->address, strerror(errno));
}

static struct vfio_region_info region(const struct device *device, uint32_t index) {
  struct vfio_region_info info = {.argsz = sizeof info, .index = index};

  if (ioctl(device->registers_fd, VFIO_DEVICE_GET_REGION_INFO, &info) != 0)
    fail(EXIT_FAILED, "%s: VFIO_DEVICE_GET_REGION_INFO: %s", device->address, strerror(errno));
  return info;
}

static void map_registers(struct device *device) {
  const struct vfio_region_info bar = region(device, VFIO_PCI_BAR0_REGION_INDEX);

  if (bar.size == 0 || (bar.flags & VFIO_REGION_INFO_FLAG_MMAP) == 0)
    fail(EXIT_FAILED, "%s: BAR 0 cannot be mapped. Does it have an address? lspci -vs %s", device->address,
         device->address);
  device->registers_bytes = (size_t)bar.size; /* a BAR that fits the address space */
  device->registers_offset_bytes = bar.offset;
  device_map(device);
}

/* Makes removal_fd readable when the kernel wants to remove the drive. The kernel then waits until it is closed. */
static void watch_removal(struct device *device) {
  struct vfio_irq_info info = {.argsz = sizeof info, .index = VFIO_PCI_REQ_IRQ_INDEX};
  const size_t bytes = sizeof(struct vfio_irq_set) + sizeof(int32_t);
  struct vfio_irq_set *ask;

  if (ioctl(device->registers_fd, VFIO_DEVICE_GET_IRQ_INFO, &info) != 0 || info.count == 0) return;
  device->removal_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  ask = calloc(1, bytes);
  if (device->removal_fd < 0 || ask == NULL) fail(EXIT_FAILED, "eventfd: %s", strerror(errno));
  ask->argsz = (uint32_t)bytes;
  ask->flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
  ask->index = VFIO_PCI_REQ_IRQ_INDEX;
  ask->count = 1;
  memcpy(ask->data, &device->removal_fd, sizeof device->removal_fd);
  if (ioctl(device->registers_fd, VFIO_DEVICE_SET_IRQS, ask) != 0)
    fail(EXIT_FAILED, "%s: VFIO_DEVICE_SET_IRQS: %s", device->address, strerror(errno));
  free(ask);
}

void device_open_vfio(struct device *device, const char *address, bool bind) {
  *device =
      (struct device){.registers_fd = -1, .config_fd = -1, .group_fd = -1, .removal_fd = -1, .guardian = {-1, -1}};
  device_named(device, address);
  vfio_check(device->address);
  device->give_back = binding_take(device->address, "vfio-pci", bind);
  device_give_back_at_exit(device);
  vfio_join(device->address, &device->group_fd);
  device->memory = &pool_memory;
  open_function(device);
  map_registers(device);
  device->config_offset_bytes = region(device, VFIO_PCI_CONFIG_REGION_INDEX).offset;
  watch_removal(device);
  device_on(device);
}
