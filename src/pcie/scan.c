/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers the buses and lists the functions that respond on them.
 *
 * The scan is depth first, because bus numbers have to nest, but without recursion: a bus is scanned completely. The
 * next bridge to open is then the first closed one on the deepest bus that has any.
 */
#include "internal.h"

#define WAKE_MS 10u /* from D3hot to D0 (5.9) */

static uint32_t read_register(const void *function, unsigned offset) { return spate_pcie_read(function, offset); }

void spate_pcie_leave_out(struct pcie_tree *tree, const struct pcie_function *function, enum spate_error error) {
  if (tree->host->left_out < UINT8_MAX) tree->host->left_out++;
  if (tree->first_error) return;
  tree->first_error = error;
  tree->host->failed_at = function->at;
}

void spate_pcie_settle(uint64_t since_ticks) {
  while (spate_port_ticks() < since_ticks + spate_ticks_of_ms(PCIE_SETTLE_MS))
    spate_port_relax();
}

uint16_t spate_pcie_find_express(const struct pcie_function *function) {
  return spate_pcie_find_capability(read_register, function, CAPABILITY_EXPRESS);
}

/*
 * Reads vendor and device id. Waits while the device returns "retry", as it may after a reset (6.6.1). Bridges
 * that do not show "retry" return all ones or zeros instead. Those are waited for only where the link is up, so that a
 * device must be there.
 */
static enum spate_error identify(const struct pcie_tree *tree, const struct pcie_function *function, bool expected,
                                 uint32_t *id) {
  for (;;) {
    *id = spate_pcie_read(function, PCI_ID);
    bool silent = spate_pcie_is_silence(*id);
    if (silent ? !expected : (*id & 0xffff) != PCI_VENDOR_RETRY) return SPATE_OK;
    if (spate_port_ticks() >= tree->ready_by_ticks) return silent ? SPATE_OK : SPATE_E_NOT_READY;
    spate_port_relax();
  }
}

static void read_express(struct pcie_function *function) {
  function->express = spate_pcie_find_express(function);
  function->express_type = EXPRESS_NONE;
  if (!function->express) return;
  function->express_type = (spate_pcie_read(function, function->express + EXPRESS_CAPABILITIES) >> 20) & 0xf;
  function->payload_code = spate_pcie_read(function, function->express + EXPRESS_DEVICE_CAPABILITIES) & 0x7;
}

/* Whether the bridge, and all above it, forward 64-bit prefetchable addresses: bits 3:0 of the base register are 1
 * (7.5.1.3.9). */
static bool has_wide_prefetch(const struct pcie_function *function) {
  spate_pcie_write(function, PCI_PREFETCH_WINDOW, 0xfff0fff0);
  bool wide = (spate_pcie_read(function, PCI_PREFETCH_WINDOW) & 0xf) == 1;
  return wide && (function->parent == NULL || function->parent->wide_prefetch);
}

/* Brings the function to D0 (5.3.1.4). It is not accessed while it wakes up. It may lose its configuration then, and
 * ask for retries, as after a reset; what is below a bridge is reset. */
static enum spate_error wake(const struct pcie_tree *tree, struct pcie_function *function) {
  const uint16_t power = spate_pcie_find_capability(read_register, function, CAPABILITY_POWER);
  if (power == 0 || (spate_pcie_read(function, power + POWER_CONTROL) & POWER_STATE_MASK) == 0) return SPATE_OK;
  spate_pcie_change(function, power + POWER_CONTROL, POWER_STATE_MASK, 0);
  const uint64_t end_ticks = spate_port_ticks() + spate_ticks_of_ms(WAKE_MS);
  while (spate_port_ticks() < end_ticks)
    spate_port_relax();
  uint32_t id;
  const enum spate_error error = identify(tree, function, true, &id);
  if (error) return error;
  if (function->bridge) spate_pcie_settle(spate_port_ticks());
  function->was_reset |= function->bridge;
  return spate_pcie_is_silence(id) ? SPATE_E_NOT_READY : SPATE_OK;
}

