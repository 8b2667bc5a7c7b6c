/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Most of a spate_board.h for a bare-metal 64-bit RISC-V processor: register access, barriers and clock. The board's
 * own spate_board.h says two things, includes this header, and adds spate_port_dma_address() and spate_port_log():
 *
 *   #define SPATE_PORT_COHERENT 1
 *       1: what the drive reads and writes is coherent with the caches. The maintenance is empty.
 *       0: it is not. The board supplies spate_port_cache_clean() and spate_port_cache_invalidate(): CBO.CLEAN and
 *       CBO.INVAL of each block (Zicbom; machine mode must allow them in menvcfg), or what its cache controller has,
 *       and then FENCE IORW, IORW. The base architecture has no instruction for this.
 *
 *   #define SPATE_PORT_TICKS_PER_SECOND 10000000
 *       The rate of `time` (the device tree's timebase-frequency).
 *
 *   #define SPATE_PORT_MTIME_ADDRESS 0x0200bff8
 *       Only if the processor has no `time` of its own, so that each RDTIME would be a trap into firmware (SiFive's
 *       U54): the address of mtime, mapped like registers, and readable by a load of 64 bits.
 *
 * Registers must be in a region that the processor's physical memory attributes make I/O, uncached and strongly
 * ordered. The architecture then keeps accesses to one device in program order (privileged architecture 1.12,
 * section 3.6.5). Each access is one instruction of a fixed form: LW, LD, SW or SD without an offset, never compressed.
 * If no device responds, the processor takes an access fault. The handler finds the instruction, writes all ones to its
 * register, and continues 4 bytes further on: ports/common/riscv64/fault.c. Own start-up code needs its own.
 */
#ifndef SPATE_PORT_RISCV64_H
#define SPATE_PORT_RISCV64_H

#include <stddef.h>
#include <stdint.h>

#if !defined SPATE_PORT_COHERENT
#error "spate_board.h must define SPATE_PORT_COHERENT: 1 if the drive is coherent with the caches, 0 if it is not"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SPATE_PORT_NOT_COMPRESSED(instruction) ".option push\n\t.option norvc\n\t" instruction "\n\t.option pop"

static inline uint32_t spate_port_read32(uintptr_t address) {
  uint32_t value;
  __asm__ volatile(SPATE_PORT_NOT_COMPRESSED("lw %0, 0(%1)") : "=r"(value) : "r"(address) : "memory");
  return value;
}

static inline void spate_port_write32(uintptr_t address, uint32_t value) {
  __asm__ volatile(SPATE_PORT_NOT_COMPRESSED("sw %z0, 0(%1)")::"rJ"(value), "r"(address) : "memory");
}

/*
 * A fence names four kinds of accesses: W and R are stores and loads of main memory, O and I those of I/O regions
 * (RISC-V unprivileged architecture 20191213, section 2.7). A doorbell is O; an entry in a queue is W, so FENCE W, W
 * does not order the two: FENCE W, O must be among what this fence does. The entry is O as well where queue memory is
 * at an address whose attributes are I/O, as uncached memory often is. So both sides name both kinds.
 */
static inline void spate_port_dma_write_barrier(void) { __asm__ volatile("fence ow, ow" ::: "memory"); }
static inline void spate_port_dma_read_barrier(void) { __asm__ volatile("fence ir, ir" ::: "memory"); }

#if SPATE_PORT_COHERENT
static inline void spate_port_cache_clean(const void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}
static inline void spate_port_cache_invalidate(void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}
#endif

static inline uint64_t spate_port_ticks(void) {
  uint64_t ticks;
#ifdef SPATE_PORT_MTIME_ADDRESS
  __asm__ volatile("ld %0, 0(%1)" : "=r"(ticks) : "r"((uintptr_t)SPATE_PORT_MTIME_ADDRESS));
#else
  __asm__ volatile("rdtime %0" : "=r"(ticks));
#endif
  return ticks;
}

static inline uint64_t spate_port_ticks_per_second(void) { return SPATE_PORT_TICKS_PER_SECOND; }

/* PAUSE (Zihintpause), as the fence whose code it is: processors without it ignore it. */
static inline void spate_port_relax(void) { __asm__ volatile(".4byte 0x0100000f" ::: "memory"); }

#ifdef __cplusplus
}
#endif
#endif
