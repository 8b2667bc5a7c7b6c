/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbering the buses and listing what answers on them.
 *
 * Depth first, as bus numbers have to nest, but without recursion: a bus is scanned whole, and then the next bridge to
 * open is the first closed one below the bridge opened last. A bridge has a higher index than the one above it, so
 * that one is found by comparing parents.
 */
#include "internal.h"

/* Capability pointers come from the device: a loop in them must end. 48 dwords fit between 0x40 and 0xff. */
#define CAPABILITIES_MAX 48u

uint16_t pcie_find_express(struct spate_pcie_host *host, const struct spate_pcie_address *at) {
  if (!(pcie_read(host, at, PCI_COMMAND) & PCI_STATUS_CAPABILITIES)) return 0;
  uint32_t offset = pcie_read(host, at, PCI_CAPABILITIES) & 0xfc;
  for (unsigned hop = 0; hop < CAPABILITIES_MAX && offset >= 0x40; hop++) {
    uint32_t capability = pcie_read(host, at, offset);
    if ((capability & 0xff) == 0x10) return (uint16_t)offset;
    offset = (capability >> 8) & 0xfc;
  }
  return 0;
}

static bool deadline_passed(const struct pcie_tree *tree) { return spate_port_ticks() >= tree->deadline_ticks; }

/* Read vendor and device id, waiting while the device answers "retry": after reset it may for 1 s (6.6.1). */
static enum spate_error identify(struct pcie_tree *tree, const struct spate_pcie_address *at, uint32_t *id) {
  *id = pcie_read(tree->host, at, PCI_ID);
  while ((*id & 0xffff) == PCI_VENDOR_RETRY) {
    if (deadline_passed(tree)) {
      tree->host->failed_at = *at;
      return SPATE_E_NOT_READY;
    }
    spate_port_relax();
    *id = pcie_read(tree->host, at, PCI_ID);
  }
  return SPATE_OK;
}

static void read_express(struct pcie_tree *tree, struct pcie_function *function) {
  function->express = pcie_find_express(tree->host, &function->at);
  function->express_type = EXPRESS_NONE;
  if (!function->express) return;
  uint32_t capabilities = pcie_read(tree->host, &function->at, function->express + EXPRESS_CAPABILITIES);
  function->express_type = (capabilities >> 20) & 0xf;
  function->payload_code = pcie_read(tree->host, &function->at, function->express + EXPRESS_DEVICE_CAPABILITIES) & 0x7;
}

/* Does the bridge forward 64-bit prefetchable addresses? The low nibble of its base register says 1 (7.5.1.3.9). */
static bool has_wide_prefetch(const struct pcie_tree *tree, const struct pcie_function *function) {
  pcie_write(tree->host, &function->at, PCI_PREFETCH_WINDOW, 0xfff0fff0);
  bool wide = (pcie_read(tree->host, &function->at, PCI_PREFETCH_WINDOW) & 0xf) == 1;
  bool above = function->parent == PCIE_ABOVE_ROOT || tree->functions[function->parent].wide_prefetch;
  return wide && above;
}

/* List a function that answered. Firmware before us may have left it running: it loses its decoders, DMA and buses. */
static enum spate_error add_function(struct pcie_tree *tree, int parent, const struct spate_pcie_address *at,
                                     uint32_t header) {
  struct spate_pcie_host *host = tree->host;
  if (pcie_read(host, at, PCI_CLASS) >> 16 == PCI_CLASS_HOST_BRIDGE) return SPATE_OK;

  bool bridge = (header & PCI_HEADER_TYPE_MASK) == PCI_HEADER_TYPE_1;
  if (bridge ? tree->bridge_count == SPATE_PCIE_BRIDGES_MAX : tree->endpoint_count == SPATE_PCIE_DEVICES_MAX) {
    host->failed_at = *at;
    return SPATE_E_TOPOLOGY;
  }
  struct pcie_function *function = &tree->functions[tree->function_count++];
  *function = (struct pcie_function){.at = *at, .parent = (int16_t)parent, .bridge = bridge};
  read_express(tree, function);
  pcie_change(host, at, PCI_COMMAND, PCI_COMMAND_IO | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 0);
  if (bridge) {
    tree->bridge_count++;
    function->wide_prefetch = has_wide_prefetch(tree, function);
    pcie_write(host, at, PCI_BUS_NUMBERS, 0);
  } else {
    tree->endpoint_count++;
  }
  return SPATE_OK;
}

/* The functions of one device. Functions 1–7 exist only where function 0 says so (7.5.1.1.9). */
static enum spate_error scan_device(struct pcie_tree *tree, int parent, uint8_t bus, uint8_t device) {
  unsigned functions = 1;
  for (unsigned i = 0; i < functions; i++) {
    struct spate_pcie_address at = {bus, device, (uint8_t)i};
    if (!tree->host->ops->may_exist(tree->host, at)) continue;
    uint32_t id;
    enum spate_error error = identify(tree, &at, &id);
    if (error) return error;
    if (id == PCI_ID_ABSENT) continue;
    uint32_t header = pcie_read(tree->host, &at, PCI_HEADER_TYPE);
    if (i == 0 && (header & PCI_HEADER_MULTIFUNCTION)) functions = 8;
    error = add_function(tree, parent, &at, header);
    if (error) return error;
  }
  return SPATE_OK;
}

