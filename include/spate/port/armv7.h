/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Most of a spate_board.h for a bare-metal ARMv7 processor (Cortex-A9, A15, R5): register access, barriers, cache
 * maintenance and clock. The board's own spate_board.h includes this header, and adds spate_port_dma_address() and
 * spate_port_log(). It defines before, where it applies:
 *
 *   SPATE_PORT_PL310     the address of a PL310 (L2C-310) after the processor's own caches
 *   SPATE_PORT_COUNTER   the address of a counter of 64 bits in two registers, the lower one first: the Cortex-A9's
 *                        global timer. The board supplies spate_port_ticks_per_second().
 *   SPATE_PORT_OWN_CLOCK the board supplies spate_port_ticks(), too. Without either, the clock is the generic timer.
 *   SPATE_PORT_OWN_RELAX   the board supplies spate_port_relax(), to let other tasks run
 *   SPATE_PORT_READS_ABORT_AT_ONCE   the processor has no ISR, and reports errors of reads synchronously (Cortex-R5)
 *
 * It suits memory that devices access without coherency: queue memory and ring mapped Normal Non-cacheable, ordinary
 * memory cleaned and invalidated by line. On a coherent port it is right as well, and slower than needed.
 *
 * Registers are mapped Strongly-ordered: no merging, no reordering among themselves, no early response to a write. Each
 * access is one instruction of a fixed form in the ARM instruction set, LDR or STR without an offset. If no device
 * responds, the processor takes a data abort, which is synchronous or asynchronous (Cortex-A9 TRM, DDI 0388I, 6.5.1):
 * - synchronous: the handler finds the instruction, writes all ones to its register, and continues after it;
 * - asynchronous: it stays pending, because CPSR.A is set. A read looks for it, ends it by spate_port_abort_take(), and
 *   returns all ones. The abort of an earlier write is ended before the read, so that it does not spoil the read.
 * ports/common/armv7/fault.c has the handler and spate_port_abort_take(). Own start-up code needs its own.
 */
#ifndef SPATE_PORT_ARMV7_H
#define SPATE_PORT_ARMV7_H

#include <stddef.h>
#include <stdint.h>

#ifdef __thumb__
#error "The handler of data aborts decodes the ARM instruction set: compile with -marm."
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- registers ---- */

/* Clears CPSR.A for a moment, so that the processor takes the pending asynchronous abort. Its handler returns. */
void spate_port_abort_take(void);

#ifdef SPATE_PORT_READS_ABORT_AT_ONCE

/* Errors of writes stay pending, and nobody looks at them. */
static inline int spate_port_abort_check(void) { return 0; }

#else

/* Waits for the responses to all earlier accesses. Returns 1 and ends the abort if one of them was an error. ISR.A (Arm
 * ARM v7, B4.1.78) shows a pending abort; every processor with the Security Extensions has ISR, the Cortex-A9 and A15
 * too. */
static inline int spate_port_abort_check(void) {
  uint32_t pending;
  __asm__ volatile("dsb\n\tmrc p15, 0, %0, c12, c1, 0" : "=r"(pending)::"memory");
  if (__builtin_expect((pending & 0x100u) == 0, 1)) return 0;
  spate_port_abort_take();
  return 1;
}

#endif

/* Not r14, which is banked: the handler cannot change it. */
static inline uint32_t spate_armv7_load(uintptr_t address) {
  register uint32_t value __asm__("r3");
  __asm__ volatile("ldr %0, [%1]" : "=r"(value) : "r"(address) : "memory");
  return value;
}

static inline uint32_t spate_port_read32(uintptr_t address) {
  (void)spate_port_abort_check();
  const uint32_t value = spate_armv7_load(address);
  return spate_port_abort_check() ? UINT32_MAX : value;
}

static inline void spate_port_write32(uintptr_t address, uint32_t value) {
  __asm__ volatile("str %0, [%1]" ::"r"(value), "r"(address) : "memory");
}

/* ---- barriers and caches ---- */

/* Waits until all earlier memory accesses and cache maintenance have completed. */
static inline void spate_armv7_dsb(void) { __asm__ volatile("dsb" ::: "memory"); }

