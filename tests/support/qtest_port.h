/* SPDX-License-Identifier: Apache-2.0 */
/* The hosted port on QEMU's devices. Included by one source file of a program, which sets `qtest_port`. */
#ifndef QTEST_PORT_H
#define QTEST_PORT_H

#include "qtest.h"
#include <spate_board.h>
#include <stdlib.h>
#include <time.h>

static struct qtest *qtest_port;

uint32_t host_read32(uintptr_t address) { return (uint32_t)qtest_read(qtest_port, address, 'l'); }
void host_write32(uintptr_t address, uint32_t value) { qtest_write(qtest_port, address, value, 'l'); }

void host_dma_write_barrier(void) { __sync_synchronize(); }
void host_dma_read_barrier(void) { __sync_synchronize(); }

void host_cache_clean(const void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}

void host_cache_invalidate(void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}

uint64_t host_dma_address(const volatile void *memory) {
  const uint64_t offset = (uint64_t)((const volatile uint8_t *)memory - qtest_port->memory);
  if (offset >= QTEST_MEMORY_BYTES) abort(); /* outside the emulated machine's memory */
  return QTEST_MEMORY_BASE + offset;
}

uint64_t host_ticks(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) abort();
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t host_ticks_per_second(void) { return 1000000000u; }
void host_relax(void) {}

void host_log(const char *text, uint64_t value) {
  if (getenv("SPATE_LOG")) (void)fprintf(stderr, "spate: %s %llx\n", text, (unsigned long long)value);
}

#endif
