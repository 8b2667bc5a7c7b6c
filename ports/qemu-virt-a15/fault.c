/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of an AArch32 exception (Arm ARM v7 B3.13, fault status encodings of short descriptors). */
#include "../common/fault.h"

#include <stdbool.h>

extern uint8_t __guard_start[], __stack_start[];

enum { VECTOR_UNDEFINED = 1, VECTOR_SUPERVISOR = 2, VECTOR_PREFETCH = 3, VECTOR_DATA = 4 };

#define PC 13u /* after r0 to r12 */

bool fault_is_survived(uint32_t registers[PC + 1u]);
__attribute__((noreturn)) void fault_taken(uint32_t vector, uint32_t pc, uint32_t lr, uint32_t sp);

static enum fault_kind abort_kind(uint32_t status) {
  switch ((status & 0xf) | (status >> 6 & 0x10)) {
  case 0x01: return FAULT_MISALIGNED;
  case 0x05:
  case 0x07: return FAULT_UNMAPPED;
  case 0x0d:
  case 0x0f: return FAULT_PERMISSION;
  case 0x08:
  case 0x0c:
  case 0x0e:
  case 0x16: return FAULT_BUS;
  default: return FAULT_OTHER;
  }
}

/* Is this an access by spate_board.h that no device answered: LDR or STR without an offset? A read then returns all
 * ones. Only the bus causes external aborts; an access through a bad pointer causes other faults. */
__attribute__((target("general-regs-only"))) /* the other registers are not saved */
bool fault_is_survived(uint32_t registers[PC + 1u]) {
  uint32_t status;
  __asm__ volatile("mrc p15, 0, %0, c5, c0, 0" : "=r"(status));
  if (abort_kind(status) != FAULT_BUS) return false;
  const uint32_t instruction = *(const uint32_t *)registers[PC];
  const uint32_t target = instruction >> 12 & 0xf;
  const uint32_t form = instruction & 0x0ff00fffu; /* with any condition, any base */
  if (form == 0x05900000u && target < PC) registers[target] = UINT32_MAX;
  return form == 0x05800000u || (form == 0x05900000u && target < PC);
}

void fault_taken(uint32_t vector, uint32_t pc, uint32_t lr, uint32_t sp) {
  uint32_t status, address;
  if (vector == VECTOR_PREFETCH) {
    __asm__ volatile("mrc p15, 0, %0, c5, c0, 1" : "=r"(status));
    __asm__ volatile("mrc p15, 0, %0, c6, c0, 2" : "=r"(address));
  } else {
    __asm__ volatile("mrc p15, 0, %0, c5, c0, 0" : "=r"(status));
    __asm__ volatile("mrc p15, 0, %0, c6, c0, 0" : "=r"(address));
  }
  enum fault_kind kind = FAULT_INTERRUPT;
  if (vector == VECTOR_UNDEFINED || vector == VECTOR_SUPERVISOR) kind = FAULT_INSTRUCTION;
  if (vector == VECTOR_PREFETCH || vector == VECTOR_DATA) kind = abort_kind(status);
  struct fault fault = {
      .kind = kind,
      .address = address,
      .pc = pc,
      .caller = lr,
      .stack = sp,
      .syndrome = status,
      .syndrome_name = vector == VECTOR_PREFETCH ? "IFSR" : "DFSR",
  };
  fault_stop(&fault, (struct fault_guard){(uintptr_t)__guard_start, (uintptr_t)__stack_start});
}
