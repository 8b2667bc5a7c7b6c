/* SPDX-License-Identifier: Apache-2.0 */
#include "pl011.h"

#include <spate/port.h>

#define DATA            0x00u
#define FLAGS           0x18u
#define LINE_CONTROL    0x2cu
#define CONTROL         0x30u
#define TRANSMIT_FULL   0x20u
#define BITS_8_FIFO     0x70u
#define ENABLE_TRANSMIT 0x101u

/* The line control must not change while the UART is on (DDI 0183, 3.3.7): a loader has set it then. */
void pl011_open(uintptr_t base) {
  if ((spate_port_read32(base + CONTROL) & ENABLE_TRANSMIT) == ENABLE_TRANSMIT) return;
  spate_port_write32(base + LINE_CONTROL, BITS_8_FIFO);
  spate_port_write32(base + CONTROL, ENABLE_TRANSMIT);
}

void pl011_write(uintptr_t base, const char *text, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    while (spate_port_read32(base + FLAGS) & TRANSMIT_FULL)
      spate_port_relax();
    spate_port_write32(base + DATA, (uint8_t)text[i]);
  }
}
