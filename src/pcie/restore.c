/* SPDX-License-Identifier: Apache-2.0 */
/* Saves the registers that enumeration set, and restores them after a device was reset, alone or with the bridges above
 * it. */
#include "internal.h"

/* The saved registers: those of type 0 and type 1 headers from BAR 0 on, then the control registers in the order in
 * which they are restored. The two registers after an endpoint's BARs are read-only and never differ. */
#define HEADER_REGISTERS 8u
#define LINK             (HEADER_REGISTERS + 1u)
#define COMMAND          (SPATE_PCIE_SAVED_REGISTERS - 1u)
#define LOWER_HALF       UINT32_C(0xffff)

_Static_assert(HEADER_REGISTERS + 3u == SPATE_PCIE_SAVED_REGISTERS, "device control, link control, command");

struct saved_register {
  uint16_t offset; /* 0: the function does not have it */
  uint32_t mask;   /* excludes an upper half that is status */
};

static struct saved_register register_of(const struct spate_pcie_saved *saved, unsigned i) {
  switch (i) {
  case HEADER_REGISTERS: return (struct saved_register){saved->device_control, LOWER_HALF};
  case LINK: return (struct saved_register){saved->link_control, LOWER_HALF};
  case COMMAND: return (struct saved_register){PCI_COMMAND, LOWER_HALF};
  default: break;
  }
  const uint16_t offset = (uint16_t)(PCI_BAR0 + 4u * i);
  return (struct saved_register){offset, saved->bridge && offset == PCI_IO_WINDOW ? LOWER_HALF : UINT32_MAX};
}

void spate_pcie_save(const struct pcie_function *function, struct spate_pcie_saved *saved) {
  *saved = (struct spate_pcie_saved){
      .at = function->at,
      .above = function->parent == NULL ? 0 : function->parent->saved,
      .bridge = function->bridge,
      .link_below = spate_pcie_has_link_below(function),
      .tells_changes = spate_pcie_tells_changes(function),
      .id = spate_pcie_read(function, PCI_ID),
  };
  if (function->express) {
    saved->device_control = function->express + EXPRESS_DEVICE_CONTROL;
    if (function->express_type != EXPRESS_INTEGRATED_ENDPOINT)
      saved->link_control = function->express + EXPRESS_LINK_CONTROL;
  }
  for (unsigned i = 0; i < SPATE_PCIE_SAVED_REGISTERS; i++) {
    const struct saved_register at = register_of(saved, i);
    if (at.offset) saved->registers[i] = spate_pcie_read(function, at.offset) & at.mask;
  }
}

/* True: the register had lost its value. */
static bool restore_register(const struct pcie_function *function, const struct spate_pcie_saved *saved, unsigned i) {
  const struct saved_register at = register_of(saved, i);
  if (!at.offset || (spate_pcie_read(function, at.offset) & at.mask) == saved->registers[i]) return false;
  spate_pcie_write(function, at.offset, saved->registers[i]);
  return true;
}

/* Restores the registers that differ, except the link's power management, if the function responds with its old id. A
 * bridge that had lost a value was reset, with everything below it. That counts as a change for the other devices
 * there.
 */
static enum spate_error restore(const struct pcie_function *function, struct spate_pcie_saved *saved) {
  const uint32_t id = spate_pcie_read(function, PCI_ID);
  if (spate_pcie_is_silence(id) || (id & LOWER_HALF) == PCI_VENDOR_RETRY) return SPATE_E_BUSY;
  if (id != saved->id) return SPATE_E_NO_DEVICE;
  bool lost = false;
  for (unsigned i = 0; i < SPATE_PCIE_SAVED_REGISTERS; i++)
    if (i != LINK) lost |= restore_register(function, saved, i);
  saved->changes += lost;
  return SPATE_OK;
}

