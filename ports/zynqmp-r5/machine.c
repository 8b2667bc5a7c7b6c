/* SPDX-License-Identifier: Apache-2.0 */
/* What the Cortex-R5F has beside ports/common/xilinx: its clock. */
#include "../common/xilinx/machine_start.h"
#include "clock.h"
#include <design.h>
#include <spate/port.h>

uint64_t spate_port_ticks_per_second(void) { return DESIGN_CPU_HZ / CLOCK_CYCLES; }

bool machine_start(void) {
  clock_start();
  return true;
}
