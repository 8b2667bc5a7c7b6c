/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes an I/O queue pair without requests (5.5, 5.6): first the submission queue, then the completion queue. */
#include "internal.h"

static bool is_used(const struct spate_block *block) {
  for (unsigned i = 0; i < SPATE_BLOCK_USERS_MAX; i++)
    if (block->users[i].owner != NULL) return true;
  return false;
}

/* The pointer to this queue in the list of open queues. NULL: it is not open, and the object may hold anything. */
static struct spate_nvme_queue **link_to(struct spate_nvme *controller, const struct spate_nvme_queue *queue) {
  struct spate_nvme_queue **link = &controller->queues;

  while (*link != NULL && *link != queue)
    link = &(*link)->next;
  return *link == NULL ? NULL : link;
}

/* A reset does not create this queue again: bring-up creates the queues in the list. */
static void unlink_queue(struct spate_nvme *controller, struct spate_nvme_queue *queue,
                         struct spate_nvme_queue **link) {
  *link = queue->next;
  queue->block.ops = &spate_nvme_closed_ops;
  queue->fast_boundary_bytes = 0;
  if (controller->abort_queue == queue)
    controller->abort_slot = NULL; /* no request, so the aborted command has completed */
}

static void relink_queue(struct spate_nvme *controller, struct spate_nvme_queue *queue) {
  queue->next = controller->queues;
  controller->queues = queue;
  queue->block.ops = &spate_nvme_queue_ops;
  queue->fast_boundary_bytes = queue->block.command_bytes_max;
}

enum spate_error spate_nvme_queue_close(struct spate_nvme *controller, struct spate_nvme_queue *queue) {
  spate_nvme_wait_for_running(controller);
  struct spate_nvme_queue **link = link_to(controller, queue);
  if (link == NULL) return SPATE_E_INVALID;
  if (spate_nvme_has_requests(queue)) return SPATE_E_BUSY;
  if (is_used(&queue->block)) return SPATE_E_OPEN;

  const uint32_t resets = controller->counters.resets;
  unlink_queue(controller, queue, link);
  enum spate_error error = spate_nvme_call_dwords(controller, NVME_DELETE_SQ, queue->id, 0);
  const bool kept = error != SPATE_OK;
  if (!kept) error = spate_nvme_call_dwords(controller, NVME_DELETE_CQ, queue->id, 0);
  /* A controller that was reset, given up or shut down has no queues. */
  if (controller->counters.resets != resets || controller->state == SPATE_NVME_DEAD ||
      controller->state == SPATE_NVME_CLOSED)
    error = SPATE_OK;
  if (error == SPATE_OK)
    controller->queue_memory[queue->id - 1u].in_use = false;
  else if (kept)
    relink_queue(controller, queue);
  return error;
}
