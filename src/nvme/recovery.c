/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a command does not come back: abort it, then reset the controller and send again all that had not completed, in
 * the order it was first sent. Also for a controller that says it failed, or that is gone.
 */
#include "internal.h"

/* Take the controller down and up again. Until it runs submit answers FULL: no request is plain, and the long way
 * looks at the state. */
void spate_nvme_recover(struct spate_nvme *controller, enum spate_error error) {
  spate_port_log("nvme: controller reset, error", error);
  controller->counters.resets++;
  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next) {
    queue->plain_bytes = 0;
    queue->sq_rung = queue->sq_tail; /* a disabled controller's doorbells are not rung; what waits is replayed */
  }
  spate_nvme_begin(controller, error);
}

/* The controller is disabled and writes no more: take what it completed before, then give every queue empty rings. */
void spate_nvme_quiesce(struct spate_nvme *controller) {
  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next) {
    for (unsigned i = 0; i < queue->entries && spate_nvme_complete(queue); i++)
      ;
    for (unsigned i = 0; i < queue->block.depth; i++) {
      struct spate_nvme_slot *slot = &queue->slots[i];
      if (!spate_nvme_in_flight(slot)) continue;
      slot->sent |= SLOT_IDLE;
      slot->age = UINT16_MAX; /* marks it for the replay */
    }
    spate_nvme_queue_rings(queue);
  }
  spate_nvme_request_end(controller, controller->error);
}

/* The slot to send first, of those that the reset caught. */
static struct spate_nvme_slot *oldest_caught(struct spate_nvme_queue *queue) {
  struct spate_nvme_slot *oldest = NULL;

  for (unsigned i = 0; i < queue->block.depth; i++) {
    struct spate_nvme_slot *slot = &queue->slots[i];
    if (slot->sent == SLOT_FREE || spate_nvme_in_flight(slot) || slot->age != UINT16_MAX) continue;
    if (oldest == NULL || (int32_t)(slot->order - oldest->order) < 0) oldest = slot;
  }
  return oldest;
}

/* A command that was there at each of several failures may well be their cause: it ends with their error. Of absences
 * it outlives more, as a connector that shakes is more likely; but not any number, as each could be within its time. */
static void replay(struct spate_nvme_queue *queue, uint8_t cost) {
  struct spate_nvme *controller = queue->controller;
  struct spate_nvme_slot *slot;

  while ((slot = oldest_caught(queue)) != NULL) {
    slot->attempts = (uint8_t)(slot->attempts + cost);
    if (slot->attempts >= ATTEMPTS_BUDGET) {
      spate_nvme_finish(queue, slot, controller->error, 0);
      continue;
    }
    controller->counters.replays++;
    spate_nvme_issue(queue, slot);
  }
  spate_nvme_queue_kick(queue);
}

/* Bring-up is over. */
void spate_nvme_running(struct spate_nvme *controller) {
  const bool was_away = controller->back_by_ticks != 0 && controller->resets_tried == 0;

  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next) {
    replay(queue, was_away ? 1u : ATTEMPT_COST);
    queue->plain_bytes = queue->block.command_bytes_max;
  }
  controller->counters.reattachments += was_away;
  controller->back_by_ticks = 0;
  controller->failures = 0;
  controller->resets_tried = 0;
  controller->serviced_ticks = spate_port_ticks();
  controller->state = SPATE_NVME_RUNNING;
}

static void abort_command(struct spate_nvme *controller, struct spate_nvme_queue *queue, struct spate_nvme_slot *slot) {
  const uint32_t id = (uint32_t)(slot->sent >> 16) & 0xffffu;
  const struct nvme_command command = {.opcode = NVME_ABORT, .dword10 = id << 16 | queue->id};

  spate_port_log("nvme: command timed out, aborted, identifier", id);
  controller->counters.aborts++;
  controller->abort_queue = queue;
  controller->abort_slot = slot;
  controller->abort_sent = slot->sent;
  spate_nvme_admin_send(controller, SPATE_NVME_ADMIN_ABORT, &command, ABORT_TIMEOUT_MS);
  spate_nvme_enter(controller, SPATE_NVME_ABORTING, ABORT_TIMEOUT_MS);
}