/* By virtual address to the point of coherency: DCCMVAC, DCIMVAC. */
static inline void spate_armv7_l1_clean(uintptr_t line) {
  __asm__ volatile("mcr p15, 0, %0, c7, c10, 1" ::"r"(line) : "memory");
}

/* DCIMVAC: invalidates one line. */
static inline void spate_armv7_l1_invalidate(uintptr_t line) {
  __asm__ volatile("mcr p15, 0, %0, c7, c6, 1" ::"r"(line) : "memory");
}

#ifdef SPATE_PORT_PL310

/* Waits until all earlier stores have completed. */
static inline void spate_armv7_dsb_st(void) { __asm__ volatile("dsb st" ::: "memory"); }

/* Orders earlier memory accesses before later ones. */
static inline void spate_armv7_dmb(void) { __asm__ volatile("dmb" ::: "memory"); }

/* Writes a register of the PL310. */
static inline void spate_armv7_pl310_write(uint32_t offset, uint32_t value) {
  spate_port_write32(SPATE_PORT_PL310 + offset, value);
}

#include <spate/port/pl310.h>

#else

/* The shortest line of an ARMv7 processor. Where lines are longer, the same line is cleaned twice. */
#define SPATE_PORT_CACHE_LINE_BYTES 32u

/* Orders stores to Normal and to Strongly-ordered memory for all observers, devices included: the outer shareable
 * domain. */
static inline void spate_port_dma_write_barrier(void) { __asm__ volatile("dmb oshst" ::: "memory"); }
static inline void spate_port_dma_read_barrier(void) { __asm__ volatile("dmb osh" ::: "memory"); }

/* DSB instead of DMB: only DSB waits for cache maintenance. */
static inline void spate_port_cache_clean(const void *start, size_t bytes) {
  const uintptr_t end = (uintptr_t)start + bytes;
  for (uintptr_t line = (uintptr_t)start & ~(uintptr_t)(SPATE_PORT_CACHE_LINE_BYTES - 1); line < end;
       line += SPATE_PORT_CACHE_LINE_BYTES)
    spate_armv7_l1_clean(line);
  spate_armv7_dsb();
}

static inline void spate_port_cache_invalidate(void *start, size_t bytes) {
  const uintptr_t end = (uintptr_t)start + bytes;
  for (uintptr_t line = (uintptr_t)start & ~(uintptr_t)(SPATE_PORT_CACHE_LINE_BYTES - 1); line < end;
       line += SPATE_PORT_CACHE_LINE_BYTES)
    spate_armv7_l1_invalidate(line);
  spate_armv7_dsb();
}

#endif

/* ---- clock ---- */

#if defined SPATE_PORT_OWN_CLOCK

uint64_t spate_port_ticks(void);
uint64_t spate_port_ticks_per_second(void);

#elif defined SPATE_PORT_COUNTER

/* Two 32-bit registers. If the upper one changes meanwhile, the lower one belongs to an unknown upper one (Cortex-A9
 * MPCore TRM, DDI 0407I, 4.4.1). The board has started the counter. */
static inline uint64_t spate_port_ticks(void) {
  for (;;) {
    const uint32_t high = spate_armv7_load(SPATE_PORT_COUNTER + 4u);
    const uint32_t low = spate_armv7_load(SPATE_PORT_COUNTER);
    if (spate_armv7_load(SPATE_PORT_COUNTER + 4u) == high) return (uint64_t)high << 32 | low;
  }
}

uint64_t spate_port_ticks_per_second(void);

#else

/* The generic timer: CNTVCT and CNTFRQ. */
static inline uint64_t spate_port_ticks(void) {
  uint64_t ticks;
  __asm__ volatile("mrrc p15, 1, %Q0, %R0, c14" : "=r"(ticks));
  return ticks;
}

static inline uint64_t spate_port_ticks_per_second(void) {
  uint32_t rate;
  __asm__("mrc p15, 0, %0, c14, c0, 0" : "=r"(rate));
  return rate;
}

#endif

#ifdef SPATE_PORT_OWN_RELAX
void spate_port_relax(void);
#else
static inline void spate_port_relax(void) { __asm__ volatile("yield" ::: "memory"); }
#endif

#ifdef __cplusplus
}
#endif
#endif
