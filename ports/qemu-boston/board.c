/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU's MIPS Boston board as ports/board.h wants it. */
#include "../bare.h"

#include "../common/arguments.h"
#include "../common/calendar.h"
#include "../common/print.h"
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
  UHI_WRITE = 5,
  UHI_SEEK = 6,
  UHI_ARGUMENT_COUNT = 9,
  UHI_ARGUMENT_LENGTH = 10,
  UHI_ARGUMENT = 11,
};

#define OPEN_READ  0x000u
#define OPEN_WRITE 0x601u /* write only, create, truncate */
#define OPEN_MODE  0x1b4u /* rw-rw-r-- */
#define SEEK_START 0u
#define SEEK_HERE  1u
#define SEEK_END   2u
#define UNIX_1980  UINT64_C(315532800)

__attribute__((noreturn)) void board_start(void);
int64_t hosting_call(uint64_t operation, uint64_t a, uint64_t b, uint64_t c); /* start.S */

uint64_t board_ticks_last;

static char command_line[1024];
static size_t command_line_bytes;

static struct spate_arena queue_memory = {
    .start = (uint8_t *)(KSEG1 + MACHINE_QUEUE),
    .bytes = MACHINE_QUEUE_BYTES,
};

static struct spate_arena memory = {
    .start = (uint8_t *)(KSEG0 + MACHINE_MEMORY),
    .bytes = MACHINE_MEMORY_BYTES,
};

/* All words one after the other, each with its NUL. */
static void read_arguments(void) {
  int64_t count = hosting_call(UHI_ARGUMENT_COUNT, 0, 0, 0);
  for (int64_t i = 0; i < count; i++) {
    int64_t length = hosting_call(UHI_ARGUMENT_LENGTH, (uint64_t)i, 0, 0);
    if (length < 0 || (uint64_t)length >= sizeof command_line - command_line_bytes) return;
    if (hosting_call(UHI_ARGUMENT, (uint64_t)i, (uintptr_t)(command_line + command_line_bytes), 0) < 0) return;
    command_line_bytes += (size_t)length + 1;
  }
}

void board_start(void) {
  read_arguments();
  board_exit(app_main());
}

const char *board_name(void) { return "QEMU Boston, MIPS64 I6400, Xilinx AXI-PCIe bridge"; }

uintptr_t board_absent_register(void) { return MACHINE_ABSENT_REGISTER; }

struct spate_arena *board_queue_memory(void) {
  return &queue_memory;
}

struct spate_arena *board_memory(void) {
  return &memory;
}

void *board_ring(uint64_t *bytes) {
  *bytes = MACHINE_RING_BYTES;
  return (void *)(XKPHYS_NOT_CACHED + MACHINE_RING);
}

/* The machine starts with its devices out of reset. */
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

void spate_port_log(const char *text, uint64_t value) { print("spate: %s %ju\n", text, (uintmax_t)value); }

const char *board_argument(const char *name, const char *fallback) {
  const char *value = arguments_find(command_line, command_line + command_line_bytes, name);
  return value ? value : fallback;
}

/* The board has no clock of its own: time starts in 1980 at each boot. */
void board_now(void *context, struct spate_exfat_time *time) {
  (void)context;
  calendar_from_unix(UNIX_1980 + spate_port_ticks() / spate_port_ticks_per_second(), time);
  time->utc_known = false;
}

/* All that differs between boots is how long things took so far. */
uint64_t board_random(void) {
  static uint64_t state;
  state = (state ^ spate_port_ticks()) + UINT64_C(0x9e3779b97f4a7c15);
  uint64_t mixed = state;
  mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
  return mixed ^ mixed >> 31;
}

int board_host_open(const char *path, bool write) {
  return (int)hosting_call(UHI_OPEN, (uintptr_t)path, write ? OPEN_WRITE : OPEN_READ, OPEN_MODE);
}

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

int64_t board_host_write(int file, const void *from, size_t bytes) {
  return hosting_call(UHI_WRITE, (uint64_t)file, (uintptr_t)from, bytes);
}

void board_host_close(int file) { (void)hosting_call(UHI_CLOSE, (uint64_t)file, 0, 0); }

void board_exit(int status) {
  for (;;)
    (void)hosting_call(UHI_EXIT, (uint64_t)status, 0, 0);
}
