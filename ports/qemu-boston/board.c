/* SPDX-License-Identifier: Apache-2.0 */
/* ports/board.h for QEMU's MIPS Boston board. */
#include "../bare.h"

#include "../common/calendar.h"
#include "machine.h"
#include <spate/port.h>
#include <string.h>

/* 16550, one register every 4 bytes */
#define UART_DATA           (MACHINE_UART + 0x00)
#define UART_LINE_STATUS    (MACHINE_UART + 0x14)
#define UART_TRANSMIT_EMPTY 0x20u

/* Unified Hosting Interface */
enum {
  UHI_EXIT = 1,
  UHI_OPEN = 2,
  UHI_CLOSE = 3,
  UHI_READ = 4,
  UHI_SEEK = 6,
  UHI_ARGUMENT_COUNT = 9,
  UHI_ARGUMENT_LENGTH = 10,
  UHI_ARGUMENT = 11,
};

#define OPEN_READ  0x000u
#define SEEK_START 0u
#define SEEK_HERE  1u
#define SEEK_END   2u
#define UNIX_1980  UINT64_C(315532800)

__attribute__((noreturn)) void board_start(void);
int64_t hosting_call(uint64_t operation, uint64_t a, uint64_t b, uint64_t c); /* start.S */

uint64_t board_ticks_last;

const struct board_layout board_layout = {
    .queue = {(void *)(KSEG1 + MACHINE_QUEUE), MACHINE_QUEUE_BYTES},
    .memory = {(void *)(KSEG0 + MACHINE_MEMORY), MACHINE_MEMORY_BYTES},
    .ring = {(void *)(XKPHYS_NOT_CACHED + MACHINE_RING), MACHINE_RING_BYTES},
};

/* All words, one after the other, each followed by a NUL. */
static void read_arguments(void) {
  size_t used = 0;
  int64_t count = hosting_call(UHI_ARGUMENT_COUNT, 0, 0, 0);
  for (int64_t i = 0; i < count; i++) {
    int64_t length = hosting_call(UHI_ARGUMENT_LENGTH, (uint64_t)i, 0, 0);
    if (length < 0 || (uint64_t)length >= sizeof board_words - used) return;
    if (hosting_call(UHI_ARGUMENT, (uint64_t)i, (uintptr_t)(board_words + used), 0) < 0) return;
    used += (size_t)length + 1;
  }
}

/* The bridge is that of PG055. The emulator does not show the states, and says 0. */
enum spate_doctor_ltssm board_ltssm(void) { return SPATE_DOCTOR_LTSSM_PG054; }

void board_start(void) {
  read_arguments();
  board_exit(app_main());
}

const char *board_name(void) { return "QEMU Boston, MIPS64 I6400, Xilinx AXI-PCIe bridge"; }

uintptr_t board_absent_register(void) { return MACHINE_ABSENT_REGISTER; }

/* The machine starts with its devices out of reset, so there is nothing to release. */
enum spate_error board_pcie_open(struct spate_pcie_host *host, uint64_t *perst_released_ticks) {
  static const struct spate_pcie_xilinx_config config = {
      .control_base = MACHINE_BRIDGE_CONTROL,
      .last_bus = MACHINE_BRIDGE_LAST_BUS,
      .memory = {KSEG1 + MACHINE_BRIDGE_WINDOW, MACHINE_BRIDGE_WINDOW, MACHINE_BRIDGE_WINDOW_BYTES},
  };
  *perst_released_ticks = 0;
  return spate_pcie_xilinx_open(host, &config);
}

void board_write(const char *text, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    while (!(spate_port_read32(UART_LINE_STATUS) & UART_TRANSMIT_EMPTY))
      spate_port_relax();
    spate_port_write32(UART_DATA, (uint8_t)text[i]);
  }
}

/* The board has no calendar: time starts in 1980 at each boot. */
void board_now(void *context, struct spate_exfat_time *time) {
  (void)context;
  calendar_from_unix(UNIX_1980 + spate_port_ticks() / spate_port_ticks_per_second(), time);
  time->utc_known = false;
}

int board_host_open(const char *path) { return (int)hosting_call(UHI_OPEN, (uintptr_t)path, OPEN_READ, 0); }

int64_t board_host_size(int file) {
  uint64_t handle = (uint64_t)file;
  int64_t here = hosting_call(UHI_SEEK, handle, 0, SEEK_HERE);
  int64_t end = hosting_call(UHI_SEEK, handle, 0, SEEK_END);
  if (here < 0 || end < 0 || hosting_call(UHI_SEEK, handle, (uint64_t)here, SEEK_START) < 0) return -1;
  return end;
}

int64_t board_host_read(int file, void *to, size_t bytes) {
  return hosting_call(UHI_READ, (uint64_t)file, (uintptr_t)to, bytes);
}

void board_host_close(int file) { (void)hosting_call(UHI_CLOSE, (uint64_t)file, 0, 0); }

void board_exit(int status) {
  for (;;)
    (void)hosting_call(UHI_EXIT, (uint64_t)status, 0, 0);
}
