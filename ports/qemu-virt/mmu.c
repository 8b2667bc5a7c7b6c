/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page tables (Arm ARM D5.3, 4 KiB granule). Everything is mapped at its own address: pages for the image, blocks
 * of 2 MiB and 1 GiB for the rest. What is not listed is not mapped: address 0, the guard below the stack, all other
 * RAM.
 *
 * The ring is non-cacheable, although the processor could fill a cached ring faster. On hardware, logic fills it and
 * the drive empties it. If a CPU accesses it (here it plays the sensor), no line can be stale, even if the application
 * forgets cache maintenance.
 */
#include "machine.h"
#include <stddef.h>
#include <stdint.h>

#define ENTRIES 512u
#define KIB4    UINT64_C(0x1000)
#define MIB2    UINT64_C(0x200000)
#define GIB1    UINT64_C(0x40000000)
#define GIB512  UINT64_C(0x8000000000)

#define TABLE       UINT64_C(3)
#define PAGE        UINT64_C(3)
#define BLOCK       UINT64_C(1)
#define ACCESSED    UINT64_C(0x400)
#define INNER_SHARE UINT64_C(0x300)
#define READ_ONLY   UINT64_C(0x080)
#define NO_EXECUTE  (UINT64_C(3) << 53)

#define DEVICE       (ACCESSED | NO_EXECUTE)                                  /* memory attribute 0 */
#define CACHED       (ACCESSED | NO_EXECUTE | INNER_SHARE | UINT64_C(1) << 2) /* 1 */
#define NOT_CACHED   (ACCESSED | NO_EXECUTE | INNER_SHARE | UINT64_C(2) << 2) /* 2; outer shareable in any case */
#define CACHED_TEXT  ((CACHED & ~NO_EXECUTE) | READ_ONLY)
#define CACHED_CONST (CACHED | READ_ONLY)

extern uint8_t __text_start[], __text_end[], __rodata_end[], __data_end[], __guard_end[], __image_end[];

uint64_t *mmu_build(void);

static uint64_t root[ENTRIES] __attribute__((aligned(4096)));
static uint64_t gib_of_low[ENTRIES] __attribute__((aligned(4096)));
static uint64_t gib_of_high[ENTRIES] __attribute__((aligned(4096)));
static uint64_t devices[ENTRIES] __attribute__((aligned(4096)));
static uint64_t ram[ENTRIES] __attribute__((aligned(4096)));
static uint64_t image[ENTRIES] __attribute__((aligned(4096)));

static void map(uint64_t *table, uint64_t size, uint64_t address, uint64_t bytes, uint64_t attributes) {
  for (uint64_t at = address; at < address + bytes; at += size)
    table[at / size % ENTRIES] = at | attributes;
}

static void map_pages(const uint8_t *start, const uint8_t *end, uint64_t attributes) {
  map(image, KIB4, (uintptr_t)start, (uintptr_t)end - (uintptr_t)start, attributes | PAGE);
}

uint64_t *mmu_build(void) {
  root[0] = (uintptr_t)gib_of_low | TABLE;
  root[1] = (uintptr_t)gib_of_high | TABLE;
  gib_of_low[0] = (uintptr_t)devices | TABLE;
  gib_of_low[1] = (uintptr_t)ram | TABLE;
  map(gib_of_low, GIB1, MACHINE_ECAM_ADDRESS & ~(GIB1 - 1), GIB1, DEVICE | BLOCK);
  map(gib_of_high, GIB1, MACHINE_PCIE_PREFETCHABLE_ADDRESS, MACHINE_PCIE_PREFETCHABLE_BYTES, DEVICE | BLOCK);

  map(devices, MIB2, MACHINE_UART_ADDRESS & ~(MIB2 - 1), MIB2, DEVICE | BLOCK);
  map(devices, MIB2, MACHINE_PCIE_MEMORY_ADDRESS, MACHINE_PCIE_MEMORY_BYTES, DEVICE | BLOCK);

  ram[MACHINE_IMAGE_ADDRESS / MIB2 % ENTRIES] = (uintptr_t)image | TABLE;
  map(ram, MIB2, MACHINE_QUEUE_ADDRESS, MACHINE_QUEUE_BYTES, NOT_CACHED | BLOCK);
  map(ram, MIB2, MACHINE_MEMORY_ADDRESS, MACHINE_MEMORY_BYTES, CACHED | BLOCK);
  map(ram, MIB2, MACHINE_RING_ADDRESS, MACHINE_RING_BYTES, NOT_CACHED | BLOCK);

  map_pages(__text_start, __text_end, CACHED_TEXT);
  map_pages(__text_end, __rodata_end, CACHED_CONST);
  map_pages(__rodata_end, __data_end, CACHED);
  map_pages(__guard_end, __image_end, CACHED);
  return root;
}
