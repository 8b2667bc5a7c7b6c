/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of spate/port.h on a PC. host_plain.c implements them, or the virtual drive (sim/machine/port.c). */
#ifndef SPATE_HOST_PORT_H
#define SPATE_HOST_PORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint32_t host_read32(uintptr_t address);
void host_write32(uintptr_t address, uint32_t value);
void host_dma_write_barrier(void);
void host_dma_read_barrier(void);
void host_cache_clean(const void *start, size_t bytes);
void host_cache_invalidate(void *start, size_t bytes);
uint64_t host_dma_address(const volatile void *memory);
uint64_t host_ticks(void);
uint64_t host_ticks_per_second(void);
void host_relax(void);
void host_log(const char *text, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif
