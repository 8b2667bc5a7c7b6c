/* SPDX-License-Identifier: Apache-2.0 */
/* From reset in EL1, MMU and caches off, to board_start() with both on. */

.section .text.start, "ax"
.global _start
_start:
  msr daifset, #0xf
  ldr x0, =__stack_end
  mov sp, x0
  ldr x0, =fault_vectors
  msr vbar_el1, x0
  /* Floating point and SIMD registers: the compiler may use them to move structures. */
  mov x0, #(3 << 20)
  msr cpacr_el1, x0
  isb

  ldr x0, =__bss_start
  ldr x1, =__bss_end
1:
  cmp x0, x1
  b.hs 2f
  stp xzr, xzr, [x0], #16
  b 1b
2:
  bl mmu_build /* x0: the level 0 table */

  msr ttbr0_el1, x0
  ldr x0, =0x44ff00 /* index 0: Device-nGnRnE, 1: Normal write-back, 2: Normal non-cacheable */
  msr mair_el1, x0
  /* 40-bit addresses of 4 KiB pages in TTBR0, none in TTBR1; tables are cacheable, inner shareable. */
  ldr x0, =(24 | (1 << 8) | (1 << 10) | (3 << 12) | (1 << 23) | (2 << 32))
  msr tcr_el1, x0
  tlbi vmalle1
  ic iallu
  dsb sy
  isb
  /* MMU, alignment checks (also of the stack), both caches; what can be written cannot be executed. */
  ldr x0, =(0x30d00800 | (1 << 0) | (1 << 1) | (1 << 2) | (1 << 3) | (1 << 12) | (1 << 19))
  msr sctlr_el1, x0
  isb
  bl board_start
  b .

.text
.global semihosting_call
semihosting_call:
  hlt #0xf000
  ret

/* The fault handler uses another stack, because the stack may be the cause. fault_taken() gets all registers as they
 * were. If the run can continue, it returns the address to continue at, with changed registers. */
.macro vector number
.balign 128
  msr tpidr_el1, x0
  mov x0, sp
  msr tpidr_el0, x0
  ldr x0, =__fault_stack_end - 256
  mov sp, x0
  mrs x0, tpidr_el1
  stp x0, x1, [sp]
  mov x0, #\number
  b fault_entry
.endm

.balign 2048
fault_vectors:
.altmacro
.set number, 0
.rept 16
  vector %number
  .set number, number + 1
.endr

fault_entry:
  stp x2, x3, [sp, #16]
  stp x4, x5, [sp, #32]
  stp x6, x7, [sp, #48]
  stp x8, x9, [sp, #64]
  stp x10, x11, [sp, #80]
  stp x12, x13, [sp, #96]
  stp x14, x15, [sp, #112]
  stp x16, x17, [sp, #128]
  stp x18, x19, [sp, #144]
  stp x20, x21, [sp, #160]
  stp x22, x23, [sp, #176]
  stp x24, x25, [sp, #192]
  stp x26, x27, [sp, #208]
  stp x28, x29, [sp, #224]
  mrs x1, tpidr_el0
  stp x30, x1, [sp, #240] /* the slot of x31 holds the stack pointer */
  mrs x1, esr_el1
  mrs x2, far_el1
  mrs x3, elr_el1
  mov x4, sp
  bl fault_taken
  msr elr_el1, x0
  ldp x2, x3, [sp, #16]
  ldp x4, x5, [sp, #32]
  ldp x6, x7, [sp, #48]
  ldp x8, x9, [sp, #64]
  ldp x10, x11, [sp, #80]
  ldp x12, x13, [sp, #96]
  ldp x14, x15, [sp, #112]
  ldp x16, x17, [sp, #128]
  ldp x18, x19, [sp, #144]
  ldp x20, x21, [sp, #160]
  ldp x22, x23, [sp, #176]
  ldp x24, x25, [sp, #192]
  ldp x26, x27, [sp, #208]
  ldp x28, x29, [sp, #224]
  ldp x30, x0, [sp, #240]
  mov x1, sp
  mov sp, x0
  ldp x0, x1, [x1]
  eret

.section .note.GNU-stack, "", %progbits