/* Ends a secondary bus reset that was left on: the link below starts to train only now. */
static void end_bus_reset(struct pcie_function *bridge) {
  const uint32_t control = spate_pcie_read(bridge, PCI_BRIDGE_CONTROL);
  if ((control & PCI_BRIDGE_RESET) == 0) return;
  spate_pcie_write(bridge, PCI_BRIDGE_CONTROL, control & ~PCI_BRIDGE_RESET);
  spate_pcie_settle(spate_port_ticks());
  bridge->was_reset = true;
}

/* Turns off what earlier firmware may have left on: decoding, DMA, the expansion ROM, bus numbers, a reset. */
static void switch_off(struct pcie_function *function) {
  spate_pcie_change(function, PCI_COMMAND, PCI_COMMAND_IO | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 0);
  spate_pcie_write(function, function->bridge ? PCI_BRIDGE_ROM : PCI_ROM, 0);
  if (!function->bridge) return;
  spate_pcie_write(function, PCI_BUS_NUMBERS, 0);
  end_bus_reset(function);
}

static bool has_active_link(const struct pcie_function *port) {
  return spate_pcie_read(port, port->express + EXPRESS_LINK_CONTROL) & EXPRESS_LINK_ACTIVE;
}

/* Since when this port's link is known to be up. The host bridge may have reported it before. */
static uint64_t seen_ticks(const struct pcie_tree *tree, const struct pcie_function *port) {
  return port->parent == NULL && tree->host_link_is_up && tree->reset_ticks ? tree->host->link_seen_ticks
                                                                            : spate_port_ticks();
}

/* Whether the link of a port with a slot changed since the last call. */
static bool link_has_changed(const struct pcie_function *port) {
  const unsigned slot = port->express + EXPRESS_SLOT_CONTROL;
  if (!spate_pcie_tells_changes(port) || !(spate_pcie_read(port, slot) & EXPRESS_SLOT_LINK_CHANGED)) return false;
  spate_pcie_change(port, slot, 0, EXPRESS_SLOT_LINK_CHANGED);
  return true;
}

/* Notes the time if the link is up at the first read. The recorded change is cleared before: a change that is recorded
 * later makes has_settled() wait again, and spate_pcie_link_is_up() reports it in the end. */
static void see_link(const struct pcie_tree *tree, struct pcie_function *port) {
  (void)link_has_changed(port);
  if (has_active_link(port)) port->link_seen_ticks = seen_ticks(tree, port);
}

/* Lists a function that responded, if there is room for it. */
static void add_function(struct pcie_tree *tree, struct pcie_function *function) {
  uint8_t *count = function->bridge ? &tree->bridge_count : &tree->endpoint_count;
  if (*count == (function->bridge ? SPATE_PCIE_BRIDGES_MAX : SPATE_PCIE_DEVICES_MAX)) {
    spate_pcie_leave_out(tree, function, SPATE_E_TOPOLOGY);
    return;
  }
  (*count)++;
  read_express(function);
  if (function->bridge) function->wide_prefetch = has_wide_prefetch(function);
  if (spate_pcie_has_link_below(function)) see_link(tree, function);
  tree->functions[tree->function_count++] = *function;
}

/* Whether a register of `other` shows what is written to `function`: they are the same. */
static bool is_same(const struct pcie_function *function, const struct pcie_function *other) {
  const unsigned at = function->bridge ? PCI_MEMORY_WINDOW : PCI_BAR0; /* nothing is decoded */
  const uint32_t bits = function->bridge ? UINT32_C(0xfff0fff0) : UINT32_C(0xfffffff0);
  if (other->bridge != function->bridge || spate_pcie_read(other, PCI_ID) != spate_pcie_read(function, PCI_ID))
    return false;
  const uint32_t own = spate_pcie_read(function, at), before = spate_pcie_read(other, at);
  spate_pcie_write(function, at, own ^ bits);
  const bool shows = spate_pcie_read(other, at) != before;
  spate_pcie_write(function, at, own);
  return shows;
}

