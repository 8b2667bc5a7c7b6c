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

#define REATTACH_TIMEOUT_MS  10000u
#define REATTACH_INTERVAL_MS 1u
#define RESET_INTERVAL_MS    1u
#define SILENT_MS            500u /* with the interval of service, a drive is GONE within a second */
#define READY_SLACK_MS       500u /* the unit of CAP.TO, which may be 0 */

void spate_nvme_enter(struct spate_nvme *controller, enum spate_nvme_state state, uint32_t timeout_ms) {
  controller->state = state;
  controller->deadline_ticks = spate_port_ticks() + spate_nvme_ticks(controller, timeout_ms);
}

static bool deadline_passed(const struct spate_nvme *controller) {
  return spate_port_ticks() >= controller->deadline_ticks;
}

/* How long the controller may take to become ready or to stop. */
static uint32_t ready_timeout_ms(const struct spate_nvme *controller) {
  return controller->identity.ready_timeout_ms + READY_SLACK_MS;
}

static void disable(struct spate_nvme *controller) {
  controller->disable_sent = false;
  spate_nvme_enter(controller, SPATE_NVME_DISABLING, ready_timeout_ms(controller));
}

/* spate_nvme_open() brings a drive back only if its own reset took it off the bus. */
static bool can_restore(const struct spate_nvme *controller) {
  return controller->config.bus.restore != NULL && (!controller->opening || controller->resets_tried > 0);
}

/* The drive is off the bus: config.bus.restore is called in a millisecond. */
static void detach(struct spate_nvme *controller) {
  const uint32_t timeout_ms = controller->config.reattach_timeout_ms;

  if (controller->reattach_by_ticks == 0)
    controller->reattach_by_ticks =
        spate_port_ticks() + spate_nvme_ticks(controller, timeout_ms == 0 ? REATTACH_TIMEOUT_MS : timeout_ms);
  spate_nvme_enter(controller, SPATE_NVME_DETACHED, REATTACH_INTERVAL_MS);
}

static bool reattach_is_overdue(const struct spate_nvme *controller) {
  return controller->reattach_by_ticks != 0 && spate_port_ticks() >= controller->reattach_by_ticks;
}

void spate_nvme_start(struct spate_nvme *controller) { disable(controller); }

void spate_nvme_give_up(struct spate_nvme *controller, enum spate_error error) {
  controller->error = error;
  controller->disable_sent = false;
  spate_nvme_enter(controller, SPATE_NVME_HALTING, ready_timeout_ms(controller));
}

/* What follows from a step of the resets beyond CC.EN. A controller that was reset may have lost its configuration and
 * its link. `failures` stays at its limit: each reset is followed by one bring-up. */
static void follow_reset(struct spate_nvme *controller, enum nvme_reset_step step) {
  switch (step) {
  case NVME_RESET_DONE:
    controller->silent_since_ticks = 0;
    controller->reattach_by_ticks = 0; /* the time to reattach starts again */
    if (controller->config.bus.restore != NULL)
      detach(controller);
    else
      disable(controller);
    break;
  case NVME_RESET_UNDER_WAY: spate_nvme_enter(controller, SPATE_NVME_RESETTING, RESET_INTERVAL_MS); break;
  case NVME_RESET_NONE_LEFT: spate_nvme_give_up(controller, controller->error); break;
  }
}

static void escalate(struct spate_nvme *controller) { follow_reset(controller, spate_nvme_escalate(controller)); }

/* The drive does not come back. If a reset of the driver took it off the bus, a harder reset may bring it back. */
static void reattach_failed(struct spate_nvme *controller) {
  controller->error = SPATE_E_GONE;
  if (controller->resets_tried == 0)
    spate_nvme_give_up(controller, SPATE_E_GONE);
  else
    escalate(controller);
}

/* Starts bring-up because of this error. It waits first until the drive is on the bus. */
static void begin(struct spate_nvme *controller, enum spate_error error) {
  controller->error = error;
  spate_nvme_admin_cancel(controller);
  if (error == SPATE_E_GONE && can_restore(controller))
    detach(controller);
  else
    disable(controller);
}

/* This bring-up failed. The number of failures is limited. A drive that can be restored has a deadline instead. */
static void failed(struct spate_nvme *controller, enum spate_error error) {
  const bool gone = error == SPATE_E_GONE;

  controller->error = error;
  if (gone && can_restore(controller) ? !reattach_is_overdue(controller)
                                      : ++controller->failures < SPATE_NVME_RECOVERIES_MAX)
    begin(controller, error);
  else if (gone)
    reattach_failed(controller);
  else
    escalate(controller);
}

