/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port for programs in Linux user space. Registers are those that the program has mapped. DMA memory is coherent,
 * and device addresses have a constant offset from the program's addresses. At run time, the program can choose a
 * simulated machine instead of both (linux_port.h).
 */
#ifndef SPATE_BOARD_H
#define SPATE_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __aarch64__
#include <sys/auxv.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SPATE_LINUX_TICKS_PER_SECOND UINT64_C(1000000000)

struct linux_machine {
  uint32_t (*read32)(uintptr_t address);
  void (*write32)(uintptr_t address, uint32_t value);
  uint64_t (*dma_address)(const volatile void *memory);
  uint64_t (*ticks)(void);
  void (*relax)(void);
};

extern const struct linux_machine *spate_linux_machine; /* NULL: mapped registers */
extern uint64_t spate_linux_dma_offset;                 /* device address − program's address, modulo 2^64 */
uint64_t spate_linux_ticks(void);
void spate_linux_relax(void);
void spate_linux_log(const char *text, uint64_t value);

static inline bool spate_linux_simulated(void) { return __builtin_expect(spate_linux_machine != NULL, 0); }

static inline uint32_t spate_port_read32(uintptr_t address) {
  return spate_linux_simulated() ? spate_linux_machine->read32(address) : *(const volatile uint32_t *)address;
}

static inline void spate_port_write32(uintptr_t address, uint32_t value) {
  if (spate_linux_simulated())
    spate_linux_machine->write32(address, value);
  else
    *(volatile uint32_t *)address = value;
}

/* x86-64 keeps stores in order, and loads in order. Arm needs a barrier for this, in the outer shareable domain, which
 * includes devices. */
static inline void spate_port_dma_write_barrier(void) {
#if defined(__aarch64__)
  __asm__ volatile("dmb oshst" ::: "memory");
#elif defined(__arm__)
  __asm__ volatile("dmb osh" ::: "memory");
#elif defined(__x86_64__)
  __asm__ volatile("" ::: "memory");
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static inline void spate_port_dma_read_barrier(void) {
#if defined(__aarch64__)
  __asm__ volatile("dmb oshld" ::: "memory");
#elif defined(__arm__)
  __asm__ volatile("dmb osh" ::: "memory");
#elif defined(__x86_64__)
  __asm__ volatile("" ::: "memory");
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static inline void spate_port_cache_clean(const void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}
static inline void spate_port_cache_invalidate(void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}

static inline uint64_t spate_port_dma_address(const volatile void *memory) {
  return spate_linux_simulated() ? spate_linux_machine->dma_address(memory)
                                 : (uintptr_t)memory + spate_linux_dma_offset;
}

#ifdef __aarch64__
#define SPATE_LINUX_HWCAP_CRC32 (1ul << 7) /* from the kernel's asm/hwcap.h: HWCAP_CRC32 */
#define SPATE_PORT_HAS_CRC32C() ((getauxval(AT_HWCAP) & SPATE_LINUX_HWCAP_CRC32) != 0)
#endif

static inline uint64_t spate_port_ticks(void) { return spate_linux_ticks(); }
static inline uint64_t spate_port_ticks_per_second(void) { return SPATE_LINUX_TICKS_PER_SECOND; }

static inline void spate_port_relax(void) { spate_linux_relax(); }
static inline void spate_port_log(const char *text, uint64_t value) { spate_linux_log(text, value); }

#ifdef __cplusplus
}
#endif
#endif
