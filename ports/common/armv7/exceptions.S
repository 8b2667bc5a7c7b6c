/* SPDX-License-Identifier: Apache-2.0 */
/* The exception vectors, the way to fault_taken() and back, and the call to the host. */
.syntax unified
.arm

#define MODE_SUPERVISOR 0x13
#define MODE_ABORT      0x17

.text
.global semihosting_call
semihosting_call:
  push {r4, lr} /* the call overwrites lr */
  svc 0x123456
  pop {r4, pc}

/* A division by zero in the compiler's own 64-bit division becomes an undefined instruction. */
.global __aeabi_ldiv0, __aeabi_idiv0
__aeabi_ldiv0:
__aeabi_idiv0:
  udf #0

/* Saves the instruction's address and the CPSR on the stack of abort mode, which all exceptions use. */
.macro vector number, return_offset
vector_\number:
  sub lr, lr, #\return_offset
  srsdb sp!, #MODE_ABORT
  cps #MODE_ABORT
  push {r0-r12}
  mov r0, #\number
  b fault_entry
.endm

.section .text.vectors, "ax"
.global fault_vectors
.balign 32
fault_vectors:
  b _start /* reset, where the processor begins here: ARMv7-R with high vectors */
  b vector_1
  b vector_2
  b vector_3
  b vector_4
  b .
  b vector_6
  b vector_7

.text
  vector 1, 4 /* undefined instruction */
  vector 2, 4 /* supervisor call */
  vector 3, 4 /* prefetch abort */
  vector 4, 8 /* data abort */
  vector 6, 4 /* IRQ */
  vector 7, 4 /* FIQ */

/* fault_taken() gets the registers as they were. If it returns, the run continues with what it made of them. */
fault_entry:
  mov r1, sp
  cps #MODE_SUPERVISOR
  mov r2, lr
  mov r3, sp
  cps #MODE_ABORT
  mov r4, sp
  bic sp, sp, #7
  bl fault_taken
  mov sp, r4
  pop {r0-r12}
  rfeia sp!

.section .note.GNU-stack, "", %progbits
