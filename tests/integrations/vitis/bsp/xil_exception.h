/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XIL_EXCEPTION_H
#define XIL_EXCEPTION_H

#include "xil_types.h"

#ifdef __aarch64__
#define XIL_EXCEPTION_ID_SYNC_INT         1U
#define XIL_EXCEPTION_ID_SERROR_ABORT_INT 4U
#else
#define XIL_EXCEPTION_ID_DATA_ABORT_INT 4U
#endif
#define XIL_EXCEPTION_ID_LAST 6U

typedef void (*Xil_ExceptionHandler)(void *data);

void Xil_ExceptionRegisterHandler(u32 Exception_id, Xil_ExceptionHandler Handler, void *Data);
void Xil_GetExceptionRegisterHandler(u32 Exception_id, Xil_ExceptionHandler *Handler, void **Data);

#endif
