/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the first-stage loader of a Zynq UltraScale+: starts `image` in EL3 with `counter_hz` in CNTFRQ. (After a
 * reset of the processor it is 0, but QEMU sets it.) */
.global _start
_start:
  ldr x0, =counter_hz
  msr cntfrq_el0, x0
  ldr x0, =image
  br x0
