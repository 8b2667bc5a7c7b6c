/* SPDX-License-Identifier: Apache-2.0 */
/* What a MIPS exception means (MIPS64 privileged architecture R6, 9.39: Cause.ExcCode). */
#include "../common/fault.h"
#include "machine.h"

__attribute__((noreturn)) void fault_taken(uint32_t cause, uint64_t epc, uint64_t bad_address, uint64_t ra,
                                           uint64_t sp);

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

void fault_taken(uint32_t cause, uint64_t epc, uint64_t bad_address, uint64_t ra, uint64_t sp) {
  struct fault fault = {
      .kind = kind_of(cause >> 2 & 0x1f, bad_address),
      .address = bad_address,
      .pc = epc,
      .caller = ra,
      .stack = sp,
      .syndrome = cause,
      .syndrome_name = "Cause",
  };
  fault_stop(&fault, (struct fault_guard){MACHINE_GUARD, MACHINE_STACK});
}
