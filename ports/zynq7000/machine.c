/* SPDX-License-Identifier: Apache-2.0 */
/* What a Zynq-7000 has beside ports/common/xilinx: the Cortex-A9's global timer, and the way to the logic. */
#include "machine.h"
#include "../board.h"
#include "../common/xilinx/machine_start.h"
#include "slcr.h"
#include <design.h>
#include <spate/port.h>

/* Cortex-A9 MPCore TRM, DDI 0407I, 4.4.2 */
#define TIMER_CONTROL (MACHINE_GLOBAL_TIMER + 0x8u)
#define TIMER_ENABLED 1u /* and not divided */

_Static_assert(MACHINE_GLOBAL_TIMER == SPATE_PORT_COUNTER, "spate_board.h and machine.h name one timer");

static uint64_t timer_hz;

uint64_t spate_port_ticks_per_second(void) { return timer_hz; }

enum spate_doctor_ltssm board_ltssm(void) {
  return SPATE_DOCTOR_LTSSM_PG054;
} /* the integrated block of the 7 series */

bool machine_start(void) {
  spate_port_write32(TIMER_CONTROL, TIMER_ENABLED);
  timer_hz = slcr_timer_hz(DESIGN_PS_CLOCK_HZ);
  return slcr_open_logic();
}
