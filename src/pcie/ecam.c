/* SPDX-License-Identifier: Apache-2.0 */
/* Generic ECAM: 4 KiB of configuration space for each function, by address (base specification 7.2.2). */
#include "internal.h"

static uintptr_t ecam_address(const struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset) {
  return host->config_base + ((uintptr_t)(at.bus - host->first_bus) << 20) + ((uintptr_t)at.device << 15) +
         ((uintptr_t)at.function << 12) + offset;
}

uint32_t spate_pcie_ecam_read(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset) {
  return spate_port_read32(ecam_address(host, at, offset));
}

void spate_pcie_ecam_write(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset,
                           uint32_t value) {
  spate_port_write32(ecam_address(host, at, offset), value);
}

static bool may_exist(struct spate_pcie_host *host, struct spate_pcie_address at) {
  (void)host;
  (void)at;
  return true;
}

static enum spate_error read_link(struct spate_pcie_host *host, struct spate_pcie_link *link) {
  (void)host;
  (void)link;
  return SPATE_E_UNSUPPORTED; /* the capabilities of the ports have it */
}

static const struct spate_pcie_host_ops ops = {
    spate_pcie_ecam_read, spate_pcie_ecam_write, may_exist, read_link, NULL, NULL, NULL};

enum spate_error spate_pcie_ecam_open(struct spate_pcie_host *host, const struct spate_pcie_ecam_config *config) {
  if (config->config_base % PCIE_MIB || config->last_bus < config->first_bus) return SPATE_E_INVALID;
  if (!spate_pcie_windows_valid(&config->memory, &config->prefetchable, UINTPTR_MAX)) return SPATE_E_INVALID;
  *host = (struct spate_pcie_host){
      .ops = &ops,
      .config_base = config->config_base,
      .first_bus = config->first_bus,
      .last_bus = config->last_bus,
      .memory = config->memory,
      .prefetchable = config->prefetchable,
      .ready_timeout_ms = config->ready_timeout_ms,
  };
  for (uint8_t device = 0; device < 32; device++) {
    struct spate_pcie_address at = {config->first_bus, device, 0};
    uint32_t id = spate_pcie_ecam_read(host, at, PCI_ID);
    if (!spate_pcie_is_silence(id)) return SPATE_OK;
  }
  return SPATE_E_NO_BRIDGE;
}
