/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest port, for programs on a PC that bring their own block device: a clock (in spate_board.c), coherent
 * memory, and no registers. */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BOARD_TICKS_PER_SECOND UINT64_C(1000000000)

/* There is no device: a read returns all ones, a write is ignored. */
static inline uint32_t spate_port_read32(uintptr_t address) { return (void)address, UINT32_MAX; }
static inline void spate_port_write32(uintptr_t address, uint32_t value) {
  (void)address;
  (void)value;
}

static inline void spate_port_dma_write_barrier(void) {}
static inline void spate_port_dma_read_barrier(void) {}
static inline void spate_port_cache_clean(const void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}
static inline void spate_port_cache_invalidate(void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}
static inline uint64_t spate_port_dma_address(const volatile void *memory) { return (uintptr_t)memory; }

uint64_t spate_port_ticks(void);
static inline uint64_t spate_port_ticks_per_second(void) { return BOARD_TICKS_PER_SECOND; }

static inline void spate_port_relax(void) {}
static inline void spate_port_log(const char *text, uint64_t value) {
  (void)text;
  (void)value;
}

#ifdef __cplusplus
}
#endif
#endif
