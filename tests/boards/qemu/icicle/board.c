/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of a board for the PolarFire SoC, as QEMU's microchip-icicle-kit models it: five harts, a clock of 1 MHz
 * that is read at its address, MMUART0. QEMU has no PCIe there, so nothing answers at the place of the bridge.
 * ports/qemu-riscv/README.md says what a board with a drive needs beyond this.
 */
#include <bare.h>
#include <calendar.h>
#include <map.h>
#include <semihosting.h>
#include <spate/port.h>

#define MIB1 UINT64_C(0x100000)

/* 16550, one register every 4 bytes */
#define UART                0x20000000u
#define UART_DATA           (UART + 0x00u)
#define UART_LINE_STATUS    (UART + 0x14u)
#define UART_TRANSMIT_EMPTY 0x20u
#define ABSENT_REGISTER     0x200f0000u

#define CLINT       0x02000000u
#define CLINT_BYTES 0x10000u

/* As in the reference design of the Icicle Kit. */
#define ECAM          UINT64_C(0x3000000000)
#define ECAM_BYTES    (128 * MIB1)
#define WINDOW        UINT64_C(0x3008000000)
#define WINDOW_ON_BUS UINT64_C(0x08000000)
#define WINDOW_BYTES  (128 * MIB1)

#define QUEUE        UINT64_C(0x81000000)
#define QUEUE_BYTES  (16 * MIB1)
#define MEMORY       UINT64_C(0x82000000)
#define MEMORY_BYTES (224 * MIB1)
#define RING         UINT64_C(0x90000000)
#define RING_BYTES   (256 * MIB1)

__attribute__((noreturn)) void board_start(void);

const struct board_layout board_layout = {
    .queue = {(void *)QUEUE, QUEUE_BYTES},
    .memory = {(void *)MEMORY, MEMORY_BYTES},
    .ring = {(void *)RING, RING_BYTES},
};

const struct map_range map_ranges[] = {
    {CLINT, CLINT_BYTES, MAP_REGISTERS},  {UART, MIB1, MAP_REGISTERS},
    {ECAM, ECAM_BYTES, MAP_REGISTERS},    {WINDOW, WINDOW_BYTES, MAP_REGISTERS},
    {QUEUE, QUEUE_BYTES, MAP_NOT_CACHED}, {MEMORY, MEMORY_BYTES, MAP_CACHED},
    {RING, RING_BYTES, MAP_NOT_CACHED},   {0, 0, MAP_REGISTERS},
};

void board_start(void) {
  semihosting_command_line(board_words, sizeof board_words);
  board_exit(app_main());
}

const char *board_name(void) { return "PolarFire SoC"; }

uintptr_t board_absent_register(void) { return ABSENT_REGISTER; }

/* On hardware the bridge's address translation tables come first. */
enum spate_error board_pcie_open(struct spate_pcie_host *host, uint64_t *perst_released_ticks) {
  static const struct spate_pcie_ecam_config config = {
      .config_base = ECAM, .last_bus = 127, .memory = {WINDOW, WINDOW_ON_BUS, WINDOW_BYTES}};
  *perst_released_ticks = 0;
  return spate_pcie_ecam_open(host, &config);
}

void board_write(const char *text, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    while (!(spate_port_read32(UART_LINE_STATUS) & UART_TRANSMIT_EMPTY))
      spate_port_relax();
    spate_port_write32(UART_DATA, (uint8_t)text[i]);
  }
}

/* The time of the clock's start is not known. */
void board_now(void *context, struct spate_exfat_time *time) {
  (void)context;
  calendar_from_unix(UINT64_C(315532800) + spate_port_ticks() / spate_port_ticks_per_second(), time);
  time->utc_known = false;
}

void board_exit(int status) {
  for (;;)
    semihosting_exit(status);
}
