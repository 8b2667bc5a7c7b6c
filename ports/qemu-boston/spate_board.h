/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's port for QEMU's MIPS Boston board (I6400, 64-bit, little endian).
 *
 * Devices are assumed not to be coherent: queue memory is accessed through kseg1 and the ring through uncached xkphys,
 * so that no line of either is ever in a cache.
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
 * Registers are accessed through uncached segments: no merging, in program order. Each access is one instruction of a
 * fixed form, never in a branch's delay slot, so that fault.c can decode it if no device answers: a read then returns
 * all ones, and a write is dropped.
 */
#define BOARD_ACCESS(instruction) ".set push\n.set noreorder\n" instruction "\n.set pop"

static inline uint32_t spate_port_read32(uintptr_t address) {
  uint32_t value;
  __asm__ volatile(BOARD_ACCESS("lw %0, 0(%1)") : "=r"(value) : "r"(address) : "memory");
  return value;
}

static inline void spate_port_write32(uintptr_t address, uint32_t value) {
  __asm__ volatile(BOARD_ACCESS("sw %0, 0(%1)")::"r"(value), "r"(address) : "memory");
}

/* SYNC 0 orders all loads and stores, cached or not. The lighter kinds need not order uncached ones. */
static inline void spate_port_dma_write_barrier(void) { __asm__ volatile("sync" ::: "memory"); }
static inline void spate_port_dma_read_barrier(void) { __asm__ volatile("sync" ::: "memory"); }

/* Hit Writeback in the first level's data cache (0x19), then in the second level (0x1b). */
static inline void spate_port_cache_clean(const void *start, size_t bytes) {
  uintptr_t end = (uintptr_t)start + bytes;
  for (uintptr_t line = (uintptr_t)start & ~(uintptr_t)(BOARD_CACHE_LINE_BYTES - 1); line < end;
       line += BOARD_CACHE_LINE_BYTES)
    __asm__ volatile("cache 0x19, 0(%0)\n\tsync\n\tcache 0x1b, 0(%0)" ::"r"(line) : "memory");
  __asm__ volatile("sync" ::: "memory");
}

/* Hit Invalidate in both (0x11, 0x13). */
static inline void spate_port_cache_invalidate(void *start, size_t bytes) {
  uintptr_t end = (uintptr_t)start + bytes;
  for (uintptr_t line = (uintptr_t)start & ~(uintptr_t)(BOARD_CACHE_LINE_BYTES - 1); line < end;
       line += BOARD_CACHE_LINE_BYTES)
    __asm__ volatile("cache 0x13, 0(%0)\n\tcache 0x11, 0(%0)" ::"r"(line) : "memory");
  __asm__ volatile("sync" ::: "memory");
}

/* xkphys holds the physical address in its low 59 bits, kseg0 and kseg1 in their low 29. */
static inline uint64_t spate_port_dma_address(const volatile void *memory) {
  uintptr_t address = (uintptr_t)memory;
  return address >> 62 == 2 ? address & 0x07ffffffffffffff : address & 0x1fffffff;
}

/* Count has 32 bits and wraps every 8.6 s; the upper half is kept here. It is right as long as the clock is read more
 * often than that, and every wait does so. */
extern uint64_t board_ticks_last;

static inline uint64_t spate_port_ticks(void) {
  uint32_t count;
  __asm__ volatile("mfc0 %0, $9" : "=r"(count));
  board_ticks_last += (uint32_t)(count - (uint32_t)board_ticks_last);
  return board_ticks_last;
}

static inline uint64_t spate_port_ticks_per_second(void) { return 500000000; }

static inline void spate_port_relax(void) { __asm__ volatile("pause" ::: "memory"); }

void spate_port_log(const char *text, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif
