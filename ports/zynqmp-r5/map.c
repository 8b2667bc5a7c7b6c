/* SPDX-License-Identifier: Apache-2.0 */
/* What is mapped, apart from the image. */
#include "../common/map.h"
#include "machine.h"
#include <design.h>

/* Each bus has 1 MiB of the control interface; the bridge's own registers are in the first. */
#define CONTROL_BYTES ((DESIGN_BRIDGE_LAST_BUS + UINT64_C(1)) << 20)

const struct map_range map_ranges[] = {
    {DESIGN_QUEUE, DESIGN_QUEUE_BYTES, MAP_NOT_CACHED},
    {DESIGN_MEMORY, DESIGN_MEMORY_BYTES, MAP_CACHED},
    {DESIGN_RING, DESIGN_RING_BYTES, MAP_NOT_CACHED},
    {DESIGN_BRIDGE_CONTROL, CONTROL_BYTES, MAP_REGISTERS},
    {DESIGN_BRIDGE_WINDOW, DESIGN_BRIDGE_WINDOW_BYTES, MAP_REGISTERS},
    {MACHINE_REGISTERS, MACHINE_REGISTERS_END - MACHINE_REGISTERS, MAP_REGISTERS},
    {0, 0, MAP_REGISTERS},
};
