/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that a board supplies. The board's folder has a header spate_board.h, found by the include path, with
 * these functions as `static inline`. So they cost nothing on bare metal, and a simulator sees every access.
 *
 *   uint32_t spate_port_read32(uintptr_t address);
 *   void     spate_port_write32(uintptr_t address, uint32_t value);
 *       Device registers, little endian, in program order among themselves. `address` is the CPU's.
 *       An access to which no device responds must not end the program, because a drive can disappear at any time:
 *       a read returns all ones, and a write is ignored. If the bus reports an error by an exception, its handler does
 *       this. If the bus would hang, a firewall in the logic has to respond. docs/use/porting.md, step 9.
 *
 *   void spate_port_dma_write_barrier(void);
 *       Every earlier store to DMA memory is visible to devices before any later store to DMA memory or to a register.
 *   void spate_port_dma_read_barrier(void);
 *       No later load from DMA memory is carried out before an earlier one. Used between the load of a flag that a
 *       device wrote and the load of the data that the flag announces.
 *
 *   void spate_port_cache_clean(const void *start, size_t bytes);
 *   void spate_port_cache_invalidate(void *start, size_t bytes);
 *       For memory that the CPU caches and that devices access without the cache. Empty on a coherent board. Start and
 *       size are those that the caller of the library supplied: see SPATE_DMA_ALIGN.
 *
 *   uint64_t spate_port_dma_address(const volatile void *memory);
 *       The bus address of this memory: the address that devices use.
 *
 *   uint64_t spate_port_ticks(void);
 *   uint64_t spate_port_ticks_per_second(void);
 *       A clock that never runs backwards or wraps, and its rate, which is fixed. Deadlines are in ticks: to read ticks
 *       costs one instruction on most boards, and nanoseconds would need a division.
 *
 *   void spate_port_relax(void);
 *       Called in each turn of a loop that waits, outside the data path. May be empty.
 *
 *   SPATE_PORT_HAS_CRC32C()
 *       A macro, only on AArch64, and only if the program may run on processors with and without the CRC instructions:
 *       true if this processor has them. Without the macro they are used if the compiler may assume them.
 *
 *   void spate_port_log(const char *text, uint64_t value);
 *       Logs an event (a retry, a reset, a volume recovered) with one number. Never called on the data path.
 *
 * None may block, but spate_port_relax() may let other tasks run for a moment. The library calls them only from the
 * thread that calls the library.
 */
#ifndef SPATE_PORT_H
#define SPATE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Alignment in bytes of start and size of memory that both the CPU and a device access. It is not smaller than the
 * largest cache line, so that invalidating one buffer never discards bytes of its neighbour. */
#define SPATE_DMA_ALIGN 64u

#include <spate_board.h>

/* Read a register of 64 bits by two accesses, low half first (NVMe 1.4, 3.1). Some controllers and root ports do not
 * accept an access of 64 bits. */
static inline uint64_t spate_port_read64(uintptr_t address) {
  const uint32_t low = spate_port_read32(address);
  return (uint64_t)spate_port_read32(address + 4u) << 32 | low;
}

/* The same for a write. */
static inline void spate_port_write64(uintptr_t address, uint64_t value) {
  spate_port_write32(address, (uint32_t)value);
  spate_port_write32(address + 4u, (uint32_t)(value >> 32));
}

#endif
