/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resets for a controller that a reset by CC.EN does not recover: of the NVM subsystem, the function, the bus and the
 * slot, in this order. Each is tried once until the controller runs again. The driver does the first by itself, and
 * config.bus.reset does the others.
 */
#include "internal.h"

#define SUBSYSTEM_RESET  UINT32_C(0x4e564d65) /* "NVMe", written to NSSR (3.1.9) */
#define RESET_TIMEOUT_MS 2000u

/* controller->resets_tried: 0 none, 1 the subsystem, then enum spate_nvme_reset + 2. */
#define TRIED_SUBSYSTEM 1u
#define TRIED_ALL       (TRIED_SUBSYSTEM + SPATE_NVME_RESETS)

static bool reset_subsystem(const struct spate_nvme *controller) {
  if (!controller->can_reset_subsystem || !spate_nvme_link_is_up(controller)) return false;
  spate_port_write32(controller->config.registers + NVME_NSSR, SUBSYSTEM_RESET);
  return true;
}

enum nvme_reset_step spate_nvme_escalate(struct spate_nvme *controller) {
  if (controller->resets_tried == TRIED_ALL) return NVME_RESET_NONE_LEFT;
  controller->resets_tried++;
  if (controller->resets_tried == TRIED_SUBSYSTEM) {
    if (reset_subsystem(controller)) {
      spate_port_log("nvme: subsystem reset, after error", controller->error);
      controller->counters.hard_resets++;
      spate_nvme_power_reset(controller);
      return NVME_RESET_DONE;
    }
    controller->resets_tried++;
  }
  if (controller->config.bus.reset == NULL) return NVME_RESET_NONE_LEFT;
  controller->reset_begun = false;
  controller->reset_by_ticks = spate_port_ticks() + spate_nvme_ticks(controller, RESET_TIMEOUT_MS);
  return NVME_RESET_UNDER_WAY;
}

/* Some drives do not survive a function level reset while they are enabled. OK: this reset may begin. BUSY: not yet. If
 * the controller does not stop, the next reset is harder. */
static enum spate_error stop_before(const struct spate_nvme *controller, enum spate_nvme_reset how) {
  uint32_t control, status;

  if (how != SPATE_NVME_RESET_FUNCTION || (controller->needs & NVME_STOP_BEFORE_FLR) == 0) return SPATE_OK;
  if (spate_nvme_control_status(controller, &control, &status) != SPATE_OK) return SPATE_E_UNSUPPORTED;
  if ((control & NVME_CC_ENABLE) == 0 && (status & NVME_CSTS_READY) == 0) return SPATE_OK;
  if ((control & NVME_CC_ENABLE) != 0) spate_nvme_write_control(controller, control & ~NVME_CC_ENABLE);
  return SPATE_E_BUSY;
}

enum nvme_reset_step spate_nvme_reset_poll(struct spate_nvme *controller) {
  const struct spate_nvme_bus *bus = &controller->config.bus;
  const uint64_t now = spate_port_ticks();

  const unsigned how = controller->resets_tried - TRIED_SUBSYSTEM - 1u;
  enum spate_error error = SPATE_OK;
  if (!controller->reset_begun) error = stop_before(controller, (enum spate_nvme_reset)how);
  if (error == SPATE_OK && !controller->reset_begun) {
    controller->reset_begun = true; /* the registers may be gone from here on */
    controller->reset_by_ticks = now + spate_nvme_ticks(controller, RESET_TIMEOUT_MS);
  }
  if (error == SPATE_OK) error = bus->reset(bus->context, (enum spate_nvme_reset)how);
  if (error == SPATE_OK) {
    spate_port_log("nvme: reset by the bus, kind", how);
    controller->counters.hard_resets++;
    spate_nvme_power_reset(controller);
    return NVME_RESET_DONE;
  }
  return error == SPATE_E_BUSY && now < controller->reset_by_ticks ? NVME_RESET_UNDER_WAY
                                                                   : spate_nvme_escalate(controller);
}
