/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller's state machine. Bring-up and recovery take the same path:
 *
 *   DISABLING -> ENABLING -> SETUP -> RUNNING <-> ABORTING
 *       ^____________|_________|_________|____________|
 *       |   An error starts it again, at most SPATE_NVME_RECOVERIES_MAX times in a row. Then each harder reset that is
 *       |   available gets one try (RESETTING: nvme/escalate.c). Then HALTING -> DEAD (nvme/giving_up.c).
 *   DETACHED comes first if the drive fell off the bus and config.bus.restore can bring it back. This is repeated
 *   without a limit of tries, within one deadline from RUNNING to RUNNING.
 *
 * Each step reads a register or the admin queue once. It never waits: the caller's next poll takes the next step.
 */
#include "internal.h"
#include <spate/clock.h>

#define CAP_QUEUE_ENTRIES(cap)   ((uint32_t)((cap)&0xffffu) + 1u)
#define CAP_READY_TIMEOUT(cap)   ((uint32_t)((cap) >> 24) & 0xffu) /* in 500 ms */
#define CAP_DOORBELL_STRIDE(cap) ((uint32_t)((cap) >> 32) & 0xfu)
#define CAP_NVM_COMMAND_SET      (UINT64_C(1) << 37)
#define CAP_PAGE_SIZE_MIN(cap)   ((uint32_t)((cap) >> 48) & 0xfu)
#define COMMAND_TIMEOUT_MS       10000u
#define REATTACH_TIMEOUT_MS      10000u
#define REATTACH_INTERVAL_MS     1u
#define SILENT_MS                500u /* with the interval of service, a drive is GONE within a second */
#define CAP_SUBSYSTEM_RESET      (UINT64_C(1) << 36)
#define SILENT_AT_OPEN_MS        2000u /* some drives read as all ones for so long after a reset */
#define BEHAVIOR_BYTES           512u
#define READY_SLACK_MS           500u /* the unit of CAP.TO, which may be 0 */

void spate_nvme_enter(struct spate_nvme *controller, enum spate_nvme_state state, uint32_t timeout_ms) {
  controller->state = state;
  controller->deadline_ticks = spate_port_ticks() + spate_nvme_ticks(controller, timeout_ms);
}

static bool deadline_passed(const struct spate_nvme *controller) {
  return spate_port_ticks() >= controller->deadline_ticks;
}

uint32_t spate_nvme_ready_timeout_ms(const struct spate_nvme *controller) {
  return controller->identity.ready_timeout_ms + READY_SLACK_MS;
}

void spate_nvme_disable(struct spate_nvme *controller) {
  controller->disable_sent = false;
  spate_nvme_enter(controller, SPATE_NVME_DISABLING, spate_nvme_ready_timeout_ms(controller));
}

/* spate_nvme_open() brings a drive back only if its own reset took it off the bus. */
static bool can_restore(const struct spate_nvme *controller) {
  return controller->config.bus.restore != NULL && (!controller->opening || controller->resets_tried > 0);
}

void spate_nvme_detach(struct spate_nvme *controller) {
  const uint32_t timeout_ms = controller->config.reattach_timeout_ms;

  if (controller->reattach_by_ticks == 0)
    controller->reattach_by_ticks =
        spate_port_ticks() + spate_nvme_ticks(controller, timeout_ms == 0 ? REATTACH_TIMEOUT_MS : timeout_ms);
  spate_nvme_enter(controller, SPATE_NVME_DETACHED, REATTACH_INTERVAL_MS);
}

static bool reattach_is_overdue(const struct spate_nvme *controller) {
  return controller->reattach_by_ticks != 0 && spate_port_ticks() >= controller->reattach_by_ticks;
}

/* The drive does not come back. If a reset of the driver took it off the bus, a harder reset may bring it back. */
static void reattach_failed(struct spate_nvme *controller) {
  controller->error = SPATE_E_GONE;
  if (controller->resets_tried == 0 || !spate_nvme_escalate(controller)) spate_nvme_give_up(controller, SPATE_E_GONE);
}

void spate_nvme_begin(struct spate_nvme *controller, enum spate_error error) {
  controller->error = error;
  spate_nvme_admin_cancel(controller);
  if (error == SPATE_E_GONE && can_restore(controller))
    spate_nvme_detach(controller);
  else
    spate_nvme_disable(controller);
}

