/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From reset (the first vector) or a loader, in a privileged mode, to board_start() in supervisor mode with memory protection unit and
 * caches on. The exception vectors are at 0xffff0000, because ARMv7-R has no VBAR: the link script puts them there.
 * SCTLR.V is set already: without it nothing above 0xf0000000 could be executed now (Cortex-R5 TRM, default memory map).
 */
.syntax unified
.arm

#define MODE_SUPERVISOR 0x13
#define MODE_ABORT      0x17

#define SCTLR_MPU        (1 << 0)
#define SCTLR_ALIGNMENT  (1 << 1)
#define SCTLR_DATA_CACHE (1 << 2)
#define SCTLR_PREDICTION (1 << 11)
#define SCTLR_CODE_CACHE (1 << 12)
#define SCTLR_HIGH       (1 << 13) /* vectors at 0xffff0000 */
#define SCTLR_BACKGROUND (1 << 17) /* what no region has is accessible */
#define SCTLR_THUMB      (1 << 30) /* exceptions */

#define ACTLR_DBWR (1 << 14) /* write bursts to Normal memory are off */

.section .text.start, "ax"
.global _start
_start:
  cpsid aif
  mrc p15, 0, r0, c0, c0, 5 /* MPIDR */
  tst r0, #3
  bne park
  cps #MODE_SUPERVISOR
  mrc p15, 0, r0, c1, c0, 0
  and r10, r0, #SCTLR_DATA_CACHE
  ldr r1, =(SCTLR_MPU | SCTLR_DATA_CACHE | SCTLR_CODE_CACHE | SCTLR_BACKGROUND)
  bic r0, r0, r1
  dsb
  mcr p15, 0, r0, c1, c0, 0
  isb
  bl empty_caches

  cps #MODE_ABORT /* exceptions have their own stack: the program's may be the cause */
  ldr sp, =__fault_stack_end
  cps #MODE_SUPERVISOR
  ldr sp, =__stack_end
  /* Floating point registers: the compiler may use them to move structures. */
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
  bl mpu_build

  mov r1, #0
  mcr p15, 0, r1, c7, c5, 0  /* ICIALLU */
  mcr p15, 0, r1, c7, c5, 6  /* BPIALL */
  mrc p15, 0, r0, c1, c0, 1
  orr r0, r0, #ACTLR_DBWR    /* workaround of the Cortex-R5's erratum 780125, as AMD's own start-up code has it */
  mcr p15, 0, r0, c1, c0, 1
  dsb
  isb
  mrc p15, 0, r0, c1, c0, 0
  bic r0, r0, #SCTLR_THUMB
  ldr r2, =(SCTLR_MPU | SCTLR_ALIGNMENT | SCTLR_DATA_CACHE | SCTLR_PREDICTION | SCTLR_CODE_CACHE | SCTLR_HIGH)
  orr r0, r0, r2
  mcr p15, 0, r0, c1, c0, 0
  isb
  bl board_start
  b .

/* The other core of a pair. */
park:
  wfe
  b park

.section .note.GNU-stack, "", %progbits
