/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From reset or a loader in EL3, EL2 or EL1 to board_start() in EL1 with MMU and caches on. A loader must have emptied
 * the data caches and turned them off, as the first-stage loader of a Zynq UltraScale+ does.
 *
 * A first-stage loader of a Zynq UltraScale+ or a Versal leaves the processor in EL3; U-Boot leaves it in EL2; an
 * emulator may start in EL1. From EL3 the code goes to secure EL1, so that accesses are secure as they were. With
 * MACHINE_NON_SECURE in machine.h it goes to non-secure EL1. From EL2 it can only go to the EL1 of the same state.
 *
 * The image may have been loaded anywhere in memory, from _start to __load_end without a gap: it first copies itself to
 * the address that it was linked for. So a loader that occupies the on-chip memory can start an image that belongs there.
 *
 * x19 holds the exception level of the start until start_level can hold it.
 */
#if __has_include(<machine.h>)
#include <machine.h>
#endif

/* Addresses of up to 39 bits (512 GiB) save a page table. */
#ifdef MACHINE_39_BITS
#define ADDRESS_BITS 39
#else
#define ADDRESS_BITS 40
#endif

#define SCR_NON_SECURE (1 << 0)
#define SCR_HVC        (1 << 8)
#define SCR_AARCH64    (1 << 10)
#define SCR_ONES       (3 << 4)
#define HCR_AARCH64    (1 << 31)
#define CPTR_ONES      0x33ff /* nothing is trapped */
#define EL1_MASKED     0x3c5  /* EL1 with its own stack pointer; D, A, I and F set */

/* The system counter (Arm ARM I5.7): what a Zynq UltraScale+ calls IOU_SCNTRS (UG1087). Secure software turns it on. */
#define CNTCR        0x00
#define CNTCR_ENABLE 0
#define CNTFID0      0x20 /* its frequency in Hz; on a Zynq UltraScale+, BASE_FREQUENCY */

.section .text.start, "ax"
.global _start
_start:
  msr daifset, #0xf
  mrs x0, mpidr_el1
  tst x0, #0xff
  b.ne park

  adr x0, _start
  ldr x1, =_start
  ldr x2, =__load_end
  cmp x0, x1
  b.eq loaded
copy:
  ldp x3, x4, [x0], #16
  stp x3, x4, [x1], #16
  cmp x1, x2
  b.lo copy
  dsb sy
  ic iallu
  dsb sy
  isb
  ldr x0, =loaded
  br x0
loaded:

  mrs x19, CurrentEL
  lsr x19, x19, #2
  cmp x19, #2
  b.eq from_el2
  b.lo at_el1

#ifdef MACHINE_NON_SECURE
  mov x0, #(SCR_ONES | SCR_AARCH64 | SCR_HVC | SCR_NON_SECURE)
#else
  mov x0, #(SCR_ONES | SCR_AARCH64)
#endif
  msr scr_el3, x0 /* external aborts are taken in EL1 */
  msr cptr_el3, xzr
  mrs x0, s3_1_c15_c2_1 /* CPUECTLR_EL1.SMPEN: without it this core does not cache shareable memory */
  orr x0, x0, #(1 << 6)
  msr s3_1_c15_c2_1, x0
#ifdef MACHINE_COUNTER
  bl open_counter
#endif
  mov x0, #HCR_AARCH64
  msr hcr_el2, x0
  bl open_el2_registers
  mov x0, #EL1_MASKED
  msr spsr_el3, x0
  adr x0, at_el1
  msr elr_el3, x0
  eret

from_el2:
  mov x0, #HCR_AARCH64
  msr hcr_el2, x0
  bl open_el2_registers
  ldr x0, =el2_vectors
  msr vbar_el2, x0
  mov x0, #EL1_MASKED
  msr spsr_el2, x0
  adr x0, at_el1
  msr elr_el2, x0
  eret

/* What EL1 may use: the counter, floating point. The virtual counter is the physical one. */
open_el2_registers:
  mov x0, #3
  msr cnthctl_el2, x0
  msr cntvoff_el2, xzr
  mov x0, #CPTR_ONES
  msr cptr_el2, x0
  ret

#ifdef MACHINE_COUNTER
/* CNTFRQ is 0 if no loader has set it. Then it gets the frequency that the tool's initialisation wrote to the counter. */
open_counter:
  ldr x1, =MACHINE_COUNTER
  mrs x0, cntfrq_el0
  cbnz x0, 1f
  ldr w0, [x1, #CNTFID0]
  msr cntfrq_el0, x0
1:
  ldr w0, [x1, #CNTCR]
  tbnz w0, #CNTCR_ENABLE, 2f
  orr w0, w0, #(1 << CNTCR_ENABLE)
  str w0, [x1, #CNTCR]
2:
  ret
#endif

/* The other cores of a cluster. */
park:
  wfe
  b park

at_el1:
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
  ldr x0, =start_level
  str w19, [x0]
  ldr x0, =__tables_start
  ldr x1, =__tables_end
3:
  stp xzr, xzr, [x0], #16
  cmp x0, x1
  b.lo 3b
  bl mmu_build /* x0: the level 0 table */

  msr ttbr0_el1, x0
  ldr x0, =0x44ff00 /* index 0: Device-nGnRnE, 1: Normal write-back, 2: Normal non-cacheable */
  msr mair_el1, x0
  /* Addresses of 4 KiB pages in TTBR0, none in TTBR1; tables are cacheable, inner shareable; 40 physical bits. */
  ldr x0, =((64 - ADDRESS_BITS) | (1 << 8) | (1 << 10) | (3 << 12) | (1 << 23) | (2 << 32))
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

.section .text.semihosting, "ax"
.global semihosting_call
semihosting_call:
  hlt #0xf000
  ret

/* A section of its own: what stands before the vectors in one section costs up to 2 KiB. */
.section .text.fault, "ax"
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

.section .bss
.global start_level
.balign 4
start_level:
.space 4

.section .note.GNU-stack, "", %progbits
