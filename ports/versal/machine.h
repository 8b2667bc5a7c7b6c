/* SPDX-License-Identifier: Apache-2.0 */
/* What every Versal has (AM011, AM012). What a design decides is in design.h. */
#ifndef SPATE_PORTS_MACHINE_H
#define SPATE_PORTS_MACHINE_H

#define MACHINE_NAME "Versal, Cortex-A72"

#define MACHINE_UART_OPEN  pl011_open
#define MACHINE_UART_WRITE pl011_write

/* The real-time clock: seconds at 0x10 (AM012, RTC, CURRENT_TIME). */
#define MACHINE_RTC 0xF12A0000

/* PMC_GPIO: its registers, the MIO pins of a bank, the first bank of EMIO (perst.h). */
#define MACHINE_GPIO_BANKS                                                                                             \
  { 0xF1020000, 26, 3 }

/* The system counter's registers for secure software (AM012, IOU_SCNTRS). BASE_FREQUENCY has what the loader wrote. */
#define MACHINE_COUNTER 0xFF140000

/* Registers of the PMC and of the processing system, those of the CPM among them, below the on-chip memory. */
#define MACHINE_REGISTERS     0xF0000000
#define MACHINE_REGISTERS_END 0xFFC00000

/* Mapped as registers are. Nothing is there: a reserved address behind the DMA of the low-power domain. */
#define MACHINE_ABSENT_REGISTER 0xFFBF0000

#endif
