/* SPDX-License-Identifier: Apache-2.0 */
/* The hosted port without hardware: a clock, coherent memory at its own address, and no registers. */
#include <inttypes.h>
#include <spate/port.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TICKS_PER_SECOND UINT64_C(1000000000)

__attribute__((noreturn)) static void no_register(uintptr_t address) {
  (void)fprintf(stderr, "host port: access to register 0x%" PRIxPTR ", but there is no hardware\n", address);
  abort();
}

uint32_t host_read32(uintptr_t address) { no_register(address); }

void host_write32(uintptr_t address, uint32_t value) {
  (void)value;
  no_register(address);
}

void host_dma_write_barrier(void) {}
void host_dma_read_barrier(void) {}

void host_cache_clean(const void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}

void host_cache_invalidate(void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}

uint64_t host_dma_address(const volatile void *memory) { return (uintptr_t)memory; }

uint64_t host_ticks(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) abort();
  return (uint64_t)now.tv_sec * TICKS_PER_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t host_ticks_per_second(void) { return TICKS_PER_SECOND; }

void host_relax(void) {}

/* Silent unless SPATE_LOG is set: a test that provokes a thousand retries should not print them. */
void host_log(const char *text, uint64_t value) {
  if (getenv("SPATE_LOG")) (void)fprintf(stderr, "spate: %s %" PRIu64 "\n", text, value);
}
