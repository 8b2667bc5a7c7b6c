/* SPDX-License-Identifier: Apache-2.0 */
/* The cycle counter of an ARMv7-R processor (Arm ARM v7 C12.8). */
#ifndef SPATE_PORTS_CYCLES_H
#define SPATE_PORTS_CYCLES_H

#include <stdint.h>

#define CYCLES_ENABLED 0x1u /* PMCR: E, C, D */
#define CYCLES_RESET   0x4u
#define CYCLES_BY_64   0x8u
#define CYCLES_ON      0x80000000u /* PMCNTENSET */

/* From 0, one step each 64 cycles. */
static inline void cycles_start(void) {
  __asm__ volatile("mcr p15, 0, %0, c9, c12, 0\n\t" /* PMCR */
                   "mcr p15, 0, %1, c9, c12, 1"     /* PMCNTENSET */
                   ::"r"(CYCLES_ENABLED | CYCLES_RESET | CYCLES_BY_64),
                   "r"(CYCLES_ON));
}

/* PMCCNTR */
static inline uint32_t cycles_read(void) {
  uint32_t now;
  __asm__ volatile("mrc p15, 0, %0, c9, c13, 0" : "=r"(now));
  return now;
}

#endif