/* Some root ports, and bridges without a PCI Express capability, show one device at several numbers of a bus. */
static bool is_listed(const struct pcie_tree *tree, const struct pcie_function *function) {
  for (unsigned i = 0; i < tree->function_count; i++) {
    const struct pcie_function *other = &tree->functions[i];
    const bool elsewhere = other->at.bus == function->at.bus && other->at.device != function->at.device;
    if (elsewhere && other->at.function == function->at.function && is_same(function, other)) return true;
  }
  return false;
}

/* Lists the functions of one device. Functions 1–7 exist only if function 0 is multi-function (7.5.1.1.9). */
static void scan_device(struct pcie_tree *tree, struct pcie_function *parent, uint8_t bus, uint8_t device) {
  unsigned functions = 1;
  for (unsigned i = 0; i < functions; i++) {
    struct pcie_function function = {.host = tree->host, .parent = parent, .at = {bus, device, (uint8_t)i}};
    if (!tree->host->ops->may_exist(tree->host, function.at)) continue;
    const bool expected = parent != NULL && parent->link_is_up && i == 0;
    uint32_t id;
    enum spate_error error = identify(tree, &function, expected, &id);
    if (error == SPATE_OK && spate_pcie_is_silence(id)) continue;
    const uint32_t header = error == SPATE_OK ? spate_pcie_read(&function, PCI_HEADER_TYPE) : 0;
    if (i == 0 && (header & PCI_HEADER_MULTIFUNCTION)) functions = 8;
    function.bridge = (header & PCI_HEADER_TYPE_MASK) == PCI_HEADER_TYPE_1;
    if (error == SPATE_OK && spate_pcie_read(&function, PCI_CLASS) >> 16 == PCI_CLASS_HOST_BRIDGE) continue;
    if (error == SPATE_OK) error = wake(tree, &function);
    if (error) spate_pcie_leave_out(tree, &function, error);
    if (error) continue;
    switch_off(&function);
    if (is_listed(tree, &function)) continue;
    add_function(tree, &function);
  }
}

/* A link has one device at its other end, number 0. Some ports show that device at all 32 numbers (7.3.1). */
bool spate_pcie_has_link_below(const struct pcie_function *function) {
  return function->express_type == EXPRESS_ROOT_PORT || function->express_type == EXPRESS_DOWNSTREAM_PORT;
}

bool spate_pcie_tells_changes(const struct pcie_function *function) {
  return spate_pcie_has_link_below(function) &&
         (spate_pcie_read(function, function->express + EXPRESS_CAPABILITIES) & EXPRESS_SLOT_IMPLEMENTED) &&
         (spate_pcie_read(function, function->express + EXPRESS_LINK_CAPABILITIES) & EXPRESS_LINK_ACTIVE_REPORTING);
}

static void scan_bus(struct pcie_tree *tree, struct pcie_function *parent, uint8_t bus) {
  unsigned devices = parent != NULL && spate_pcie_has_link_below(parent) ? 1 : 32;
  for (unsigned device = 0; device < devices; device++)
    scan_device(tree, parent, bus, (uint8_t)device);
}

/* For a link above 5 GT/s, no request is sent within 100 ms of the end of its training (6.6.1). The end of training is
 * known for a link that was seen down before. A link that was up already, after a reset, may have come up just before
 * it was first seen. */
static void settle_link(const struct pcie_tree *tree, const struct pcie_function *port, uint32_t capabilities,
                        bool was_down) {
  if ((capabilities & 0xf) <= EXPRESS_SPEED_5) return;
  if (was_down || port->link_seen_ticks == 0)
    spate_pcie_settle(spate_port_ticks());
  else if (tree->reset_ticks)
    spate_pcie_settle(port->link_seen_ticks);
}

/* Whether the link is up, and stayed up during the wait. The change by which it came up is cleared, and the link is
 * read again after that. */
static bool has_settled(const struct pcie_tree *tree, const struct pcie_function *port, uint32_t capabilities,
                        bool was_down) {
  if (!has_active_link(port)) return false;
  was_down |= link_has_changed(port);
  if (!has_active_link(port)) return false;
  settle_link(tree, port, capabilities, was_down);
  return !link_has_changed(port);
}

/* Waits until the link below this port is up, at most until the deadline. True also for a port that does not report its
 * link. */
