/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives up a controller that could not be recovered. When its requests end, their buffers and the queues belong to the
 * caller again, so the controller must have stopped writing to memory before. CC.EN is cleared, and the driver waits at
 * most CAP.TO for CSTS.RDY = 0. A controller that does not stop is isolated from the bus. If that is not possible
 * either, the error is NOT_STOPPED.
 */
#include "internal.h"

static bool isolated(const struct spate_nvme *controller) {
  const struct spate_nvme_bus *bus = &controller->config.bus;

  return bus->isolate != NULL && bus->isolate(bus->context) == SPATE_OK;
}

/* A drive that is off the bus cannot write to memory. Silent registers do not prove that it is off the bus, so the
 * drive is isolated if possible. The error is GONE in both cases: most drives with silent registers are off the bus,
 * and spate/nvme.h says what the others may do. */
static enum spate_error silent(const struct spate_nvme *controller) {
  (void)isolated(controller);
  return controller->error;
}

enum spate_error spate_nvme_halt(struct spate_nvme *controller) {
  uint32_t control, status;

  if (controller->disable_sent && spate_port_ticks() < controller->pause_until_ticks) return SPATE_E_BUSY;
  if (spate_nvme_control_status(controller, &control, &status) != SPATE_OK) return silent(controller);
  if (!controller->disable_sent && (control & NVME_CC_ENABLE) != 0) {
    spate_nvme_write_control(controller, control & ~NVME_CC_ENABLE);
    spate_nvme_pause(controller);
    controller->disable_sent = true;
    return SPATE_E_BUSY;
  }
  if ((control & NVME_CC_ENABLE) == 0 && (status & NVME_CSTS_READY) == 0) return controller->error;
  if (spate_port_ticks() < controller->deadline_ticks) return SPATE_E_BUSY;
  return isolated(controller) ? controller->error : SPATE_E_NOT_STOPPED;
}
