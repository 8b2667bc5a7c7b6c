/* SPDX-License-Identifier: Apache-2.0 */
/* What every Zynq-7000 has (UG585, chapter 4 and appendix B). What a design decides is in design.h. start.S reads this
 * file, too. */
#ifndef SPATE_PORTS_MACHINE_H
#define SPATE_PORTS_MACHINE_H

#define MACHINE_NAME "Zynq-7000, Cortex-A9"

#define MACHINE_UART_OPEN  cadence_uart_open
#define MACHINE_UART_WRITE cadence_uart_write

/* The GPIO controller (B.19): its registers, the MIO pins of a bank, the first bank of EMIO (perst.h). */
#define MACHINE_GPIO_BANKS                                                                                             \
  { 0xE000A000, 32, 2 }

/* System-level control registers (B.28), device configuration (B.16). */
#define MACHINE_SLCR   0xF8000000
#define MACHINE_DEVCFG 0xF8007000

/* Private to the processors (B.24, B.22): snoop control unit, global timer, outer cache. */
#define MACHINE_SCU                0xF8F00000
#define MACHINE_GLOBAL_TIMER       0xF8F00200
#define MACHINE_PL310              0xF8F02000
#define MACHINE_PL310_TAG_LATENCY  0x111 /* cycles for set-up, read and write, less one each (3.4.10) */
#define MACHINE_PL310_DATA_LATENCY 0x121

/* Registers: of the peripherals, and of the system and the processors (table 4-1). */
#define MACHINE_PERIPHERALS     0xE0000000
#define MACHINE_PERIPHERALS_END 0xE0300000
#define MACHINE_REGISTERS       0xF8000000
#define MACHINE_REGISTERS_END   0xF9000000

/* Mapped as registers are. Nothing is there: a reserved address behind those of the outer cache. */
#define MACHINE_ABSENT_REGISTER 0xF8FFF000

#endif
