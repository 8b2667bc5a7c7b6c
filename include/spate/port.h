/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a board supplies. The board's folder has a header named spate_board.h, found by the include path, with the
 * functions below as `static inline`, so that bare metal pays nothing and a simulator sees every access.
 *
 *   uint32_t spate_port_read32(uintptr_t address);
 *   void     spate_port_write32(uintptr_t address, uint32_t value);
 *   uint64_t spate_port_read64(uintptr_t address);
 *   void     spate_port_write64(uintptr_t address, uint64_t value);
 *       Device registers, little endian, in program order among themselves. `address` is the CPU's. The 64-bit ones
 *       may be two 32-bit accesses, low half first (NVMe 1.4, 3.1 allows it).
 *       An access that nobody answers must not end the program, because a drive can go at any time: a read then gives
 *       all ones, and a write goes nowhere. Where the bus reports an error by an exception, its handler does this;
 *       where the bus would hang, a firewall in the logic answers. docs/use/porting.md, step 9.
 *
 *   void spate_port_dma_write_barrier(void);
 *       Every earlier store to DMA memory is visible to devices before any later store to DMA memory or to a register.
 *   void spate_port_dma_read_barrier(void);
 *       No later load from DMA memory is satisfied before an earlier one: after a flag that a device wrote, before what
 *       the flag guards.
 *
 *   void spate_port_cache_clean(const void *start, size_t bytes);
 *   void spate_port_cache_invalidate(void *start, size_t bytes);
 *       For memory that the CPU caches and devices access by themselves. Empty where the board is coherent. Called with
 *       starts and sizes as the caller of the library gave them: see SPATE_DMA_ALIGN.
 *
 *   uint64_t spate_port_dma_address(const volatile void *memory);
 *       The address at which devices see this memory.
 *
 *   uint64_t spate_port_ticks(void);
 *   uint64_t spate_port_ticks_per_second(void);
 *       A clock that never goes back or wraps, and its rate, fixed. Deadlines are kept in ticks, because a tick costs
 *       one instruction on most boards and a nanosecond costs a division.
 *
 *   void spate_port_relax(void);
 *       Called in each turn of a loop that waits, outside the data path. May be empty.
 *
 *   SPATE_PORT_HAS_CRC32C()
 *       A macro, on AArch64 only, and only where the program may run on processors with and without the CRC
 *       instructions: true if this one has them. Without the macro they are used if the compiler may use them.
 *
 *   void spate_port_log(const char *text, uint64_t value);
 *       An event worth a line (a retry, a reset, a volume recovered) with one number. Never called on the data path.
 *
 * None may block. All may be called from the thread that polls; the library never calls them from anywhere else.
 */
#ifndef SPATE_PORT_H
#define SPATE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Alignment in bytes of the start and the size of memory that both the CPU and a device touch: no smaller than the
 * largest cache line, so that invalidating one buffer never discards its neighbour's bytes. */
#define SPATE_DMA_ALIGN 64u

#include <spate_board.h>

#endif
