/* SPDX-License-Identifier: Apache-2.0 */
/* ports/board.h for QEMU's `virt` machine. machine.h selects the CPU. */
#include "../bare.h"

#include "../common/calendar.h"
#include "../common/semihosting.h"
#include <machine.h> /* found by the include path: the board's own, not this folder's */
#include <spate/port.h>

/* PL011 */
#define UART_DATA            (MACHINE_UART_ADDRESS + 0x00u)
#define UART_FLAGS           (MACHINE_UART_ADDRESS + 0x18u)
#define UART_LINE_CONTROL    (MACHINE_UART_ADDRESS + 0x2cu)
#define UART_CONTROL         (MACHINE_UART_ADDRESS + 0x30u)
#define UART_TRANSMIT_FULL   0x20u
#define UART_8_BITS_FIFO     0x70u
#define UART_ENABLE_TRANSMIT 0x101u

__attribute__((noreturn)) void board_start(void);

const struct board_layout board_layout = {
    .queue = {(void *)(uintptr_t)MACHINE_QUEUE_ADDRESS, MACHINE_QUEUE_BYTES},
    .memory = {(void *)(uintptr_t)MACHINE_MEMORY_ADDRESS, MACHINE_MEMORY_BYTES},
    .ring = {(void *)(uintptr_t)MACHINE_RING_ADDRESS, MACHINE_RING_BYTES},
};

void board_start(void) {
  spate_port_write32(UART_LINE_CONTROL, UART_8_BITS_FIFO);
  spate_port_write32(UART_CONTROL, UART_ENABLE_TRANSMIT);
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

static void write_byte(char byte) {
  while (spate_port_read32(UART_FLAGS) & UART_TRANSMIT_FULL)
    spate_port_relax();
  spate_port_write32(UART_DATA, (uint8_t)byte);
}

void board_write(const char *text, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    write_byte(text[i]);
}

/* PL031: one register of seconds since 1970. */
void board_now(void *context, struct spate_exfat_time *time) {
  (void)context;
  calendar_from_unix(spate_port_read32(MACHINE_RTC_ADDRESS), time);
}

void board_exit(int status) {
  for (;;)
    semihosting_exit(status);
}
