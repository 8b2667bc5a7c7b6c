/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory protection unit (Arm ARM v7 B5.1): what map.h lists, and the image. Where regions overlap, the one with
 * the higher number counts. What is in none is not mapped: the background region is off.
 */
#include "mpu.h"

#include "../../board.h"
#include "../map.h"
#include <spate/port.h>
#include <stddef.h>

#define REGIONS 16u /* of a Cortex-R5 in a Zynq UltraScale+ */

/* DRACR (B5.2): access at 8, TEX at 3, S 4, C 2, B 1. Shareable memory is not cached by a Cortex-R5. */
#define NO_EXECUTE 0x1000u
#define READ_WRITE 0x100u
#define READ_ONLY  0x500u
#define NORMAL     0x8u
#define SHAREABLE  0x4u
#define WRITE_BACK 0x3u

#define STRONGLY_ORDERED (NO_EXECUTE | READ_WRITE)
#define NOT_CACHED       (NO_EXECUTE | READ_WRITE | NORMAL | SHAREABLE)
#define CACHED           (NO_EXECUTE | READ_WRITE | NORMAL | WRITE_BACK)
#define CACHED_TEXT      (READ_ONLY | NORMAL | WRITE_BACK)
#define KIND             (NORMAL | WRITE_BACK)

extern uint8_t __text_start[], __rodata_end[], __data_end[], __stack_start[], __vectors_start[], __vectors_end[];

void mpu_build(void);

static struct mpu_region regions[REGIONS];
static unsigned count;

/* The other registers are those of the region that RGNR names, once an ISB has made this known. */
static void choose(unsigned number) { __asm__ volatile("mcr p15, 0, %0, c6, c2, 0\n\tisb" ::"r"(number) : "memory"); }

static void set_size(uint32_t size) { __asm__ volatile("mcr p15, 0, %0, c6, c1, 2" ::"r"(size) : "memory"); } /* DRSR */

static void program(unsigned number, const struct mpu_region *region) {
  choose(number);
  __asm__ volatile("mcr p15, 0, %0, c6, c1, 0\n\t" /* DRBAR */
                   "mcr p15, 0, %1, c6, c1, 4"     /* DRACR */
                   ::"r"(region->base),
                   "r"(region->attributes)
                   : "memory");
  set_size(region->left_out << 8 | (region->size_log - 1u) << 1 | 1u);
}

static void map(uint64_t start, uint64_t end, uint32_t attributes) {
  while (start < end) {
    if (count == REGIONS) __builtin_trap(); /* map_ranges has too many, or too odd ones */
    struct mpu_region *region = &regions[count];
    start = mpu_cover(start, end, region);
    region->attributes = attributes;
    program(count++, region);
  }
}

static void turn_off(unsigned number) {
  choose(number);
  set_size(0);
}

/* What the processor may write comes first. Text and constants lie in it, and count more. */
void mpu_build(void) {
  static const uint32_t attributes[] = {
      [MAP_REGISTERS] = STRONGLY_ORDERED, [MAP_CACHED] = CACHED, [MAP_NOT_CACHED] = NOT_CACHED};
  for (unsigned i = 0; i < REGIONS; i++)
    turn_off(i);
  for (const struct map_range *range = map_ranges; range->bytes; range++)
    map(range->address, range->address + range->bytes, attributes[range->memory]);
  map((uintptr_t)__stack_start, (uintptr_t)__data_end, CACHED);
  map((uintptr_t)__text_start, (uintptr_t)__rodata_end, CACHED_TEXT);
  map((uintptr_t)__vectors_start, (uintptr_t)__vectors_end, CACHED_TEXT);
  __asm__ volatile("dsb\n\tisb" ::: "memory");
}

static bool has(const struct mpu_region *region, uint32_t address) {
  const uint32_t offset = address - region->base;
  return (uint64_t)offset >> region->size_log == 0 && !(region->left_out >> (offset >> (region->size_log - 3u)) & 1u);
}

enum board_memory_kind board_memory_kind(const volatile void *address) {
  for (unsigned i = count; i-- > 0;) {
    if (!has(&regions[i], (uintptr_t)address)) continue;
    switch (regions[i].attributes & KIND) {
    case 0: return BOARD_MEMORY_REGISTERS;
    case NORMAL: return BOARD_MEMORY_NOT_CACHED;
    default: return BOARD_MEMORY_CACHED;
    }
  }
  return BOARD_MEMORY_UNMAPPED;
}
