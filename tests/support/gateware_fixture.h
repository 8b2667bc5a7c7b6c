/* SPDX-License-Identifier: Apache-2.0 */
/* The backend over the fake core, with a clock that the test sets. Included by one test program each. */
#ifndef SPATE_TESTS_GATEWARE_FIXTURE_H
#define SPATE_TESTS_GATEWARE_FIXTURE_H

#include "fake_gateware.h"
#include "ram_block.h"

#include <spate/gateware.h>
#include <spate/port.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REGISTERS UINT64_C(0x40000000)

static struct fake_gateware fake;
static struct spate_gateware gateware;
static uint64_t clock_ns;
static void (*each_relax)(void); /* called while the library waits; may be NULL */
static const char *log_text;     /* the last entry of the log */
static uint64_t log_value;

uint64_t host_ticks(void) { return clock_ns += 100; }
uint64_t host_ticks_per_second(void) { return 1000000000; }
void host_relax(void) {
  clock_ns += 1000;
  fake_gateware_step(&fake);
  if (each_relax != NULL) each_relax();
}
void host_dma_write_barrier(void) {}
void host_dma_read_barrier(void) {}
uint64_t host_dma_address(const volatile void *memory) { return (uintptr_t)memory; }
uint32_t host_read32(uintptr_t address) {
  clock_ns += 150;
  return fake_gateware_read(&fake, (uint32_t)(address - REGISTERS));
}
void host_write32(uintptr_t address, uint32_t value) {
  clock_ns += 50;
  fake_gateware_write(&fake, (uint32_t)(address - REGISTERS), value);
}
void host_cache_clean(const void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}
void host_cache_invalidate(void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}
void host_log(const char *text, uint64_t value) {
  log_text = text;
  log_value = value;
}

static inline void must_be(enum spate_error got, enum spate_error wanted, int line) {
  if (got != wanted) fail_msg("line %d: %s instead of %s", line, spate_error_name(got), spate_error_name(wanted));
}
#define OK(call)            must_be(call, SPATE_OK, __LINE__)
#define GIVES(wanted, call) must_be(call, wanted, __LINE__)

static inline void open_fake(uint64_t blocks, uint8_t block_shift) {
  each_relax = NULL;
  fake_gateware_open(&fake, blocks, block_shift);
}

static inline void open_backend(void) {
  const struct spate_gateware_config config = {.registers = REGISTERS};

  OK(spate_gateware_open(&gateware, &config));
}

#endif
