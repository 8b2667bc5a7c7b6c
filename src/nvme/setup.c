/* SPDX-License-Identifier: Apache-2.0 */
/* What an enabled controller is told and asked before I/O: a table of admin commands, one after the other. */
#include "internal.h"

#define HOST_BUFFER_ENABLE 1u
#define HOST_BUFFER_RETURN 2u    /* memory it had before, with its contents */
#define EVENTS_HEALTH      0x1fu /* the critical warnings, which any 1.x drive knows */

struct step {
  /* False: nothing to do for this drive. */
  bool (*make)(struct spate_nvme *controller, struct nvme_command *command);
  enum spate_error (*take)(struct spate_nvme *controller, uint16_t status, uint32_t result);
};

/* For what a drive may refuse without harm. */
static enum spate_error take_any(struct spate_nvme *controller, uint16_t status, uint32_t result) {
  (void)result;
  if (status != 0) {
    controller->status = status;
    spate_port_log("nvme: an optional feature was refused, status", status);
  }
  return SPATE_OK;
}

static enum spate_error take_ok(struct spate_nvme *controller, uint16_t status, uint32_t result) {
  (void)result;
  if (status != 0) controller->status = status;
  return status == 0 ? SPATE_OK : SPATE_E_COMMAND;
}

static bool make_identify(struct spate_nvme *controller, struct nvme_command *command) {
  spate_nvme_identify(controller, command, NVME_IDENTIFY_CONTROLLER, 0);
  return true;
}

static enum spate_error take_identify(struct spate_nvme *controller, uint16_t status, uint32_t result) {
  const enum spate_error error = take_ok(controller, status, result);
  return error == SPATE_OK ? spate_nvme_identity_take(controller) : error;
}

/* Without ACRE a drive does not say how long to wait before a retry (5.21.1.22). */
static bool make_behavior(struct spate_nvme *controller, struct nvme_command *command) {
  if ((controller->retry_delay[0] | controller->retry_delay[1] | controller->retry_delay[2]) == 0) return false;
  spate_put32(controller->behavior, 1);
  spate_nvme_command_init(command, NVME_SET_FEATURES, 0, controller->behavior, NVME_FEATURE_HOST_BEHAVIOR, 0);
  return true;
}

static bool make_queue_count(struct spate_nvme *controller, struct nvme_command *command) {
  const uint32_t wanted = SPATE_NVME_QUEUES_MAX - 1u;
  (void)controller;
  spate_nvme_command_init(command, NVME_SET_FEATURES, 0, NULL, NVME_FEATURE_QUEUES, wanted << 16 | wanted);
  return true;
}

static enum spate_error take_queue_count(struct spate_nvme *controller, uint16_t status, uint32_t result) {
  const uint32_t submission = (result & 0xffffu) + 1u, completion = (result >> 16) + 1u;
  const uint32_t given = submission < completion ? submission : completion;

  controller->queues_max = (uint16_t)(given < SPATE_NVME_QUEUES_MAX ? given : SPATE_NVME_QUEUES_MAX);
  return take_ok(controller, status, result);
}

/* One descriptor will do: the caller's memory is contiguous. */
static bool make_host_buffer(struct spate_nvme *controller, struct nvme_command *command) {
  const struct spate_nvme_identity *identity = &controller->identity;
  const uint32_t wanted_pages = identity->host_buffer_wanted_bytes >> SPATE_PAGE_SHIFT;
  const uint64_t have_pages = controller->config.host_buffer_bytes >> SPATE_PAGE_SHIFT;
  const uint32_t pages = have_pages < wanted_pages ? (uint32_t)have_pages : wanted_pages;

  if (controller->config.host_buffer == NULL || pages == 0 ||
      pages < identity->host_buffer_min_bytes >> SPATE_PAGE_SHIFT)
    return false;
  spate_put64(controller->host_buffer_list, spate_port_dma_address(controller->config.host_buffer));
  spate_put32(controller->host_buffer_list + 8, pages);
  spate_put32(controller->host_buffer_list + 12, 0);
  const uint64_t list = spate_port_dma_address(controller->host_buffer_list);
  spate_nvme_command_init(command, NVME_SET_FEATURES, 0, NULL, NVME_FEATURE_HOST_BUFFER,
                          HOST_BUFFER_ENABLE | (controller->host_buffer_lent ? HOST_BUFFER_RETURN : 0u));
  command->words[6] = (uint64_t)(uint32_t)list << 32 | pages;
  command->words[7] = UINT64_C(1) << 32 | list >> 32;
  return true;
}

