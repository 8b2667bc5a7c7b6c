/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a function that the kernel has enumerated in the form of the library's own enumeration. Registers of
 * configuration space: base specification 4.0, 7.5. */
#include "device.h"
#include "sysfs.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { ID = 0x00, STATUS = 0x04, CLASS = 0x08, CAPABILITIES = 0x34 };
enum { EXPRESS_DEVICE_CONTROL = 0x08, EXPRESS_LINK_CAPABILITIES = 0x0c, EXPRESS_LINK_STATUS = 0x10 };

#define CAPABILITY_EXPRESS  0x10u
#define CAPABILITIES_MAX    48u /* more do not fit in the 192 bytes that capabilities share */
#define INTEGRATED_ENDPOINT 0x9u
#define HAS_CAPABILITIES    UINT32_C(0x00100000)
#define ALL_ONES            UINT32_C(0xffffffff)

/* Configuration space in a file: VFIO's, at an offset, or the one in sysfs. */
struct space {
  int fd;
  uint64_t offset_bytes;
};

/* Without root only the first 64 bytes can be read; the others read as all ones. */
static uint32_t read32(const struct space *space, uint32_t offset) {
  uint32_t value = ALL_ONES;

  return pread(space->fd, &value, sizeof value, (off_t)(space->offset_bytes + offset)) == (ssize_t)sizeof value
             ? value
             : ALL_ONES;
}

/* The offset of the PCI Express capability; 0: there is none. */
static uint32_t find_express(const struct space *space) {
  if ((read32(space, STATUS) & HAS_CAPABILITIES) == 0) return 0;
  uint32_t at = read32(space, CAPABILITIES) & 0xfcu;
  for (unsigned i = 0; i < CAPABILITIES_MAX && at != 0; i++) {
    const uint32_t header = read32(space, at);
    if ((header & 0xffu) == CAPABILITY_EXPRESS) return at;
    at = header >> 8 & 0xfcu;
  }
  return 0;
}

/* Limits the link's maximum to that of the port above: the link can only do what both ends can. */
static void limit_by_port(const char *address, struct spate_pcie_link *link) {
  char path[SYSFS_PATH_BYTES];

  sysfs_path(path, address, "../config");
  const struct space port = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
  if (port.fd < 0) return;
  const uint32_t express = find_express(&port);
  const uint32_t can = express == 0 ? 0 : read32(&port, express + EXPRESS_LINK_CAPABILITIES);
  (void)close(port.fd);
  if ((can & 0xfu) != 0 && (can & 0xfu) < link->speed_max) link->speed_max = (uint8_t)(can & 0xfu);
  if ((can >> 4 & 0x3fu) != 0 && (can >> 4 & 0x3fu) < link->width_max) link->width_max = (uint8_t)(can >> 4 & 0x3fu);
}

static void read_express(const struct space *space, const char *address, struct spate_pcie_device *listed) {
  const uint32_t express = find_express(space);

  if (express == 0) return;
  const uint32_t control = read32(space, express + EXPRESS_DEVICE_CONTROL);
  listed->payload_bytes = (uint16_t)(128u << (control >> 5 & 7u));
  listed->read_request_bytes = (uint16_t)(128u << (control >> 12 & 7u));
  if ((read32(space, express) >> 20 & 0xfu) == INTEGRATED_ENDPOINT) return; /* it has no link */
  const uint32_t can = read32(space, express + EXPRESS_LINK_CAPABILITIES);
  const uint32_t is = read32(space, express + EXPRESS_LINK_STATUS) >> 16;
  listed->link.speed = (uint8_t)(is & 0xfu);
  listed->link.width = (uint8_t)(is >> 4 & 0x3fu);
  listed->link.speed_max = (uint8_t)(can & 0xfu);
  listed->link.width_max = (uint8_t)(can >> 4 & 0x3fu);
  limit_by_port(address, &listed->link);
}

/* ---- spate_pcie_host_ops ---- */

static bool is_listed(const struct spate_pcie_host *host, struct spate_pcie_address at) {
  const struct spate_pcie_address own = host->devices[0].address;

  return at.bus == own.bus && at.device == own.device && at.function == own.function;
}

/* `config_base` holds a pointer to the device, whose files give access to configuration space. */
static uint32_t config_read(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset) {
  const struct device *device = (const void *)host->config_base; // NOLINT(performance-no-int-to-ptr)
  const struct space space = {.fd = device->config_fd, .offset_bytes = device->config_offset_bytes};

  return is_listed(host, at) ? read32(&space, offset) : ALL_ONES;
}

/* Ignores the write: configuration space belongs to the kernel. */
static void config_write(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset, uint32_t value) {
  (void)host;
  (void)at;
  (void)offset;
  (void)value;
}

static bool may_exist(struct spate_pcie_host *host, struct spate_pcie_address at) { return is_listed(host, at); }

static enum spate_error read_link(struct spate_pcie_host *host, struct spate_pcie_link *link) {
  (void)host;
  (void)link;
  return SPATE_E_UNSUPPORTED; /* the function's own capability describes the link */
}

void device_list(struct device *device, struct spate_pcie_host *host) {
  static const struct spate_pcie_host_ops ops = {
      .config_read = config_read, .config_write = config_write, .may_exist = may_exist, .link = read_link};
  const struct space space = {.fd = device->config_fd, .offset_bytes = device->config_offset_bytes};
  unsigned bus = 0, slot = 0, function = 0;

  (void)sscanf(device->address, "%*x:%x:%x.%x", &bus, &slot,
               &function); // NOLINT(cert-err34-c): sysfs_address() has written this text
  *host = (struct spate_pcie_host){.ops = &ops,
                                   .config_base = (uintptr_t)device,
                                   .first_bus = (uint8_t)bus,
                                   .last_bus = (uint8_t)bus,
                                   .device_count = 1};
  struct spate_pcie_device *listed = &host->devices[0];
  *listed = (struct spate_pcie_device){
      .address = {.bus = (uint8_t)bus, .device = (uint8_t)slot, .function = (uint8_t)function},
      .vendor_id = (uint16_t)read32(&space, ID),
      .device_id = (uint16_t)(read32(&space, ID) >> 16),
      .class_code = read32(&space, CLASS) >> 8,
      .bar0 = device->registers,
      .bar0_bytes = device->registers_bytes,
      .link = {.up = true}};
  read_express(&space, device->address, listed);
}
