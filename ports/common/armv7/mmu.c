/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page tables (Arm ARM v7 B3.5, short descriptors): the image by small pages, what map.h lists by sections of 1 MiB
 * where they fit. Everything is mapped at its own address. What is not listed is not mapped: address 0, the guard below
 * the stack, all other RAM. The link script reserves the memory of the tables, aligned to 16 KiB.
 */
#include "../map.h"

#include "../../board.h"
#include <spate/port.h>
#include <stddef.h>
#include <stdint.h>

#define SECTIONS      4096u
#define PAGES         256u
#define SECTION_BYTES UINT32_C(0x100000)
#define PAGE_BYTES    UINT32_C(0x1000)

/* Descriptors of the first level. */
#define KIND       UINT32_C(0x3)
#define TABLE      UINT32_C(0x1)
#define SECTION    UINT32_C(0x2)
#define NO_EXECUTE UINT32_C(0x00010)
#define PRIVILEGED UINT32_C(0x00400)
#define NORMAL     UINT32_C(0x01000) /* TEX 1 */
#define READ_ONLY  UINT32_C(0x08000)
#define SHAREABLE  UINT32_C(0x10000)
#define WRITE_BACK UINT32_C(0x0000c) /* C and B: with TEX 1, write-back and write-allocate in all caches */

/* Of the second level. */
#define PAGE            UINT32_C(0x2)
#define PAGE_NO_EXECUTE UINT32_C(0x1)

/* Non-cacheable memory is outer shareable in any case. */
#define STRONGLY_ORDERED (NO_EXECUTE | PRIVILEGED)
#define NOT_CACHED       (STRONGLY_ORDERED | NORMAL | SHAREABLE)
#define CACHED           (NOT_CACHED | WRITE_BACK)
#define CACHED_CONST     (CACHED | READ_ONLY)
#define CACHED_TEXT      (CACHED_CONST & ~NO_EXECUTE)

extern uint8_t __text_start[], __text_end[], __rodata_end[], __data_end[], __stack_start[], __image_end[];
extern uint32_t __tables_start[], __tables_end[];

uint32_t *mmu_build(void);

static uint32_t *unused;

/* The start-up code has cleared this memory. The first-level table comes first, so each table is aligned to its size.
 */
static uint32_t *new_table(uint32_t entries) {
  if (unused + entries > __tables_end) __builtin_trap(); /* the link script reserves too few */
  uint32_t *table = unused;
  unused += entries;
  return table;
}

/* The attributes of a section as those of a page: C and B lie at the same place, access rights, TEX and shareability 6
 * bits lower. */
static uint32_t page_attributes(uint32_t section) {
  return PAGE | (section & NO_EXECUTE ? PAGE_NO_EXECUTE : 0) | (section & WRITE_BACK) | (section >> 6 & 0x7f0u);
}

static void map_page(uint32_t *root, uint32_t address, uint32_t attributes) {
  uint32_t *entry = &root[address / SECTION_BYTES];
  if ((*entry & KIND) != TABLE) *entry = (uint32_t)(uintptr_t)new_table(PAGES) | TABLE;
  uint32_t *table = (uint32_t *)(uintptr_t)(*entry & ~(PAGES * sizeof(uint32_t) - 1u));
  table[address / PAGE_BYTES % PAGES] = address | page_attributes(attributes);
}

/* 64 bits: a range may end at 4 GiB. */
static void map(uint32_t *root, uint64_t address, uint64_t end, uint32_t attributes) {
  while (address < end) {
    const uint32_t at = (uint32_t)address;
    if (at % SECTION_BYTES == 0 && end - address >= SECTION_BYTES) {
      root[at / SECTION_BYTES] = at | attributes | SECTION;
      address += SECTION_BYTES;
    } else {
      map_page(root, at, attributes);
      address += PAGE_BYTES;
    }
  }
}

static void map_image(uint32_t *root, const uint8_t *start, const uint8_t *end, uint32_t attributes) {
  map(root, (uintptr_t)start, (uintptr_t)end, attributes);
}

/* The ring is not cached: ports/common/aarch64/mmu.c says why. */
uint32_t *mmu_build(void) {
  static const uint32_t attributes[] = {
      [MAP_REGISTERS] = STRONGLY_ORDERED, [MAP_CACHED] = CACHED, [MAP_NOT_CACHED] = NOT_CACHED};
  unused = __tables_start;
  uint32_t *root = new_table(SECTIONS);
  for (const struct map_range *range = map_ranges; range->bytes; range++)
    map(root, range->address, range->address + range->bytes, attributes[range->memory]);
  map_image(root, __text_start, __text_end, CACHED_TEXT);
  map_image(root, __text_end, __rodata_end, CACHED_CONST);
  map_image(root, __rodata_end, __data_end, CACHED);
  map_image(root, __stack_start, __image_end, CACHED);
  return root;
}

/* Reads the tables. The processor's own answer (ATS1CPR, PAR) has no attributes on every emulator. */
enum board_memory_kind board_memory_kind(const volatile void *address) {
  const uint32_t section = __tables_start[(uintptr_t)address / SECTION_BYTES];
  uint32_t bits = section & (NORMAL | WRITE_BACK);
  if ((section & KIND) == TABLE) {
    const uint32_t *table = (const uint32_t *)(uintptr_t)(section & ~(PAGES * sizeof(uint32_t) - 1u));
    const uint32_t page = table[(uintptr_t)address / PAGE_BYTES % PAGES];
    if (!(page & PAGE)) return BOARD_MEMORY_UNMAPPED;
    bits = (page & WRITE_BACK) | (page << 6 & NORMAL);
  } else if ((section & KIND) != SECTION) {
    return BOARD_MEMORY_UNMAPPED;
  }
  switch (bits) {
  case 0: return BOARD_MEMORY_REGISTERS;
  case NORMAL: return BOARD_MEMORY_NOT_CACHED;
  case NORMAL | WRITE_BACK: return BOARD_MEMORY_CACHED;
  default: return BOARD_MEMORY_UNKNOWN;
  }
}
