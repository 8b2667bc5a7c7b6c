/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the configuration space of a function. */
#include "../pcie/registers.h"
#include "internal.h"

#define HEADER_BYTES       64u
#define CAPABILITIES_BYTES 256u
#define WINDOW_GRAIN       UINT64_C(0x100000) /* of a bridge's windows */
#define PAYLOAD_CODE_MAX   5u                 /* 4096 bytes; 6 and 7 are reserved */

static uint32_t get(const struct spate_doctor_space *space, unsigned offset) {
  return offset + 4u <= space->bytes ? space->read(space->context, offset & ~3u) : 0;
}

/* For spate_pcie_find_capability(): a list ends where it leaves the readable part of configuration space. */
static uint32_t get_register(const void *space, unsigned offset) { return get(space, offset); }

static uint64_t bar0_of(const struct spate_doctor_space *space) {
  const uint32_t low = get(space, PCI_BAR0);
  const bool io = low & 1u, wide = (low & 6u) == 4u;

  if (io) return 0;
  return (low & ~UINT32_C(0xf)) | (wide ? (uint64_t)get(space, PCI_BAR0 + 4) << 32 : 0);
}

/* Base and limit are the ends of the window. A limit below the base means that the window is closed. */
static struct spate_pcie_window window_of(uint64_t base, uint64_t limit) {
  if (limit < base) return (struct spate_pcie_window){.bytes = 0};
  return (struct spate_pcie_window){.cpu_address = base, .bus_address = base, .bytes = limit - base + WINDOW_GRAIN};
}

static void read_windows(struct spate_doctor_function *function, const struct spate_doctor_space *space) {
  const uint32_t memory = get(space, PCI_MEMORY_WINDOW), prefetch = get(space, PCI_PREFETCH_WINDOW);
  uint64_t base = (prefetch & 0xfff0u) << 16, limit = prefetch & 0xfff00000u;

  function->memory = window_of((memory & 0xfff0u) << 16, memory & 0xfff00000u);
  if ((prefetch & 0xfu) == 1u) {
    base |= (uint64_t)get(space, PCI_PREFETCH_BASE_UPPER) << 32;
    limit |= (uint64_t)get(space, PCI_PREFETCH_LIMIT_UPPER) << 32;
  }
  /* A bridge without this window reads all zeros. No real window has this value. */
  if (prefetch != 0) function->prefetchable = window_of(base, limit);
}

static void read_header(struct spate_doctor_function *function, const struct spate_doctor_space *space) {
  function->header_known = true;
  /* Most bridges return all ones for a function that does not respond. PG194 bridges may return zeros. */
  function->silent = get(space, PCI_ID) == PCI_ID_ABSENT || get(space, PCI_ID) == 0;
  if (function->silent) return;
  function->bridge = (get(space, PCI_HEADER_TYPE) & PCI_HEADER_TYPE_MASK) == PCI_HEADER_TYPE_1;
  function->vendor_id = (uint16_t)get(space, PCI_ID);
  function->device_id = (uint16_t)(get(space, PCI_ID) >> 16);
  function->command = (uint16_t)get(space, PCI_COMMAND);
  function->class_code = get(space, PCI_CLASS) >> 8;
  if (!function->bridge) {
    function->bar0 = bar0_of(space);
    return;
  }
  const uint32_t buses = get(space, PCI_BUS_NUMBERS);
  function->secondary_bus = (uint8_t)(buses >> 8);
  function->subordinate_bus = (uint8_t)(buses >> 16);
  read_windows(function, space);
}

static enum spate_doctor_kind kind_of(uint32_t express_type) {
  switch (express_type) {
  case EXPRESS_ENDPOINT:
  case EXPRESS_LEGACY_ENDPOINT: return SPATE_DOCTOR_ENDPOINT;
  case EXPRESS_INTEGRATED_ENDPOINT: return SPATE_DOCTOR_INTEGRATED;
  case EXPRESS_ROOT_PORT: return SPATE_DOCTOR_ROOT_PORT;
  case EXPRESS_UPSTREAM_PORT: return SPATE_DOCTOR_UPSTREAM_PORT;
  case EXPRESS_DOWNSTREAM_PORT: return SPATE_DOCTOR_DOWNSTREAM_PORT;
  default: return SPATE_DOCTOR_KIND_UNKNOWN;
  }
}

static uint16_t payload_bytes(uint32_t code) {
  return (uint16_t)(128u << (code < PAYLOAD_CODE_MAX ? code : PAYLOAD_CODE_MAX));
}

