/* SPDX-License-Identifier: Apache-2.0 */
.syntax unified
.arm

.text
.global empty_caches
/* All data caches that the processor knows, up to the level of coherency (Arm ARM v7 B2.2.7). r10: clean them too. Uses
 * r0 to r9. */
empty_caches:
  mrc p15, 1, r0, c0, c0, 1  /* CLIDR */
  ubfx r1, r0, #24, #3       /* levels */
  mov r2, #0                 /* level */
1:
  cmp r2, r1
  bhs 5f
  add r3, r2, r2, lsl #1
  lsr r3, r0, r3
  and r3, r3, #7
  cmp r3, #2                 /* no data cache at this level */
  blo 4f
  lsl r3, r2, #1
  mcr p15, 2, r3, c0, c0, 0  /* CSSELR */
  isb
  mrc p15, 1, r4, c0, c0, 0  /* CCSIDR */
  and r5, r4, #7
  add r5, r5, #4             /* log2 of the bytes of a line */
  ubfx r6, r4, #13, #15      /* last set */
  ubfx r7, r4, #3, #10       /* last way */
  clz r8, r7                 /* where the way stands in the operand */
2:
  mov r4, r7                 /* way */
3:
  lsl r9, r4, r8
  orr r9, r9, r3
  orr r9, r9, r6, lsl r5
  cmp r10, #0
  mcreq p15, 0, r9, c7, c6, 2  /* DCISW */
  mcrne p15, 0, r9, c7, c14, 2 /* DCCISW */
  subs r4, r4, #1
  bpl 3b
  subs r6, r6, #1
  bpl 2b
4:
  add r2, r2, #1
  b 1b
5:
  dsb
  isb
  bx lr

.section .note.GNU-stack, "", %progbits
