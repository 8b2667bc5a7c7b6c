/* SPDX-License-Identifier: Apache-2.0 */
/* Retired instructions: event counter 0 of the performance monitors of Armv7 and Armv8 (event 0x08), or RISC-V's
 * `instret`. */
#ifndef SPATE_FIRMWARE_PMU_H
#define SPATE_FIRMWARE_PMU_H

#include <stdint.h>

#ifdef __riscv
/* It counts from the start. */
static inline void pmu_start(void) {}

static inline uint32_t pmu_instructions(void) {
  uint64_t count = 0;

  __asm__ volatile("rdinstret %0" : "=r"(count)::"memory");
  return (uint32_t)count;
}
#elif defined(__arm__)
static inline void pmu_start(void) {
  uint32_t control = 0;

  __asm__ volatile("mcr p15, 0, %0, c9, c12, 5" ::"r"(0u));    /* PMSELR: counter 0 */
  __asm__ volatile("mcr p15, 0, %0, c9, c13, 1" ::"r"(0x08u)); /* PMXEVTYPER */
  __asm__ volatile("mcr p15, 0, %0, c9, c12, 1" ::"r"(1u));    /* PMCNTENSET */
  __asm__ volatile("mrc p15, 0, %0, c9, c12, 0" : "=r"(control));
  __asm__ volatile("mcr p15, 0, %0, c9, c12, 0" ::"r"(control | 1u)); /* PMCR: on */
  __asm__ volatile("isb");
}

static inline uint32_t pmu_instructions(void) {
  uint32_t count = 0;

  __asm__ volatile("isb\n\tmrc p15, 0, %0, c9, c13, 2" : "=r"(count)::"memory"); /* PMXEVCNTR of the selected one */
  return count;
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