static void read_link(struct spate_doctor_function *function, const struct spate_doctor_space *space, uint16_t at) {
  const uint32_t capabilities = get(space, at + EXPRESS_LINK_CAPABILITIES);
  const uint32_t control = get(space, at + EXPRESS_LINK_CONTROL);
  const bool port = function->kind == SPATE_DOCTOR_ROOT_PORT || function->kind == SPATE_DOCTOR_DOWNSTREAM_PORT;

  function->link = (struct spate_pcie_link){.speed = control >> 16 & 0xf,
                                            .width = control >> 20 & 0x3f,
                                            .speed_max = capabilities & 0xf,
                                            .width_max = capabilities >> 4 & 0x3f,
                                            .up = true};
  function->aspm = control & EXPRESS_LINK_ASPM_MASK;
  if (!port) return;
  function->link_training = control & EXPRESS_LINK_TRAINING;
  function->link_reported = capabilities & EXPRESS_LINK_ACTIVE_REPORTING;
  if (function->link_reported) function->link.up = control & EXPRESS_LINK_ACTIVE;
  function->slot = get(space, at + EXPRESS_CAPABILITIES) & EXPRESS_SLOT_IMPLEMENTED;
  function->present = get(space, at + EXPRESS_SLOT_CONTROL) & EXPRESS_SLOT_PRESENCE;
  if ((get(space, at + EXPRESS_CAPABILITIES) >> 16 & 0xfu) >= 2u)
    function->target_speed = get(space, at + EXPRESS_LINK_CONTROL_2) & 0xf;
}

static void read_express(struct spate_doctor_function *function, const struct spate_doctor_space *space) {
  const uint16_t at = spate_pcie_find_capability(get_register, space, CAPABILITY_EXPRESS);

  if (at == 0) return;
  const uint32_t control = get(space, at + EXPRESS_DEVICE_CONTROL);
  function->kind = kind_of(get(space, at + EXPRESS_CAPABILITIES) >> 20 & 0xf);
  function->payload_bytes_max = payload_bytes(get(space, at + EXPRESS_DEVICE_CAPABILITIES) & 0x7);
  function->payload_bytes = payload_bytes((control & EXPRESS_DEVICE_PAYLOAD_MASK) >> 5);
  function->read_request_code = (uint8_t)((control & EXPRESS_DEVICE_READ_REQUEST_MASK) >> 12);
  function->errors.known = true;
  function->errors.device_status = control >> 16 & 0xf;
  if (function->kind != SPATE_DOCTOR_INTEGRATED) read_link(function, space, at);
}

static void read_power(struct spate_doctor_function *function, const struct spate_doctor_space *space) {
  const uint16_t at = spate_pcie_find_capability(get_register, space, CAPABILITY_POWER);

  if (at == 0) return;
  function->power_known = true;
  function->power_state = get(space, at + POWER_CONTROL) & POWER_STATE_MASK;
}

static void read_interrupts(struct spate_doctor_function *function, const struct spate_doctor_space *space) {
  const uint16_t msi = spate_pcie_find_capability(get_register, space, CAPABILITY_MSI);
  const uint16_t msix = spate_pcie_find_capability(get_register, space, CAPABILITY_MSIX);

  function->msi = msi != 0 && get(space, msi) & MSI_ENABLE;
  function->msix = msix != 0 && get(space, msix) & MSIX_ENABLE;
}

static void read_errors(struct spate_doctor_function *function, const struct spate_doctor_space *space) {
  const uint16_t at = spate_pcie_find_extended(get_register, space, CAPABILITY_ERRORS);

  if (at == 0) return;
  function->errors.known = true;
  function->errors.correctable = get(space, at + ERRORS_CORRECTABLE) & ~ERROR_KIND_UNKNOWN;
  function->errors.uncorrectable = get(space, at + ERRORS_UNCORRECTABLE) & ~ERROR_KIND_UNKNOWN;
}

void spate_doctor_function_read(struct spate_doctor_function *function, struct spate_pcie_address address,
                                const struct spate_doctor_space *space) {
  *function = (struct spate_doctor_function){.address = address};
  if (space->bytes < HEADER_BYTES) return;
  read_header(function, space);
  if (function->silent || space->bytes < CAPABILITIES_BYTES) return;
  read_express(function, space);
  read_power(function, space);
  read_interrupts(function, space);
  read_errors(function, space);
}
