/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of configuration space (PCI Express base specification 4.0, chapter 7), and how to find them. */
#ifndef SPATE_PCIE_REGISTERS_H
#define SPATE_PCIE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Type 0 and type 1 headers (7.5.1). */
enum {
  PCI_ID = 0x00,
  PCI_COMMAND = 0x04, /* the upper half is Status, whose bits are cleared by a 1: always write 0 there */
  PCI_CLASS = 0x08,
  PCI_HEADER_TYPE = 0x0c,
  PCI_BAR0 = 0x10,
  PCI_BUS_NUMBERS = 0x18,
  PCI_IO_WINDOW = 0x1c,
  PCI_MEMORY_WINDOW = 0x20,
  PCI_PREFETCH_WINDOW = 0x24,
  PCI_PREFETCH_BASE_UPPER = 0x28,
  PCI_PREFETCH_LIMIT_UPPER = 0x2c,
  PCI_ROM = 0x30,        /* of endpoints */
  PCI_BRIDGE_ROM = 0x38, /* of bridges */
  PCI_CAPABILITIES = 0x34,
  PCI_BRIDGE_CONTROL = 0x3c, /* in the upper half; only in bridges */
};

#define PCI_COMMAND_IO           UINT32_C(0x0001)
#define PCI_COMMAND_MEMORY       UINT32_C(0x0002)
#define PCI_COMMAND_MASTER       UINT32_C(0x0004)
#define PCI_COMMAND_INTX_DISABLE UINT32_C(0x0400)
#define PCI_STATUS_CAPABILITIES  UINT32_C(0x00100000)
#define PCI_HEADER_MULTIFUNCTION UINT32_C(0x00800000)
#define PCI_HEADER_TYPE_1        UINT32_C(0x00010000)
#define PCI_HEADER_TYPE_MASK     UINT32_C(0x007f0000)
#define PCI_CLASS_HOST_BRIDGE    UINT32_C(0x0600) /* base class and sub-class */
#define PCI_CLASS_PCI_BRIDGE     UINT32_C(0x0604)
#define PCI_ID_ABSENT            UINT32_C(0xffffffff)
#define PCI_BRIDGE_RESET         UINT32_C(0x00400000) /* secondary bus reset */
#define PCI_VENDOR_RETRY         UINT32_C(0x0001)     /* the vendor id that stands for "retry" (2.3.2) */

/* PCI Express capability (7.5.3), relative to its offset. The upper halves of the control registers are status. */
enum {
  EXPRESS_CAPABILITIES = 0x00,
  EXPRESS_DEVICE_CAPABILITIES = 0x04,
  EXPRESS_DEVICE_CONTROL = 0x08,
  EXPRESS_LINK_CAPABILITIES = 0x0c,
  EXPRESS_LINK_CONTROL = 0x10,
  EXPRESS_SLOT_CONTROL = 0x18,
  EXPRESS_ROOT_CONTROL = 0x1c,
  EXPRESS_LINK_CONTROL_2 = 0x30, /* version 2 of the capability and later */
};

enum express_type {
  EXPRESS_ENDPOINT = 0x0,
  EXPRESS_LEGACY_ENDPOINT = 0x1,
  EXPRESS_ROOT_PORT = 0x4,
  EXPRESS_UPSTREAM_PORT = 0x5,
  EXPRESS_DOWNSTREAM_PORT = 0x6,
  EXPRESS_INTEGRATED_ENDPOINT = 0x9,
  EXPRESS_NONE = 0xff, /* no PCI Express capability */
};

#define EXPRESS_SLOT_IMPLEMENTED         UINT32_C(0x01000000)
#define EXPRESS_LINK_ACTIVE_REPORTING    UINT32_C(0x00100000)
#define EXPRESS_SPEED_5                  UINT32_C(2) /* 5 GT/s, in bits 3:0 of Link Capabilities */
#define EXPRESS_LINK_TRAINING            UINT32_C(0x08000000)
#define EXPRESS_LINK_ACTIVE              UINT32_C(0x20000000)
#define EXPRESS_SLOT_PRESENCE            UINT32_C(0x00400000)
#define EXPRESS_SLOT_LINK_CHANGED        UINT32_C(0x01000000) /* data link layer state changed; cleared by a 1 */
#define EXPRESS_FUNCTION_RESET_CAPABLE   UINT32_C(0x10000000)
#define EXPRESS_FUNCTION_RESET           UINT32_C(0x00008000)
#define EXPRESS_ROOT_RETRY_VISIBLE       UINT32_C(0x00000010)
#define EXPRESS_ROOT_RETRY_CAPABLE       UINT32_C(0x00010000)
#define EXPRESS_LINK_ASPM_MASK           UINT32_C(0x00000003)
#define EXPRESS_DEVICE_PAYLOAD_MASK      UINT32_C(0x000000e0)
#define EXPRESS_DEVICE_RELAXED_ORDERING  UINT32_C(0x00000010)
#define EXPRESS_DEVICE_NO_SNOOP          UINT32_C(0x00000800)
#define EXPRESS_DEVICE_READ_REQUEST_MASK UINT32_C(0x00007000)

/* PCI power management capability (7.5.2), relative to its offset. */
enum { POWER_CONTROL = 0x04 };
#define POWER_STATE_MASK UINT32_C(0x00000003)

/* MSI and MSI-X (7.7.1, 7.7.2): Message Control is in the upper half of the first dword. */
#define MSI_ENABLE  UINT32_C(0x00010000)
#define MSIX_ENABLE UINT32_C(0x80000000)

/* Advanced error reporting (7.8.4), relative to its offset. */
enum { ERRORS_UNCORRECTABLE = 0x04, ERRORS_CORRECTABLE = 0x10 };

enum pcie_capability {
  CAPABILITY_POWER = 0x01,
  CAPABILITY_MSI = 0x05,
  CAPABILITY_EXPRESS = 0x10,
  CAPABILITY_MSIX = 0x11
};
enum pcie_extended_capability { CAPABILITY_ERRORS = 0x0001 };

/* Reads a dword at a multiple of 4 from the configuration space of one function. */
typedef uint32_t pcie_reader(const void *context, unsigned offset);

/* capability.c: the offset of a capability, 0 if there is none. The pointers come from the device. They are followed
 * only within configuration space, and a limited number of times in case they form a loop. */
uint16_t spate_pcie_find_capability(pcie_reader *read, const void *context, enum pcie_capability wanted);
uint16_t spate_pcie_find_extended(pcie_reader *read, const void *context, enum pcie_extended_capability wanted);

/* No device responded. Most bridges return all ones. A PG194 bridge that reports a configuration timeout as OKAY
 * returns zeros. */
static inline bool spate_pcie_is_silence(uint32_t id) { return id == PCI_ID_ABSENT || id == 0; }

#endif
