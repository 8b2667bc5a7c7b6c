/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's port for QEMU's `virt` machine with a Cortex-A15, which is as wide as a Zynq-7000.
 *
 * As in ports/qemu-virt, nothing relies on QEMU's devices being coherent: queue memory and ring are mapped Normal
 * non-cacheable, ordinary memory is cleaned and invalidated by line.
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
 * Registers are mapped Strongly-ordered: no merging, no reordering among themselves, no early answer to a write. Each
 * access is one instruction of a fixed form, so that fault.c can decode it if no device answers: a read then returns
 * all ones, and a write is dropped.
 */
static inline uint32_t spate_port_read32(uintptr_t address) {
  register uint32_t value __asm__("r3"); /* not r14, which the abort handler does not save */
  __asm__ volatile("ldr %0, [%1]" : "=r"(value) : "r"(address) : "memory");
  return value;
}

static inline void spate_port_write32(uintptr_t address, uint32_t value) {
  __asm__ volatile("str %0, [%1]" ::"r"(value), "r"(address) : "memory");
}

static inline uint64_t spate_port_read64(uintptr_t address) {
  uint32_t low = spate_port_read32(address);
  return low | (uint64_t)spate_port_read32(address + 4) << 32;
}

static inline void spate_port_write64(uintptr_t address, uint64_t value) {
  spate_port_write32(address, (uint32_t)value);
  spate_port_write32(address + 4, (uint32_t)(value >> 32));
}

/* Orders stores to Normal and to device memory for all observers, devices included: the outer shareable domain. */
static inline void spate_port_dma_write_barrier(void) { __asm__ volatile("dmb oshst" ::: "memory"); }
static inline void spate_port_dma_read_barrier(void) { __asm__ volatile("dmb osh" ::: "memory"); }

/* By virtual address to the point of coherency: DCCMVAC, DCIMVAC. DSB instead of DMB: only DSB waits for them. */
static inline void spate_port_cache_clean(const void *start, size_t bytes) {
  uintptr_t end = (uintptr_t)start + bytes;
  for (uintptr_t line = (uintptr_t)start & ~(uintptr_t)(BOARD_CACHE_LINE_BYTES - 1); line < end;
       line += BOARD_CACHE_LINE_BYTES)
    __asm__ volatile("mcr p15, 0, %0, c7, c10, 1" ::"r"(line) : "memory");
  __asm__ volatile("dsb osh" ::: "memory");
}

static inline void spate_port_cache_invalidate(void *start, size_t bytes) {
  uintptr_t end = (uintptr_t)start + bytes;
  for (uintptr_t line = (uintptr_t)start & ~(uintptr_t)(BOARD_CACHE_LINE_BYTES - 1); line < end;
       line += BOARD_CACHE_LINE_BYTES)
    __asm__ volatile("mcr p15, 0, %0, c7, c6, 1" ::"r"(line) : "memory");
  __asm__ volatile("dsb osh" ::: "memory");
}

/* Physical and virtual addresses are the same, and there is no IOMMU. */
static inline uint64_t spate_port_dma_address(const volatile void *memory) { return (uintptr_t)memory; }

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

static inline void spate_port_relax(void) { __asm__ volatile("yield" ::: "memory"); }

void spate_port_log(const char *text, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif
