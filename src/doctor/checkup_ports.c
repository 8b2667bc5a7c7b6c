/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the drive, or the ports that could have one. */
#include "../pcie/registers.h"
#include "checkup.h"

#define DEVICES 32u

static uint32_t read_config(const void *context, unsigned offset) {
  const struct spate_checkup *checkup = context;
  struct spate_pcie_host *host = checkup->config->host;

  return host->ops->config_read(host, checkup->path[0].address, (uint16_t)offset);
}

static bool has_device(const struct spate_pcie_host *host, const struct spate_doctor_function *port) {
  for (unsigned i = 0; i < host->device_count; i++)
    if (host->devices[i].address.bus >= port->secondary_bus && host->devices[i].address.bus <= port->subordinate_bus)
      return true;
  return false;
}

/* Whether a function responds directly below the port: a switch, which has ports of its own, or a device that
 * enumeration left out. */
static bool has_response(struct spate_pcie_host *host, const struct spate_doctor_function *port) {
  const struct spate_pcie_address at = {.bus = port->secondary_bus};

  return port->secondary_bus > port->address.bus && host->ops->may_exist(host, at) &&
         !spate_pcie_is_silence(host->ops->config_read(host, at, PCI_ID));
}

/* Judges the function at this address if it is a port with nothing below it. Returns the last bus below it. */
static uint8_t judge_port(struct spate_checkup *checkup, struct spate_pcie_address at) {
  struct spate_pcie_host *host = checkup->config->host;
  struct spate_doctor_function *port = &checkup->path[0];
  const struct spate_doctor_space space = {.read = read_config, .context = checkup, .bytes = 4096};

  if (!host->ops->may_exist(host, at)) return 0;
  port->address = at; /* for read_config() */
  spate_doctor_function_read(port, at, &space);
  if (port->silent || !port->bridge) return 0;
  if (!has_device(host, port) && !has_response(host, port)) {
    spate_checkup_fact(checkup, "port", &port->address, "class {0x}; nothing was found below it",
                       (struct checkup_values){.numbers = {port->class_code}});
    spate_doctor_judge_port(checkup->doctor, port);
  }
  return port->subordinate_bus < host->last_bus ? port->subordinate_bus : host->last_bus;
}

void spate_checkup_ports(struct spate_checkup *checkup) {
  const struct spate_pcie_host *host = checkup->config->host;
  unsigned last_bus = host->first_bus;

  for (unsigned bus = host->first_bus; bus <= last_bus; bus++) {
    for (uint8_t device = 0; device < DEVICES; device++) {
      const uint8_t below = judge_port(checkup, (struct spate_pcie_address){.bus = (uint8_t)bus, .device = device});
      if (below > last_bus) last_bus = below;
    }
  }
}

static void tell_device(const struct spate_checkup *checkup, const char *name, const struct spate_pcie_device *device) {
  spate_checkup_fact(checkup, name, &device->address, "vendor {0x}, device {1x}, class {2x}",
                     (struct checkup_values){.numbers = {device->vendor_id, device->device_id, device->class_code}});
}

/* Every device is looked at: an M.2 SATA drive or another card may be in the place of the drive. */
static void judge_others(struct spate_checkup *checkup) {
  struct spate_pcie_host *host = checkup->config->host;

  for (unsigned i = 0; i < host->device_count; i++) {
    const struct spate_pcie_device *device = &host->devices[i];
    tell_device(checkup, "device", device);
    if (device->class_code == SPATE_PCIE_CLASS_NVME) continue;
    checkup->path_count = spate_doctor_host_read(host, device, checkup->path);
    spate_doctor_judge_path(checkup->doctor, checkup->path, checkup->path_count, false);
  }
}

static const struct spate_pcie_device *find_drive(const struct spate_checkup *checkup, unsigned number) {
  struct spate_pcie_device *found = NULL;
  const enum spate_error error = spate_pcie_find(checkup->config->host, SPATE_PCIE_CLASS_NVME, number, &found);

  return error == SPATE_OK || error == SPATE_E_WINDOW ? found : NULL;
}

bool spate_checkup_find(struct spate_checkup *checkup) {
  const struct spate_pcie_host *host = checkup->config->host;
  const struct spate_pcie_device *found = find_drive(checkup, checkup->config->drive);

  if (found != NULL) {
    checkup->device = *found;
    for (unsigned i = 0; i < host->device_count; i++)
      if (&host->devices[i] != found) tell_device(checkup, "device", &host->devices[i]);
    tell_device(checkup, "drive", &checkup->device);
    return true;
  }
  judge_others(checkup);
  spate_checkup_ports(checkup);
  spate_checkup_found(checkup, find_drive(checkup, 0) == NULL ? SPATE_DOCTOR_NO_DRIVE : SPATE_DOCTOR_DRIVE_NUMBER,
                      (struct checkup_values){.numbers = {checkup->config->drive}});
  return false;
}