/* This bring-up failed. The number of failures is limited. A drive that can be restored has a deadline instead. */
void spate_nvme_failed(struct spate_nvme *controller, enum spate_error error) {
  const bool gone = error == SPATE_E_GONE;

  controller->error = error;
  if (gone && can_restore(controller) ? !reattach_is_overdue(controller)
                                      : ++controller->failures < SPATE_NVME_RECOVERIES_MAX)
    spate_nvme_begin(controller, error);
  else if (gone)
    reattach_failed(controller);
  else if (!spate_nvme_escalate(controller))
    spate_nvme_give_up(controller, error);
}

static void poll_detached(struct spate_nvme *controller) {
  const struct spate_nvme_bus *bus = &controller->config.bus;

  if (!deadline_passed(controller)) return;
  const enum spate_error error = bus->restore(bus->context);
  if (error == SPATE_OK)
    spate_nvme_disable(controller);
  else if (error == SPATE_E_BUSY && !reattach_is_overdue(controller))
    spate_nvme_detach(controller);
  else
    reattach_failed(controller);
}

/* There is no restore() for this drive. It may come back by itself, for example when its firmware restarts. */
static void wait_while_silent(struct spate_nvme *controller) {
  const uint64_t now = spate_port_ticks();

  if (controller->silent_since_ticks == 0) controller->silent_since_ticks = now;
  if (now - controller->silent_since_ticks >=
      spate_nvme_ticks(controller, controller->opening ? SILENT_AT_OPEN_MS : SILENT_MS))
    reattach_failed(controller);
}

/* EN may be cleared only when RDY is set (3.1.5, Enable). A controller that is starting up therefore gets time to
 * finish, until the deadline, unless it reports a fatal error. */
static void poll_disabling(struct spate_nvme *controller) {
  uint32_t control, status;

  if (controller->disable_sent && spate_port_ticks() < controller->pause_until_ticks) return;
  if (spate_nvme_control_status(controller, &control, &status) != SPATE_OK) {
    if (can_restore(controller))
      spate_nvme_failed(controller, SPATE_E_GONE);
    else
      wait_while_silent(controller);
    return;
  }
  controller->silent_since_ticks = 0;
  if (!controller->disable_sent && (control & NVME_CC_ENABLE) != 0) {
    if ((status & (NVME_CSTS_READY | NVME_CSTS_FATAL)) == 0 && !deadline_passed(controller)) return;
    spate_nvme_write_control(controller, control & ~NVME_CC_ENABLE);
    spate_nvme_disable(controller);
    spate_nvme_pause(controller);
    controller->disable_sent = true;
    controller->stopped_by_us = true;
    return;
  }
  if ((status & NVME_CSTS_READY) == 0 && (control & NVME_CC_ENABLE) == 0) {
    spate_nvme_power_look(controller);
    spate_nvme_quiesce(controller);
    spate_nvme_admin_reset(controller);
    spate_port_dma_write_barrier();
    spate_nvme_write_control(controller, NVME_CC_START);
    controller->enabled_ticks = spate_port_ticks();
    spate_nvme_enter(controller, SPATE_NVME_ENABLING, spate_nvme_ready_timeout_ms(controller));
  } else if (deadline_passed(controller)) {
    spate_nvme_failed(controller, SPATE_E_TIMEOUT);
  }
}

static void poll_enabling(struct spate_nvme *controller) {
  const bool settled =
      spate_port_ticks() - controller->enabled_ticks >= spate_nvme_ticks(controller, NVME_STALE_FATAL_MS);
  uint32_t control, status;

  if (spate_nvme_control_status(controller, &control, &status) != SPATE_OK)
    spate_nvme_failed(controller, SPATE_E_GONE);
  else if ((status & NVME_CSTS_FATAL) != 0 && settled)
    spate_nvme_failed(controller, SPATE_E_FATAL);
  else if ((status & (NVME_CSTS_FATAL | NVME_CSTS_READY)) == NVME_CSTS_READY)
    spate_nvme_setup_start(controller);
  else if (deadline_passed(controller))
    spate_nvme_failed(controller, SPATE_E_TIMEOUT);
}

