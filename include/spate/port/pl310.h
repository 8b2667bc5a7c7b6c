/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers and cache maintenance of a Cortex-A9 with the outer cache PL310 (L2C-310, Arm DDI 0246, section 3.3.10), as
 * on a Zynq-7000. armv7.h includes this file if the board defines SPATE_PORT_PL310, the address of the controller's
 * registers. docs/use/porting.md has the same steps as a table. The functions use these ones:
 *
 *   spate_armv7_dsb(), spate_armv7_dsb_st(), spate_armv7_dmb()      barriers
 *   spate_armv7_l1_clean(line), spate_armv7_l1_invalidate(line)     DCCMVAC, DCIMVAC
 *   spate_armv7_pl310_write(offset, value)                          a register of the PL310
 *
 * Virtual and physical addresses are the same. An operation on a line and Cache Sync are atomic: the controller accepts
 * nothing else until they are complete, so there is nothing to poll (DDI 0246, 3.3.10).
 */
#ifndef SPATE_PORT_PL310_H
#define SPATE_PORT_PL310_H

#include <stddef.h>
#include <stdint.h>

#define SPATE_PL310_CACHE_SYNC      0x730u
#define SPATE_PL310_INVALIDATE_LINE 0x770u
#define SPATE_PL310_CLEAN_LINE      0x7b0u
#define SPATE_PL310_LINE_BYTES      32u /* also of the Cortex-A9's own caches */

/* Drains the controller's store buffer. It holds back stores to Normal Non-cacheable memory. A doorbell, which is a
 * store to Strongly-ordered memory, does not wait there. */
static inline void spate_pl310_sync(void) {
  spate_armv7_pl310_write(SPATE_PL310_CACHE_SYNC, 0);
  spate_armv7_dsb();
}

/* The first barrier waits until the stores have left the processor. */
static inline void spate_port_dma_write_barrier(void) {
  spate_armv7_dsb_st();
  spate_pl310_sync();
}

/* Queue memory is in no cache, so the loads need no more than their order. */
static inline void spate_port_dma_read_barrier(void) { spate_armv7_dmb(); }

/* The address of the line that has this byte. */
static inline uintptr_t spate_pl310_first_line(const void *start) {
  return (uintptr_t)start & ~(uintptr_t)(SPATE_PL310_LINE_BYTES - 1);
}

/* Inner cache first: it hands its lines to the outer cache. The barrier ahead of the loop is the workaround of the
 * Cortex-A9's erratum 764369: maintenance of shareable memory by address. */
static inline void spate_port_cache_clean(const void *start, size_t bytes) {
  const uintptr_t end = (uintptr_t)start + bytes;

  spate_armv7_dsb();
  for (uintptr_t line = spate_pl310_first_line(start); line < end; line += SPATE_PL310_LINE_BYTES)
    spate_armv7_l1_clean(line);
  spate_armv7_dsb();
  for (uintptr_t line = spate_pl310_first_line(start); line < end; line += SPATE_PL310_LINE_BYTES)
    spate_armv7_pl310_write(SPATE_PL310_CLEAN_LINE, (uint32_t)line);
  spate_pl310_sync();
}

/* Invalidates lines of the inner cache. */
static inline void spate_pl310_l1_invalidate(uintptr_t line, uintptr_t end) {
  spate_armv7_dsb(); /* erratum 764369, too */
  for (; line < end; line += SPATE_PL310_LINE_BYTES)
    spate_armv7_l1_invalidate(line);
  spate_armv7_dsb();
}

/* The inner cache twice. Before: it may evict a dirty line into the outer one meanwhile, from where it would be written
 * over the drive's data. After: it may fetch the old line from the outer one again. */
static inline void spate_port_cache_invalidate(void *start, size_t bytes) {
  const uintptr_t first = spate_pl310_first_line(start), end = (uintptr_t)start + bytes;

  spate_pl310_l1_invalidate(first, end);
  for (uintptr_t line = first; line < end; line += SPATE_PL310_LINE_BYTES)
    spate_armv7_pl310_write(SPATE_PL310_INVALIDATE_LINE, (uint32_t)line);
  spate_pl310_sync();
  spate_pl310_l1_invalidate(first, end);
}

#endif
