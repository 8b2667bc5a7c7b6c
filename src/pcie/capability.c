/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of capabilities in a function's configuration space (base specification 4.0, 7.5.1.1.11 and 7.6). */
#include "registers.h"

/* The number of capabilities that fit: dwords from 0x40 to 0xff, and entries of two dwords from 0x100 to 0xfff. */
#define CAPABILITIES_MAX 48u
#define EXTENDED_MAX     480u
#define EXTENDED_START   0x100u

uint16_t spate_pcie_find_capability(pcie_reader *read, const void *context, enum pcie_capability wanted) {
  if (!(read(context, PCI_COMMAND) & PCI_STATUS_CAPABILITIES)) return 0;
  uint32_t offset = read(context, PCI_CAPABILITIES) & 0xfc;
  for (unsigned hop = 0; hop < CAPABILITIES_MAX && offset >= 0x40; hop++) {
    uint32_t capability = read(context, offset);
    if ((capability & 0xff) == (uint32_t)wanted) return (uint16_t)offset;
    offset = (capability >> 8) & 0xfc;
  }
  return 0;
}

uint16_t spate_pcie_find_extended(pcie_reader *read, const void *context, enum pcie_extended_capability wanted) {
  uint32_t offset = EXTENDED_START;
  for (unsigned hop = 0; hop < EXTENDED_MAX && offset >= EXTENDED_START; hop++) {
    uint32_t capability = read(context, offset);
    if (capability == 0 || capability == UINT32_MAX) return 0; /* no capability, or no extended space */
    if ((capability & 0xffff) == (uint32_t)wanted) return (uint16_t)offset;
    offset = (capability >> 20) & 0xffc;
  }
  return 0;
}
