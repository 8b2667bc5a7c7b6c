/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library inside a standalone application of Vitis, beside its BSP. design.h, which design_header.py makes, says
 * where the bridge is. README.md has the steps.
 */
#ifndef SPATE_VITIS_H
#define SPATE_VITIS_H

#include <spate/error.h>
#include <spate/pcie.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Call it once, before any other function of the library, on the processor that will use it. It
 * - registers handlers for the errors with which a bridge answers (Xil_ExceptionRegisterHandler): a register of a drive
 *   that is gone then reads as all ones. Every other exception goes to the handler that was registered before;
 * - masks late errors (SError, asynchronous aborts), which the BSP leaves unmasked: each register read looks for them.
 *   An error of another device then stays pending until the library's next read of a register, and is lost there;
 * - starts the clock where it does not run yet.
 * Register handlers of your own for these exceptions before, not after.
 */
void spate_vitis_open(void);

/*
 * Map memory Normal Non-cacheable, for queue memory and for a ring: Xil_SetTlbAttributes(), on a Cortex-R5
 * Xil_SetMPURegion(). Nothing of the program may be in it: take it out of the memory of lscript.ld. Its contents stay.
 *
 *   Cortex-A53, A72   start and size are multiples of 2 MiB below 4 GiB, of 1 GiB above
 *   Cortex-A9         multiples of 1 MiB
 *   Cortex-R5         a power of two from 32 bytes on, at a multiple of its size; it takes one region of the MPU's
 *
 * Errors: INVALID (start or size), FULL (Cortex-R5: no region is left).
 */
SPATE_MUST_CHECK enum spate_error spate_vitis_not_cached(uintptr_t start, uint64_t bytes);

/*
 * Open the bridge of design.h, and enumerate. PERST# was released at `perst_released_ticks` (spate_port_ticks();
 * 0: long ago). Errors: those of spate_pcie_xilinx_open() and spate_pcie_enumerate(); spate_pcie_phy() reads the state
 * of a link that is down.
 */
SPATE_MUST_CHECK enum spate_error spate_vitis_bring_up(struct spate_pcie_host *host, uint64_t perst_released_ticks);

#ifdef __cplusplus
}
#endif
#endif
