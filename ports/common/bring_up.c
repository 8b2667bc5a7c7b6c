/* SPDX-License-Identifier: Apache-2.0 */
/* PCIe on boards without an operating system: the library does everything, starting with the bridge. */
#include "../bare.h"

enum spate_error board_pcie_bring_up(struct spate_pcie_host *host) {
  uint64_t perst_released_ticks = 0;
  enum spate_error error = board_pcie_open(host, &perst_released_ticks);

  return error == SPATE_OK ? spate_pcie_enumerate(host, perst_released_ticks) : error;
}

/* Weak: a board that drives PERST# defines its own. */
__attribute__((weak)) enum spate_error board_perst(void *context) {
  (void)context;
  return SPATE_E_UNSUPPORTED;
}

/* Weak: the bridges of the 7 series number them in another way. */
__attribute__((weak)) enum spate_doctor_ltssm board_ltssm(void) { return SPATE_DOCTOR_LTSSM_PG213; }

struct spate_nvme_bus board_nvme_bus(struct spate_nvme_pcie *pcie_bus) {
  if (pcie_bus->perst == NULL) pcie_bus->perst = board_perst;
  return spate_nvme_pcie_bus(pcie_bus);
}
