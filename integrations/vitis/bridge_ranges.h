/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses at which the bridge answers, or fails to: writes that fail elsewhere are not dropped. Private. */
#ifndef SPATE_VITIS_BRIDGE_RANGES_H
#define SPATE_VITIS_BRIDGE_RANGES_H

#include <design.h>
#include <stdbool.h>
#include <stdint.h>

/* Each bus has 1 MiB of the control interface; the bridge's own registers are in the first. */
#define SPATE_VITIS_CONTROL_BYTES ((DESIGN_BRIDGE_LAST_BUS + UINT64_C(1)) << 20)

static inline bool spate_vitis_is_of_bridge(uint64_t address) {
  if (address - DESIGN_BRIDGE_CONTROL < SPATE_VITIS_CONTROL_BYTES) return true;
#ifdef DESIGN_BRIDGE_REGISTERS_BYTES
  if (address - DESIGN_BRIDGE_REGISTERS < DESIGN_BRIDGE_REGISTERS_BYTES) return true;
#endif
  return address - DESIGN_BRIDGE_WINDOW < DESIGN_BRIDGE_WINDOW_BYTES;
}

#endif
