/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the first-stage loader of a Zynq UltraScale+: starts `image` in EL3 with CNTFRQ as it is after a reset of
 * the processor, 0. (QEMU sets it.) */
.global _start
_start:
  msr cntfrq_el0, xzr
  ldr x0, =image
  br x0
