/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives up a controller that could not be recovered. When its requests end, their buffers and the queues belong to the
 * caller again, so the controller must have stopped writing to memory before. CC.EN is cleared, and the driver waits at
 * most CAP.TO for CSTS.RDY = 0. A controller that does not stop is isolated from the bus. If that is not possible
 * either, the error is NOT_STOPPED.
 */
#include "internal.h"

static void end(struct spate_nvme *controller, enum spate_error error) {
  spate_port_log("nvme: controller given up, error", error);
  spate_nvme_admin_cancel(controller);
  controller->error = error;
  controller->state = SPATE_NVME_DEAD;
  spate_nvme_request_end(controller, error);
}

void spate_nvme_give_up(struct spate_nvme *controller, enum spate_error error) {
  controller->error = error;
  controller->disable_sent = false;
  spate_nvme_enter(controller, SPATE_NVME_HALTING, spate_nvme_ready_timeout_ms(controller));
}

static bool isolated(const struct spate_nvme *controller) {
  const struct spate_nvme_bus *bus = &controller->config.bus;

  return bus->isolate != NULL && bus->isolate(bus->context) == SPATE_OK;
}

/* A drive that is off the bus cannot write to memory. Silent registers do not prove that it is off the bus, so the
 * drive is isolated if possible. The error is GONE in both cases: most drives with silent registers are off the bus,
 * and spate/nvme.h says what the others may do. */
static void end_silent(struct spate_nvme *controller) {
  (void)isolated(controller);
  end(controller, controller->error);
}

void spate_nvme_poll_halting(struct spate_nvme *controller) {
  uint32_t control, status;

  if (controller->disable_sent && spate_port_ticks() < controller->pause_until_ticks) return;
  if (spate_nvme_control_status(controller, &control, &status) != SPATE_OK) {
    end_silent(controller);
  } else if (!controller->disable_sent && (control & NVME_CC_ENABLE) != 0) {
    spate_nvme_write_control(controller, control & ~NVME_CC_ENABLE);
    spate_nvme_pause(controller);
    controller->disable_sent = true;
  } else if ((control & NVME_CC_ENABLE) == 0 && (status & NVME_CSTS_READY) == 0) {
    end(controller, controller->error);
  } else if (spate_port_ticks() >= controller->deadline_ticks) {
    end(controller, isolated(controller) ? controller->error : SPATE_E_NOT_STOPPED);
  }
}
