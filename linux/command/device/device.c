/* SPDX-License-Identifier: Apache-2.0 */
#include "device_internal.h"

#include "../text/fail.h"
#include "binding.h"
#include "bus_error.h"
#include "config_space.h"
#include "interrupt.h"
#include "physical.h"
#include "sysfs.h"
#include "vfio.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct device *open_devices[BUS_ERROR_MAPPINGS_MAX];

/* ---- for vfio.c and pci.c ---- */

void device_named(struct device *device, const char *address) {
  if (!sysfs_address(address, device->address))
    fail(EXIT_USAGE, "\"%s\" is not the address of a PCI function, such as 0000:01:00.0. lspci -D lists them", address);
}

void device_map(struct device *device) {
  void *registers = mmap((void *)device->registers, device->registers_bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | (device->registers != 0 ? MAP_FIXED : 0), device->registers_fd,
                         (off_t)device->registers_offset_bytes);

  if (registers == MAP_FAILED) fail(EXIT_FAILED, "%s: BAR 0 cannot be mapped: %s", device->address, strerror(errno));
  device->registers = (uintptr_t)registers;
  bus_error_watch(registers, device->registers_bytes);
}

void device_on(struct device *device) {
  if (!config_space_on(device->config_fd, device->config_offset_bytes))
    fail(EXIT_FAILED, "%s: bus mastering cannot be turned on", device->address);
}

/* Stops the drives before their memory is freed. The program is ending, so a failure here is not handled. */
static void close_all(void) {
  for (size_t i = 0; i < BUS_ERROR_MAPPINGS_MAX; i++)
    if (open_devices[i] != NULL) (void)device_close(open_devices[i]);
}

void device_give_back_at_exit(struct device *device) {
  static bool registered;

  interrupt_catch();
  for (size_t i = 0; i < BUS_ERROR_MAPPINGS_MAX; i++)
    if (open_devices[i] == NULL) {
      open_devices[i] = device;
      break;
    }
  if (!registered && atexit(close_all) != 0) fail(EXIT_FAILED, "atexit failed");
  registered = true;
}

/* ---- public functions ---- */

static bool removal_asked(const struct device *device) {
  struct pollfd asked = {.fd = device->removal_fd, .events = POLLIN};

  return poll(&asked, 1, 0) == 1;
}

enum spate_error device_reattach(void *opaque) {
  struct device *device = opaque;

  if (removal_asked(device)) return SPATE_E_GONE;
  if (!config_space_answers(device->config_fd, device->config_offset_bytes)) return SPATE_E_BUSY;
  /* Memory space is turned on before the registers are mapped: before that, an access would replace them again. VFIO
   * restores BARs that a reset has cleared. */
  if (!config_space_on(device->config_fd, device->config_offset_bytes)) return SPATE_E_BUSY;
  if (bus_error_replaced((const void *)device->registers)) device_map(device);
  return SPATE_OK;
}

enum spate_error device_isolate(void *opaque) {
  const struct device *device = opaque;

  return config_space_off(device->config_fd, device->config_offset_bytes) ? SPATE_OK : SPATE_E_NO_DEVICE;
}

static void close_file(int *fd) {
  if (*fd >= 0) (void)close(*fd);
  *fd = -1;
}

bool device_close(struct device *device) {
  /* A function that is being removed is not given back. */
  const bool give_back = device->give_back && !removal_asked(device);

  for (size_t i = 0; i < BUS_ERROR_MAPPINGS_MAX; i++)
    if (open_devices[i] == device) open_devices[i] = NULL;
  /* This fails if the drive is gone, and then it is not needed. */
  if (device->config_fd >= 0) (void)config_space_off(device->config_fd, device->config_offset_bytes);
  if (device->registers != 0) {
    bus_error_forget((void *)device->registers);
    (void)munmap((void *)device->registers, device->registers_bytes);
    device->registers = 0;
  }
  if (device->config_fd == device->registers_fd) device->config_fd = -1;
  close_file(&device->config_fd);
  close_file(&device->registers_fd);
  close_file(&device->removal_fd);
  if (device->group_fd >= 0) vfio_leave(device->group_fd);
  device->group_fd = -1;
  guardian_end(&device->guardian);
  if (device->enabled) physical_leave(device->address);
  device->enabled = false;
  return !give_back || binding_give_back(device->address);
}
