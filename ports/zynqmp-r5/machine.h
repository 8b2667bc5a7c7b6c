/* SPDX-License-Identifier: Apache-2.0 */
/* What the Cortex-R5F of every Zynq UltraScale+ sees (UG1085, UG1087). What a design decides is in design.h. */
#ifndef SPATE_PORTS_MACHINE_H
#define SPATE_PORTS_MACHINE_H

#define MACHINE_NAME "Zynq UltraScale+, Cortex-R5F"

/* The real-time clock: seconds at 0x10 (UG1087, RTC, CURRENT_TIME). */
#define MACHINE_RTC 0xFFA60000

#define MACHINE_UART_OPEN  cadence_uart_open
#define MACHINE_UART_WRITE cadence_uart_write

/* The GPIO controller: its registers, the MIO pins of a bank, the first bank of EMIO (perst.h). */
#define MACHINE_GPIO_BANKS                                                                                             \
  { 0xFF0A0000, 26, 3 }

/* Registers of the processing system, below the on-chip memory. */
#define MACHINE_REGISTERS     0xFD000000
#define MACHINE_REGISTERS_END 0xFFC00000

/* Mapped as registers are. Nothing is there: a reserved address behind the DMA of the low-power domain. */
#define MACHINE_ABSENT_REGISTER 0xFFBF0000

#endif
