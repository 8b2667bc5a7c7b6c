/* SPDX-License-Identifier: Apache-2.0 */
#include "slcr.h"

#include "../common/armv7/pl310.h"
#include "machine.h"
#include <spate/port.h>

/* UG585 B.28 */
#define LOCK            (MACHINE_SLCR + 0x004u)
#define UNLOCK          (MACHINE_SLCR + 0x008u)
#define LOCKED          (MACHINE_SLCR + 0x00cu)
#define ARM_PLL         (MACHINE_SLCR + 0x100u)
#define DDR_PLL         (MACHINE_SLCR + 0x104u)
#define IO_PLL          (MACHINE_SLCR + 0x108u)
#define ARM_CLOCK       (MACHINE_SLCR + 0x120u)
#define LOGIC_RESETS    (MACHINE_SLCR + 0x240u)
#define LEVEL_SHIFTERS  (MACHINE_SLCR + 0x900u)
#define OUTER_CACHE_RAM (MACHINE_SLCR + 0xa1cu)
/* B.16 */
#define CONFIGURATION (MACHINE_DEVCFG + 0x00cu)

#define LOCK_KEY         0x767bu
#define UNLOCK_KEY       0xdf0du
#define PLL_BYPASSED     0x10u
#define SHIFTERS_ON      0xfu
#define RAM_RECOMMENDED  0x00020202u /* 3.4.10 */
#define LOGIC_CONFIGURED 0x4u

/* Leaves the lock as it was. */
static void change(uintptr_t address, uint32_t value) {
  const bool locked = spate_port_read32(LOCKED) & 1u;
  if (locked) spate_port_write32(UNLOCK, UNLOCK_KEY);
  spate_port_write32(address, value);
  if (locked) spate_port_write32(LOCK, LOCK_KEY);
}

static uint64_t pll_hz(uintptr_t control, uint32_t ps_clock_hz) {
  const uint32_t pll = spate_port_read32(control);
  return pll & PLL_BYPASSED ? ps_clock_hz : (uint64_t)ps_clock_hz * (pll >> 12 & 0x7fu);
}

/* The processor's clock is a PLL's, divided. The timer has half of it (UG585, 25.2: CPU_3x2x). */
uint64_t slcr_timer_hz(uint32_t ps_clock_hz) {
  static const uintptr_t sources[] = {ARM_PLL, ARM_PLL, DDR_PLL, IO_PLL};
  const uint32_t clock = spate_port_read32(ARM_CLOCK);
  const uint32_t divisor = clock >> 8 & 0x3fu;
  return pll_hz(sources[clock >> 4 & 3u], ps_clock_hz) / (divisor ? divisor : 1u) / 2u;
}

/* A first-stage loader that loads a bitstream does the same (UG585, 6.4.4: ps7_post_config), a debugger may not. */
bool slcr_open_logic(void) {
  if (!(spate_port_read32(CONFIGURATION) & LOGIC_CONFIGURED)) return false;
  change(LEVEL_SHIFTERS, SHIFTERS_ON);
  change(LOGIC_RESETS, 0);
  return true;
}

void pl310_board(void) { change(OUTER_CACHE_RAM, RAM_RECOMMENDED); }