static void poll_setup(struct spate_nvme *controller) {
  const uint64_t now = spate_port_ticks();
  enum spate_error error = SPATE_OK;

  spate_nvme_admin_reap(controller);
  if (now - controller->serviced_ticks >= controller->interval_ticks) {
    controller->serviced_ticks = now;
    error = spate_nvme_status_check(controller);
  }
  if (error == SPATE_OK && spate_nvme_admin_expired(controller)) error = SPATE_E_TIMEOUT;
  if (error == SPATE_OK)
    spate_nvme_setup_advance(controller);
  else
    spate_nvme_failed(controller, error);
}

static void poll_stopping(struct spate_nvme *controller) {
  uint32_t control, status;

  if (spate_nvme_control_status(controller, &control, &status) != SPATE_OK) {
    if (can_restore(controller))
      spate_nvme_recover(controller, SPATE_E_GONE);
    else
      wait_while_silent(controller);
    return;
  }
  controller->silent_since_ticks = 0;
  const bool complete = (status & NVME_CSTS_SHUTDOWN_MASK) == NVME_CSTS_SHUTDOWN_COMPLETE;
  const bool restarted = (control & NVME_CC_SHUTDOWN_NORMAL) == 0;
  /* It confirms a shutdown that came when it had just restarted; or it clears its registers when it stops. That again
   * and again would be another coincidence. */
  const bool doubtful = !controller->stop_was_doubtful && spate_nvme_power_is_doubtful(controller);
  if (complete && !restarted && !doubtful) {
    controller->state = SPATE_NVME_CLOSED;
  } else if (complete || restarted || (status & NVME_CSTS_FATAL) != 0) {
    controller->stop_was_doubtful |= doubtful;
    if (doubtful) spate_nvme_power_doubt(controller);
    spate_nvme_recover(controller, SPATE_E_FATAL);
  } else if (deadline_passed(controller))
    spate_nvme_give_up(controller, SPATE_E_TIMEOUT);
}

void spate_nvme_service(struct spate_nvme *controller) {
  switch (controller->state) {
  case SPATE_NVME_DETACHED: poll_detached(controller); break;
  case SPATE_NVME_DISABLING: poll_disabling(controller); break;
  case SPATE_NVME_ENABLING: poll_enabling(controller); break;
  case SPATE_NVME_SETUP: poll_setup(controller); break;
  case SPATE_NVME_RUNNING:
  case SPATE_NVME_ABORTING:
    spate_nvme_admin_reap(controller);
    spate_nvme_supervise(controller);
    break;
  case SPATE_NVME_RESETTING: spate_nvme_poll_resetting(controller); break;
  case SPATE_NVME_STOPPING: poll_stopping(controller); break;
  case SPATE_NVME_HALTING: spate_nvme_poll_halting(controller); break;
  case SPATE_NVME_CLOSED:
  case SPATE_NVME_DEAD: break;
  }
}

void spate_nvme_poll(struct spate_nvme *controller) { spate_nvme_service(controller); }

unsigned spate_nvme_service_poll(struct spate_nvme_queue *queue, unsigned max) {
  spate_nvme_service(queue->controller);
  return spate_nvme_is_running(queue->controller) ? spate_nvme_queue_poll(queue, max)
                                                  : spate_nvme_fail_requests(queue, max);
}

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

/* A drive that was reset just before may be silent for a while. One whose link is down is not waited for. */
static enum spate_error first_look(const struct spate_nvme *controller, uint64_t *cap, uint32_t *version) {
  const uint64_t end_ticks = spate_port_ticks() + spate_nvme_ticks(controller, SILENT_AT_OPEN_MS);
  enum spate_error error;

  while ((error = spate_nvme_capabilities(controller, cap, version)) == SPATE_E_GONE &&
         spate_nvme_link_is_up(controller) && spate_port_ticks() < end_ticks)
    spate_port_relax();
  return error;
}

static enum spate_error capabilities_take(struct spate_nvme *controller) {
  struct spate_nvme_identity *identity = &controller->identity;
  uint64_t cap;
  const enum spate_error error = first_look(controller, &cap, &identity->version);

