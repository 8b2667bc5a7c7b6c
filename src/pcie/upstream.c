/* SPDX-License-Identifier: Apache-2.0 */
/* The path to a device: the ports on it, and whether their links are up and stayed up. */
#include "internal.h"

#define CAPABILITIES_OF(bridge) ((unsigned)(bridge)->link_control - EXPRESS_LINK_CONTROL)

unsigned spate_pcie_path(const struct spate_pcie_host *host, const struct spate_pcie_device *device,
                         uint8_t path[SPATE_PCIE_BRIDGES_MAX]) {
  unsigned count = 0;
  for (uint8_t above = device->saved.above; above > 0; above = host->bridges[above - 1u].above)
    path[count++] = above;
  return count;
}

bool spate_pcie_port_link_is_up(const struct pcie_function *function, const struct spate_pcie_saved *bridge) {
  return !(spate_pcie_read(function, CAPABILITIES_OF(bridge) + EXPRESS_LINK_CAPABILITIES) &
           EXPRESS_LINK_ACTIVE_REPORTING) ||
         (spate_pcie_read(function, bridge->link_control) & EXPRESS_LINK_ACTIVE);
}

static uint32_t slot(const struct pcie_function *function, const struct spate_pcie_saved *bridge) {
  return spate_pcie_read(function, CAPABILITIES_OF(bridge) + EXPRESS_SLOT_CONTROL);
}

/* Written only if a change is recorded: other software may use the slot's registers. */
void spate_pcie_forget_change(const struct pcie_function *function, struct spate_pcie_saved *bridge) {
  if (!bridge->tells_changes || !(slot(function, bridge) & EXPRESS_SLOT_LINK_CHANGED)) return;
  bridge->changes++;
  bridge->changed_ticks = spate_port_ticks();
  spate_pcie_change(function, CAPABILITIES_OF(bridge) + EXPRESS_SLOT_CONTROL, 0, EXPRESS_SLOT_LINK_CHANGED);
}

uint32_t spate_pcie_changes(const struct spate_pcie_host *host, const struct spate_pcie_device *device) {
  uint8_t path[SPATE_PCIE_BRIDGES_MAX];
  uint32_t changes = host->changes;
  for (unsigned bridges = spate_pcie_path(host, device, path); bridges-- > 0;)
    changes += host->bridges[path[bridges] - 1u].changes;
  return changes;
}

/* The recorded change is read after the link, so that a change between the two reads is not missed. */
static bool stayed_up(const struct pcie_function *function, const struct spate_pcie_saved *bridge) {
  if (!spate_pcie_port_link_is_up(function, bridge)) return false;
  return !bridge->tells_changes || !(slot(function, bridge) & EXPRESS_SLOT_LINK_CHANGED);
}

bool spate_pcie_links_stayed_up(struct spate_pcie_host *host, const struct spate_pcie_device *device) {
  struct spate_pcie_link link = {.up = true};
  const enum spate_error error = host->ops->link(host, &link);
  if ((error && error != SPATE_E_UNSUPPORTED) || !link.up) return false;

  uint8_t path[SPATE_PCIE_BRIDGES_MAX];
  /* From the top down: nothing below a link that is down is accessed. */
  for (unsigned bridges = spate_pcie_path(host, device, path); bridges-- > 0;) {
    const struct spate_pcie_saved *bridge = &host->bridges[path[bridges] - 1u];
    const struct pcie_function function = {.host = host, .at = bridge->at};
    if (bridge->link_below && !stayed_up(&function, bridge)) return false;
  }
  return true;
}

bool spate_pcie_link_is_up(struct spate_pcie_host *host, const struct spate_pcie_device *device) {
  return device->changes_known == spate_pcie_changes(host, device) &&
         (host->ops->forwards == NULL || host->ops->forwards(host)) && spate_pcie_links_stayed_up(host, device);
}
