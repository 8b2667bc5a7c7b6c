/* SPDX-License-Identifier: Apache-2.0 */
/* ports/board.h for a Zynq-7000 with an AXI Memory Mapped to PCI Express bridge (PG055). */
#include "../bare.h"

#include "../common/print.h"
#include "../common/semihosting.h"
#include "../common/xilinx/cadence_uart.h"
#include "machine.h"
#include "slcr.h"
#include <design.h>
#include <spate/port.h>

/* Cortex-A9 MPCore TRM, DDI 0407I, 4.4.2 */
#define TIMER_CONTROL (MACHINE_GLOBAL_TIMER + 0x8u)
#define TIMER_ENABLED 1u /* and not divided */

_Static_assert(MACHINE_PL310 == SPATE_PORT_PL310, "spate_board.h and machine.h name one outer cache");
_Static_assert(MACHINE_GLOBAL_TIMER == SPATE_PORT_COUNTER, "spate_board.h and machine.h name one timer");

__attribute__((noreturn)) void board_start(void);

const struct board_layout board_layout = {
    .queue = {(void *)DESIGN_QUEUE, DESIGN_QUEUE_BYTES},
    .memory = {(void *)DESIGN_MEMORY, DESIGN_MEMORY_BYTES},
    .ring = {(void *)DESIGN_RING, DESIGN_RING_BYTES},
};

static uint64_t timer_hz;
static bool logic_is_open;

uint64_t spate_port_ticks_per_second(void) { return timer_hz; }

void board_start(void) {
  spate_port_write32(TIMER_CONTROL, TIMER_ENABLED);
  timer_hz = slcr_timer_hz(DESIGN_PS_CLOCK_HZ);
  cadence_uart_open(DESIGN_UART);
  logic_is_open = slcr_open_logic();
  if (!logic_is_open) print("board  the logic is not configured: load the bitstream first\n");
  semihosting_command_line(board_words, sizeof board_words);
  board_exit(app_main());
}

const char *board_name(void) { return MACHINE_NAME; }

uintptr_t board_absent_register(void) { return MACHINE_ABSENT_REGISTER; }

/* PERST# is released by the design's reset logic, long before: if a pin of the processor drives it, release it here,
 * and pass out spate_port_ticks() of that moment. */
enum spate_error board_pcie_open(struct spate_pcie_host *host, uint64_t *perst_released_ticks) {
  static const struct spate_pcie_xilinx_config config = {
      .control_base = DESIGN_BRIDGE_CONTROL,
      .last_bus = DESIGN_BRIDGE_LAST_BUS,
      .memory = {DESIGN_BRIDGE_WINDOW, DESIGN_BRIDGE_WINDOW_BUS, DESIGN_BRIDGE_WINDOW_BYTES},
  };
  *perst_released_ticks = 0;
  if (!logic_is_open) return SPATE_E_NO_BRIDGE;
  return spate_pcie_xilinx_open(host, &config);
}

void board_write(const char *text, size_t bytes) { cadence_uart_write(DESIGN_UART, text, bytes); }

/* There is no clock that goes on without power. */
void board_now(void *context, struct spate_exfat_time *time) {
  (void)context;
  *time = (struct spate_exfat_time){.year = 2026, .month = 1, .day = 1};
}

/* With a debugger that serves semihosting, or an emulator, the run ends. Otherwise the processor stops here. */
void board_exit(int status) {
  semihosting_exit(status);
  print("board  stopped with status %d\n", status);
  for (;;)
    __asm__ volatile("wfi");
}
