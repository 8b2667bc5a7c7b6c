/* SPDX-License-Identifier: Apache-2.0 */
/* A queue as a block device. Its poll also services the controller, in the intervals and whenever it is not running. */
#include "internal.h"

/* Commands that wait are not checked here: they are sent only after a completion, or at the end of an interval. */
static bool nothing_to_do(const struct spate_nvme_queue *queue) {
  return ((queue->cq_head[NVME_CQE_DW2_3] ^ queue->phase) & NVME_CQE_PHASE) != 0 && queue->sq_tail == queue->sq_rung;
}

static unsigned poll(struct spate_block *block, unsigned max) {
  struct spate_nvme_queue *queue = spate_nvme_queue_of(block);
  const struct spate_nvme *controller = queue->controller;

  if (controller->state != SPATE_NVME_RUNNING ||
      spate_port_ticks() - controller->serviced_ticks >= controller->interval_ticks)
    return spate_nvme_service_poll(queue, max);
  return nothing_to_do(queue) ? 0 : spate_nvme_queue_poll(queue, max);
}

const struct spate_block_ops spate_nvme_queue_ops = {
    .submit = spate_nvme_queue_submit, .kick = spate_nvme_queue_kick, .poll = poll};
