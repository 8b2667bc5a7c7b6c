/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include "../board.h"
#include "print.h"

#define NULL_PAGE_BYTES 4096u

static const char *sentence(const struct fault *fault, struct fault_guard guard) {
  bool access = fault->kind == FAULT_UNMAPPED || fault->kind == FAULT_PERMISSION;
  if (access && fault->address >= guard.start && fault->address < guard.end) return "stack overflow at";
  if (access && fault->address < NULL_PAGE_BYTES) return "access through a null pointer at";
  switch (fault->kind) {
  case FAULT_UNMAPPED: return "access to unmapped memory at";
  case FAULT_PERMISSION: return "forbidden access (a write to constants, or a jump into data) at";
  case FAULT_MISALIGNED: return "misaligned access at";
  case FAULT_BUS: return "bus error: no answer, or an error, at";
  case FAULT_INSTRUCTION: return "undefined instruction; last fault address";
  case FAULT_INTERRUPT: return "unexpected interrupt; last fault address";
  case FAULT_OTHER: break;
  }
  return "exception; last fault address";
}

void fault_stop(const struct fault *fault, struct fault_guard guard) {
  const unsigned digits = sizeof(uintptr_t) * 2;
  print("\nfault: %s 0x%0*jx\n", sentence(fault, guard), digits, (uintmax_t)fault->address);
  print("       pc 0x%0*jx  called from 0x%0*jx  stack pointer 0x%0*jx  %s 0x%08x\n", digits, (uintmax_t)fault->pc,
        digits, (uintmax_t)fault->caller, digits, (uintmax_t)fault->stack, fault->syndrome_name, fault->syndrome);
  board_exit(FAULT_EXIT_STATUS);
}
