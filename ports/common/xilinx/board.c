/* SPDX-License-Identifier: Apache-2.0 */
/* ports/board.h for a Zynq UltraScale+ or a Versal with a bridge in root-port mode. The board's folder has machine.h,
 * and the user's design.h. */
#include "../../bare.h"

#include "../aarch64/start.h"
#include "../calendar.h"
#include "../pl011.h"
#include "../print.h"
#include "../semihosting.h"
#include "cadence_uart.h"
#include "perst.h"
#include <design.h>
#include <machine.h>
#include <spate/port.h>

#define RTC_CURRENT_TIME (MACHINE_RTC + 0x10u)
#define UNIX_1980        UINT64_C(315532800)

__attribute__((noreturn)) void board_start(void);

static struct perst slot_reset = {
    .kind = DESIGN_PERST,
    .pin = DESIGN_PERST_PIN,
    .active_high = DESIGN_PERST_ACTIVE_HIGH,
    .banks = MACHINE_GPIO_BANKS,
#ifdef DESIGN_PERST_AXI_GPIO
    .axi_gpio = DESIGN_PERST_AXI_GPIO,
    .other_outputs = DESIGN_PERST_OTHER_OUTPUTS,
#endif
};

void board_start(void) {
  MACHINE_UART_OPEN(DESIGN_UART);
  semihosting_command_line(board_words, sizeof board_words);
  board_exit(app_main());
}

const char *board_name(void) {
  static const char *const names[] = {MACHINE_NAME ", started in EL1", MACHINE_NAME ", started in EL2",
                                      MACHINE_NAME ", started in EL3"};
  return names[start_level - 1];
}

uintptr_t board_absent_register(void) { return MACHINE_ABSENT_REGISTER; }

enum spate_error board_pcie_open(struct spate_pcie_host *host, uint64_t *perst_released_ticks) {
  static const struct spate_pcie_xilinx_config config = {
      .control_base = DESIGN_BRIDGE_CONTROL,
#ifdef DESIGN_BRIDGE_REGISTERS
      .bridge_base = DESIGN_BRIDGE_REGISTERS + SPATE_PCIE_XILINX_VERSAL,
#endif
      .last_bus = DESIGN_BRIDGE_LAST_BUS,
      .memory = {DESIGN_BRIDGE_WINDOW, DESIGN_BRIDGE_WINDOW_BUS, DESIGN_BRIDGE_WINDOW_BYTES},
  };
  *perst_released_ticks = perst_cycle(&slot_reset);
  return spate_pcie_xilinx_open(host, &config);
}

enum spate_error board_perst(void *context) {
  (void)context;
  return perst_step(&slot_reset);
}

void board_write(const char *text, size_t bytes) { MACHINE_UART_WRITE(DESIGN_UART, text, bytes); }

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