void spate_nvme_recover(struct spate_nvme *controller, enum spate_error error) {
  spate_port_log("nvme: controller reset, error", error);
  controller->counters.resets++;
  spate_nvme_hold(controller);
  begin(controller, error);
}

static void poll_resetting(struct spate_nvme *controller) {
  if (deadline_passed(controller)) follow_reset(controller, spate_nvme_reset_poll(controller));
}

static void poll_detached(struct spate_nvme *controller) {
  const struct spate_nvme_bus *bus = &controller->config.bus;

  if (!deadline_passed(controller)) return;
  const enum spate_error error = bus->restore(bus->context);
  if (error == SPATE_OK)
    disable(controller);
  else if (error == SPATE_E_BUSY && !reattach_is_overdue(controller))
    detach(controller);
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
      failed(controller, SPATE_E_GONE);
    else
      wait_while_silent(controller);
    return;
  }
  controller->silent_since_ticks = 0;
  if (!controller->disable_sent && (control & NVME_CC_ENABLE) != 0) {
    if ((status & (NVME_CSTS_READY | NVME_CSTS_FATAL)) == 0 && !deadline_passed(controller)) return;
    spate_nvme_write_control(controller, control & ~NVME_CC_ENABLE);
    disable(controller);
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
    spate_nvme_enter(controller, SPATE_NVME_ENABLING, ready_timeout_ms(controller));
  } else if (deadline_passed(controller)) {
    failed(controller, SPATE_E_TIMEOUT);
  }
}

static void start_setup(struct spate_nvme *controller) {
  spate_nvme_setup_start(controller);
  spate_nvme_enter(controller, SPATE_NVME_SETUP, 0); /* each command has its own deadline */
}

static void poll_enabling(struct spate_nvme *controller) {
  const bool settled =
      spate_port_ticks() - controller->enabled_ticks >= spate_nvme_ticks(controller, NVME_STALE_FATAL_MS);
  uint32_t control, status;

  if (spate_nvme_control_status(controller, &control, &status) != SPATE_OK)
    failed(controller, SPATE_E_GONE);
  else if ((status & NVME_CSTS_FATAL) != 0 && settled)
    failed(controller, SPATE_E_FATAL);
  else if ((status & (NVME_CSTS_FATAL | NVME_CSTS_READY)) == NVME_CSTS_READY)
    start_setup(controller);
  else if (deadline_passed(controller))
    failed(controller, SPATE_E_TIMEOUT);
}

/* Bring-up is complete. */
static void run(struct spate_nvme *controller) {
  const bool was_link_drop = controller->reattach_by_ticks != 0 && controller->resets_tried == 0;

  spate_nvme_replay(controller, was_link_drop);
  controller->counters.reattachments += was_link_drop;
  controller->reattach_by_ticks = 0;
  controller->failures = 0;
  controller->resets_tried = 0;
  controller->serviced_ticks = spate_port_ticks();
  controller->state = SPATE_NVME_RUNNING;
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
  if (error == SPATE_OK) error = spate_nvme_setup_advance(controller);
  if (error == SPATE_OK)
    run(controller);
  else if (error != SPATE_E_BUSY)
    failed(controller, error);
}

/* A command is aborted, or its abort has ended, or the controller must be reset. */
static void poll_running(struct spate_nvme *controller) {
  const bool was_aborting = controller->state == SPATE_NVME_ABORTING;

  spate_nvme_admin_reap(controller);
  const enum spate_error error = spate_nvme_supervise(controller);
  if (error != SPATE_OK)
    spate_nvme_recover(controller, error);
  else if (was_aborting != (controller->abort_slot != NULL))
    controller->state = was_aborting ? SPATE_NVME_RUNNING : SPATE_NVME_ABORTING;
}

/* Requests end when the controller has stopped. */
static void poll_halting(struct spate_nvme *controller) {
  const enum spate_error error = spate_nvme_halt(controller);

  if (error == SPATE_E_BUSY) return;
  spate_port_log("nvme: controller given up, error", error);
  spate_nvme_admin_cancel(controller);
  controller->error = error;
  controller->state = SPATE_NVME_DEAD;
  spate_nvme_request_end(controller, error);
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
  case SPATE_NVME_ABORTING: poll_running(controller); break;
  case SPATE_NVME_RESETTING: poll_resetting(controller); break;
  case SPATE_NVME_STOPPING: poll_stopping(controller); break;
  case SPATE_NVME_HALTING: poll_halting(controller); break;
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

const struct spate_nvme_counters *spate_nvme_counters(const struct spate_nvme *controller) {
  return &controller->counters;
}
