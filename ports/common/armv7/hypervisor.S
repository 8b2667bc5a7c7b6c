/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hypervisor mode does if the firmware was started in it: it raises a virtual asynchronous abort for a test
 * (late_error.c). HVC raises it at once (r0 = 0), or at the next load from the 8 bytes at the address r0. Nothing else
 * comes to this mode.
 *
 * A load is noticed by a watchpoint (Arm ARM v7 C3.3) whose exception goes to hypervisor mode. The load is carried out
 * afterwards.
 */
.arch armv7-a
.arch_extension virt
.syntax unified
.arm

#define HCR_ABORT    ((1 << 8) | (1 << 5)) /* VA: a virtual abort is pending; AMO: supervisor mode gets it */
#define HDCR_TO_HERE (1 << 8)              /* TDE: debug exceptions are taken in hypervisor mode */
#define DSCR_DEBUG   (1 << 15)             /* MDBGen: watchpoints are on */
#define WATCH_LOADS  0x1feb                /* DBGWCR: 8 bytes, loads, privileged modes, on */
#define EC_HVC       0x12

.section .text.hypervisor, "ax"
.global hypervisor_vectors
.balign 32
hypervisor_vectors:
  .rept 5
  b .
  .endr
  mcr p15, 4, r0, c13, c0, 2 /* HTPIDR keeps r0 */
  mrc p15, 4, r0, c5, c2, 0  /* HSR */
  lsr r0, r0, #26
  cmp r0, #EC_HVC
  bne raise /* a watchpoint */
  mrc p15, 4, r0, c13, c0, 2
  cmp r0, #0
  beq raise

  mcr p14, 0, r0, c0, c0, 6 /* DBGWVR0 */
  ldr r0, =WATCH_LOADS
  mcr p14, 0, r0, c0, c0, 7 /* DBGWCR0 */
  mrc p14, 0, r0, c0, c2, 2 /* DBGDSCRext */
  orr r0, r0, #DSCR_DEBUG
  mcr p14, 0, r0, c0, c2, 2
  mrc p15, 4, r0, c1, c1, 1 /* HDCR */
  orr r0, r0, #HDCR_TO_HERE
  mcr p15, 4, r0, c1, c1, 1
  isb
  eret

raise:
  mov r0, #0
  mcr p14, 0, r0, c0, c0, 7
  mov r0, #HCR_ABORT
  mcr p15, 4, r0, c1, c1, 0 /* HCR */
  isb
  mrc p15, 4, r0, c13, c0, 2
  eret

.section .note.GNU-stack, "", %progbits
