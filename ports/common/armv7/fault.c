/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of an ARMv7 exception (Arm ARM v7 B3.13, fault status encodings of short descriptors; B5.4 for ARMv7-R).
 */
#include "../fault.h"

#include <spate/port.h>
#include <stdbool.h>

/* The exception's stack is not the program's, and only the general registers are saved on it. */
#define ON_EXCEPTION __attribute__((target("general-regs-only")))

extern uint8_t __guard_start[], __stack_start[];

enum { VECTOR_UNDEFINED = 1, VECTOR_SUPERVISOR = 2, VECTOR_PREFETCH = 3, VECTOR_DATA = 4 };
enum { STATUS_EXTERNAL = 0x08, STATUS_ASYNCHRONOUS = 0x16 }; /* DFSR: from the bus; not on a table walk */

#define SEMIHOSTING 0xef123456u /* SVC #0x123456 */

/* What start.S saved. If the run can continue, it continues with these. */
struct exception {
  uint32_t registers[13]; /* r0 to r12 */
  uint32_t pc, cpsr;
};

ON_EXCEPTION void fault_taken(uint32_t vector, struct exception *exception, uint32_t lr, uint32_t sp);

static volatile bool abort_expected;

void spate_port_abort_take(void) {
  abort_expected = true;
  __asm__ volatile("cpsie a\n\tisb\n\tcpsid a" ::: "memory");
  abort_expected = false;
}

ON_EXCEPTION static uint32_t status_of(uint32_t vector) {
  uint32_t status;
  if (vector == VECTOR_PREFETCH)
    __asm__ volatile("mrc p15, 0, %0, c5, c0, 1" : "=r"(status)); /* IFSR */
  else
    __asm__ volatile("mrc p15, 0, %0, c5, c0, 0" : "=r"(status)); /* DFSR */
  return status;
}

ON_EXCEPTION static uint32_t address_of(uint32_t vector) {
  uint32_t address;
  if (vector == VECTOR_PREFETCH)
    __asm__ volatile("mrc p15, 0, %0, c6, c0, 2" : "=r"(address)); /* IFAR */
  else
    __asm__ volatile("mrc p15, 0, %0, c6, c0, 0" : "=r"(address)); /* DFAR */
  return address;
}

/* The five bits of the status are in two places. */
ON_EXCEPTION static uint32_t code_of(uint32_t status) { return (status & 0xf) | (status >> 6 & 0x10); }

static enum fault_kind abort_kind(uint32_t status) {
  switch (code_of(status)) {
  case 0x01: return FAULT_MISALIGNED;
  case 0x00: /* ARMv7-R: no region (B5.4.2) */
  case 0x05:
  case 0x07: return FAULT_UNMAPPED;
  case 0x0d:
  case 0x0f: return FAULT_PERMISSION;
  case STATUS_EXTERNAL:
  case 0x0c: /* on a table walk */
  case 0x0e:
  case STATUS_ASYNCHRONOUS: return FAULT_BUS;
  default: return FAULT_OTHER;
  }
}

static enum fault_kind kind_of(uint32_t vector, uint32_t status) {
  switch (vector) {
  case VECTOR_UNDEFINED:
  case VECTOR_SUPERVISOR: return FAULT_INSTRUCTION;
  case VECTOR_PREFETCH:
  case VECTOR_DATA: return abort_kind(status);
  default: return FAULT_INTERRUPT;
  }
}

/*
 * Is this an access by spate/port/armv7.h that no device answered: LDR or STR without an offset? A read then returns
 * all ones, and a write is dropped. Only the bus causes external aborts; an access through a bad pointer causes other
 * faults.
 */
ON_EXCEPTION static bool is_survived(struct exception *exception) {
  if (code_of(status_of(VECTOR_DATA)) != STATUS_EXTERNAL) return false;
  const uint32_t instruction = *(const uint32_t *)exception->pc;
  const uint32_t target = instruction >> 12 & 0xf;
  const uint32_t form = instruction & 0x0ff00fffu; /* with any condition, any base */
  if (form == 0x05800000u) return true;
  if (form != 0x05900000u || target >= 13) return false;
  exception->registers[target] = UINT32_MAX;
  return true;
}

/* The call to a host that is not there: without a debugger it is an ordinary supervisor call. It returns -1. */
ON_EXCEPTION static bool is_call_to_no_host(struct exception *exception) {
  if (*(const uint32_t *)exception->pc != SEMIHOSTING) return false;
  exception->registers[0] = UINT32_MAX;
  return true;
}

__attribute__((noreturn)) static void stop(uint32_t vector, const struct exception *exception, uint32_t lr,
                                           uint32_t sp) {
  const uint32_t status = status_of(vector);
  struct fault fault = {
      .kind = kind_of(vector, status),
      .address = address_of(vector),
      .pc = exception->pc,
      .caller = lr,
      .stack = sp,
      .syndrome = status,
      .syndrome_name = vector == VECTOR_PREFETCH ? "IFSR" : "DFSR",
  };
  fault_stop(&fault, (struct fault_guard){(uintptr_t)__guard_start, (uintptr_t)__stack_start});
}

void fault_taken(uint32_t vector, struct exception *exception, uint32_t lr, uint32_t sp) {
  if (vector == VECTOR_DATA && abort_expected && code_of(status_of(vector)) == STATUS_ASYNCHRONOUS) return;
  const bool survived = (vector == VECTOR_DATA && is_survived(exception)) ||
                        (vector == VECTOR_SUPERVISOR && is_call_to_no_host(exception));
  if (!survived) stop(vector, exception, lr, sp);
  exception->pc += sizeof(uint32_t);
}
