/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of a RISC-V exception in supervisor mode (privileged architecture 1.12, table 4.2: scause). */
#include "../fault.h"
#include "mmu.h"

extern uint8_t __guard_start[], __stack_start[];

uint64_t fault_taken(uint64_t cause, uint64_t address, uint64_t pc, uint64_t registers[32]);

enum {
  FETCH_MISALIGNED = 0,
  FETCH_ACCESS = 1,
  ILLEGAL = 2,
  BREAKPOINT = 3,
  LOAD_MISALIGNED = 4,
  LOAD_ACCESS = 5,
  STORE_MISALIGNED = 6,
  STORE_ACCESS = 7,
  FETCH_PAGE = 12,
  LOAD_PAGE = 13,
  STORE_PAGE = 15,
};

#define INTERRUPT (UINT64_C(1) << 63)
#define RETURN    1u
#define STACK     2u
#define RESULT    10u /* a0 */

/* The call to a host: EBREAK between two instructions that do nothing. */
#define HOST_BEFORE 0x01f01013u
#define HOST_AFTER  0x40705013u

/* Page faults come from the tables, access faults from the bus. */
static enum fault_kind kind_of(uint64_t cause, uint64_t address) {
  if (cause & INTERRUPT) return FAULT_INTERRUPT;
  switch (cause) {
  case FETCH_MISALIGNED:
  case LOAD_MISALIGNED:
  case STORE_MISALIGNED: return FAULT_MISALIGNED;
  case FETCH_ACCESS:
  case LOAD_ACCESS:
  case STORE_ACCESS: return FAULT_BUS;
  case ILLEGAL:
  case BREAKPOINT: return FAULT_INSTRUCTION;
  case FETCH_PAGE:
  case LOAD_PAGE:
  case STORE_PAGE: return mmu_is_mapped(address) ? FAULT_PERMISSION : FAULT_UNMAPPED;
  default: return FAULT_OTHER;
  }
}

/* Instructions are aligned to 2 bytes. */
static uint32_t instruction_at(uint64_t address) {
  const uint16_t *half = (const uint16_t *)address;
  return half[0] | (uint32_t)half[1] << 16;
}

/*
 * Is this an access by spate_board.h that no device answered: LW, LD, SW or SD without an offset, not compressed? A
 * read then returns all ones. Only the bus causes access faults; an access through a bad pointer causes other faults.
 */
static bool is_survived(uint64_t cause, uint64_t pc, uint64_t registers[32]) {
  if (cause == LOAD_ACCESS) {
    const uint32_t load = instruction_at(pc);
    const uint32_t form = load & 0xfff0707fu;
    if (form != 0x00002003u && form != 0x00003003u) return false;
    registers[load >> 7 & 0x1f] = UINT64_MAX; /* LW extends the sign */
    return true;
  }
  if (cause != STORE_ACCESS) return false;
  const uint32_t form = instruction_at(pc) & 0xfe007fffu;
  return form == 0x00002023u || form == 0x00003023u; /* a write is dropped */
}

/* The call to a host that is not there is a breakpoint. It returns -1. */
static bool is_call_to_no_host(uint64_t cause, uint64_t pc, uint64_t registers[32]) {
  if (cause != BREAKPOINT || instruction_at(pc - 4) != HOST_BEFORE || instruction_at(pc + 4) != HOST_AFTER)
    return false;
  registers[RESULT] = UINT64_MAX;
  return true;
}

uint64_t fault_taken(uint64_t cause, uint64_t address, uint64_t pc, uint64_t registers[32]) {
  if (is_call_to_no_host(cause, pc, registers) || is_survived(cause, pc, registers)) return pc + sizeof(uint32_t);
  struct fault fault = {
      .kind = kind_of(cause, address),
      .address = address,
      .pc = pc,
      .caller = registers[RETURN],
      .stack = registers[STACK],
      .syndrome = (uint32_t)cause,
      .syndrome_name = "scause",
  };
  fault_stop(&fault, (struct fault_guard){(uintptr_t)__guard_start, (uintptr_t)__stack_start});
}
