/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XIL_MPU_H
#define XIL_MPU_H

#include "xil_types.h"

u32 Xil_SetMPURegion(INTPTR addr, u64 size, u32 attrib);

#endif
