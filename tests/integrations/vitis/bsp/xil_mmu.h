/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XIL_MMU_H
#define XIL_MMU_H

#include "xil_types.h"

#ifdef __aarch64__
#define NORM_NONCACHE 0x401UL
void Xil_SetTlbAttributes(UINTPTR Addr, u64 attrib);
#else
#define NORM_NONCACHE 0x11DE2
void Xil_SetTlbAttributes(INTPTR Addr, u32 attrib);
#endif

#endif
