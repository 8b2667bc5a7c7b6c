/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct spate_nvme_bus on top of spate/pcie.h: link status from the ports above the drive, restoring, resets, and bus
 * mastering taken away.
 *
 *   static struct spate_nvme_pcie way = {.host = &host, .device = &device};
 *   struct spate_nvme_config config = {..., .bus = spate_nvme_pcie_bus(&way)};
 */
#ifndef SPATE_NVME_PCIE_H
#define SPATE_NVME_PCIE_H

#include <spate/nvme.h>
#include <spate/pcie.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stays in place as long as the controller is used, as do host and device. */
struct spate_nvme_pcie {
  struct spate_pcie_host *host;
  struct spate_pcie_device *device; /* as enumerated, or a copy */
  /* PERST# of the drive's slot, where the board can drive it alone; NULL: it cannot. One step of: assert it, for at
   * least 100 µs and until the link has gone down, release it. Never waits: BUSY until it is released, then OK. Where
   * other drives are in the slot, too, below a switch, they are reset with it: their drivers find the link changed, and
   * go on after a pause. Leave it NULL if their streams cannot afford that. */
  enum spate_error (*perst)(void *context);
  void *perst_context;
};

struct spate_nvme_bus spate_nvme_pcie_bus(struct spate_nvme_pcie *way);

#ifdef __cplusplus
}
#endif
#endif
