/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an application needs from a board beside the library's port (spate/port.h): memory, a bridge, a console, a way
 * out. Each folder in ports/ that boots implements these; applications are written against this header only.
 */
#ifndef SPATE_PORTS_BOARD_H
#define SPATE_PORTS_BOARD_H

#include <spate/dma.h>
#include <spate/exfat.h>
#include <spate/nvme_pcie.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called by the board's start-up code with MMU and caches on; the board exits with what it returns (0: success). */
int app_main(void);

const char *board_name(void);

/* An address that is mapped as registers are, and that no device has: reading it shows what the port makes of that. */
uintptr_t board_absent_register(void);

/* Uncached (or coherent) memory for queues, tables and metadata. The same arena at each call. */
struct spate_arena *board_queue_memory(void);

/* The DMA ring as a region, whose table comes from board_queue_memory(). On real hardware logic fills it. Errors: those
 * of spate_region_init(). */
SPATE_MUST_CHECK enum spate_error board_ring_open(struct spate_region *ring);

/* Ordinary cached memory for an application's large objects (a bitmap, a report). */
struct spate_arena *board_memory(void);

/*
 * Everything that comes before a driver: `host` lists the functions that are ready for DMA, with their registers at
 * bar0, for spate_pcie_find() and spate_pcie_link_check(). A bare board enumerates: ports/common/bring_up.c does it,
 * with the two functions of bare.h. Under Linux the kernel has enumerated, and the list has the function that the user
 * named. Errors: those of spate_pcie_*_open() and spate_pcie_enumerate(); host->failed_at says where.
 */
SPATE_MUST_CHECK enum spate_error board_pcie_bring_up(struct spate_pcie_host *host);
/* What a driver asks of the bus (spate_nvme_config.bus): spate_nvme_pcie_bus() where the board enumerated by itself.
 * `way` is kept. */
struct spate_nvme_bus board_nvme_bus(struct spate_nvme_pcie *way);

/* Console. */
void board_write(const char *text, size_t bytes);

/* The value of `name=value` among the words the host started the board with; `fallback` if it is not there. */
const char *board_argument(const char *name, const char *fallback);

/* Wall clock, where the board has one; suits spate_exfat_config.now. */
void board_now(void *context, struct spate_exfat_time *time);

/* 64 bits that differ from boot to boot, as well as the board can. */
uint64_t board_random(void);

/* Files of the host that runs the emulator (semihosting), for reading: an emulated board's stand-in for the source of a
 * stream. Return < 0 on failure. read: bytes read, 0 at the end. */
int board_host_open(const char *path);
int64_t board_host_size(int file);
int64_t board_host_read(int file, void *to, size_t bytes);
void board_host_close(int file);

/* End the run; the host sees `status` as the emulator's exit status. */
__attribute__((noreturn)) void board_exit(int status);

#endif
