/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hosted port, for programs on a PC: each function of spate/port.h calls one of the host_* functions below, which
 * the program links. host_plain.c is for code that accesses no registers; the virtual drive (sim/machine/port.c) has
 * its own.
 */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#include "host_port.h"

#include <stddef.h>
#include <stdint.h>

static inline uint32_t spate_port_read32(uintptr_t address) { return host_read32(address); }
static inline void spate_port_write32(uintptr_t address, uint32_t value) { host_write32(address, value); }
static inline void spate_port_dma_write_barrier(void) { host_dma_write_barrier(); }
static inline void spate_port_dma_read_barrier(void) { host_dma_read_barrier(); }
static inline void spate_port_cache_clean(const void *start, size_t bytes) { host_cache_clean(start, bytes); }
static inline void spate_port_cache_invalidate(void *start, size_t bytes) { host_cache_invalidate(start, bytes); }
static inline uint64_t spate_port_dma_address(const volatile void *memory) { return host_dma_address(memory); }
static inline uint64_t spate_port_ticks(void) { return host_ticks(); }
static inline uint64_t spate_port_ticks_per_second(void) { return host_ticks_per_second(); }
static inline void spate_port_relax(void) { host_relax(); }
static inline void spate_port_log(const char *text, uint64_t value) { host_log(text, value); }

#endif
