/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include "../board.h"
#include "print.h"
#include <spate/port.h>

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
  case FAULT_INSTRUCTION: return "undefined instruction at";
  case FAULT_INTERRUPT: return "unexpected interrupt at";
  case FAULT_OTHER: break;
  }
  return "exception at";
}

__attribute__((noreturn)) static void stand_still(void) {
  for (;;)
    spate_port_relax();
}

/* Weak: a board that can raise such an error defines its own. */
__attribute__((weak)) bool board_provoke_late_error(const volatile void *address) {
  (void)address;
  return false;
}

void fault_stop(const struct fault *fault, struct fault_guard guard) {
  /* Without semihosting, board_exit() itself faults: report only the first fault. */
  static bool stopping;
  if (stopping) stand_still();
  stopping = true;

  /* Without an access, report the address of the instruction. */
  bool access = fault->kind != FAULT_INSTRUCTION && fault->kind != FAULT_INTERRUPT && fault->kind != FAULT_OTHER;
  uintptr_t address = access ? fault->address : fault->pc;
  const unsigned digits = sizeof(uintptr_t) * 2;
  print("\nfault: %s 0x%0*jx\n", sentence(fault, guard), digits, (uintmax_t)address);
  print("       pc 0x%0*jx  called from 0x%0*jx  stack pointer 0x%0*jx  %s 0x%08x\n", digits, (uintmax_t)fault->pc,
        digits, (uintmax_t)fault->caller, digits, (uintmax_t)fault->stack, fault->syndrome_name, fault->syndrome);
  board_exit(FAULT_EXIT_STATUS);
}
