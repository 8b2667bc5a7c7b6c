/* SPDX-License-Identifier: Apache-2.0 */
/* The admin queue: one command at a time for each of its few users, so that the slot is the user. */
#include "internal.h"

#define ENTRY_DWORDS 4u

/* Empty rings, announced to a controller that is disabled. */
void spate_nvme_admin_reset(struct spate_nvme *controller) {
  const uintptr_t registers = controller->config.registers;
  volatile uint64_t *cq = (volatile uint64_t *)(uintptr_t)controller->admin_cq;

  for (unsigned i = 0; i < NVME_ADMIN_ENTRIES * 2u; i++)
    cq[i] = 0;
  controller->admin_tail = 0;
  controller->admin_head = 0;
  controller->admin_phase = 1;
  spate_port_write32(registers + NVME_AQA, (NVME_ADMIN_ENTRIES - 1u) << 16 | (NVME_ADMIN_ENTRIES - 1u));
  spate_port_write64(registers + NVME_ASQ, spate_port_dma_address(controller->admin_sq));
  spate_port_write64(registers + NVME_ACQ, spate_port_dma_address(controller->admin_cq));
}

/* A reset took what was in flight. Whoever waits for it finds it ended. */
void spate_nvme_admin_cancel(struct spate_nvme *controller) {
  for (unsigned i = 0; i < SPATE_NVME_ADMIN_SLOTS; i++) {
    struct spate_nvme_admin_slot *slot = &controller->admin[i];
    if (slot->busy) slot->status = SPATE_NVME_CANCELLED;
    slot->busy = false;
  }
  controller->log_page = 0;
  for (unsigned i = 0; i < sizeof controller->logs_waiting / sizeof controller->logs_waiting[0]; i++)
    controller->logs_waiting[i] = 0;
  controller->event_again_ticks = 0;
}

/* `timeout_ms` 0: never ends by itself, as an asynchronous event request. */
void spate_nvme_admin_send(struct spate_nvme *controller, enum spate_nvme_admin_user user,
                           const struct nvme_command *command, uint32_t timeout_ms) {
  struct spate_nvme_admin_slot *slot = &controller->admin[user];
  uint64_t *entry = controller->admin_sq + (size_t)controller->admin_tail * 8u;

  slot->id = (uint16_t)((slot->id + 0x100u) & 0x7f00u) | (uint16_t)user;
  slot->busy = true;
  slot->deadline_ticks = timeout_ms == 0 ? UINT64_MAX : spate_port_ticks() + spate_nvme_ticks(controller, timeout_ms);
  /* No command has anything in the other quadwords: they are zero from the start. */
  entry[0] = (uint64_t)command->nsid << 32 | (uint32_t)slot->id << 16 | command->opcode;
  entry[3] = command->data == NULL ? 0 : spate_port_dma_address(command->data);
  entry[4] = command->second_prp;
  entry[5] = (uint64_t)command->dword11 << 32 | command->dword10;
  entry[6] = command->dwords_12_13;
  entry[7] = command->dwords_14_15;
  controller->admin_tail = (controller->admin_tail + 1u) & (NVME_ADMIN_ENTRIES - 1u);
  spate_port_dma_write_barrier();
  if (spate_nvme_link_is_up(controller)) spate_port_write32(spate_nvme_doorbell(controller, 0), controller->admin_tail);
}

static void completed(struct spate_nvme *controller, const volatile uint32_t *entry) {
  const uint32_t last = entry[3];
  const unsigned user = last & 0xffu;
  struct spate_nvme_admin_slot *slot = &controller->admin[user % SPATE_NVME_ADMIN_SLOTS];

  if (user >= SPATE_NVME_ADMIN_SLOTS || !slot->busy || slot->id != (last & 0xffffu) || entry[2] >> 16 != 0) {
    controller->counters.spurious_completions++;
    return;
  }
  slot->busy = false;
  slot->result = entry[0];
  slot->status = (uint16_t)(last >> 17);
  if (user == SPATE_NVME_ADMIN_EVENT) spate_nvme_event_taken(controller);
  if (user == SPATE_NVME_ADMIN_LOG) spate_nvme_log_taken(controller);
  if (user == SPATE_NVME_ADMIN_REQUEST) spate_nvme_request_answered(controller);
}

void spate_nvme_admin_reap(struct spate_nvme *controller) {
  bool found = false;

  for (unsigned i = 0; i < NVME_ADMIN_ENTRIES; i++) {
    const volatile uint32_t *entry = controller->admin_cq + (size_t)controller->admin_head * ENTRY_DWORDS;
    if (((entry[3] >> 16) & 1u) != controller->admin_phase) break;
    spate_port_dma_read_barrier();
    controller->admin_head = (controller->admin_head + 1u) & (NVME_ADMIN_ENTRIES - 1u);
    if (controller->admin_head == 0) controller->admin_phase ^= 1u;
    completed(controller, entry);
    found = true;
  }
  if (found && spate_nvme_link_is_up(controller))
    spate_port_write32(spate_nvme_doorbell(controller, 1), controller->admin_head);
  spate_nvme_request_deliver(controller);
}

bool spate_nvme_admin_expired(const struct spate_nvme *controller) {
  const uint64_t now = spate_port_ticks();

  for (unsigned i = 0; i < SPATE_NVME_ADMIN_SLOTS; i++)
    if (controller->admin[i].busy && now >= controller->admin[i].deadline_ticks) return true;
  return false;
}

enum spate_error spate_nvme_call(struct spate_nvme *controller, const struct nvme_command *command,
                                 uint32_t timeout_ms) {
  struct spate_nvme_admin_slot *slot = &controller->admin[SPATE_NVME_ADMIN_CALLER];

  spate_nvme_wait_for_running(controller);
  if (!spate_nvme_is_running(controller)) return controller->error;
  if (slot->busy) return SPATE_E_BUSY;
  spate_nvme_admin_send(controller, SPATE_NVME_ADMIN_CALLER, command, timeout_ms);
  while (slot->busy) { /* until its deadline, which leads to a reset, which cancels */
    spate_nvme_service(controller);
    spate_port_relax();
  }
  if (slot->status == 0) return SPATE_OK;
  if (slot->status == SPATE_NVME_CANCELLED) return controller->error;
  controller->status = slot->status;
  return SPATE_E_COMMAND;
}

enum spate_error spate_nvme_call_plain(struct spate_nvme *controller, uint32_t opcode, uint32_t dword10,
                                       uint32_t dword11) {
  const struct nvme_command command = {.opcode = opcode, .dword10 = dword10, .dword11 = dword11};

  return spate_nvme_call(controller, &command, ADMIN_TIMEOUT_MS);
}

uint16_t spate_nvme_last_status(const struct spate_nvme *controller) { return controller->status; }
