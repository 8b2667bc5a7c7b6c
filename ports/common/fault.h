/* SPDX-License-Identifier: Apache-2.0 */
/* What a board does on a CPU exception. The ports enable no exceptions, so each of them ends the run. */
#ifndef SPATE_PORTS_FAULT_H
#define SPATE_PORTS_FAULT_H

#include <stdint.h>

/* The emulator's exit status after a fault. No application ends with it. */
#define FAULT_EXIT_STATUS 120

enum fault_kind {
  FAULT_UNMAPPED,    /* nothing is mapped at the address */
  FAULT_PERMISSION,  /* a write to code or constants, or a jump into data */
  FAULT_MISALIGNED,  /* an access that is not a multiple of its own size */
  FAULT_BUS,         /* nothing answered at the address, or the answer was an error */
  FAULT_INSTRUCTION, /* an instruction this CPU does not have, or a trap */
  FAULT_INTERRUPT,   /* an interrupt, although none is enabled */
  FAULT_OTHER,
};

struct fault {
  enum fault_kind kind;
  uintptr_t address; /* of the access, if there is one */
  uintptr_t pc;      /* of the instruction */
  uintptr_t caller;  /* return address register */
  uintptr_t stack;   /* stack pointer at the exception */
  uint32_t syndrome; /* the CPU's register with the cause */
  const char *syndrome_name;
};

/* The guard range below the stack. */
struct fault_guard {
  uintptr_t start, end;
};

/* Prints one sentence and the registers on the console, then ends the run. Runs on its own stack. */
__attribute__((noreturn)) void fault_stop(const struct fault *fault, struct fault_guard guard);

#endif
