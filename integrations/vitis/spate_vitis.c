/* SPDX-License-Identifier: Apache-2.0 */
#include "spate_vitis.h"

#include "bridge_ranges.h"
#include <spate/port.h>

#include <xil_printf.h>

enum spate_error spate_vitis_bring_up(struct spate_pcie_host *host, uint64_t perst_released_ticks) {
  static const struct spate_pcie_xilinx_config config = {
      .control_base = DESIGN_BRIDGE_CONTROL,
#ifdef DESIGN_BRIDGE_REGISTERS
      .bridge_base = DESIGN_BRIDGE_REGISTERS + SPATE_PCIE_XILINX_VERSAL,
#endif
      .last_bus = DESIGN_BRIDGE_LAST_BUS,
      .memory = {DESIGN_BRIDGE_WINDOW, DESIGN_BRIDGE_WINDOW_BUS, DESIGN_BRIDGE_WINDOW_BYTES},
  };
  const enum spate_error error = spate_pcie_xilinx_open(host, &config);

  return error == SPATE_OK ? spate_pcie_enumerate(host, perst_released_ticks) : error;
}

/* Two halves, because not every version of xil_printf() knows numbers of 64 bits. */
void spate_port_log(const char *text, uint64_t value) {
  xil_printf("spate: %s 0x%08x%08x\r\n", text, (unsigned)(value >> 32), (unsigned)value);
}
