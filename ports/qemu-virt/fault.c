/* SPDX-License-Identifier: Apache-2.0 */
/* What an AArch64 exception means (Arm ARM D13.2.37, ESR_EL1). */
#include "../common/fault.h"

extern uint8_t __guard_start[], __guard_end[];

__attribute__((noreturn)) void fault_taken(uint64_t vector, uint64_t esr, uint64_t far, uint64_t elr, uint64_t lr,
                                           uint64_t sp);

static enum fault_kind abort_kind(unsigned status) {
  if (status == 0x21) return FAULT_MISALIGNED;
  if (status == 0x10 || (status >= 0x14 && status <= 0x17)) return FAULT_BUS;
  switch (status >> 2) {
  case 0: /* address size */
  case 1: return FAULT_UNMAPPED;
  case 3: return FAULT_PERMISSION;
  default: return FAULT_OTHER;
  }
}

static enum fault_kind kind_of(unsigned vector, uint32_t esr) {
  switch (vector % 4) {
  case 1:
  case 2: return FAULT_INTERRUPT;
  case 3: return FAULT_BUS; /* SError */
  default: break;
  }
  switch (esr >> 26) {
  case 0x00:
  case 0x0e:
  case 0x3c: return FAULT_INSTRUCTION;
  case 0x20:
  case 0x21:
  case 0x24:
  case 0x25: return abort_kind(esr & 0x3f);
  case 0x22:
  case 0x26: return FAULT_MISALIGNED; /* program counter, stack pointer */
  default: return FAULT_OTHER;
  }
}

void fault_taken(uint64_t vector, uint64_t esr, uint64_t far, uint64_t elr, uint64_t lr, uint64_t sp) {
  struct fault fault = {
      .kind = kind_of((unsigned)vector, (uint32_t)esr),
      .address = far,
      .pc = elr,
      .caller = lr,
      .stack = sp,
      .syndrome = (uint32_t)esr,
      .syndrome_name = "ESR_EL1",
  };
  fault_stop(&fault, (struct fault_guard){(uintptr_t)__guard_start, (uintptr_t)__guard_end});
}