/* Another interval has passed for every command. The first found too old, or NULL. */
static struct spate_nvme_slot *age_queue(struct spate_nvme_queue *queue) {
  struct spate_nvme_slot *expired = NULL;

  for (unsigned i = 0; i < queue->block.depth; i++) {
    struct spate_nvme_slot *slot = &queue->slots[i];
    if (spate_nvme_in_flight(slot)) {
      if (slot->age < UINT16_MAX) slot->age++;
      if (slot->age > queue->controller->age_max && expired == NULL) expired = slot;
    } else if (slot->sent != SLOT_FREE && slot->age > 0) {
      slot->age--;
      queue->waiting |= slot->age == 0;
    }
  }
  return expired;
}

static void age_commands(struct spate_nvme *controller) {
  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next) {
    struct spate_nvme_slot *slot = age_queue(queue);
    if (queue->waiting) { /* this may be another queue's poll, and its own finds no interval passed */
      spate_nvme_issue_waiting(queue);
      spate_nvme_queue_kick(queue);
    }
    if (slot == NULL || controller->state != SPATE_NVME_RUNNING) continue;
    /* Perhaps the drive has answered, and it is us who did not look. */
    const uint64_t sent = slot->sent;
    (void)spate_nvme_queue_poll(queue, queue->entries);
    if (slot->sent != sent || controller->admin[SPATE_NVME_ADMIN_ABORT].busy) continue;
    controller->counters.timeouts++;
    abort_command(controller, queue, slot);
  }
}

/* An abort may succeed, be too late or be ignored: what counts is whether the command comes back. */
static void poll_abort(struct spate_nvme *controller) {
  (void)spate_nvme_queue_poll(controller->abort_queue, controller->abort_queue->entries);
  if (controller->abort_slot->sent != controller->abort_sent)
    controller->state = SPATE_NVME_RUNNING;
  else if (spate_port_ticks() >= controller->deadline_ticks)
    spate_nvme_recover(controller, SPATE_E_TIMEOUT);
}

void spate_nvme_supervise(struct spate_nvme *controller) {
  const uint64_t now = spate_port_ticks();

  if (controller->state == SPATE_NVME_ABORTING) poll_abort(controller);
  if (!spate_nvme_is_running(controller)) return;
  spate_nvme_event_supervise(controller);
  spate_nvme_request_supervise(controller);
  if (spate_nvme_admin_expired(controller)) {
    controller->counters.timeouts++;
    spate_nvme_recover(controller, SPATE_E_TIMEOUT);
    return;
  }
  if (now - controller->serviced_ticks < controller->interval_ticks) return;
  controller->serviced_ticks = now;
  const enum spate_error error = spate_nvme_status_check(controller);
  if (error != SPATE_OK)
    spate_nvme_recover(controller, error);
  else
    age_commands(controller);
}

/*
 * The controller is dead or shut down, and writes no more: every request ends. What the drive completed before counts:
 * the entry is in memory, behind the data that it tells of, whatever became of the registers since. Without a request
 * the ring is not looked at: its memory may be somebody else's by now.
 */
unsigned spate_nvme_fail_requests(struct spate_nvme_queue *queue, unsigned max) {
  const struct spate_nvme *controller = queue->controller;
  unsigned ended = 0;

  if (controller->state != SPATE_NVME_DEAD && controller->state != SPATE_NVME_CLOSED) return 0;
  while (ended < max && spate_nvme_has_requests(queue) && spate_nvme_complete(queue))
    ended++;
  for (unsigned i = 0; i < queue->block.depth && ended < max; i++) {
    if (queue->slots[i].sent == SLOT_FREE) continue;
    spate_nvme_finish(queue, &queue->slots[i], controller->error, 0);
    ended++;
  }
  return ended;
}
