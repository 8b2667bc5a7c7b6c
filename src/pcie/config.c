/* SPDX-License-Identifier: Apache-2.0 */
/* Access to registers in configuration space, through the bridge. */
#include "internal.h"

uint32_t spate_pcie_read(const struct pcie_function *function, unsigned offset) {
  return function->host->ops->config_read(function->host, function->at, (uint16_t)offset);
}

void spate_pcie_write(const struct pcie_function *function, unsigned offset, uint32_t value) {
  function->host->ops->config_write(function->host, function->at, (uint16_t)offset, value);
}

void spate_pcie_change(const struct pcie_function *function, unsigned offset, uint32_t clear, uint32_t set) {
  spate_pcie_write(function, offset, (spate_pcie_read(function, offset) & 0xffff & ~clear) | set);
}
