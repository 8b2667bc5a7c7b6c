/* SPDX-License-Identifier: Apache-2.0 */
/* The Cadence UART of a Zynq-7000 (UG585, appendix B.33) and of a Zynq UltraScale+ (UG1087, UART). */
#ifndef SPATE_PORTS_CADENCE_UART_H
#define SPATE_PORTS_CADENCE_UART_H

#include <stddef.h>
#include <stdint.h>

/* Turns transmitter and receiver on, and leaves rate and format as they are. */
void cadence_uart_open(uintptr_t base);
void cadence_uart_write(uintptr_t base, const char *text, size_t bytes);

#endif
