/* SPDX-License-Identifier: Apache-2.0 */
#include "tables.h"

#include "../bare.h"
#include "print.h"
#include <stdbool.h>
#include <stddef.h>

#define ENTRIES  512u
#define PAGE_LOG 12u
#define STEP_LOG 9u /* each level divides the block of the one above by 512 */
#define VALID    UINT64_C(1)
#define ADDRESS  UINT64_C(0x0000fffffffff000)

extern uint8_t __text_start[], __text_end[], __rodata_end[], __data_end[], __stack_start[], __image_end[];
extern uint64_t __tables_start[], __tables_end[];

static uint64_t *unused;

/* Weak: the console needs nothing to be done first. */
__attribute__((weak)) void board_console_open(void) {}

static uint64_t *new_table(void) {
  if (unused + ENTRIES > __tables_end) {
    board_console_open(); /* board_start() has not run yet */
    print("mmu    the page tables need more than the %u that the link script, or the design, reserves\n",
          (unsigned)((__tables_end - __tables_start) / (ptrdiff_t)ENTRIES));
    board_exit(1);
  }
  uint64_t *table = unused;
  unused += ENTRIES;
  return table;
}

/* log2 of what one entry of a level covers: 12 at the last level, then 21, 30, 39. */
static unsigned size_log(const struct tables_format *format, unsigned level) {
  return PAGE_LOG + STEP_LOG * (format->levels - 1 - level);
}

static size_t index_of(const struct tables_format *format, unsigned level, uint64_t address) {
  return (size_t)(address >> size_log(format, level)) % ENTRIES;
}

static uint64_t *next_table(const struct tables_format *format, uint64_t entry) {
  return (uint64_t *)(uintptr_t)(entry << format->address_shift & ADDRESS);
}

static bool fits(const struct tables_format *format, unsigned level, uint64_t address, uint64_t bytes) {
  const uint64_t size = UINT64_C(1) << size_log(format, level);
  return level >= format->block_level && address % size == 0 && bytes >= size;
}

/* Maps one block at the start of the range. Returns its size. */
static uint64_t map_block(const struct tables_format *format, uint64_t *table, uint64_t address, uint64_t bytes,
                          uint64_t attributes) {
  for (unsigned level = 0;; level++) {
    uint64_t *entry = &table[index_of(format, level, address)];
    if (fits(format, level, address, bytes)) {
      *entry =
          address >> format->address_shift | attributes | (level == format->levels - 1 ? format->page : format->block);
      return UINT64_C(1) << size_log(format, level);
    }
    if (!(*entry & VALID)) *entry = (uintptr_t)new_table() >> format->address_shift | format->link;
    table = next_table(format, *entry);
  }
}

static void map(const struct tables_format *format, uint64_t *root, uint64_t address, uint64_t end,
                enum map_memory kind) {
  while (address < end)
    address += map_block(format, root, address, end - address, format->attributes[kind]);
}

/* The ring is not cached, although the processor could fill a cached ring faster. On hardware, logic fills it and the
 * drive empties it. If a CPU accesses it (here it plays the sensor), no line can be stale, even if the application
 * forgets cache maintenance. */
uint64_t *tables_build(const struct tables_format *format) {
  unused = __tables_start;
  uint64_t *root = new_table();
  for (const struct map_range *range = map_ranges; range->bytes; range++)
    map(format, root, range->address, range->address + range->bytes, range->memory);
  map(format, root, (uintptr_t)__text_start, (uintptr_t)__text_end, MAP_TEXT);
  map(format, root, (uintptr_t)__text_end, (uintptr_t)__rodata_end, MAP_CONSTANTS);
  map(format, root, (uintptr_t)__rodata_end, (uintptr_t)__data_end, MAP_CACHED);
  map(format, root, (uintptr_t)__stack_start, (uintptr_t)__image_end, MAP_CACHED);
  return root;
}
