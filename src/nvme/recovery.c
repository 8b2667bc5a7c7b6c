/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovery. A command that does not complete in time is aborted. If that does not end it, the controller is reset, and
 * all commands that had not completed are sent again in their first order. A controller that reports a fatal error or
 * is gone is reset at once.
 */
#include "internal.h"

#define FLUSH_AGE_MAX      (FLUSH_TIMEOUT_MS / INTERVAL_MS)
#define FLUSH_TIMEOUT_COST (ATTEMPTS_BUDGET / 2u - ATTEMPT_COST) /* with the replay's: the second timeout ends it */

/* With fast_boundary_bytes 0 every request takes the slow path, which checks the state. */
void spate_nvme_hold(struct spate_nvme *controller) {
  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next) {
    queue->fast_boundary_bytes = 0;
    queue->sq_rung = queue->sq_tail; /* the doorbells of a disabled controller are not rung; replay sends the rest */
  }
  controller->abort_slot = NULL;
}

/* The controller is disabled and no longer accesses memory. Reaps what it completed before, then empties all queues. */
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

/* Of the commands that the reset interrupted, the one that was sent first. */
static struct spate_nvme_slot *oldest_interrupted(struct spate_nvme_queue *queue) {
  struct spate_nvme_slot *oldest = NULL;

  for (unsigned i = 0; i < queue->block.depth; i++) {
    struct spate_nvme_slot *slot = &queue->slots[i];
    if (slot->sent == SLOT_FREE || spate_nvme_in_flight(slot) || slot->age != UINT16_MAX) continue;
    if (oldest == NULL || (int32_t)(slot->order - oldest->order) < 0) oldest = slot;
  }
  return oldest;
}

/* A command that was in flight at each of several failures may be their cause, and ends with their error. It tolerates
 * more link drops than other failures, because a bad connector is the more likely cause of those. The number is still
 * limited: without it, link drops that each end in time could repeat endlessly. */
static void replay_queue(struct spate_nvme_queue *queue, uint8_t cost) {
  struct spate_nvme *controller = queue->controller;
  struct spate_nvme_slot *slot;

  while ((slot = oldest_interrupted(queue)) != NULL) {
    slot->attempts = (uint8_t)(slot->attempts + cost);
    if (spate_nvme_is_unsupported(queue, slot)) {
      spate_nvme_finish(queue, slot, SPATE_E_UNSUPPORTED, 0);
      continue;
    }
    if (slot->attempts >= ATTEMPTS_BUDGET) {
      spate_nvme_finish(queue, slot, controller->error, 0);
      continue;
    }
    controller->counters.replays++;
    spate_nvme_issue(queue, slot);
  }
  spate_nvme_queue_kick(&queue->block);
}

/* The whole intervals since the last call. */
static uint16_t intervals_passed(struct spate_nvme *controller) {
  const uint64_t now = spate_port_ticks();
  uint16_t intervals = 0;

  for (; now - controller->aged_ticks >= controller->interval_ticks;
       controller->aged_ticks += controller->interval_ticks)
    if (++intervals == UINT16_MAX) controller->aged_ticks = now - controller->interval_ticks;
  return intervals;
}

/* The delay of a command that waits to be sent again. */
static void pass_delay(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot, uint16_t intervals) {
  slot->age = slot->age > intervals ? (uint16_t)(slot->age - intervals) : 0;
  queue->waiting |= slot->age == 0;
}

/* The delays of retries pass during recoveries, too: a controller that fails soon after each of them would otherwise
 * hold such a command without end. */
static void pass_delays(struct spate_nvme *controller) {
  const uint16_t intervals = intervals_passed(controller);

  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next) {
    for (unsigned i = 0; i < queue->block.depth; i++) {
      struct spate_nvme_slot *slot = &queue->slots[i];
      if (slot->sent != SLOT_FREE && !spate_nvme_in_flight(slot)) pass_delay(queue, slot, intervals);
    }
    if (queue->waiting) spate_nvme_issue_waiting(queue);
    spate_nvme_queue_kick(&queue->block);
  }
}

void spate_nvme_replay(struct spate_nvme *controller, bool was_link_drop) {
  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next) {
    replay_queue(queue, was_link_drop ? 1u : ATTEMPT_COST);
    queue->fast_boundary_bytes = queue->block.command_bytes_max;
  }
  pass_delays(controller);
}

/* Write Zeroes and TRIM are optional, and some drives that announce them hang in them. When a command times out that
 * has failed before, the drive gets no more of its kind. */
static void do_without(struct spate_nvme *controller, const struct spate_nvme_slot *slot) {
  if (slot->attempts == 0) return;
  if (slot->io->op == SPATE_ZERO) controller->needs |= NVME_NO_WRITE_ZEROES;
  if (slot->io->op == SPATE_TRIM) controller->needs |= NVME_NO_TRIM;
  spate_nvme_needs_apply(controller);
}

