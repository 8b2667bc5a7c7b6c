/* SPDX-License-Identifier: Apache-2.0 */
/* The admin queue. Each of its few users has one command in flight at a time, so each user has one slot. */
#include "internal.h"

#define PHYSICALLY_CONTIGUOUS 1u

/* Empties the queues and writes their addresses to the registers of a controller that is disabled. */
void spate_nvme_admin_reset(struct spate_nvme *controller) {
  const uintptr_t registers = controller->config.registers;
  volatile uint64_t *cq = (volatile uint64_t *)(uintptr_t)controller->admin_cq;

  for (unsigned i = 0; i < NVME_ADMIN_ENTRIES * NVME_CQE_QWORDS; i++)
    cq[i] = 0;
  controller->admin_tail = 0;
  controller->admin_head = 0;
  controller->admin_phase = 1;
  spate_port_write32(registers + NVME_AQA, NVME_AQA_BOTH(NVME_ADMIN_ENTRIES));
  spate_port_write64(registers + NVME_ASQ, spate_port_dma_address(controller->admin_sq));
  spate_port_write64(registers + NVME_ACQ, spate_port_dma_address(controller->admin_cq));
  controller->admin_registers_written = true;
}

/* After a reset: ends the commands that were in flight, so that nobody waits for them. */
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

/* `timeout_ms` 0: no timeout, as for an asynchronous event request. */
void spate_nvme_admin_send(struct spate_nvme *controller, enum spate_nvme_admin_user user,
                           const struct nvme_command *command, uint32_t timeout_ms) {
  struct spate_nvme_admin_slot *slot = &controller->admin[user];
  uint64_t *entry = controller->admin_sq + (size_t)controller->admin_tail * NVME_SQE_QWORDS;

  slot->id = (uint16_t)((slot->id + 0x100u) & 0x7f00u) | (uint16_t)user;
  slot->busy = true;
  slot->completed = command->completed;
  slot->deadline_ticks = timeout_ms == 0 ? UINT64_MAX : spate_port_ticks() + spate_nvme_ticks(controller, timeout_ms);
  entry[NVME_SQE_CDW0_NSID] = nvme_sqe_cdw0_nsid(command->opcode, slot->id, command->nsid);
  entry[NVME_SQE_PRP1] = command->data == NULL ? 0 : spate_port_dma_address(command->data);
  entry[NVME_SQE_PRP2] = command->second_prp;
  entry[NVME_SQE_CDW10_11] = (uint64_t)command->dword11 << 32 | command->dword10;
  entry[NVME_SQE_CDW12_13] = command->dwords_12_13;
  entry[NVME_SQE_CDW14_15] = command->dwords_14_15;
  controller->admin_tail = (controller->admin_tail + 1u) & (NVME_ADMIN_ENTRIES - 1u);
  spate_port_dma_write_barrier();
  if (spate_nvme_link_is_up(controller)) spate_port_write32(spate_nvme_doorbell(controller, 0), controller->admin_tail);
}

static void completed(struct spate_nvme *controller, const volatile uint32_t *entry) {
  const uint32_t dw3 = entry[NVME_CQE_DW3];
  const uint32_t cid = nvme_cqe_cid(dw3);
  const unsigned user = nvme_cid_slot(cid);
  struct spate_nvme_admin_slot *slot = &controller->admin[user % SPATE_NVME_ADMIN_SLOTS];

  if (user >= SPATE_NVME_ADMIN_SLOTS || !slot->busy || slot->id != cid || nvme_cqe_sqid(entry[NVME_CQE_DW2]) != 0) {
    controller->counters.spurious_completions++;
    return;
  }
  slot->busy = false;
  slot->result = entry[NVME_CQE_DW0];
  slot->status = nvme_cqe_status(dw3);
  if (slot->completed != NULL) slot->completed(controller);
}

void spate_nvme_admin_reap(struct spate_nvme *controller) {
  bool found = false;

  for (unsigned i = 0; i < NVME_ADMIN_ENTRIES; i++) {
    const volatile uint32_t *entry = controller->admin_cq + (size_t)controller->admin_head * NVME_CQE_DWORDS;
    if (nvme_cqe_phase(entry[NVME_CQE_DW3]) != controller->admin_phase) break;
    spate_port_dma_read_barrier();
    controller->admin_head = (controller->admin_head + 1u) & (NVME_ADMIN_ENTRIES - 1u);
    if (controller->admin_head == 0) controller->admin_phase ^= 1u;
    completed(controller, entry);
    found = true;
  }
  if (found && spate_nvme_link_is_up(controller))
    spate_port_write32(spate_nvme_doorbell(controller, 1), controller->admin_head);
  if (controller->request_completed) controller->request_ops->deliver(controller);
}

bool spate_nvme_admin_expired(const struct spate_nvme *controller) {
  const uint64_t now = spate_port_ticks();

  for (unsigned i = 0; i < SPATE_NVME_ADMIN_SLOTS; i++)
    if (controller->admin[i].busy && now >= controller->admin[i].deadline_ticks) return true;
  return false;
}

/* The command that creates the submission or the completion queue. */
void spate_nvme_create(const struct spate_nvme_queue *queue, enum nvme_admin_opcode half,
                       struct nvme_command *command) {
  *command = (struct nvme_command){.opcode = half,
                                   .data = queue->cq,
                                   .dword10 = nvme_create_queue_cdw10(queue->id, queue->entries),
                                   .dword11 = PHYSICALLY_CONTIGUOUS};
  if (half == NVME_CREATE_CQ) return;
  command->data = queue->sq;
  command->dword11 |= (uint32_t)queue->id << 16; /* CQID */
  if ((queue->controller->needs & NVME_MEDIUM_PRIORITY) != 0) command->dword11 |= NVME_PRIORITY_MEDIUM;
}
