/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of an AArch64 exception (Arm ARM D13.2.37, ESR_EL1). */
#include "../fault.h"

#include <spate/port.h>
#include <stdbool.h>

extern uint8_t __guard_start[], __stack_start[];

uint64_t fault_taken(uint64_t vector, uint64_t esr, uint64_t far, uint64_t elr, uint64_t registers[32]);

#define SYNCHRONOUS    4u /* vectors: from this exception level, with its own stack pointer */
#define SERROR         7u
#define DATA_ABORT     0x25u
#define EXTERNAL_ABORT 0x10u /* from the bus; not on a table walk */
#define LINK           30u
#define STACK          31u
#define SEMIHOSTING    0xd45e0000u /* HLT #0xf000 */

static volatile bool serror_expected;

void spate_port_serror_take(void) {
  serror_expected = true;
  __asm__ volatile("msr daifclr, #4\n\tisb\n\tmsr daifset, #4" ::: "memory");
  serror_expected = false;
}

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

/*
 * Is this an access by spate_board.h that no device answered: LDR or STR of 32 bits, without an offset? A read then
 * returns all ones. Only the bus causes external aborts; an access through a bad pointer causes other faults.
 */
static bool is_survived(uint64_t vector, uint32_t esr, uint32_t instruction, uint64_t registers[32]) {
  if (vector != SYNCHRONOUS || esr >> 26 != DATA_ABORT || (esr & 0x3f) != EXTERNAL_ABORT) return false;
  uint64_t *target = &registers[instruction & 0x1f];
  switch (instruction & 0xfffffc00u) {
  case 0xb9400000u: *target = UINT32_MAX; return true;
  case 0xb9000000u: return true; /* a write is dropped */
  default: return false;
  }
}

/* The call to a host that is not there: on a board without a debugger the instruction is undefined. It returns -1. */
static bool is_call_to_no_host(uint64_t vector, uint32_t esr, uint64_t elr, uint64_t registers[32]) {
  if (vector != SYNCHRONOUS || esr >> 26 != 0 || *(const uint32_t *)elr != SEMIHOSTING) return false;
  registers[0] = UINT64_MAX;
  return true;
}

uint64_t fault_taken(uint64_t vector, uint64_t esr, uint64_t far, uint64_t elr, uint64_t registers[32]) {
  if (vector == SERROR && serror_expected) return elr;
  if (is_call_to_no_host(vector, (uint32_t)esr, elr, registers)) return elr + sizeof(uint32_t);
  const bool has_instruction = esr >> 26 == DATA_ABORT;
  if (has_instruction && is_survived(vector, (uint32_t)esr, *(const uint32_t *)elr, registers))
    return elr + sizeof(uint32_t);
  struct fault fault = {
      .kind = kind_of((unsigned)vector, (uint32_t)esr),
      .address = far,
      .pc = elr,
      .caller = registers[LINK],
      .stack = registers[STACK],
      .syndrome = (uint32_t)esr,
      .syndrome_name = "ESR_EL1",
  };
  fault_stop(&fault, (struct fault_guard){(uintptr_t)__guard_start, (uintptr_t)__stack_start});
}