static void abort_command(struct spate_nvme *controller, struct spate_nvme_queue *queue, struct spate_nvme_slot *slot) {
  const uint32_t cid = nvme_sqe_cid(slot->sent);
  const struct nvme_command command = {.opcode = NVME_ABORT, .dword10 = nvme_abort_cdw10(queue->id, cid)};

  spate_port_log("nvme: command timed out, aborted, identifier", cid);
  controller->counters.aborts++;
  if (slot->io->op == SPATE_FLUSH) slot->attempts = (uint8_t)(slot->attempts + FLUSH_TIMEOUT_COST);
  do_without(controller, slot);
  controller->abort_queue = queue;
  controller->abort_slot = slot;
  controller->abort_sent = slot->sent;
  controller->abort_by_ticks = spate_port_ticks() + spate_nvme_ticks(controller, ABORT_TIMEOUT_MS);
  spate_nvme_admin_send(controller, SPATE_NVME_ADMIN_ABORT, &command, ABORT_TIMEOUT_MS);
}

/* The timeout of a command, in intervals. A drive may have gigabytes to write before it completes a flush. */
static uint16_t age_max(const struct spate_nvme *controller, const struct spate_nvme_slot *slot) {
  return slot->io->op == SPATE_FLUSH && controller->age_max < FLUSH_AGE_MAX ? FLUSH_AGE_MAX : controller->age_max;
}

/*
 * Adds to the age of each command. Returns the first that is past its timeout, or NULL.
 *
 * The age is time, however seldom the caller polls. It begins when the command is first seen here after its doorbell
 * was rung, with 1 for the present interval, which has partly passed. So no command expires when it is first seen.
 */
static struct spate_nvme_slot *age_queue(struct spate_nvme_queue *queue, uint16_t intervals) {
  struct spate_nvme_slot *expired = NULL;

  for (unsigned i = 0; i < queue->block.depth; i++) {
    struct spate_nvme_slot *slot = &queue->slots[i];
    if (spate_nvme_in_flight(slot)) {
      if ((int32_t)(slot->order - queue->sq_rung) >= 0) continue; /* the drive does not know of it */
      const uint32_t age = slot->age == 0 ? 1u : (uint32_t)slot->age + intervals;
      slot->age = (uint16_t)(age < UINT16_MAX ? age : UINT16_MAX);
      if (slot->age > age_max(queue->controller, slot) + 1u && expired == NULL) expired = slot;
    } else if (slot->sent != SLOT_FREE && slot->age > 0) {
      pass_delay(queue, slot, intervals);
    }
  }
  return expired;
}

static void age_commands(struct spate_nvme *controller) {
  const uint16_t intervals = intervals_passed(controller);

  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next) {
    struct spate_nvme_slot *slot = age_queue(queue, intervals);
    if (queue->waiting) { /* not left to the queue's own poll, which may find that no interval has passed */
      spate_nvme_issue_waiting(queue);
      spate_nvme_queue_kick(&queue->block);
    }
    if (slot == NULL || controller->abort_slot != NULL) continue;
    /* The command may have completed already, and the caller has not polled since. */
    const uint64_t sent = slot->sent;
    (void)spate_nvme_queue_poll(queue, queue->entries);
    if (slot->sent != sent || controller->admin[SPATE_NVME_ADMIN_ABORT].busy) continue;
    controller->counters.timeouts++;
    abort_command(controller, queue, slot);
  }
}

/* An abort may succeed, be too late or be ignored. Only the completion of the command itself ends it. */
static enum spate_error poll_abort(struct spate_nvme *controller) {
  (void)spate_nvme_queue_poll(controller->abort_queue, controller->abort_queue->entries);
  if (controller->abort_slot->sent != controller->abort_sent)
    controller->abort_slot = NULL;
  else if (spate_port_ticks() >= controller->abort_by_ticks)
    return SPATE_E_TIMEOUT;
  return SPATE_OK;
}

enum spate_error spate_nvme_supervise(struct spate_nvme *controller) {
  const uint64_t now = spate_port_ticks();

  if (controller->abort_slot != NULL && poll_abort(controller) != SPATE_OK) return SPATE_E_TIMEOUT;
  spate_nvme_event_supervise(controller);
  if (controller->request != NULL) controller->request_ops->supervise(controller);
  if (spate_nvme_admin_expired(controller)) {
    controller->counters.timeouts++;
    return SPATE_E_TIMEOUT;
  }
  if (now - controller->serviced_ticks < controller->interval_ticks) return SPATE_OK;
  controller->serviced_ticks = now;
  const enum spate_error error = spate_nvme_status_check(controller);
  if (error == SPATE_OK) age_commands(controller);
  return error;
}

bool spate_nvme_has_requests(const struct spate_nvme_queue *queue) {
  for (unsigned i = 0; i < queue->block.depth; i++)
    if (queue->slots[i].sent != SLOT_FREE) return true;
  return false;
}

/*
 * The controller is dead or shut down, and no longer accesses memory: every request ends. A request that the drive
 * completed before ends with the drive's status: its entry is in memory, and the drive wrote the data before the entry.
 * Without a request the completion queue is not read, because its memory may have another use by now.
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