  if (error != SPATE_OK) return error;
  if ((cap & CAP_NVM_COMMAND_SET) == 0) return SPATE_E_COMMAND_SET;
  if (CAP_PAGE_SIZE_MIN(cap) != 0) return SPATE_E_PAGE_SIZE;
  identity->queue_entries_max = CAP_QUEUE_ENTRIES(cap);
  if ((controller->needs & NVME_DEEPER_QUEUES) != 0 && identity->queue_entries_max == 1u)
    identity->queue_entries_max = 64;
  identity->ready_timeout_ms = CAP_READY_TIMEOUT(cap) * 500u;
  identity->doorbell_stride_bytes = 4u << CAP_DOORBELL_STRIDE(cap);
  controller->doorbell_shift = 2u + CAP_DOORBELL_STRIDE(cap);
  controller->can_reset_subsystem = (cap & CAP_SUBSYSTEM_RESET) != 0;
  if (identity->queue_entries_max < SPATE_NVME_RING_ENTRIES(1u)) return SPATE_E_UNSUPPORTED;
  return spate_nvme_doorbell(controller, 1) == 0 ? SPATE_E_UNSUPPORTED : SPATE_OK;
}

static enum spate_error memory_take(struct spate_nvme *controller) {
  struct spate_arena *arena = controller->config.queue_memory;
  uint8_t *pages = spate_arena_take(arena, SPATE_NVME_CONTROLLER_MEMORY_BYTES, SPATE_PAGE_BYTES);

  if (pages == NULL) return SPATE_E_MEMORY;
  controller->admin_sq = (uint64_t *)(void *)pages;
  controller->admin_cq = (const volatile uint32_t *)(const volatile void *)(pages + SPATE_PAGE_BYTES);
  controller->log = pages + SPATE_PAGE_BYTES + SPATE_PAGE_BYTES / 2u;
  controller->host_buffer_list = (uint64_t *)(void *)(controller->log + NVME_LOG_BYTES);
  controller->behavior = pages + 2u * (size_t)SPATE_PAGE_BYTES - BEHAVIOR_BYTES;
  controller->behavior[0] = 1; /* ACRE: Advanced Command Retry Enable */
  controller->data = pages + 2u * (size_t)SPATE_PAGE_BYTES;
  return SPATE_OK;
}

enum spate_error spate_nvme_open(struct spate_nvme *controller, const struct spate_nvme_config *config) {
  const uint64_t ticks_per_second = spate_port_ticks_per_second();
  const uint32_t timeout_ms = config->command_timeout_ms == 0 ? COMMAND_TIMEOUT_MS : config->command_timeout_ms;

  *controller = (struct spate_nvme){.state = SPATE_NVME_CLOSED, .shutdown_ms = 10000};
  if (spate_clock_check() != SPATE_OK) return SPATE_E_CLOCK;
  controller->config = *config;
  controller->needs = spate_nvme_needs(config->bus.vendor_id, config->bus.device_id);
  controller->opening = true;
  /* A little more than a thousandth, without a division: some processors have no instruction for it. */
  controller->ticks_per_ms = (ticks_per_second >> 10) + (ticks_per_second >> 15) + 1u;
  controller->interval_ticks = spate_nvme_ticks(controller, INTERVAL_MS);
  controller->aged_ticks = spate_port_ticks();
  controller->age_max = (uint16_t)(timeout_ms / INTERVAL_MS < 0xfff0u ? timeout_ms / INTERVAL_MS : 0xfff0u);
  if (controller->age_max == 0) controller->age_max = 1;
  if (config->host_buffer != NULL && (spate_port_dma_address(config->host_buffer) & (SPATE_PAGE_BYTES - 1u)) != 0)
    return SPATE_E_INVALID;
  controller->error = capabilities_take(controller);
  if (controller->error == SPATE_OK) controller->error = memory_take(controller);
  if (controller->error != SPATE_OK) return controller->error;
  if (config->host_buffer != NULL) /* from here on only the drive uses it */
    spate_port_cache_invalidate(config->host_buffer, (size_t)config->host_buffer_bytes);

  controller->failures = SPATE_NVME_RECOVERIES_MAX - 1u; /* the first failure ends spate_nvme_open() */
  spate_nvme_disable(controller);
  spate_nvme_wait_for_running(controller);
  controller->opening = false;
  return spate_nvme_is_running(controller) ? SPATE_OK : controller->error;
}

const struct spate_nvme_counters *spate_nvme_counters(const struct spate_nvme *controller) {
  return &controller->counters;
}
