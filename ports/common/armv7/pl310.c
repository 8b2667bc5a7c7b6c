/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns on the outer cache (L2C-310, Arm DDI 0246, 3.1.2 and 3.3). Its configuration can change only while it is off:
 * start.S has emptied it and turned it off, before anything was written to memory. Errata before release r3p2, which a
 * Zynq-7000 has, are not worked around (588369, 727915, 753970, 769419).
 */
#if __has_include(<machine.h>)
#include <machine.h>
#endif

#include "pl310.h"

#include <spate/port.h>

/* With one of the names alone, the firmware runs on an emulator, which has no caches, and loses data on a chip. */
#if defined MACHINE_PL310 != defined SPATE_PORT_PL310
#error "The outer cache has two names: define MACHINE_PL310 in machine.h and SPATE_PORT_PL310 in spate_board.h."
#endif

#ifdef MACHINE_PL310
_Static_assert(MACHINE_PL310 == SPATE_PORT_PL310, "machine.h and spate_board.h name one outer cache");

#define CONTROL         0x100u
#define AUXILIARY       0x104u
#define TAG_LATENCY     0x108u
#define DATA_LATENCY    0x10cu
#define INTERRUPT_CLEAR 0x220u
#define CACHE_SYNC      0x730u
#define INVALIDATE_WAYS 0x77cu

#define ENABLED        1u
#define ALL_INTERRUPTS 0x1ffu
#define SIXTEEN_WAYS   0x00010000u /* in AUXILIARY; otherwise 8 */
/* Without it the controller treats shareable Non-cacheable memory as cacheable (2.3.2). Queue memory is that. */
#define SHARED_OVERRIDE 0x00400000u
#define PREFETCH        0x30000000u /* data and instructions */

/* In the background: the bits of the ways are set as long as it runs. */
static void invalidate(uintptr_t base) {
  const uint32_t ways = spate_port_read32(base + AUXILIARY) & SIXTEEN_WAYS ? 0xffffu : 0xffu;
  spate_port_write32(base + INVALIDATE_WAYS, ways);
  while (spate_port_read32(base + INVALIDATE_WAYS) & ways)
    spate_port_relax();
  spate_port_write32(base + CACHE_SYNC, 0);
}

void pl310_start(uintptr_t base) {
  if (pl310_board) pl310_board();
  spate_port_write32(base + AUXILIARY, spate_port_read32(base + AUXILIARY) | SHARED_OVERRIDE | PREFETCH);
  spate_port_write32(base + TAG_LATENCY, MACHINE_PL310_TAG_LATENCY);
  spate_port_write32(base + DATA_LATENCY, MACHINE_PL310_DATA_LATENCY);
  invalidate(base);
  spate_port_write32(base + INTERRUPT_CLEAR, ALL_INTERRUPTS);
  spate_port_write32(base + CONTROL, ENABLED);
}
#endif
