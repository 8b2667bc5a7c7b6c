/* SPDX-License-Identifier: Apache-2.0 */
/* ports/board.h for QEMU's `virt` machine. machine.h selects the CPU. */
#include "../bare.h"

#include "../common/calendar.h"
#include "../common/pl011.h"
#include "../common/semihosting.h"
#include <machine.h> /* found by the include path: the board's own, not this folder's */
#include <spate/port.h>

__attribute__((noreturn)) void board_start(void);

const struct board_layout board_layout = {
    .queue = {(void *)(uintptr_t)MACHINE_QUEUE_ADDRESS, MACHINE_QUEUE_BYTES},
    .memory = {(void *)(uintptr_t)MACHINE_MEMORY_ADDRESS, MACHINE_MEMORY_BYTES},
    .ring = {(void *)(uintptr_t)MACHINE_RING_ADDRESS, MACHINE_RING_BYTES},
};

void board_console_open(void) { pl011_open(MACHINE_UART_ADDRESS); }

void board_start(void) {
  board_console_open();
  semihosting_command_line(board_words, sizeof board_words);
  board_exit(app_main());
}

const char *board_name(void) { return MACHINE_NAME; }

uintptr_t board_absent_register(void) { return MACHINE_ABSENT_REGISTER; }

/* The machine starts with its devices out of reset, so there is nothing to release. */
enum spate_error board_pcie_open(struct spate_pcie_host *host, uint64_t *perst_released_ticks) {
  static const struct spate_pcie_ecam_config config = {
      .config_base = MACHINE_ECAM_ADDRESS,
      .last_bus = MACHINE_LAST_BUS,
      .memory = {MACHINE_PCIE_MEMORY_ADDRESS, MACHINE_PCIE_MEMORY_ADDRESS, MACHINE_PCIE_MEMORY_BYTES},
#ifdef MACHINE_PCIE_PREFETCHABLE_ADDRESS
      .prefetchable = {MACHINE_PCIE_PREFETCHABLE_ADDRESS, MACHINE_PCIE_PREFETCHABLE_ADDRESS,
                       MACHINE_PCIE_PREFETCHABLE_BYTES},
#endif
  };
  *perst_released_ticks = 0;
  return spate_pcie_ecam_open(host, &config);
}

void board_write(const char *text, size_t bytes) { pl011_write(MACHINE_UART_ADDRESS, text, bytes); }

/* PL031: one register of seconds since 1970. */
void board_now(void *context, struct spate_exfat_time *time) {
  (void)context;
  calendar_from_unix(spate_port_read32(MACHINE_RTC_ADDRESS), time);
}

void board_exit(int status) {
  for (;;)
    semihosting_exit(status);
}
