/* SPDX-License-Identifier: Apache-2.0 */
/* ports/board.h for the Cortex-R5F of a Zynq UltraScale+ with an XDMA bridge. */
#include "../bare.h"

#include "../common/calendar.h"
#include "../common/print.h"
#include "../common/semihosting.h"
#include "../common/xilinx/cadence_uart.h"
#include "clock.h"
#include "machine.h"
#include <design.h>
#include <spate/port.h>

#define RTC_CURRENT_TIME (MACHINE_RTC + 0x10u)
#define UNIX_1980        UINT64_C(315532800)

__attribute__((noreturn)) void board_start(void);

const struct board_layout board_layout = {
    .queue = {(void *)DESIGN_QUEUE, DESIGN_QUEUE_BYTES},
    .memory = {(void *)DESIGN_MEMORY, DESIGN_MEMORY_BYTES},
    .ring = {(void *)DESIGN_RING, DESIGN_RING_BYTES},
};

void board_start(void) {
  clock_start();
  cadence_uart_open(DESIGN_UART);
  semihosting_command_line(board_words, sizeof board_words);
  board_exit(app_main());
}

uint64_t spate_port_ticks_per_second(void) { return DESIGN_CPU_HZ / CLOCK_CYCLES; }

const char *board_name(void) { return MACHINE_NAME; }

uintptr_t board_absent_register(void) { return MACHINE_ABSENT_REGISTER; }

/* PERST# is released by the design's reset logic, long before. */
enum spate_error board_pcie_open(struct spate_pcie_host *host, uint64_t *perst_released_ticks) {
  static const struct spate_pcie_xilinx_config config = {
      .control_base = DESIGN_BRIDGE_CONTROL,
      .last_bus = DESIGN_BRIDGE_LAST_BUS,
      .memory = {DESIGN_BRIDGE_WINDOW, DESIGN_BRIDGE_WINDOW_BUS, DESIGN_BRIDGE_WINDOW_BYTES},
  };
  *perst_released_ticks = 0;
  return spate_pcie_xilinx_open(host, &config);
}

void board_write(const char *text, size_t bytes) { cadence_uart_write(DESIGN_UART, text, bytes); }

/* The clock has the right time if somebody set it, and a battery kept it. It counts from 1970 by convention. */
void board_now(void *context, struct spate_exfat_time *time) {
  (void)context;
  const uint32_t seconds = spate_port_read32(RTC_CURRENT_TIME);
  calendar_from_unix(seconds, time);
  if (seconds < UNIX_1980) time->utc_known = false;
}

/* With a debugger that serves semihosting, or an emulator, the run ends. Otherwise the processor stops here. */
void board_exit(int status) {
  semihosting_exit(status);
  print("board  stopped with status %d\n", status);
  for (;;)
    __asm__ volatile("wfi");
}
