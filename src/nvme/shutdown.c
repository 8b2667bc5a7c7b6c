/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

/* For requests in flight: long enough for the longest timeout and an abort. */
#define REQUESTS_TIMEOUT_MS (FLUSH_TIMEOUT_MS + ABORT_TIMEOUT_MS + 1000u)

static bool any_request(const struct spate_nvme *controller) {
  for (const struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next)
    if (spate_nvme_has_requests(queue)) return true;
  return controller->request != NULL;
}

/* Waits until the requests in flight have ended, up to a limit. A recovery does not count: it has its own deadlines,
 * and commands that it sends again have their full time again. */
static void drain(struct spate_nvme *controller) {
  uint64_t start = spate_port_ticks();

  while (any_request(controller) && spate_port_ticks() - start < spate_nvme_ticks(controller, REQUESTS_TIMEOUT_MS)) {
    if (!spate_nvme_is_running(controller)) start = spate_port_ticks();
    for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next)
      (void)spate_block_poll(&queue->block, queue->block.depth);
    spate_nvme_service(controller);
    if (any_request(controller)) spate_port_relax();
  }
}

/* Takes the host memory buffer back from the drive and deletes the queues, submission before completion queues (5.6).
 * An error is only logged: the shutdown follows in any case. False: the controller was reset, and has both again. */
static bool release_memory(struct spate_nvme *controller) {
  const uint32_t resets = controller->counters.resets;
  enum spate_error error = SPATE_OK;

  if (controller->host_buffer_lent)
    error = spate_nvme_call_dwords(controller, NVME_SET_FEATURES, NVME_FEATURE_HOST_BUFFER, 0);
  for (const struct spate_nvme_queue *queue = controller->queues; queue != NULL && error == SPATE_OK;
       queue = queue->next) {
    error = spate_nvme_call_dwords(controller, NVME_DELETE_SQ, queue->id, 0);
    if (controller->counters.resets != resets) return false;
    if (error == SPATE_OK) error = spate_nvme_call_dwords(controller, NVME_DELETE_CQ, queue->id, 0);
  }
  if (error != SPATE_OK) spate_port_log("nvme: buffer or queues not released, error", error);
  return controller->counters.resets == resets;
}

/* Tells the drive to stop, if it is ready and, with `release`, has no queues. */
static void notify(struct spate_nvme *controller, bool release) {
  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next)
    queue->fast_boundary_bytes = 0;
  if (release && !release_memory(controller)) return;
  if (!spate_nvme_is_running(controller)) return;
  const enum spate_error error = spate_nvme_status_check(controller);
  if (error != SPATE_OK) {
    spate_nvme_recover(controller, error);
    return;
  }
  controller->error = SPATE_OK;
  spate_nvme_write_control(controller, NVME_CC_START | NVME_CC_SHUTDOWN_NORMAL);
  spate_nvme_enter(controller, SPATE_NVME_STOPPING, controller->shutdown_ms);
}

static bool is_stopping(const struct spate_nvme *controller) {
  return controller->state == SPATE_NVME_STOPPING || controller->state == SPATE_NVME_HALTING;
}

/* A reset in between starts it again. A drive that is reset by the release of its memory, again and again, is stopped
 * without that. */
static void stop(struct spate_nvme *controller) {
  controller->stop_was_doubtful = false;
  for (unsigned tries = 0; tries <= SPATE_NVME_RECOVERIES_MAX; tries++) {
    spate_nvme_wait_for_running(controller);
    if (spate_nvme_is_running(controller)) notify(controller, tries < SPATE_NVME_RECOVERIES_MAX);
    while (is_stopping(controller)) {
      spate_nvme_service(controller);
      if (is_stopping(controller)) spate_port_relax();
    }
    if (controller->state == SPATE_NVME_CLOSED || controller->state == SPATE_NVME_DEAD) return;
  }
  spate_nvme_give_up(controller, controller->error == SPATE_OK ? SPATE_E_TIMEOUT : controller->error);
  while (is_stopping(controller)) {
    spate_nvme_service(controller);
    if (is_stopping(controller)) spate_port_relax();
  }
}

enum spate_error spate_nvme_shutdown(struct spate_nvme *controller) {
  const uint32_t losses = controller->counters.power_losses;

  if (controller->state == SPATE_NVME_CLOSED) return SPATE_E_INVALID;
  drain(controller);
  stop(controller);
  const enum spate_error error = controller->error;
  spate_nvme_request_end(controller, error == SPATE_OK ? SPATE_E_TIMEOUT : error);
  if (error != SPATE_OK) return error;
  controller->error = SPATE_E_INVALID; /* what requests and calls return from now on */
  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next)
    if (!spate_nvme_has_requests(queue)) queue->block.ops = &spate_nvme_closed_ops;
  return controller->cache_on && controller->counters.power_losses != losses ? SPATE_E_POWER_LOST : SPATE_OK;
}
