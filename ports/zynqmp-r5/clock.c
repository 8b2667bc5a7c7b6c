/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock: the cycle counter (Arm ARM v7 C12.8, PMCCNTR), every 64 cycles, extended to 64 bits here. It wraps after
 * 550 s at 500 MHz; the library asks at least each second while a stream is open, an application must otherwise. It
 * stands still in WFI, which nothing here uses.
 */
#include "clock.h"

#include <design.h>
#include <spate/port.h>

#define DIVIDED   64u
#define ENABLED   0x1u /* PMCR: E, C, D */
#define RESET     0x4u
#define BY_64     0x8u
#define CYCLES_ON 0x80000000u /* PMCNTENSET */

static uint32_t last, wraps;

void clock_start(void) {
  __asm__ volatile("mcr p15, 0, %0, c9, c12, 0" ::"r"(ENABLED | RESET | BY_64));
  __asm__ volatile("mcr p15, 0, %0, c9, c12, 1" ::"r"(CYCLES_ON));
}

/* One processor and no interrupts: nothing comes between. */
uint64_t spate_port_ticks(void) {
  uint32_t now;
  __asm__ volatile("mrc p15, 0, %0, c9, c13, 0" : "=r"(now));
  if (now < last) wraps++;
  last = now;
  return (uint64_t)wraps << 32 | now;
}

uint64_t spate_port_ticks_per_second(void) { return DESIGN_CPU_HZ / DIVIDED; }
