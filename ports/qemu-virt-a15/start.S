/* SPDX-License-Identifier: Apache-2.0 */
/* From reset in supervisor mode, MMU and caches off, to board_start() with both on. */

.arch armv7-a
.arch_extension idiv
.fpu neon-vfpv4
.syntax unified
.arm

.section .text.start, "ax"
.global _start
_start:
  cpsid aif
  cps #0x17 /* data aborts that may be survived have their own stack, before that of the other faults */
  ldr sp, =__fault_stack_end - 8192
  cps #0x13
  ldr sp, =__stack_end
  ldr r0, =fault_vectors
  mcr p15, 0, r0, c12, c0, 0 /* VBAR */
  /* Floating point and SIMD registers: the compiler may use them to move structures. */
  mrc p15, 0, r0, c1, c0, 2
  orr r0, r0, #(0xf << 20)
  mcr p15, 0, r0, c1, c0, 2
  isb
  mov r0, #(1 << 30)
  vmsr fpexc, r0

  ldr r0, =__bss_start
  ldr r1, =__bss_end
  mov r2, #0
1:
  cmp r0, r1
  strlo r2, [r0], #4
  blo 1b

  bl mmu_build /* r0: the first-level table */

  orr r0, r0, #0x4a          /* TTBR0: table walks cacheable, write-back write-allocate, shareable */
  mcr p15, 0, r0, c2, c0, 0
  mov r1, #0
  mcr p15, 0, r1, c2, c0, 2  /* TTBCR: TTBR0 translates everything, short descriptors */
  mov r0, #1
  mcr p15, 0, r0, c3, c0, 0  /* DACR: domain 0 obeys the tables */
  mrc p15, 0, r0, c1, c0, 1
  orr r0, r0, #(1 << 6)      /* ACTLR.SMP: without it this core does not cache shareable memory */
  mcr p15, 0, r0, c1, c0, 1
  mcr p15, 0, r1, c8, c7, 0  /* TLBIALL */
  mcr p15, 0, r1, c7, c5, 0  /* ICIALLU */
  mcr p15, 0, r1, c7, c5, 6  /* BPIALL */
  dsb
  isb
  /* SCTLR: MMU, alignment checks, caches, branch prediction; what can be written cannot be executed. Vectors by VBAR,
   * no attribute remapping, no access flag. */
  mrc p15, 0, r0, c1, c0, 0
  ldr r2, =((1 << 13) | (1 << 28) | (1 << 29) | (1 << 30))
  bic r0, r0, r2
  ldr r2, =((1 << 0) | (1 << 1) | (1 << 2) | (1 << 11) | (1 << 12) | (1 << 19))
  orr r0, r0, r2
  mcr p15, 0, r0, c1, c0, 0
  isb
  bl board_start
  b .

.text
.global semihosting_call
semihosting_call:
  push {r4, lr}
  svc 0x123456
  pop {r4, pc}

/* A division by zero in the compiler's own 64-bit division becomes an undefined instruction. */
.global __aeabi_ldiv0, __aeabi_idiv0
__aeabi_ldiv0:
__aeabi_idiv0:
  udf #0

/* Every exception but a survived data abort ends the run, so registers need not be preserved: r0, r1, r2 and r3 become
 * what fault_taken() reports. The handler uses another stack, because the stack may be the cause. */
.macro vector number, return_offset
vector_\number:
  sub r1, lr, #\return_offset
  mov r0, #\number
  b fault_entry
.endm

.balign 32
fault_vectors:
  b .
  b vector_1
  b vector_2
  b vector_3
  b vector_4
  b .
  b vector_6
  b vector_7

  vector 1, 4 /* undefined instruction */
  vector 2, 4 /* supervisor call */
  vector 3, 4 /* prefetch abort */
  vector 6, 4 /* IRQ */
  vector 7, 4 /* FIQ */

/* Data abort: saves registers r0 to r12 and the instruction's address, for fault_is_survived() to read and change. */
vector_4:
  sub lr, lr, #8
  push {r0-r12, lr}
  mov r0, sp
  bl fault_is_survived
  cmp r0, #0
  pop {r0-r12, lr}
  addne lr, lr, #4
  movsne pc, lr
  mov r1, lr
  mov r0, #4
  b fault_entry

fault_entry:
  cps #0x13
  mov r2, lr
  mov r3, sp
  ldr sp, =__fault_stack_end
  b fault_taken

.section .note.GNU-stack, "", %progbits
