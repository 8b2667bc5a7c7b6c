/* SPDX-License-Identifier: Apache-2.0 */
/* Retired instructions: event counter 0 of the Armv8 performance monitors (event 0x08), or RISC-V's `instret`. */
#ifndef SPATE_APPS_PMU_H
#define SPATE_APPS_PMU_H

#include <stdint.h>

#ifdef __riscv
/* It counts from the start. */
static inline void pmu_start(void) {}

static inline uint32_t pmu_instructions(void) {
  uint64_t count = 0;

  __asm__ volatile("rdinstret %0" : "=r"(count)::"memory");
  return (uint32_t)count;
}
#else
static inline void pmu_start(void) {
  uint64_t control = 0;

  __asm__ volatile("msr pmevtyper0_el0, %0" ::"r"(UINT64_C(0x08)));
  __asm__ volatile("msr pmcntenset_el0, %0" ::"r"(UINT64_C(1)));
  __asm__ volatile("mrs %0, pmcr_el0" : "=r"(control));
  __asm__ volatile("msr pmcr_el0, %0" ::"r"(control | 1u));
  __asm__ volatile("isb");
}

static inline uint32_t pmu_instructions(void) {
  uint64_t count = 0;

  __asm__ volatile("isb\n\tmrs %0, pmevcntr0_el0" : "=r"(count)::"memory");
  return (uint32_t)count;
}
#endif

#endif
