/* SPDX-License-Identifier: Apache-2.0 */
/* The hosted port on a fake drive. Included by one source file of a program, which defines `fake_port_drive`. */
#ifndef FAKE_NVME_PORT_H
#define FAKE_NVME_PORT_H

#include "fake_nvme.h"
#include <spate_board.h>

static struct fake_nvme *fake_port_drive;
static struct {
  uint64_t cleans, invalidates;
  const void *start;
  size_t bytes;
} fake_port_cache;

uint32_t host_read32(uintptr_t address) { return fake_nvme_read32(fake_port_drive, address); }
void host_write32(uintptr_t address, uint32_t value) { fake_nvme_write32(fake_port_drive, address, value); }

uint64_t host_read64(uintptr_t address) {
  const uint64_t low = host_read32(address);
  return low | (uint64_t)host_read32(address + 4) << 32;
}

void host_write64(uintptr_t address, uint64_t value) {
  host_write32(address, (uint32_t)value);
  host_write32(address + 4, (uint32_t)(value >> 32));
}

void host_dma_write_barrier(void) { fake_nvme_write_barrier(fake_port_drive); }
void host_dma_read_barrier(void) { fake_nvme_read_barrier(fake_port_drive); }

void host_cache_clean(const void *start, size_t bytes) {
  fake_port_cache.cleans++;
  fake_port_cache.start = start;
  fake_port_cache.bytes = bytes;
}

void host_cache_invalidate(void *start, size_t bytes) {
  fake_port_cache.invalidates++;
  fake_port_cache.start = start;
  fake_port_cache.bytes = bytes;
}

uint64_t host_dma_address(const volatile void *memory) { return (uintptr_t)memory; }

uint64_t host_ticks(void) {
  fake_nvme_advance(fake_port_drive, 10);
  return fake_port_drive->ticks;
}

uint64_t host_ticks_per_second(void) { return FAKE_TICKS_PER_SECOND; }
void host_relax(void) { fake_nvme_advance(fake_port_drive, 90); }

void host_log(const char *text, uint64_t value) {
  (void)text;
  (void)value;
}

#endif
