/* SPDX-License-Identifier: Apache-2.0 */
/* What an application needs from a board in addition to the library's port (spate/port.h): memory, a bridge, a console,
 * an exit. Each folder in ports/ that boots implements these functions. Applications use only this header. */
#ifndef SPATE_PORTS_BOARD_H
#define SPATE_PORTS_BOARD_H

#include <spate/dma.h>
#include <spate/doctor.h>
#include <spate/exfat.h>
#include <spate/nvme_pcie.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The board's start-up code calls this with MMU and caches on. The board exits with its return value (0: success). */
int app_main(void);

const char *board_name(void);

/* An address that is mapped like registers, but without a device: a read of it shows how the port handles this case. */
uintptr_t board_absent_register(void);

/* For a test of the port: lets the processor see an error of the bus that comes late, apart from the access that caused
 * it (SError on Armv8-A). NULL: now, as after a write that failed. Otherwise during the next read of the 8 bytes at
 * this address. False: this board cannot do that. */
bool board_provoke_late_error(const volatile void *address);

/* Uncached (or coherent) memory for queues, tables and metadata. Each call returns the same arena. */
struct spate_arena *board_queue_memory(void);

/* The DMA ring as a region; its table comes from board_queue_memory(). On real hardware logic fills the ring. Errors:
 * those of spate_region_init(). */
SPATE_MUST_CHECK enum spate_error board_ring_open(struct spate_region *ring);

/* Ordinary cached memory for an application's large objects (a bitmap, a report). */
struct spate_arena *board_memory(void);

/*
 * Everything that comes before a driver: `host` lists the functions that are ready for DMA, with their registers at
 * bar0, for spate_pcie_find() and spate_pcie_link_check(). On a board without an operating system,
 * ports/common/bring_up.c enumerates, with board_pcie_open() of bare.h. Under Linux the kernel has enumerated, and the
 * list has the function that the user named. Errors: those of spate_pcie_*_open() and spate_pcie_enumerate();
 * host->failed_at says where.
 */
SPATE_MUST_CHECK enum spate_error board_pcie_bring_up(struct spate_pcie_host *host);
/* What a driver needs from the bus (spate_nvme_config.bus): spate_nvme_pcie_bus() if the board itself enumerated.
 * `pcie_bus` must stay valid. */
struct spate_nvme_bus board_nvme_bus(struct spate_nvme_pcie *pcie_bus);

/* How the board's bridge numbers the states of its link (spate_checkup_config.ltssm). Not under Linux. */
enum spate_doctor_ltssm board_ltssm(void);

/* How the processor accesses this address. UNKNOWN on boards that cannot ask their page tables. */
enum board_memory_kind {
  BOARD_MEMORY_UNKNOWN,
  BOARD_MEMORY_UNMAPPED,
  BOARD_MEMORY_REGISTERS,
  BOARD_MEMORY_CACHED,
  BOARD_MEMORY_NOT_CACHED,
};
enum board_memory_kind board_memory_kind(const volatile void *address);

/* Console. */
void board_write(const char *text, size_t bytes);

/* The value of `name=value` among the words that the host started the board with; `fallback` if there is none. */
const char *board_argument(const char *name, const char *fallback);

/* The wall clock, if the board has one. Suits spate_exfat_config.now. */
void board_now(void *context, struct spate_exfat_time *time);

/* 64 bits that differ from boot to boot, as far as the board can do that. */
uint64_t board_random(void);

/* Files of the host that runs the emulator (semihosting), for reading: an emulated board uses them as the source of a
 * stream. < 0: failure. board_host_read() returns the number of bytes read, 0 at the end of the file. */
int board_host_open(const char *path);
int64_t board_host_size(int file);
int64_t board_host_read(int file, void *to, size_t bytes);
void board_host_close(int file);

/* Ends the run. The host gets `status` as the emulator's exit status. */
__attribute__((noreturn)) void board_exit(int status);

#endif
