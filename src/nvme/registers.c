/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads of controller registers that recognise a drive that is gone. Bridges return different values for such a drive:
 * all ones, zeros, or arbitrary data (docs/use/porting.md has the list). Arbitrary data are recognised only by
 * config.bus.link_is_up.
 */
#include "internal.h"

bool spate_nvme_link_is_up(const struct spate_nvme *controller) {
  const struct spate_nvme_bus *bus = &controller->config.bus;

  return bus->link_is_up == NULL || bus->link_is_up(bus->context);
}

static uint32_t read_register(const struct spate_nvme *controller, uint32_t offset) {
  return spate_port_read32(controller->config.registers + offset);
}

/* No controller has 0 in both: VS is at least 1.0, and CAP.MQES at least 1. */
static bool reads_as_zeros(const struct spate_nvme *controller) {
  return read_register(controller, NVME_VS) == 0 && spate_port_read64(controller->config.registers + NVME_CAP) == 0;
}

/* link_is_up is called again after the registers were read: it also reports a link that dropped in between. */
enum spate_error spate_nvme_control_status(const struct spate_nvme *controller, uint32_t *control, uint32_t *status) {
  if (!spate_nvme_link_is_up(controller)) return SPATE_E_GONE;
  *control = read_register(controller, NVME_CC);
  *status = read_register(controller, NVME_CSTS);
  if (*status == NVME_ALL_ONES || (*status == 0 && reads_as_zeros(controller))) return SPATE_E_GONE;
  return spate_nvme_link_is_up(controller) ? SPATE_OK : SPATE_E_GONE;
}

enum spate_error spate_nvme_status_check(const struct spate_nvme *controller) {
  uint32_t control, status;
  const enum spate_error error = spate_nvme_control_status(controller, &control, &status);

  if (error != SPATE_OK) return error;
  return (status & (NVME_CSTS_FATAL | NVME_CSTS_READY)) == NVME_CSTS_READY ? SPATE_OK : SPATE_E_FATAL;
}

enum spate_error spate_nvme_capabilities(const struct spate_nvme *controller, uint64_t *cap, uint32_t *version) {
  if (!spate_nvme_link_is_up(controller)) return SPATE_E_GONE;
  *version = read_register(controller, NVME_VS); /* first: a drive that begins to respond now responds for CAP, too */
  *cap = spate_port_read64(controller->config.registers + NVME_CAP);
  if (*version == NVME_ALL_ONES || *version == 0) return SPATE_E_GONE;
  if ((uint32_t)*cap == NVME_ALL_ONES || (uint32_t)(*cap >> 32) == NVME_ALL_ONES) return SPATE_E_GONE;
  return spate_nvme_link_is_up(controller) ? SPATE_OK : SPATE_E_GONE;
}

bool spate_nvme_admin_registers_are_ours(const struct spate_nvme *controller) {
  const uint64_t sq = spate_port_dma_address(controller->admin_sq);
  const uint64_t cq = spate_port_dma_address(controller->admin_cq);

  return read_register(controller, NVME_AQA) == NVME_AQA_BOTH(NVME_ADMIN_ENTRIES) &&
         read_register(controller, NVME_ASQ) == (uint32_t)sq &&
         read_register(controller, NVME_ASQ + 4u) == (uint32_t)(sq >> 32) &&
         read_register(controller, NVME_ACQ) == (uint32_t)cq &&
         read_register(controller, NVME_ACQ + 4u) == (uint32_t)(cq >> 32);
}

void spate_nvme_write_control(const struct spate_nvme *controller, uint32_t control) {
  if (spate_nvme_link_is_up(controller)) spate_port_write32(controller->config.registers + NVME_CC, control);
}

uintptr_t spate_nvme_doorbell(const struct spate_nvme *controller, unsigned index) {
  const uint64_t offset = NVME_DOORBELLS + ((uint64_t)index << controller->doorbell_shift);

  if (offset + sizeof(uint32_t) > controller->config.registers_bytes) return 0;
  return controller->config.registers + (uintptr_t)offset;
}
