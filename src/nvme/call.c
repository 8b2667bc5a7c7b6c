/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that wait: until the controller runs, and until an admin command has completed. */
#include "internal.h"

static bool is_starting(const struct spate_nvme *controller) {
  return !spate_nvme_is_running(controller) && controller->state != SPATE_NVME_DEAD &&
         controller->state != SPATE_NVME_CLOSED;
}

/* Also returns when the controller is dead or closed. The deadlines of the states limit how long this takes. */
void spate_nvme_wait_for_running(struct spate_nvme *controller) {
  while (is_starting(controller)) {
    spate_nvme_service(controller);
    if (is_starting(controller)) spate_port_relax();
  }
}

enum spate_error spate_nvme_call(struct spate_nvme *controller, const struct nvme_command *command,
                                 uint32_t timeout_ms) {
  struct spate_nvme_admin_slot *slot = &controller->admin[SPATE_NVME_ADMIN_CALLER];

  spate_nvme_wait_for_running(controller);
  if (!spate_nvme_is_running(controller)) return controller->error;
  if (slot->busy) return SPATE_E_BUSY;
  spate_nvme_admin_send(controller, SPATE_NVME_ADMIN_CALLER, command, timeout_ms);
  for (;;) { /* at the latest until its deadline: the controller is then reset, which cancels the command */
    spate_nvme_service(controller);
    if (!slot->busy) break;
    spate_port_relax();
  }
  if (slot->status == 0) return SPATE_OK;
  if (slot->status == SPATE_NVME_CANCELLED) return controller->error;
  controller->status = slot->status;
  return SPATE_E_COMMAND;
}

enum spate_error spate_nvme_call_dwords(struct spate_nvme *controller, uint32_t opcode, uint32_t dword10,
                                        uint32_t dword11) {
  const struct nvme_command command = {.opcode = opcode, .dword10 = dword10, .dword11 = dword11};

  return spate_nvme_call(controller, &command, ADMIN_TIMEOUT_MS);
}

uint16_t spate_nvme_last_status(const struct spate_nvme *controller) { return controller->status; }

enum spate_error spate_nvme_health_read(struct spate_nvme *controller) {
  struct nvme_command command;

  spate_nvme_log_command(&command, NVME_LOG_HEALTH, controller->data);
  const enum spate_error error = spate_nvme_call(controller, &command, ADMIN_TIMEOUT_MS);
  if (error != SPATE_OK) return error;
  return spate_nvme_health_take(controller, controller->data) ? SPATE_OK : SPATE_E_UNSUPPORTED;
}
