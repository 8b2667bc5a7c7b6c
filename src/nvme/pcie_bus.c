/* SPDX-License-Identifier: Apache-2.0 */
/* The bus below the driver, implemented with spate/pcie.h. */
#include <spate/nvme_pcie.h>
#include <stddef.h>

static bool link_is_up(void *context) {
  const struct spate_nvme_pcie *pcie_bus = context;

  return spate_pcie_link_is_up(pcie_bus->host, pcie_bus->device);
}

static enum spate_error restore(void *context) {
  const struct spate_nvme_pcie *pcie_bus = context;

  return spate_pcie_restore(pcie_bus->host, pcie_bus->device);
}

static enum spate_error reset(void *context, enum spate_nvme_reset how) {
  const struct spate_nvme_pcie *pcie_bus = context;

  switch (how) {
  case SPATE_NVME_RESET_FUNCTION: return spate_pcie_reset(pcie_bus->host, pcie_bus->device, SPATE_PCIE_RESET_FUNCTION);
  case SPATE_NVME_RESET_BUS: return spate_pcie_reset(pcie_bus->host, pcie_bus->device, SPATE_PCIE_RESET_BUS);
  case SPATE_NVME_RESET_SLOT:
    spate_pcie_was_reset(pcie_bus->device);
    return pcie_bus->perst == NULL ? SPATE_E_UNSUPPORTED : pcie_bus->perst(pcie_bus->perst_context);
  default: return SPATE_E_UNSUPPORTED;
  }
}

static enum spate_error isolate(void *context) {
  const struct spate_nvme_pcie *pcie_bus = context;

  return spate_pcie_isolate(pcie_bus->host, pcie_bus->device);
}

struct spate_nvme_bus spate_nvme_pcie_bus(struct spate_nvme_pcie *pcie_bus) {
  return (struct spate_nvme_bus){.link_is_up = link_is_up,
                                 .restore = restore,
                                 .reset = reset,
                                 .isolate = isolate,
                                 .context = pcie_bus,
                                 .vendor_id = pcie_bus->device->vendor_id,
                                 .device_id = pcie_bus->device->device_id};
}
