/* SPDX-License-Identifier: Apache-2.0 */
/* AArch64's page tables (Arm ARM D5.3, 4 KiB granule), for EL1. */
#if __has_include(<machine.h>)
#include <machine.h>
#endif
#include "../tables.h"

#include "../../board.h"
#include <spate/port.h>

#define TABLE       UINT64_C(3)
#define PAGE        UINT64_C(3) /* the same bits, at the last level */
#define BLOCK       UINT64_C(1)
#define ACCESSED    UINT64_C(0x400)
#define INNER_SHARE UINT64_C(0x300)
#define READ_ONLY   UINT64_C(0x080)
#define NO_EXECUTE  (UINT64_C(3) << 53)

#define DEVICE     (ACCESSED | NO_EXECUTE)                                  /* memory attribute 0 */
#define CACHED     (ACCESSED | NO_EXECUTE | INNER_SHARE | UINT64_C(1) << 2) /* 1 */
#define NOT_CACHED (ACCESSED | NO_EXECUTE | INNER_SHARE | UINT64_C(2) << 2) /* 2; outer shareable in any case */

uint64_t *mmu_build(void);

uint64_t *mmu_build(void) {
  static const struct tables_format format = {
#ifdef MACHINE_39_BITS /* start.S tells the processor */
      .levels = 3,
      .block_level = 0,
#else
      .levels = 4,
      .block_level = 1,
#endif
      .link = TABLE,
      .block = BLOCK,
      .page = PAGE,
      .attributes =
          {
              [MAP_REGISTERS] = DEVICE,
              [MAP_CACHED] = CACHED,
              [MAP_NOT_CACHED] = NOT_CACHED,
              [MAP_TEXT] = (CACHED & ~NO_EXECUTE) | READ_ONLY,
              [MAP_CONSTANTS] = CACHED | READ_ONLY,
          },
  };
  return tables_build(&format);
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
