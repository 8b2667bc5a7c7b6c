/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's port for QEMU's `virt` machine with a Cortex-A53.
 *
 * QEMU's devices are coherent with its CPUs, but nothing here relies on that: queue memory and ring are mapped Normal
 * non-cacheable, ordinary memory is cleaned and invalidated by line, and every barrier is what a Zynq UltraScale+
 * without coherent ports needs.
 */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BOARD_CACHE_LINE_BYTES 64u

/*
 * Registers are mapped Device-nGnRnE: no merging, no reordering among themselves, no early answer to a write. Each
 * access is one instruction of a fixed form, so that fault.c can decode it if no device answers: a read then returns
 * all ones, and a write is dropped.
 */
static inline uint32_t spate_port_read32(uintptr_t address) {
  uint32_t value;
  __asm__ volatile("ldr %w0, [%1]" : "=r"(value) : "r"(address) : "memory");
  return value;
}

static inline void spate_port_write32(uintptr_t address, uint32_t value) {
  __asm__ volatile("str %w0, [%1]" ::"rZ"(value), "r"(address) : "memory");
}

static inline uint64_t spate_port_read64(uintptr_t address) {
  uint64_t value;
  __asm__ volatile("ldr %0, [%1]" : "=r"(value) : "r"(address) : "memory");
  return value;
}

static inline void spate_port_write64(uintptr_t address, uint64_t value) {
  __asm__ volatile("str %x0, [%1]" ::"rZ"(value), "r"(address) : "memory");
}

/* Orders stores to Normal and to Device memory for all observers, devices included: the outer shareable domain. */
static inline void spate_port_dma_write_barrier(void) { __asm__ volatile("dmb oshst" ::: "memory"); }
static inline void spate_port_dma_read_barrier(void) { __asm__ volatile("dmb oshld" ::: "memory"); }

/* DSB instead of DMB: only DSB waits for cache maintenance. */
static inline void spate_port_cache_clean(const void *start, size_t bytes) {
  uintptr_t end = (uintptr_t)start + bytes;
  for (uintptr_t line = (uintptr_t)start & ~(uintptr_t)(BOARD_CACHE_LINE_BYTES - 1); line < end;
       line += BOARD_CACHE_LINE_BYTES)
    __asm__ volatile("dc cvac, %0" ::"r"(line) : "memory");
  __asm__ volatile("dsb osh" ::: "memory");
}

static inline void spate_port_cache_invalidate(void *start, size_t bytes) {
  uintptr_t end = (uintptr_t)start + bytes;
  for (uintptr_t line = (uintptr_t)start & ~(uintptr_t)(BOARD_CACHE_LINE_BYTES - 1); line < end;
       line += BOARD_CACHE_LINE_BYTES)
    __asm__ volatile("dc ivac, %0" ::"r"(line) : "memory");
  __asm__ volatile("dsb osh" ::: "memory");
}

/* Physical and virtual addresses are the same, and there is no IOMMU. */
static inline uint64_t spate_port_dma_address(const volatile void *memory) { return (uintptr_t)memory; }

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

static inline void spate_port_relax(void) { __asm__ volatile("yield" ::: "memory"); }

void spate_port_log(const char *text, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif
