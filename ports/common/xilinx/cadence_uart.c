/* SPDX-License-Identifier: Apache-2.0 */
#include "cadence_uart.h"

#include <spate/port.h>

#define CONTROL         0x00u
#define CHANNEL_STATUS  0x2cu
#define FIFO            0x30u
#define CONTROL_ENABLED 0x14u /* TX_EN, RX_EN; not TX_DIS, RX_DIS */
#define TRANSMIT_FULL   0x10u

void cadence_uart_open(uintptr_t base) { spate_port_write32(base + CONTROL, CONTROL_ENABLED); }

void cadence_uart_write(uintptr_t base, const char *text, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    while (spate_port_read32(base + CHANNEL_STATUS) & TRANSMIT_FULL)
      spate_port_relax();
    spate_port_write32(base + FIFO, (uint8_t)text[i]);
  }
}
