/* SPDX-License-Identifier: Apache-2.0 */
/* ports/board.h for QEMU's RISC-V `virt` machine. The addresses are in README.md. */
#include "../bare.h"

#include "../common/calendar.h"
#include "../common/map.h"
#include "../common/semihosting.h"
#include <spate/port.h>

#define MIB1 UINT64_C(0x100000)
#define GIB1 UINT64_C(0x40000000)

/* 16550: registers of one byte each */
#define UART                0x10000000u
#define UART_DATA           0u
#define UART_LINE_STATUS    5u
#define UART_TRANSMIT_EMPTY 0x20u
#define ABSENT_REGISTER     0x100f0000u /* in the same MiB */

/* Goldfish: nanoseconds since 1970. A read of the low half keeps the high half of that moment. */
#define RTC       0x00101000u
#define RTC_BYTES 0x1000u
#define RTC_LOW   0u
#define RTC_HIGH  4u

/* SiFive's test device ends the emulator. */
#define FINISHER       0x00100000u
#define FINISHER_BYTES 0x1000u
#define FINISHER_FAIL  0x3333u /* with the status above it */

#define CLINT       0x02000000u
#define CLINT_BYTES 0x10000u

#define ECAM         0x30000000u
#define ECAM_BYTES   (256 * MIB1)
#define ECAM_BUSES   256u
#define WINDOW       UINT64_C(0x40000000) /* the same address on the bus */
#define PREFETCHABLE UINT64_C(0x400000000)

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
    {FINISHER, FINISHER_BYTES, MAP_REGISTERS},
    {RTC, RTC_BYTES, MAP_REGISTERS},
    {CLINT, CLINT_BYTES, MAP_REGISTERS},
    {UART, MIB1, MAP_REGISTERS},
    {ECAM, ECAM_BYTES, MAP_REGISTERS},
    {WINDOW, GIB1, MAP_REGISTERS},
    {PREFETCHABLE, GIB1, MAP_REGISTERS},
    {QUEUE, QUEUE_BYTES, MAP_NOT_CACHED},
    {MEMORY, MEMORY_BYTES, MAP_CACHED},
    {RING, RING_BYTES, MAP_NOT_CACHED},
    {0, 0, MAP_REGISTERS},
};

void board_start(void) {
  semihosting_command_line(board_words, sizeof board_words);
  board_exit(app_main());
}

const char *board_name(void) { return "QEMU virt, RISC-V RV64"; }

uintptr_t board_absent_register(void) { return ABSENT_REGISTER; }

/* The machine starts with its devices out of reset, so there is nothing to release. */
enum spate_error board_pcie_open(struct spate_pcie_host *host, uint64_t *perst_released_ticks) {
  static const struct spate_pcie_ecam_config config = {
      .config_base = ECAM,
      .last_bus = ECAM_BUSES - 1,
      .memory = {WINDOW, WINDOW, GIB1},
      .prefetchable = {PREFETCHABLE, PREFETCHABLE, GIB1},
  };
  *perst_released_ticks = 0;
  return spate_pcie_ecam_open(host, &config);
}

void board_write(const char *text, size_t bytes) {
  volatile uint8_t *uart = (volatile uint8_t *)(uintptr_t)UART;
  for (size_t i = 0; i < bytes; i++) {
    while (!(uart[UART_LINE_STATUS] & UART_TRANSMIT_EMPTY))
      spate_port_relax();
    uart[UART_DATA] = (uint8_t)text[i];
  }
}

void board_now(void *context, struct spate_exfat_time *time) {
  (void)context;
  const uint64_t low = spate_port_read32(RTC + RTC_LOW);
  const uint64_t high = spate_port_read32(RTC + RTC_HIGH);
  calendar_from_unix((high << 32 | low) / 1000000000u, time);
}

/* Without a host, the test device does it. */
void board_exit(int status) {
  for (;;) {
    semihosting_exit(status);
    spate_port_write32(FINISHER, (uint32_t)status << 16 | FINISHER_FAIL);
  }
}
