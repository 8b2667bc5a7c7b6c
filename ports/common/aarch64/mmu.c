/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page tables (Arm ARM D5.3, 4 KiB granule), for EL1: the image by page, what map.h lists by the largest blocks
 * that fit. Everything is mapped at its own address. What is not listed is not mapped: address 0, the guard below the
 * stack, all other RAM. The link script reserves the memory of the tables.
 */
#include "../map.h"

#include "../../board.h"
#include <spate/port.h>
#include <stddef.h>
#include <stdint.h>

#define ENTRIES  512u
#define LEVELS   4u
#define PAGE_LOG 12u
#define STEP_LOG 9u /* each level divides the block of the one above by 512 */

#define VALID       UINT64_C(1)
#define TABLE       UINT64_C(3)
#define PAGE        UINT64_C(3) /* the same bits, at the last level */
#define BLOCK       UINT64_C(1)
#define ACCESSED    UINT64_C(0x400)
#define INNER_SHARE UINT64_C(0x300)
#define READ_ONLY   UINT64_C(0x080)
#define NO_EXECUTE  (UINT64_C(3) << 53)
#define ADDRESS     UINT64_C(0x0000fffffffff000)

#define DEVICE       (ACCESSED | NO_EXECUTE)                                  /* memory attribute 0 */
#define CACHED       (ACCESSED | NO_EXECUTE | INNER_SHARE | UINT64_C(1) << 2) /* 1 */
#define NOT_CACHED   (ACCESSED | NO_EXECUTE | INNER_SHARE | UINT64_C(2) << 2) /* 2; outer shareable in any case */
#define CACHED_TEXT  ((CACHED & ~NO_EXECUTE) | READ_ONLY)
#define CACHED_CONST (CACHED | READ_ONLY)

extern uint8_t __text_start[], __text_end[], __rodata_end[], __data_end[], __stack_start[], __image_end[];
extern uint64_t __tables_start[], __tables_end[];

uint64_t *mmu_build(void);

static uint64_t *unused;

/* The start-up code has cleared this memory. */
static uint64_t *new_table(void) {
  if (unused + ENTRIES > __tables_end) __builtin_trap(); /* the link script reserves too few */
  uint64_t *table = unused;
  unused += ENTRIES;
  return table;
}

/* log2 of what one entry of a level covers: 39, 30, 21, 12. */
static unsigned size_log(unsigned level) { return PAGE_LOG + STEP_LOG * (LEVELS - 1 - level); }

/* Level 0 has no blocks. */
static bool fits_block(unsigned level, uint64_t address, uint64_t bytes) {
  const uint64_t size = UINT64_C(1) << size_log(level);
  return level > 0 && address % size == 0 && bytes >= size;
}

/* Maps one block at the start of the range. Returns its size. */
static uint64_t map_block(uint64_t *table, uint64_t address, uint64_t bytes, uint64_t attributes) {
  unsigned level = 0;
  for (;; level++) {
    uint64_t *entry = &table[(address >> size_log(level)) % ENTRIES];
    if (fits_block(level, address, bytes)) {
      *entry = address | attributes | (level == LEVELS - 1 ? PAGE : BLOCK);
      return UINT64_C(1) << size_log(level);
    }
    if (!(*entry & VALID)) *entry = (uintptr_t)new_table() | TABLE;
    table = (uint64_t *)(uintptr_t)(*entry & ADDRESS);
  }
}

static void map(uint64_t *root, uint64_t address, uint64_t end, uint64_t attributes) {
  while (address < end)
    address += map_block(root, address, end - address, attributes);
}

static void map_image(uint64_t *root, const uint8_t *start, const uint8_t *end, uint64_t attributes) {
  map(root, (uintptr_t)start, (uintptr_t)end, attributes);
}

/* The ring is not cached, although the processor could fill a cached ring faster. On hardware, logic fills it and the
 * drive empties it. If a CPU accesses it (here it plays the sensor), no line can be stale, even if the application
 * forgets cache maintenance. */
uint64_t *mmu_build(void) {
  static const uint64_t attributes[] = {[MAP_REGISTERS] = DEVICE, [MAP_CACHED] = CACHED, [MAP_NOT_CACHED] = NOT_CACHED};
  unused = __tables_start;
  uint64_t *root = new_table();
  for (const struct map_range *range = map_ranges; range->bytes; range++)
    map(root, range->address, range->address + range->bytes, attributes[range->memory]);
  map_image(root, __text_start, __text_end, CACHED_TEXT);
  map_image(root, __text_end, __rodata_end, CACHED_CONST);
  map_image(root, __rodata_end, __data_end, CACHED);
  map_image(root, __stack_start, __image_end, CACHED);
  return root;
}

/* Asks the processor's own table walk: PAR_EL1 has the attributes of the address (Arm ARM D13.2.90). */
enum board_memory_kind board_memory_kind(const volatile void *address) {
  uint64_t answer;
  __asm__ volatile("at s1e1r, %1\n\tisb\n\tmrs %0, par_el1" : "=r"(answer) : "r"(address) : "memory");
  if (answer & 1u) return BOARD_MEMORY_UNMAPPED;
  switch (answer >> 56) {
  case 0x00: return BOARD_MEMORY_REGISTERS;
  case 0x44: return BOARD_MEMORY_NOT_CACHED;
  case 0xff: return BOARD_MEMORY_CACHED;
  default: return BOARD_MEMORY_UNKNOWN;
  }
}
