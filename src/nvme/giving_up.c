/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a controller that could not be mended. Its queues and the buffers of its requests are the caller's again
 * when the requests end, so it must have stopped writing by then: CC.EN is cleared, CAP.TO at most is waited for
 * CSTS.RDY = 0, and one that does not stop is kept off the bus. Where that does not work either, the caller is told.
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

/* A drive that is off the bus cannot write. Registers that are silent prove less than that, so if it can be isolated
 * it is. Where it cannot, the error is still GONE: that is what most silent drives are, and the header says what the
 * others may do. */
static void end_absent(struct spate_nvme *controller) {
  (void)isolated(controller);
  end(controller, controller->error);
}

void spate_nvme_poll_halting(struct spate_nvme *controller) {
  uint32_t control, status;

  if (controller->disable_sent && spate_port_ticks() < controller->look_ticks) return;
  if (spate_nvme_look(controller, &control, &status) != SPATE_OK) {
    end_absent(controller);
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
