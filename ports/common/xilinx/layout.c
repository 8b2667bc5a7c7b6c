/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where queues, ordinary memory and ring are, and what is mapped apart from the image. design.h decides: queues and
 * ordinary memory are in the on-chip memory with the image unless it gives them an address.
 */
#include "../../bare.h"
#include "../map.h"
#include <design.h>
#include <machine.h>

#ifdef __aarch64__
/* For mmu.c. The link script places it. */
extern uint64_t page_tables[];
uint64_t page_tables[DESIGN_PAGE_TABLES * 512u] __attribute__((section(".tables"), aligned(4096), used));
#endif

#ifdef DESIGN_QUEUE
#define QUEUE DESIGN_QUEUE
#else
static uint8_t queue[DESIGN_QUEUE_BYTES] __attribute__((section(".queue"), aligned(4096)));
#define QUEUE (uintptr_t) queue
#endif

#ifdef DESIGN_MEMORY
#define MEMORY       DESIGN_MEMORY
#define MEMORY_BYTES DESIGN_MEMORY_BYTES
#else
extern uint8_t __rest_start[], __rest_bytes[];
#define MEMORY       (uintptr_t) __rest_start
#define MEMORY_BYTES (uintptr_t) __rest_bytes
#endif

/* Otherwise the code that maps it would not end. */
#define MULTIPLE(name, of, text) _Static_assert((name) % (of) == 0, "design.h: " #name " must be a multiple of " text)
MULTIPLE(DESIGN_BRIDGE_CONTROL, 0x100000u, "1 MiB");
MULTIPLE(DESIGN_BRIDGE_WINDOW, 4096u, "4 KiB");
MULTIPLE(DESIGN_BRIDGE_WINDOW_BYTES, 4096u, "4 KiB");
MULTIPLE(DESIGN_QUEUE_BYTES, 4096u, "4 KiB");
MULTIPLE(DESIGN_RING, 4096u, "4 KiB");
MULTIPLE(DESIGN_RING_BYTES, 4096u, "4 KiB");
#ifdef DESIGN_QUEUE
MULTIPLE(DESIGN_QUEUE, 4096u, "4 KiB");
#endif
#ifdef DESIGN_MEMORY
MULTIPLE(DESIGN_MEMORY, 4096u, "4 KiB");
MULTIPLE(DESIGN_MEMORY_BYTES, 4096u, "4 KiB");
#endif

/* Each bus has 1 MiB of the control interface; the bridge's own registers are in the first. */
#define CONTROL_BYTES ((DESIGN_BRIDGE_LAST_BUS + UINT64_C(1)) << 20)

const struct board_layout board_layout = {
    .queue = {(void *)QUEUE, DESIGN_QUEUE_BYTES},
    .memory = {(void *)MEMORY, MEMORY_BYTES},
    .ring = {(void *)DESIGN_RING, DESIGN_RING_BYTES},
};

const struct map_range map_ranges[] = {
    {QUEUE, DESIGN_QUEUE_BYTES, MAP_NOT_CACHED},
    {DESIGN_RING, DESIGN_RING_BYTES, MAP_NOT_CACHED},
    {DESIGN_BRIDGE_CONTROL, CONTROL_BYTES, MAP_REGISTERS},
#ifdef DESIGN_BRIDGE_REGISTERS_BYTES
    {DESIGN_BRIDGE_REGISTERS, DESIGN_BRIDGE_REGISTERS_BYTES, MAP_REGISTERS},
#endif
    {DESIGN_BRIDGE_WINDOW, DESIGN_BRIDGE_WINDOW_BYTES, MAP_REGISTERS},
#ifdef DESIGN_PERST_AXI_GPIO
    {DESIGN_PERST_AXI_GPIO, 4096, MAP_REGISTERS},
#endif
    {MACHINE_REGISTERS, MACHINE_REGISTERS_END - MACHINE_REGISTERS, MAP_REGISTERS},
#ifdef MACHINE_PERIPHERALS
    {MACHINE_PERIPHERALS, MACHINE_PERIPHERALS_END - MACHINE_PERIPHERALS, MAP_REGISTERS},
#endif
    {MEMORY, MEMORY_BYTES, MAP_CACHED}, /* the last one: an image may leave nothing */
    {0, 0, MAP_REGISTERS},
};
