/* SPDX-License-Identifier: Apache-2.0 */
/* ports/board.h for a Zynq-7000, a Zynq UltraScale+ or a Versal with a bridge in root-port mode. The board's folder has
 * machine.h, and the user's design.h. */
#include "../../bare.h"

#ifdef __aarch64__
#include "../aarch64/start.h"
#endif
#include "../calendar.h"
#include "../pl011.h"
#include "../print.h"
#include "../semihosting.h"
#include "cadence_uart.h"
#include "machine_start.h"
#include "perst.h"
#include <design.h>
#include <machine.h>
#include <spate/port.h>

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

static bool logic_is_there;
static uint64_t start_ticks;

/* Weak: nothing is to be done, and nothing tells whether the logic is configured. */
__attribute__((weak)) bool machine_start(void) { return true; }

void board_console_open(void) { MACHINE_UART_OPEN(DESIGN_UART); }

void board_start(void) {
  logic_is_there = machine_start();
  start_ticks = spate_port_ticks() | 1u; /* 0 would mean: long ago */
  board_console_open();
  if (!logic_is_there) print("board  the logic is not configured: load the bitstream first\n");
  semihosting_command_line(board_words, sizeof board_words);
  board_exit(app_main());
}

#ifdef __aarch64__
const char *board_name(void) {
  static const char *const names[] = {MACHINE_NAME ", started in EL1", MACHINE_NAME ", started in EL2",
                                      MACHINE_NAME ", started in EL3"};
  return names[start_level - 1];
}
#else
const char *board_name(void) { return MACHINE_NAME; }
#endif

uintptr_t board_absent_register(void) { return MACHINE_ABSENT_REGISTER; }

/* If something else releases PERST#, the start of the firmware counts: the reset of the logic may do it, which a
 * loader, or machine_start(), has ended only just before. */
enum spate_error board_pcie_open(struct spate_pcie_host *host, uint64_t *perst_released_ticks) {
  static const struct spate_pcie_xilinx_config config = {
      .control_base = DESIGN_BRIDGE_CONTROL,
#ifdef DESIGN_BRIDGE_REGISTERS
      .bridge_base = DESIGN_BRIDGE_REGISTERS + SPATE_PCIE_XILINX_VERSAL,
#endif
      .last_bus = DESIGN_BRIDGE_LAST_BUS,
      .memory = {DESIGN_BRIDGE_WINDOW, DESIGN_BRIDGE_WINDOW_BUS, DESIGN_BRIDGE_WINDOW_BYTES},
  };
  *perst_released_ticks = 0;
  if (!logic_is_there) return SPATE_E_NO_BRIDGE;
  *perst_released_ticks = perst_cycle(&slot_reset);
  if (*perst_released_ticks == 0) *perst_released_ticks = start_ticks;
  return spate_pcie_xilinx_open(host, &config);
}

enum spate_error board_perst(void *context) {
  (void)context;
  return perst_step(&slot_reset);
}

void board_write(const char *text, size_t bytes) { MACHINE_UART_WRITE(DESIGN_UART, text, bytes); }

#ifdef MACHINE_RTC
#define RTC_CURRENT_TIME (MACHINE_RTC + 0x10u)
#define UNIX_1980        UINT64_C(315532800)

/* The clock has the right time if somebody set it, and a battery kept it. It counts from 1970 by convention. */
void board_now(void *context, struct spate_exfat_time *time) {
  (void)context;
  const uint32_t seconds = spate_port_read32(RTC_CURRENT_TIME);
  calendar_from_unix(seconds, time);
  if (seconds < UNIX_1980) time->utc_known = false;
}
#else
/* There is no clock that continues without power. */
void board_now(void *context, struct spate_exfat_time *time) {
  (void)context;
  *time = (struct spate_exfat_time){.year = 2026, .month = 1, .day = 1};
}
#endif

/* With a debugger that serves semihosting, or an emulator, the run ends. Otherwise the processor stops here. */
void board_exit(int status) {
  semihosting_exit(status);
  print("board  stopped with status %d\n", status);
  for (;;)
    __asm__ volatile("wfi");
}
