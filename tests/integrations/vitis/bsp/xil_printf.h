/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XIL_PRINTF_H
#define XIL_PRINTF_H

void xil_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
