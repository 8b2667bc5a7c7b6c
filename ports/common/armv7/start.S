/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From reset or a loader, in a privileged mode, MMU off or on with addresses mapped at themselves, to board_start() in
 * supervisor mode with MMU and caches on.
 *
 * A first-stage loader of a Zynq-7000 and a debugger leave the processor in secure supervisor mode, and it stays there.
 * From hypervisor mode (U-Boot on a Cortex-A15) the code goes to the supervisor mode of the same state.
 *
 * r11 holds the mode of the start until start_mode can hold it.
 */
#if __has_include(<machine.h>)
#include <machine.h>
#endif

.arch armv7-a
.arch_extension virt
.fpu vfpv3
.syntax unified
.arm

#define MODE_SUPERVISOR 0x13
#define MODE_ABORT      0x17
#define MODE_HYPERVISOR 0x1a
#define MASKED          0x1c0 /* CPSR: A, I and F set */

#define SCTLR_MMU        (1 << 0)
#define SCTLR_ALIGNMENT  (1 << 1)
#define SCTLR_DATA_CACHE (1 << 2)
#define SCTLR_PREDICTION (1 << 11)
#define SCTLR_CODE_CACHE (1 << 12)
#define SCTLR_HIGH       (1 << 13) /* vectors at 0xffff0000 instead of VBAR */
#define SCTLR_WXN        (1 << 19) /* what can be written cannot be executed; a Cortex-A9 ignores it */
#define SCTLR_REMAP      (1 << 28)
#define SCTLR_ACCESS     (1 << 29)
#define SCTLR_THUMB      (1 << 30) /* exceptions */

#define PL310_CONTROL               0x100
#define PL310_AUXILIARY             0x104
#define PL310_SIXTEEN_WAYS          0x10000
#define PL310_SYNC                  0x730
#define PL310_CLEAN_INVALIDATE_WAYS 0x7fc

.section .text.start, "ax"
.global _start
_start:
  cpsid aif
  mrc p15, 0, r0, c0, c0, 5 /* MPIDR */
  tst r0, #3
  bne park
  mrs r0, cpsr
  and r11, r0, #0x1f
  cmp r11, #MODE_HYPERVISOR
  bne leave_caches

  ldr r0, =hypervisor_vectors
  mcr p15, 4, r0, c12, c0, 0 /* HVBAR */
  mov r0, #0
  mcrr p15, 4, r0, r0, c14 /* CNTVOFF: the virtual counter is the physical one */
  mov r0, #(MODE_SUPERVISOR | MASKED)
  msr spsr_cxsf, r0
  ldr r0, =leave_caches
  msr elr_hyp, r0
  eret

/* The other cores of a cluster. */
park:
  wfe
  b park

/* Empties the caches that a loader left on. Caches that are off have undefined contents on a Cortex-A9 (TRM, DDI 0388I,
 * 7.1), and are invalidated. No memory is written meanwhile: an old line could overwrite it. */
leave_caches:
  cps #MODE_SUPERVISOR
  mrc p15, 0, r0, c1, c0, 0
  and r10, r0, #SCTLR_DATA_CACHE
  ldr r1, =(SCTLR_MMU | SCTLR_DATA_CACHE | SCTLR_CODE_CACHE | SCTLR_PREDICTION)
  bic r0, r0, r1
  mcr p15, 0, r0, c1, c0, 0
  isb
  bl empty_caches

#ifdef MACHINE_PL310
  /* The same for the outer cache, which pl310_start() turns on again (L2C-310, DDI 0246, 3.3). */
  ldr r0, =MACHINE_PL310
  ldr r1, [r0, #PL310_CONTROL]
  tst r1, #1
  beq outer_cache_is_off
  ldr r1, [r0, #PL310_AUXILIARY]
  tst r1, #PL310_SIXTEEN_WAYS
  movw r1, #0xffff
  andeq r1, r1, #0xff
  str r1, [r0, #PL310_CLEAN_INVALIDATE_WAYS]
1:
  ldr r2, [r0, #PL310_CLEAN_INVALIDATE_WAYS]
  tst r2, r1 /* ways that are under way */
  bne 1b
  mov r1, #0
  str r1, [r0, #PL310_SYNC]
  dsb
  str r1, [r0, #PL310_CONTROL]
  dsb
outer_cache_is_off:
#endif

#ifdef MACHINE_SCU
  /* Snoop control unit (Cortex-A9 MPCore TRM, DDI 0407I, 2.2): invalidate its copies of the tags, then turn it on.
   * This precedes ACTLR.SMP. The bit at 0x30 is a part of the workaround of the Cortex-A9's erratum 764369. */
  ldr r0, =MACHINE_SCU
  ldr r1, =0xffff
  str r1, [r0, #0xc]
  ldr r1, [r0, #0x30]
  orr r1, r1, #1
  str r1, [r0, #0x30]
  ldr r1, [r0]
  orr r1, r1, #1
  str r1, [r0]
#endif

  cps #MODE_ABORT /* exceptions have their own stack: the program's may be the cause */
  ldr sp, =__fault_stack_end
  cps #MODE_SUPERVISOR
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
  bl clear
  ldr r0, =__tables_start
  ldr r1, =__tables_end
  bl clear
  ldr r0, =start_mode
  str r11, [r0]
#ifdef MACHINE_PL310
  ldr r0, =MACHINE_PL310
  bl pl310_start
#endif
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
  mrc p15, 0, r0, c1, c0, 0
  ldr r2, =(SCTLR_HIGH | SCTLR_REMAP | SCTLR_ACCESS | SCTLR_THUMB)
  bic r0, r0, r2
  ldr r2, =(SCTLR_MMU | SCTLR_ALIGNMENT | SCTLR_DATA_CACHE | SCTLR_PREDICTION | SCTLR_CODE_CACHE | SCTLR_WXN)
  orr r0, r0, r2
  mcr p15, 0, r0, c1, c0, 0
  isb
  bl board_start
  b .

/* From r0 to r1, both multiples of 4. */
clear:
  mov r2, #0
1:
  cmp r0, r1
  strlo r2, [r0], #4
  blo 1b
  bx lr

.section .bss
.global start_mode
.balign 4
start_mode:
.space 4

.section .note.GNU-stack, "", %progbits
