/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair for the DMA step: one command at a time. The driver's queues are not used here, because a driver that
 * does not see a completion resets the controller, again and again, and wipes out the traces.
 */
#include "../core/ticks.h"
#include "checkup.h"

#define COMMAND_MS 2000u
#define STOP_MS    500u /* in addition to CAP.TO */

void spate_checkup_queue_init(struct checkup_queue *queue, const struct spate_nvme *controller, unsigned id,
                              void *sq_page, void *cq_page) {
  *queue = (struct checkup_queue){.sq = sq_page,
                                  .cq = cq_page,
                                  .sq_doorbell = spate_nvme_doorbell(controller, 2u * id),
                                  .cq_doorbell = spate_nvme_doorbell(controller, 2u * id + 1u),
                                  .entries = id == 0 ? NVME_ADMIN_ENTRIES : CHECKUP_IO_ENTRIES,
                                  .phase = 1};
  /* Memory that has just been written may still be in the caches, where the queue memory is cached by mistake. */
  spate_port_cache_clean(sq_page, SPATE_PAGE_BYTES);
  spate_port_cache_clean(cq_page, SPATE_PAGE_BYTES);
  spate_port_dma_write_barrier();
}

/* ---- CC and CSTS ---- */

static bool wait_for_ready(const struct spate_checkup *checkup, uint32_t ready) {
  const struct spate_nvme *controller = &checkup->controller;
  const uint64_t end_ticks =
      controller->pause_until_ticks + spate_ticks_of_ms(controller->identity.ready_timeout_ms + STOP_MS);

  while (spate_port_ticks() < controller->pause_until_ticks)
    spate_port_relax();
  const uint64_t settled_ticks = spate_port_ticks() + spate_ticks_of_ms(NVME_STALE_FATAL_MS);
  for (;;) {
    const bool late =
        spate_port_ticks() >= end_ticks; /* asked first: a processor that was interrupted looks once more */
    const uint32_t status = spate_port_read32(checkup->device.bar0 + NVME_CSTS);
    const bool fatal = ready && (status & NVME_CSTS_FATAL) != 0;
    if (status == NVME_ALL_ONES || (fatal && spate_port_ticks() >= settled_ticks)) return false;
    if (!fatal && (status & NVME_CSTS_READY) == ready) return true;
    if (late) return false;
    spate_port_relax();
  }
}

bool spate_checkup_stop(struct spate_checkup *checkup) {
  const uintptr_t registers = checkup->device.bar0;
  const uint32_t control = spate_port_read32(registers + NVME_CC);

  checkup->controller.pause_until_ticks = spate_port_ticks();
  if (control & NVME_CC_ENABLE) {
    spate_port_write32(registers + NVME_CC, control & ~NVME_CC_ENABLE);
    spate_nvme_pause(&checkup->controller);
  }
  const bool stopped = wait_for_ready(checkup, 0);
  checkup->may_run = !stopped;
  return stopped;
}

bool spate_checkup_start(struct spate_checkup *checkup, const struct checkup_queue *admin) {
  const uintptr_t registers = checkup->device.bar0;

  spate_port_write32(registers + NVME_AQA, NVME_AQA_BOTH((uint32_t)admin->entries));
  spate_port_write64(registers + NVME_ASQ, spate_port_dma_address(admin->sq));
  spate_port_write64(registers + NVME_ACQ, spate_port_dma_address(admin->cq));
  checkup->may_run = true;
  checkup->controller.pause_until_ticks = spate_port_ticks();
  spate_port_write32(registers + NVME_CC, NVME_CC_START);
  return wait_for_ready(checkup, NVME_CSTS_READY);
}

/* ---- commands ---- */

void spate_checkup_send(struct checkup_queue *queue, const struct nvme_command *command) {
  volatile uint64_t *entry = queue->sq + (size_t)queue->tail * NVME_SQE_QWORDS;

  queue->id = (uint16_t)(queue->id + 1u);
  entry[NVME_SQE_CDW0_NSID] = nvme_sqe_cdw0_nsid(command->opcode, queue->id, command->nsid);
  entry[NVME_SQE_PRP1] = command->data == NULL ? 0 : spate_port_dma_address(command->data);
  entry[NVME_SQE_CDW10_11] = (uint64_t)command->dword11 << 32 | command->dword10;
  entry[NVME_SQE_CDW12_13] = command->dwords_12_13;
  entry[NVME_SQE_CDW14_15] = command->dwords_14_15;
  queue->tail = (uint16_t)((queue->tail + 1u) % queue->entries);
  spate_port_dma_write_barrier();
  spate_port_write32(queue->sq_doorbell, queue->tail);
}

struct checkup_completion spate_checkup_look(const struct checkup_queue *queue) {
  const volatile uint32_t *entry = queue->cq + (size_t)queue->head * NVME_CQE_DWORDS;
  const uint32_t dw3 = entry[NVME_CQE_DW3];

  if (nvme_cqe_phase(dw3) != queue->phase) return (struct checkup_completion){.seen = false};
  spate_port_dma_read_barrier();
  return (struct checkup_completion){
      .seen = true, .is_to_this = nvme_cqe_cid(dw3) == queue->id, .status = nvme_cqe_status(dw3)};
}

struct checkup_completion spate_checkup_wait(struct checkup_queue *queue) {
  const uint64_t end_ticks = spate_port_ticks() + spate_ticks_of_ms(COMMAND_MS);

  for (;;) {
    const bool late = spate_port_ticks() >= end_ticks;
    const struct checkup_completion completion = spate_checkup_look(queue);
    if (!completion.seen && !late) {
      spate_port_relax();
      continue;
    }
    if (!completion.seen) return completion;
    queue->head = (uint16_t)((queue->head + 1u) % queue->entries);
    if (queue->head == 0) queue->phase ^= 1u;
    spate_port_write32(queue->cq_doorbell, queue->head);
    return completion;
  }
}
