/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Most of a spate_board.h for a bare-metal Armv8-A processor in AArch64 (Cortex-A53, A72): register access, barriers,
 * cache maintenance and clock. The board's own spate_board.h includes this header, and adds spate_port_dma_address()
 * and spate_port_log().
 *
 * It suits memory that devices access without coherency: queue memory and ring mapped Normal Non-cacheable, ordinary
 * memory cleaned and invalidated by line. On a coherent port it is right as well, and slower than needed.
 *
 * Registers are mapped Device-nGnRnE: no merging, no reordering among themselves, no early response to a write. Each
 * access is one instruction of a fixed form, LDR or STR without an offset. If no device responds, the processor
 * takes a synchronous external abort or an SError:
 * - synchronous: the handler finds the instruction, writes all ones to its register, and continues after it;
 * - SError: it stays pending, because PSTATE.A is set. A read looks for it, ends it by spate_port_serror_take(), and
 *   returns all ones. The SError of an earlier write is ended before the read, so that it does not spoil the read.
 * ports/common/aarch64/fault.c has the handler and spate_port_serror_take(). Own start-up code needs its own.
 *
 * A handler that cannot change the registers of what it interrupts needs loads at addresses that it knows, so that it
 * can continue elsewhere. Its board defines SPATE_PORT_OWN_LOADS before, and supplies spate_aarch64_load32():
 * integrations/vitis does. A board that defines SPATE_PORT_OWN_RELAX supplies spate_port_relax() itself, to let other
 * tasks run.
 */
#ifndef SPATE_PORT_AARCH64_H
#define SPATE_PORT_AARCH64_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPATE_PORT_CACHE_LINE_BYTES 64u

/* Clears PSTATE.A for a moment, so that the processor takes the pending SError. Its handler returns. */
void spate_port_serror_take(void);

/* Waits for the responses to all earlier accesses. Returns 1 and ends the SError if one of them was an error. ISR_EL1.A
 * (Arm ARM, D13.2.63) shows a pending SError. */
static inline int spate_port_serror_check(void) {
  uint64_t pending;
  __asm__ volatile("dsb sy\n\tmrs %0, isr_el1" : "=r"(pending)::"memory");
  if (__builtin_expect((pending & 0x100u) == 0, 1)) return 0;
  spate_port_serror_take();
  return 1;
}

#ifdef SPATE_PORT_OWN_LOADS

/* Loads 32 bits from a register. The board's. */
uint32_t spate_aarch64_load32(uintptr_t address);

#else

/* Loads 32 bits from a register. */
static inline uint32_t spate_aarch64_load32(uintptr_t address) {
  uint32_t value;
  __asm__ volatile("ldr %w0, [%1]" : "=r"(value) : "r"(address) : "memory");
  return value;
}

#endif

static inline uint32_t spate_port_read32(uintptr_t address) {
  (void)spate_port_serror_check();
  const uint32_t value = spate_aarch64_load32(address);
  return spate_port_serror_check() ? UINT32_MAX : value;
}

static inline void spate_port_write32(uintptr_t address, uint32_t value) {
  __asm__ volatile("str %w0, [%1]" ::"rZ"(value), "r"(address) : "memory");
}

/* Orders stores to Normal and to Device memory for all observers, devices included: the outer shareable domain. */
static inline void spate_port_dma_write_barrier(void) { __asm__ volatile("dmb oshst" ::: "memory"); }
static inline void spate_port_dma_read_barrier(void) { __asm__ volatile("dmb oshld" ::: "memory"); }

/* DSB instead of DMB: only DSB waits for cache maintenance. */
static inline void spate_port_cache_clean(const void *start, size_t bytes) {
  uintptr_t end = (uintptr_t)start + bytes;
  for (uintptr_t line = (uintptr_t)start & ~(uintptr_t)(SPATE_PORT_CACHE_LINE_BYTES - 1); line < end;
       line += SPATE_PORT_CACHE_LINE_BYTES)
    __asm__ volatile("dc cvac, %0" ::"r"(line) : "memory");
  __asm__ volatile("dsb osh" ::: "memory");
}

static inline void spate_port_cache_invalidate(void *start, size_t bytes) {
  uintptr_t end = (uintptr_t)start + bytes;
  for (uintptr_t line = (uintptr_t)start & ~(uintptr_t)(SPATE_PORT_CACHE_LINE_BYTES - 1); line < end;
       line += SPATE_PORT_CACHE_LINE_BYTES)
    __asm__ volatile("dc ivac, %0" ::"r"(line) : "memory");
  __asm__ volatile("dsb osh" ::: "memory");
}

/* The generic timer. */
static inline uint64_t spate_port_ticks(void) {
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}

static inline uint64_t spate_port_ticks_per_second(void) {
  uint64_t rate;
  __asm__("mrs %0, cntfrq_el0" : "=r"(rate));
  return rate;
}

#ifdef SPATE_PORT_OWN_RELAX
void spate_port_relax(void);
#else
static inline void spate_port_relax(void) { __asm__ volatile("yield" ::: "memory"); }
#endif

#ifdef __cplusplus
}
#endif
#endif
