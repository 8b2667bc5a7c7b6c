/* SPDX-License-Identifier: Apache-2.0 */
/* Isolation of a device (bus mastering off), function level reset and secondary bus reset. */
#include "internal.h"

/* No request to the function within this time. 100 ms (6.6.2) are too short for Intel P3700 and P4510 and Solidigm P44
 * Pro: Linux, drivers/pci/quirks.c, delay_250ms_after_flr(). */
#define FUNCTION_RESET_MS 250u
#define BUS_RESET_MS      2u /* Secondary Bus Reset is set for at least 1 ms (7.5.1.3.13) */

/* The port above the device; false: there is none. */
static bool port_above(struct spate_pcie_host *host, const struct spate_pcie_device *device,
                       struct pcie_function *port) {
  if (device->saved.above == 0) return false;
  *port = (struct pcie_function){.host = host, .at = host->bridges[device->saved.above - 1u].at};
  return true;
}

/* The completion of a read does not pass posted writes that go in the same direction. When it arrives, all earlier
 * writes of the device are in memory. */
static bool master_off(const struct pcie_function *function) {
  if (spate_pcie_is_silence(spate_pcie_read(function, PCI_ID))) return false;
  spate_pcie_change(function, PCI_COMMAND, PCI_COMMAND_MASTER, 0);
  const uint32_t command = spate_pcie_read(function, PCI_COMMAND);
  return command != UINT32_MAX && !(command & PCI_COMMAND_MASTER) &&
         !spate_pcie_is_silence(spate_pcie_read(function, PCI_ID));
}

enum spate_error spate_pcie_isolate(struct spate_pcie_host *host, const struct spate_pcie_device *device) {
  const struct pcie_function function = {.host = host, .at = device->address};
  struct pcie_function port;
  if (device->saved.id == 0) return SPATE_E_NO_DEVICE;
  if (spate_pcie_link_is_up(host, device) && master_off(&function)) return SPATE_OK;
  return port_above(host, device, &port) && master_off(&port) ? SPATE_OK : SPATE_E_NO_DEVICE;
}

static bool is_under_way(const struct spate_pcie_device *device, enum spate_pcie_reset how) {
  return device->reset_now == how + 1u;
}

static enum spate_error begun(struct spate_pcie_device *device, enum spate_pcie_reset how) {
  device->reset_now = (uint8_t)(how + 1u);
  device->reset_ticks = spate_port_ticks();
  spate_pcie_was_reset(device);
  return SPATE_E_BUSY;
}

static bool has_passed(const struct spate_pcie_device *device, uint32_t ms) {
  return spate_port_ticks() - device->reset_ticks >= spate_ticks_of_ms(ms);
}

static enum spate_error reset_function(struct spate_pcie_host *host, struct spate_pcie_device *device) {
  const struct pcie_function function = {.host = host, .at = device->address};
  if (is_under_way(device, SPATE_PCIE_RESET_FUNCTION)) {
    if (!has_passed(device, FUNCTION_RESET_MS)) return SPATE_E_BUSY;
    device->reset_now = 0;
    return SPATE_OK;
  }
  const uint16_t control = device->saved.device_control;
  if (control == 0) return SPATE_E_UNSUPPORTED;
  if (!spate_pcie_link_is_up(host, device) || spate_pcie_is_silence(spate_pcie_read(&function, PCI_ID)))
    return SPATE_E_NO_DEVICE;
  const uint32_t capabilities =
      spate_pcie_read(&function, (unsigned)control - EXPRESS_DEVICE_CONTROL + EXPRESS_DEVICE_CAPABILITIES);
  if (!(capabilities & EXPRESS_FUNCTION_RESET_CAPABLE)) return SPATE_E_UNSUPPORTED;
  (void)master_off(&function); /* so that it has no request in flight during the reset */
  spate_pcie_change(&function, control, 0, EXPRESS_FUNCTION_RESET);
  return begun(device, SPATE_PCIE_RESET_FUNCTION);
}

static void set_bus_reset(const struct pcie_function *port, bool on) {
  const uint32_t control = spate_pcie_read(port, PCI_BRIDGE_CONTROL);
  spate_pcie_write(port, PCI_BRIDGE_CONTROL, on ? control | PCI_BRIDGE_RESET : control & ~PCI_BRIDGE_RESET);
}

static bool is_below(const struct spate_pcie_host *host, const struct spate_pcie_device *device, uint8_t bridge) {
  uint8_t path[SPATE_PCIE_BRIDGES_MAX];
  for (unsigned bridges = spate_pcie_path(host, device, path); bridges-- > 0;)
    if (path[bridges] == bridge) return true;
  return false;
}

/* Whether the reset would also reach other devices, which may be in the middle of a stream. */
static bool has_neighbours(const struct spate_pcie_host *host, const struct spate_pcie_device *device) {
  unsigned below = 0;
  for (unsigned i = 0; i < host->device_count; i++)
    below += is_below(host, &host->devices[i], device->saved.above);
  return below > 1;
}

static enum spate_error reset_bus(struct spate_pcie_host *host, struct spate_pcie_device *device) {
  struct pcie_function port;
  if (!port_above(host, device, &port) || has_neighbours(host, device)) return SPATE_E_UNSUPPORTED;
  if (!is_under_way(device, SPATE_PCIE_RESET_BUS)) {
    if (spate_pcie_is_silence(spate_pcie_read(&port, PCI_ID))) return SPATE_E_NO_DEVICE;
    set_bus_reset(&port, true);
    return begun(device, SPATE_PCIE_RESET_BUS);
  }
  if (!has_passed(device, BUS_RESET_MS)) return SPATE_E_BUSY;
  set_bus_reset(&port, false);
  device->reset_now = 0;
  return SPATE_OK;
}

enum spate_error spate_pcie_reset(struct spate_pcie_host *host, struct spate_pcie_device *device,
                                  enum spate_pcie_reset how) {
  if (device->saved.id == 0) return SPATE_E_NO_DEVICE;
  return how == SPATE_PCIE_RESET_FUNCTION ? reset_function(host, device) : reset_bus(host, device);
}
