/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of a MIPS exception (MIPS64 privileged architecture R6, 9.39: Cause.ExcCode). */
#include "../common/fault.h"
#include "machine.h"

#include <stdbool.h>

uint64_t fault_taken(uint32_t cause, uint64_t epc, uint64_t bad_address, uint64_t registers[32]);

#define DATA_BUS_ERROR UINT32_C(7)
#define DELAY_SLOT     UINT32_C(0x80000000)
#define STACK          29u
#define RETURN         31u

static enum fault_kind kind_of(unsigned code, uint64_t bad_address) {
  switch (code) {
  case 0: return FAULT_INTERRUPT;
  case 1: return FAULT_PERMISSION; /* a write to a page that is not writable */
  case 2:
  case 3: return FAULT_UNMAPPED;
  case 4:
  case 5: return bad_address % 8 ? FAULT_MISALIGNED : FAULT_UNMAPPED; /* or an address outside all segments */
  case 6:
  case 7: return FAULT_BUS;
  case 8:
  case 9:
  case 10:
  case 11:
  case 13: return FAULT_INSTRUCTION;
  case 19:
  case 20: return FAULT_PERMISSION;
  default: return FAULT_OTHER;
  }
}

/*
 * Is this an access by spate_board.h that no device answered: LW, LD, SW or SD without an offset, not in a delay slot?
 * A read then returns all ones. Only the bus causes this exception; an access through a bad pointer causes other
 * faults.
 */
static bool is_survived(uint32_t cause, uint32_t instruction, uint64_t registers[32]) {
  if ((cause >> 2 & 0x1f) != DATA_BUS_ERROR || (cause & DELAY_SLOT)) return false;
  uint64_t *target = &registers[instruction >> 16 & 0x1f];
  switch (instruction & 0xfc00ffffu) {
  case 0x8c000000u:
  case 0xdc000000u: *target = UINT64_MAX; return true; /* LW extends the sign */
  case 0xac000000u:
  case 0xfc000000u: return true; /* a write is dropped */
  default: return false;
  }
}

uint64_t fault_taken(uint32_t cause, uint64_t epc, uint64_t bad_address, uint64_t registers[32]) {
  const bool has_instruction = (cause >> 2 & 0x1f) == DATA_BUS_ERROR;
  if (has_instruction && is_survived(cause, *(const uint32_t *)epc, registers)) return epc + sizeof(uint32_t);
  struct fault fault = {
      .kind = kind_of(cause >> 2 & 0x1f, bad_address),
      .address = bad_address,
      .pc = epc,
      .caller = registers[RETURN],
      .stack = registers[STACK],
      .syndrome = cause,
      .syndrome_name = "Cause",
  };
  fault_stop(&fault, (struct fault_guard){MACHINE_GUARD, MACHINE_STACK});
}