static bool link_comes_up(struct pcie_tree *tree, struct pcie_function *port) {
  port->link_is_up = port->parent == NULL && tree->host_link_is_up;
  uint32_t link_capabilities = spate_pcie_read(port, port->express + EXPRESS_LINK_CAPABILITIES);
  if (!(link_capabilities & EXPRESS_LINK_ACTIVE_REPORTING)) return true;

  /* A slot reports at once that it is empty. That is "no device", not "link down". */
  bool slot = spate_pcie_read(port, port->express + EXPRESS_CAPABILITIES) & EXPRESS_SLOT_IMPLEMENTED;
  const uint64_t by_ticks =
      port->was_reset ? spate_port_ticks() + spate_ticks_of_ms(PCIE_LINK_MS) : tree->link_by_ticks;
  for (bool was_down = port->was_reset;; was_down = true) {
    bool empty = slot && !(spate_pcie_read(port, port->express + EXPRESS_SLOT_CONTROL) & EXPRESS_SLOT_PRESENCE);
    if (has_settled(tree, port, link_capabilities, was_down)) {
      if (!empty) port->link_is_up = true;
      return true;
    }
    if (empty) return false;
    if (spate_port_ticks() >= by_ticks) break;
    spate_port_relax();
  }
  tree->link_is_down = true;
  tree->down_at = port->at;
  return false;
}

/* Without this a root port may hide "retry" and repeat the request by itself, or return all ones (2.3.2). */
static void make_retry_visible(const struct pcie_function *port) {
  uint32_t control = spate_pcie_read(port, port->express + EXPRESS_ROOT_CONTROL);
  if (control & EXPRESS_ROOT_RETRY_CAPABLE)
    spate_pcie_change(port, port->express + EXPRESS_ROOT_CONTROL, 0, EXPRESS_ROOT_RETRY_VISIBLE);
}

static void set_buses(const struct pcie_function *bridge, uint8_t last_bus) {
  spate_pcie_write(bridge, PCI_BUS_NUMBERS,
                   bridge->at.bus | (uint32_t)bridge->secondary << 8 | (uint32_t)last_bus << 16);
}

static void open_bridge(struct pcie_tree *tree, struct pcie_function *bridge) {
  bridge->opened = true;
  if (spate_pcie_has_link_below(bridge) && !link_comes_up(tree, bridge)) return;
  if (bridge->express_type == EXPRESS_ROOT_PORT) make_retry_visible(bridge);
  if (tree->last_bus == tree->host->last_bus) {
    spate_pcie_leave_out(tree, bridge, SPATE_E_TOPOLOGY);
    return;
  }
  bridge->secondary = ++tree->last_bus;
  tree->ready_by_ticks = spate_port_ticks() + tree->ready_ticks;
  /* For now the bridge gets all higher bus numbers. Its last bus is known when everything below it was scanned. */
  set_buses(bridge, tree->host->last_bus);
  scan_bus(tree, bridge, bridge->secondary);
}

/* Sets the last bus of the bridges from `from` up to, but not including, `to`: everything below them was scanned. */
static void close_bridges(const struct pcie_tree *tree, const struct pcie_function *from,
                          const struct pcie_function *to) {
  for (; from != to && from != NULL; from = from->parent)
    if (from->secondary) set_buses(from, tree->last_bus);
}

/* The first closed bridge on the bus that was listed last. The functions of a bus are listed together, after those of
 * the bus above. */
static struct pcie_function *next_bridge(struct pcie_tree *tree) {
  struct pcie_function *next = NULL;
  for (unsigned i = 0; i < tree->function_count; i++) {
    struct pcie_function *function = &tree->functions[i];
    if (!function->bridge || function->opened) continue;
    if (next == NULL || function->parent != next->parent) next = function;
  }
  return next;
}

void spate_pcie_scan(struct pcie_tree *tree) {
  struct pcie_function *open = NULL;
  scan_bus(tree, NULL, tree->host->first_bus);
  for (struct pcie_function *next; (next = next_bridge(tree)) != NULL; open = next) {
    close_bridges(tree, open, next->parent);
    open_bridge(tree, next);
  }
  close_bridges(tree, open, NULL);
}