/* Turns L1 off again, from the device up: the downstream end of a link comes first (5.4.1.3). */
static void keep_awake(struct spate_pcie_host *host, const struct spate_pcie_device *device) {
  uint8_t path[SPATE_PCIE_BRIDGES_MAX];
  const unsigned bridges = spate_pcie_path(host, device, path);
  const struct pcie_function function = {.host = host, .at = device->saved.at};
  (void)restore_register(&function, &device->saved, LINK);
  for (unsigned i = 0; i < bridges; i++) {
    const struct spate_pcie_saved *bridge = &host->bridges[path[i] - 1u];
    const struct pcie_function above = {.host = host, .at = bridge->at};
    (void)restore_register(&above, bridge, LINK);
  }
}

/* This link is down: it and the links below it have to settle again. */
static enum spate_error link_is_down(struct spate_pcie_device *device, uint8_t link) {
  device->links_settled = link;
  device->link_up_ticks = 0;
  return SPATE_E_BUSY;
}

/* Whether this link has settled; the links above it have. A link that went down and up again has to settle again, even
 * if the change was noticed while another device was restored. */
static bool is_settled(struct spate_pcie_device *device, uint8_t link, const struct spate_pcie_saved *bridge) {
  const uint64_t now = spate_port_ticks();
  const uint64_t settle_ticks = spate_ticks_of_ms(PCIE_SETTLE_MS);
  if (bridge->changed_ticks != 0 && now - bridge->changed_ticks < settle_ticks) {
    device->links_settled = link;
    device->link_up_ticks = bridge->changed_ticks;
  }
  if (link < device->links_settled) return true;
  if (device->link_up_ticks == 0) device->link_up_ticks = now;
  if (now - device->link_up_ticks < settle_ticks) return false;
  device->links_settled++;
  device->link_up_ticks = 0;
  return true;
}

/* From the first bus down. OK: the device has all its registers back. */
static enum spate_error restore_path(struct spate_pcie_host *host, struct spate_pcie_device *device) {
  uint8_t path[SPATE_PCIE_BRIDGES_MAX];
  unsigned bridges = spate_pcie_path(host, device, path);
  uint8_t links = 0;
  while (bridges-- > 0) {
    struct spate_pcie_saved *bridge = &host->bridges[path[bridges] - 1u];
    const struct pcie_function function = {.host = host, .at = bridge->at};
    const enum spate_error error = restore(&function, bridge);
    if (error) return error;
    if (!bridge->link_below) continue;
    spate_pcie_forget_change(&function, bridge); /* before the link is read, so that no later change is lost */
    if (!spate_pcie_port_link_is_up(&function, bridge)) {
      bridge->changes++;
      return link_is_down(device, links);
    }
    if (!is_settled(device, links++, bridge)) return SPATE_E_BUSY;
  }
  const struct pcie_function function = {.host = host, .at = device->saved.at};
  const enum spate_error error = restore(&function, &device->saved);
  if (error == SPATE_OK) keep_awake(host, device);
  return error;
}

void spate_pcie_was_reset(struct spate_pcie_device *device) { (void)link_is_down(device, 0); }

enum spate_error spate_pcie_restore(struct spate_pcie_host *host, struct spate_pcie_device *device) {
  if (device->saved.id == 0) return SPATE_E_NO_DEVICE;
  struct spate_pcie_link link = {.up = true};
  enum spate_error error = host->ops->link(host, &link);
  if (error && error != SPATE_E_UNSUPPORTED) return error;
  if (!link.up) return link_is_down(device, 0);
  error = restore_path(host, device);
  if (error == SPATE_E_BUSY) return error;
  /* A wrong id may come from a link that has just dropped again, and not from another device. */
  if (error == SPATE_E_NO_DEVICE && !spate_pcie_links_stayed_up(host, device)) return link_is_down(device, 0);
  (void)link_is_down(device, 0); /* the next restore starts from the beginning */
  if (error != SPATE_OK) return error;
  if (host->ops->forwards != NULL && !host->ops->forwards(host)) host->changes++; /* for the other devices */
  device->changes_known = spate_pcie_changes(host, device);
  if (host->ops->forward == NULL) return SPATE_OK;
  host->ops->forward(host);
  /* If a link dropped before forward(), the bridge forwards again now and would not show the link drop later. */
  return spate_pcie_links_stayed_up(host, device) ? SPATE_OK : SPATE_E_BUSY;
}
