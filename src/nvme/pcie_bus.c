/* SPDX-License-Identifier: Apache-2.0 */
/* The bus below the driver, implemented with spate/pcie.h. */
#include <spate/nvme_pcie.h>
#include <stddef.h>

static bool link_is_up(void *context) {
  const struct spate_nvme_pcie *way = context;

  return spate_pcie_link_is_up(way->host, way->device);
}

static enum spate_error restore(void *context) {
  const struct spate_nvme_pcie *way = context;

  return spate_pcie_restore(way->host, way->device);
}

static enum spate_error reset(void *context, enum spate_nvme_reset how) {
  const struct spate_nvme_pcie *way = context;

  switch (how) {
  case SPATE_NVME_RESET_FUNCTION: return spate_pcie_reset(way->host, way->device, SPATE_PCIE_RESET_FUNCTION);
  case SPATE_NVME_RESET_BUS: return spate_pcie_reset(way->host, way->device, SPATE_PCIE_RESET_BUS);
  case SPATE_NVME_RESET_SLOT:
    spate_pcie_was_reset(way->device);
    return way->perst == NULL ? SPATE_E_UNSUPPORTED : way->perst(way->perst_context);
  default: return SPATE_E_UNSUPPORTED;
  }
}

static enum spate_error isolate(void *context) {
  const struct spate_nvme_pcie *way = context;

  return spate_pcie_isolate(way->host, way->device);
}

struct spate_nvme_bus spate_nvme_pcie_bus(struct spate_nvme_pcie *way) {
  return (struct spate_nvme_bus){.link_is_up = link_is_up,
                                 .restore = restore,
                                 .reset = reset,
                                 .isolate = isolate,
                                 .context = way,
                                 .vendor_id = way->device->vendor_id,
                                 .device_id = way->device->device_id};
}
