/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct spate_nvme_bus implemented with spate/pcie.h: link status from the ports above the drive, restore, resets and
 * isolation.
 *
 *   static struct spate_nvme_pcie bus = {.host = &host, .device = &device};
 *   struct spate_nvme_config config = {..., .bus = spate_nvme_pcie_bus(&bus)};
 */
#ifndef SPATE_NVME_PCIE_H
#define SPATE_NVME_PCIE_H

#include <spate/nvme.h>
#include <spate/pcie.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the functions of the bus use. This object, the host and the device must not move while the controller is in use.
 */
struct spate_nvme_pcie {
  struct spate_pcie_host *host;
  struct spate_pcie_device *device; /* as enumerated, or a copy */
  /* Resets the slot by PERST#, for boards that can drive the PERST# of this slot alone. NULL: the board cannot. Each
   * call does one step: assert PERST#, keep it asserted for at least 100 µs and until the link is down, release it.
   * Never waits: returns BUSY until PERST# is released, then OK. If the slot has a switch with other drives, they are
   * reset, too: their drivers find that the link changed, and continue after a pause. Leave it NULL if the streams of
   * these drives cannot wait that long. */
  enum spate_error (*perst)(void *context);
  void *perst_context;
};

/* The bus for struct spate_nvme_config. */
struct spate_nvme_bus spate_nvme_pcie_bus(struct spate_nvme_pcie *bus);

#ifdef __cplusplus
}
#endif
#endif