static enum spate_error take_host_buffer(struct spate_nvme *controller, uint16_t status, uint32_t result) {
  controller->host_buffer_lent = status == 0;
  return take_any(controller, status, result);
}

/* The caller's choice does not survive a reset in every drive; otherwise ask. */
static bool make_write_cache(struct spate_nvme *controller, struct nvme_command *command) {
  if (!controller->identity.volatile_cache) return false;
  spate_nvme_command_init(command, controller->cache_choice != 0 ? NVME_SET_FEATURES : NVME_GET_FEATURES, 0, NULL,
                          NVME_FEATURE_WRITE_CACHE, controller->cache_choice == 2 ? 1u : 0u);
  return true;
}

/* In doubt there is one. */
static enum spate_error take_write_cache(struct spate_nvme *controller, uint16_t status, uint32_t result) {
  const bool on = controller->cache_choice != 0 ? controller->cache_choice == 2 : (result & 1u) != 0;
  spate_nvme_write_cache_take(controller, status != 0 || on);
  return take_any(controller, status, result);
}

static bool make_events(struct spate_nvme *controller, struct nvme_command *command) {
  (void)controller;
  spate_nvme_command_init(command, NVME_SET_FEATURES, 0, NULL, NVME_FEATURE_EVENTS, EVENTS_HEALTH);
  return true;
}

static bool make_health(struct spate_nvme *controller, struct nvme_command *command) {
  spate_nvme_command_init(command, NVME_GET_LOG, NVME_ALL_NAMESPACES, controller->data,
                          (NVME_LOG_BYTES / 4u - 1u) << 16 | NVME_LOG_HEALTH, 0);
  return true;
}

/* Completed is not durable if the drive lost its power on the way here. Without an answer, suppose it did. */
static enum spate_error take_health(struct spate_nvme *controller, uint16_t status, uint32_t result) {
  if (status == 0)
    spate_nvme_health_take(controller, controller->data);
  else if (controller->queues != NULL)
    spate_nvme_power_lost(controller);
  return take_any(controller, status, result);
}

static bool make_cq(struct spate_nvme *controller, struct nvme_command *command) {
  if (controller->setup_queue == NULL) return false;
  spate_nvme_create_cq(controller->setup_queue, command);
  return true;
}

static bool make_sq(struct spate_nvme *controller, struct nvme_command *command) {
  if (controller->setup_queue == NULL) return false;
  spate_nvme_create_sq(controller->setup_queue, command);
  return true;
}

static const struct step steps[] = {
    {make_identify, take_identify},
    {make_behavior, take_any},
    {make_queue_count, take_queue_count},
    {make_host_buffer, take_host_buffer},
    {make_write_cache, take_write_cache},
    {make_events, take_any},
    {make_health, take_health},
    /* once for each open queue */
    {make_cq, take_ok},
    {make_sq, take_ok},
};

#define STEPS      (sizeof steps / sizeof steps[0])
#define STEP_QUEUE (STEPS - 2u)

void spate_nvme_setup_start(struct spate_nvme *controller) {
  controller->setup_step = 0;
  controller->setup_sent = false;
  controller->setup_queue = controller->queues;
  spate_nvme_enter(controller, SPATE_NVME_SETUP, 0); /* each command has its own deadline */
}

void spate_nvme_setup_advance(struct spate_nvme *controller) {
  const struct spate_nvme_admin_slot *slot = &controller->admin[SPATE_NVME_ADMIN_CALLER];

  if (slot->busy) return;
  if (controller->setup_sent) {
    const enum spate_error error = steps[controller->setup_step].take(controller, slot->status, slot->result);
    controller->setup_sent = false;
    if (error != SPATE_OK) {
      spate_nvme_failed(controller, error);
      return;
    }
    controller->setup_step++;
    if (controller->setup_step == STEPS) {
      controller->setup_queue = controller->setup_queue->next;
      controller->setup_step = STEP_QUEUE;
    }
  }
  for (; controller->setup_step < STEPS; controller->setup_step++) {
    struct nvme_command command;
    if (steps[controller->setup_step].make(controller, &command)) {
      spate_nvme_admin_send(controller, SPATE_NVME_ADMIN_CALLER, &command, ADMIN_TIMEOUT_MS);
      controller->setup_sent = true;
      return;
    }
  }
  spate_nvme_event_arm(controller);
  spate_nvme_running(controller);
}
