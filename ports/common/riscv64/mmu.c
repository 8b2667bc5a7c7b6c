/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V's page tables (privileged architecture 1.12, section 4.4: Sv39), for supervisor mode. */
#include "mmu.h"

#include "../../board.h"
#include "../tables.h"

#define VALID    UINT64_C(0x01)
#define READ     UINT64_C(0x02)
#define WRITE    UINT64_C(0x04)
#define EXECUTE  UINT64_C(0x08)
#define ACCESSED UINT64_C(0x40) /* set beforehand: many processors trap instead of setting these two */
#define DIRTY    UINT64_C(0x80)

#define DATA (READ | WRITE | ACCESSED | DIRTY)

#define LEVELS   3u
#define INDEX    0x1ffu
#define ROOT_LOG 30u /* log2 of what an entry of the root covers */
#define STEP_LOG 9u
#define TOP_LOG  38u /* an address that is valid repeats bit 38 above it */

uint64_t *mmu_build(void);

static const uint64_t *root;

uint64_t *mmu_build(void) {
  static const struct tables_format format = {
      .levels = LEVELS,
      .address_shift = 2,
      .link = VALID,
      .block = VALID,
      .page = VALID,
      .attributes =
          {
              [MAP_REGISTERS] = DATA,
              [MAP_CACHED] = DATA,
              [MAP_NOT_CACHED] = DATA,
              [MAP_TEXT] = READ | EXECUTE | ACCESSED,
              [MAP_CONSTANTS] = READ | ACCESSED,
          },
  };
  uint64_t *built = tables_build(&format);
  root = built;
  return built;
}

bool mmu_is_mapped(uint64_t address) {
  const uint64_t *table = root;
  if (address >> TOP_LOG) return false;
  for (unsigned level = 0; level < LEVELS; level++) {
    const uint64_t entry = table[address >> (ROOT_LOG - STEP_LOG * level) & INDEX];
    if (!(entry & VALID)) return false;
    if (entry & (READ | WRITE | EXECUTE)) return true;
    table = (const uint64_t *)(uintptr_t)(entry >> 10 << 12);
  }
  return false;
}

/* The tables do not say what is cached: the physical memory attributes of the address do, and no program can ask for
 * them (section 3.6). */
enum board_memory_kind board_memory_kind(const volatile void *address) {
  return mmu_is_mapped((uintptr_t)address) ? BOARD_MEMORY_UNKNOWN : BOARD_MEMORY_UNMAPPED;
}
