/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up code, and vectors of the BSP's shape. AArch64: errors of the bus come to EL3, or to EL1 if the machine starts in
 * EL2, where ports/common/aarch64/el2.S can raise a virtual SError. SError is not masked.
 * x0 to x19, x29 and x30 are saved below the stack pointer, and ELR stays in its register. ARMv7: system mode, asynchronous
 * aborts are not masked, and if the machine starts in hypervisor mode ports/common/armv7/hypervisor.S can raise one; r0 to r3,
 * r12 and lr are saved on the stack of abort mode, and the address of the instruction is stored beside.
 */
#ifdef __aarch64__

.section .text.start, "ax"
.global _start
_start:
  mrs x0, currentel
  cmp x0, #(2 << 2)
  b.eq from_el2
  ldr x0, =stack_end
  mov sp, x0
  ldr x0, =vectors
  msr vbar_el3, x0
  mov x0, #0xc08 /* SCR_EL3: ST, RW, EA */
  msr scr_el3, x0
  msr daifclr, #4
  isb
  bl bsp_main

from_el2:
  mov x0, #(1 << 31) /* HCR_EL2: EL1 is AArch64 */
  msr hcr_el2, x0
  mov x0, #3
  msr cnthctl_el2, x0
  msr cntvoff_el2, xzr
  ldr x0, =el2_vectors
  msr vbar_el2, x0
  mov x0, #0xc5 /* EL1h; SError is not masked */
  msr spsr_el2, x0
  adr x0, at_el1
  msr elr_el2, x0
  eret
at_el1:
  ldr x0, =stack_end
  mov sp, x0
  ldr x0, =vectors
  msr vbar_el1, x0
  isb
  bl bsp_main

.global semihosting_call
semihosting_call:
  hlt #0xf000
  ret

.macro entry number
  .balign 128
  stp x0, x1, [sp, #-16]!
  stp x2, x3, [sp, #-16]!
  stp x4, x5, [sp, #-16]!
  stp x6, x7, [sp, #-16]!
  stp x8, x9, [sp, #-16]!
  stp x10, x11, [sp, #-16]!
  stp x12, x13, [sp, #-16]!
  stp x14, x15, [sp, #-16]!
  stp x16, x17, [sp, #-16]!
  stp x18, x19, [sp, #-16]!
  stp x29, x30, [sp, #-16]!
  mov w0, #\number
  bl bsp_exception
  ldp x29, x30, [sp], #16
  ldp x18, x19, [sp], #16
  ldp x16, x17, [sp], #16
  ldp x14, x15, [sp], #16
  ldp x12, x13, [sp], #16
  ldp x10, x11, [sp], #16
  ldp x8, x9, [sp], #16
  ldp x6, x7, [sp], #16
  ldp x4, x5, [sp], #16
  ldp x2, x3, [sp], #16
  ldp x0, x1, [sp], #16
  eret
.endm

.balign 2048
vectors:
.rept 4
  .balign 128
  b .
.endr
  entry 1 /* 0x200: synchronous */
  entry 2
  entry 3
  entry 4 /* 0x380: SError */

#else

.arch armv7-a
.arch_extension virt
.fpu vfpv3
.syntax unified
.arm
.section .text.start, "ax"
.global _start
_start:
  mrs r0, cpsr
  and r0, r0, #0x1f
  cmp r0, #0x1a
  bne not_hypervisor
  ldr r0, =hypervisor_vectors
  mcr p15, 4, r0, c12, c0, 0 /* HVBAR */
  mov r0, #0x1d3 /* supervisor mode, A, I and F masked */
  msr spsr_cxsf, r0
  ldr r0, =not_hypervisor
  msr elr_hyp, r0
  eret
not_hypervisor:
  ldr r0, =vectors
  mcr p15, 0, r0, c12, c0, 0 /* VBAR */
  mrc p15, 0, r0, c1, c0, 2 /* CPACR: floating point */
  orr r0, r0, #0xf00000
  mcr p15, 0, r0, c1, c0, 2
  isb
  mov r0, #0x40000000
  vmsr fpexc, r0
  cpsid if, #0x17
  ldr sp, =abort_stack_end
  cpsid if, #0x1f
  ldr sp, =stack_end
  cpsie a
  bl bsp_main

/* SVC is taken on the stack of no mode: the emulator answers it. */
.global semihosting_call
semihosting_call:
  push {r4, lr}
  svc 0x123456
  pop {r4, pc}

/* A division by zero in the compiler's own division. */
.global __aeabi_ldiv0, __aeabi_idiv0
__aeabi_ldiv0:
__aeabi_idiv0:
  udf #0

.balign 32
vectors:
  b .
  b undefined
  b .
  b .
  b data_abort
  b .
  b .
  b .

undefined:
  ldr sp, =abort_stack_end
  mov r0, #1
  bl bsp_exception
  b .

data_abort:
  stmdb sp!, {r0-r3, r12, lr}
  ldr r0, =DataAbortAddr
  sub r1, lr, #8
  str r1, [r0]
  mov r0, #4
  bl bsp_exception
  ldmia sp!, {r0-r3, r12, lr}
  subs pc, lr, #8

#endif

.section .bss.stacks, "aw", %nobits
.balign 16
.space 32768
stack_end:
.space 4096
abort_stack_end:

.section .note.GNU-stack, "", %progbits
