/* SPDX-License-Identifier: Apache-2.0 */
/* What a board does when the CPU takes an exception: nothing here enables any, so each is the end of the run. */
#ifndef SPATE_PORTS_FAULT_H
#define SPATE_PORTS_FAULT_H

#include <stdint.h>

/* The emulator's exit status after a fault: no application here ends with it. */
#define FAULT_EXIT_STATUS 120

enum fault_kind {
  FAULT_UNMAPPED,    /* nothing is mapped at the address */
  FAULT_PERMISSION,  /* a write to code or constants, or a jump into data */
  FAULT_MISALIGNED,  /* an access that is not a multiple of its own size */
  FAULT_BUS,         /* nothing answered at the address, or with an error */
  FAULT_INSTRUCTION, /* an instruction this CPU does not have, or a trap */
  FAULT_INTERRUPT,   /* an interrupt that nobody enabled */
  FAULT_OTHER,
};

struct fault {
  enum fault_kind kind;
  uintptr_t address; /* of the access, where there is one */
  uintptr_t pc;      /* of the instruction */
  uintptr_t caller;  /* return address register */
  uintptr_t stack;   /* stack pointer when it happened */
  uint32_t syndrome; /* what the CPU says about the cause */
  const char *syndrome_name;
};

/* Where the guard below the stack is. */
struct fault_guard {
  uintptr_t start, end;
};

/* One sentence and the registers on the console, then the end. Runs on a stack of its own. */
__attribute__((noreturn)) void fault_stop(const struct fault *fault, struct fault_guard guard);

#endif
