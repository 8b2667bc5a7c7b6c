/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What EL2 does if the firmware was started there: it raises a virtual SError for a test (late_error.c). HVC from EL1
 * raises it at once (x0 = 0), or at the next load from the 8 bytes at the address x0. Nothing else comes to EL2.
 *
 * A load is noticed by a watchpoint (Arm ARM D2.10) whose exception goes to EL2. The load is carried out afterwards.
 */
#define HCR_AARCH64   (1 << 31)
#define HCR_SERROR    ((1 << 8) | (1 << 5)) /* VSE: a virtual SError is pending; AMO: EL1 gets it */
#define MDCR_TO_EL2   8                     /* TDE: debug exceptions are taken in EL2 */
#define MDSCR_DEBUG   15                    /* MDE: watchpoints are on */
#define WATCH_LOADS   0x1feb                /* DBGWCR: 8 bytes, loads, EL1 of either security state, on */
#define EC_HVC        0x16

.section .text.el2, "ax"
.global el2_vectors
.balign 2048
el2_vectors:
.space 0x400 /* only exceptions from EL1 come here */
  msr tpidr_el2, x0
  mrs x0, esr_el2
  lsr x0, x0, #26
  cmp x0, #EC_HVC
  b.ne raise /* a watchpoint */
  mrs x0, tpidr_el2
  cbz x0, raise

  msr dbgwvr0_el1, x0
  mov x0, #WATCH_LOADS
  msr dbgwcr0_el1, x0
  mrs x0, mdscr_el1
  orr x0, x0, #(1 << MDSCR_DEBUG)
  msr mdscr_el1, x0
  mrs x0, mdcr_el2
  orr x0, x0, #(1 << MDCR_TO_EL2)
  msr mdcr_el2, x0
  isb
  eret

raise:
  msr dbgwcr0_el1, xzr
  ldr x0, =(HCR_AARCH64 | HCR_SERROR)
  msr hcr_el2, x0
  isb
  mrs x0, tpidr_el2
  eret

.section .note.GNU-stack, "", %progbits