/* A link has one device at its other end, number 0; ports exist that answer for all 32 with that one (7.3.1). */
static bool is_link_above(const struct pcie_tree *tree, int parent) {
  if (parent == PCIE_ABOVE_ROOT) return false;
  uint8_t type = tree->functions[parent].express_type;
  return type == EXPRESS_ROOT_PORT || type == EXPRESS_DOWNSTREAM_PORT;
}

static enum spate_error scan_bus(struct pcie_tree *tree, int parent, uint8_t bus) {
  unsigned devices = is_link_above(tree, parent) ? 1 : 32;
  for (unsigned device = 0; device < devices; device++) {
    enum spate_error error = scan_device(tree, parent, bus, (uint8_t)device);
    if (error) return error;
  }
  return SPATE_OK;
}

/* Is there, or will there be by the deadline, a link below this port? A port that cannot tell: yes. */
static bool link_comes_up(struct pcie_tree *tree, const struct pcie_function *port) {
  struct spate_pcie_host *host = tree->host;
  uint32_t link_capabilities = pcie_read(host, &port->at, port->express + EXPRESS_LINK_CAPABILITIES);
  if (!(link_capabilities & EXPRESS_LINK_ACTIVE_REPORTING)) return true;

  /* An empty slot says so at once, and is "no device" rather than "link down". */
  bool slot = pcie_read(host, &port->at, port->express + EXPRESS_CAPABILITIES) & EXPRESS_SLOT_IMPLEMENTED;
  for (;;) {
    if (pcie_read(host, &port->at, port->express + EXPRESS_LINK_CONTROL) & EXPRESS_LINK_ACTIVE) return true;
    if (slot && !(pcie_read(host, &port->at, port->express + EXPRESS_SLOT_CONTROL) & EXPRESS_SLOT_PRESENCE))
      return false;
    if (deadline_passed(tree)) break;
    spate_port_relax();
  }
  tree->link_is_down = true;
  tree->down_at = port->at;
  return false;
}

/* Without this a root port may swallow "retry" and repeat the request itself, or answer all ones (2.3.2). */
static void make_retry_visible(struct pcie_tree *tree, const struct pcie_function *port) {
  uint32_t control = pcie_read(tree->host, &port->at, port->express + EXPRESS_ROOT_CONTROL);
  if (control & EXPRESS_ROOT_RETRY_CAPABLE)
    pcie_change(tree->host, &port->at, port->express + EXPRESS_ROOT_CONTROL, 0, EXPRESS_ROOT_RETRY_VISIBLE);
}

static enum spate_error open_bridge(struct pcie_tree *tree, unsigned index) {
  struct pcie_function *bridge = &tree->functions[index];
  bridge->opened = true;
  if (is_link_above(tree, (int)index) && !link_comes_up(tree, bridge)) return SPATE_OK;
  if (bridge->express_type == EXPRESS_ROOT_PORT) make_retry_visible(tree, bridge);
  if (tree->last_bus == tree->host->last_bus) {
    tree->host->failed_at = bridge->at;
    return SPATE_E_TOPOLOGY;
  }
  bridge->secondary = ++tree->last_bus;
  /* Everything above is this bridge's for now; its last bus is known when all below it was scanned. */
  pcie_write(tree->host, &bridge->at, PCI_BUS_NUMBERS,
             bridge->at.bus | (uint32_t)bridge->secondary << 8 | (uint32_t)tree->host->last_bus << 16);
  return scan_bus(tree, (int)index, bridge->secondary);
}

/* All bridges from `from` up to, not including, `to` are done: no bus beyond the last one is theirs. */
static void close_bridges(struct pcie_tree *tree, int from, int to) {
  while (from != to && from != PCIE_ABOVE_ROOT) {
    const struct pcie_function *bridge = &tree->functions[from];
    if (bridge->secondary)
      pcie_write(tree->host, &bridge->at, PCI_BUS_NUMBERS,
                 bridge->at.bus | (uint32_t)bridge->secondary << 8 | (uint32_t)tree->last_bus << 16);
    from = bridge->parent;
  }
}

static int next_bridge(const struct pcie_tree *tree) {
  int next = PCIE_ABOVE_ROOT;
  for (int i = 0; i < tree->function_count; i++) {
    const struct pcie_function *function = &tree->functions[i];
    if (!function->bridge || function->opened) continue;
    if (next == PCIE_ABOVE_ROOT || function->parent > tree->functions[next].parent) next = i;
  }
  return next;
}

enum spate_error pcie_scan(struct pcie_tree *tree) {
  int open = PCIE_ABOVE_ROOT;
  enum spate_error error = scan_bus(tree, PCIE_ABOVE_ROOT, tree->host->first_bus);
  while (!error) {
    int next = next_bridge(tree);
    if (next == PCIE_ABOVE_ROOT) break;
    close_bridges(tree, open, tree->functions[next].parent);
    error = open_bridge(tree, (unsigned)next);
    open = next;
  }
  close_bridges(tree, open, PCIE_ABOVE_ROOT);
  return error;
}
