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

/* Every exception ends the run, so registers need not survive: x0–x5 become what fault_taken() reports. The stack may
 * be what went wrong: another one is used. */
.macro vector number
.balign 128
  mov x5, sp
  ldr x0, =__fault_stack_end
  mov sp, x0
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
  mrs x1, esr_el1
  mrs x2, far_el1
  mrs x3, elr_el1
  mov x4, x30
  b fault_taken

.section .note.GNU-stack, "", %progbits
