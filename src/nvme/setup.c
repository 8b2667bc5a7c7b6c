/* SPDX-License-Identifier: Apache-2.0 */
/* Setup of a controller after it was enabled: admin commands, one after the other. */
#include "internal.h"

#define HOST_BUFFER_ENABLE 1u /* EHM */
#define HOST_BUFFER_RETURN 2u /* MR: memory that the drive had before, with its contents */
#define TRANSITION_QWORDS  32u
#define EVENTS_HEALTH      0x1fu /* the critical warnings, which every 1.x drive supports */

enum step {
  STEP_IDENTIFY,
  STEP_BEHAVIOR,
  STEP_QUEUE_COUNT,
  STEP_QUEUES_GIVEN, /* if the drive refuses the step before */
  STEP_HOST_BUFFER,
  STEP_WRITE_CACHE,
  STEP_AUTONOMOUS_POWER,
  STEP_POWER_STATE,
  STEP_EVENTS,
  STEP_HEALTH,
  STEP_NAMESPACE, /* these three once for each open queue */
  STEP_CQ,
  STEP_SQ,
  STEPS
};

static void set_feature(struct nvme_command *command, enum nvme_feature feature, uint32_t value) {
  command->opcode = NVME_SET_FEATURES;
  command->dword10 = feature;
  command->dword11 = value;
}

/* One descriptor is enough: the caller's memory is contiguous. */
static bool make_host_buffer(struct spate_nvme *controller, struct nvme_command *command) {
  const struct spate_nvme_identity *identity = &controller->identity;
  const uint32_t wanted_pages = identity->host_buffer_wanted_bytes >> SPATE_PAGE_SHIFT;
  const uint64_t have_pages = controller->config.host_buffer_bytes >> SPATE_PAGE_SHIFT;
  const uint32_t pages = have_pages < wanted_pages ? (uint32_t)have_pages : wanted_pages;

  if (controller->config.host_buffer == NULL || pages == 0) return false;
  if (pages < identity->host_buffer_min_bytes >> SPATE_PAGE_SHIFT) {
    spate_port_log("nvme: host_buffer is not used: it is smaller than HMMIN, bytes", identity->host_buffer_min_bytes);
    return false;
  }
  controller->host_buffer_list[0] = spate_port_dma_address(controller->config.host_buffer);
  controller->host_buffer_list[1] = pages;
  const uint64_t list = spate_port_dma_address(controller->host_buffer_list);
  set_feature(command, NVME_FEATURE_HOST_BUFFER,
              HOST_BUFFER_ENABLE | (controller->host_buffer_lent ? HOST_BUFFER_RETURN : 0u));
  command->dwords_12_13 = (uint64_t)(uint32_t)list << 32 | pages;
  command->dwords_14_15 = UINT64_C(1) << 32 | list >> 32;
  return true;
}

/* The drive keeps the power state that it has (5.21.1.12). Some drives no longer respond after they have chosen
 * another: Linux NVME_QUIRK_NO_APST and NO_DEEPEST_PS. */
static bool make_no_transitions(struct spate_nvme *controller, struct nvme_command *command) {
  volatile uint64_t *table = (volatile uint64_t *)(void *)controller->data;

  if (!controller->chooses_power) return false;
  for (unsigned i = 0; i < TRANSITION_QWORDS; i++)
    table[i] = 0;
  set_feature(command, NVME_FEATURE_AUTONOMOUS_POWER, 0);
  command->data = controller->data;
  return true;
}

/* Makes the command of the present step. False: this drive does not need the step. */
static bool make(struct spate_nvme *controller, struct nvme_command *command) {
  *command = (struct nvme_command){0};
  switch (controller->setup_step) {
  case STEP_IDENTIFY:
    command->opcode = NVME_IDENTIFY;
    command->dword10 = NVME_IDENTIFY_CONTROLLER;
    command->data = controller->data;
    return true;
  case STEP_BEHAVIOR: /* ACRE: the drive then states how long to wait before a retry (5.21.1.22) */
    set_feature(command, NVME_FEATURE_HOST_BEHAVIOR, 0);
    command->data = controller->behavior;
    return (controller->retry_delay[0] | controller->retry_delay[1] | controller->retry_delay[2]) != 0;
  case STEP_QUEUE_COUNT:
    set_feature(command, NVME_FEATURE_QUEUES, nvme_queue_count_cdw11(SPATE_NVME_QUEUES_MAX));
    return true;
  case STEP_QUEUES_GIVEN:
    command->opcode = NVME_GET_FEATURES;
    command->dword10 = NVME_FEATURE_QUEUES;
    return controller->queues_max == 0;
  case STEP_HOST_BUFFER: return make_host_buffer(controller, command);
  case STEP_WRITE_CACHE: /* set what the caller chose: not every drive keeps it over a reset. No choice: get it */
    set_feature(command, NVME_FEATURE_WRITE_CACHE, controller->cache_choice == 2);
    if (controller->cache_choice == 0) command->opcode = NVME_GET_FEATURES;
    return controller->identity.volatile_cache;
  case STEP_AUTONOMOUS_POWER: return make_no_transitions(controller, command);
  case STEP_POWER_STATE:
    set_feature(command, NVME_FEATURE_POWER, controller->power_choice - 1u);
    return controller->power_choice != 0;
  case STEP_EVENTS: set_feature(command, NVME_FEATURE_EVENTS, EVENTS_HEALTH); return true;
  case STEP_HEALTH: spate_nvme_log_command(command, NVME_LOG_HEALTH, controller->data); return true;
  default: break;
  }
  if (controller->setup_queue == NULL) return false;
  if (controller->setup_step == STEP_NAMESPACE) {
    command->opcode = NVME_IDENTIFY;
    command->nsid = controller->setup_queue->nsid;
    command->dword10 = NVME_IDENTIFY_NAMESPACE;
    command->data = controller->data;
  } else {
    spate_nvme_create(controller->setup_queue, controller->setup_step == STEP_CQ ? NVME_CREATE_CQ : NVME_CREATE_SQ,
                      command);
  }
  return true;
}

void spate_nvme_write_cache_take(struct spate_nvme *controller, bool on) {
  controller->cache_on = on;
  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next)
    queue->block.volatile_cache = on;
}

/* Drives refuse to set the number, or to tell it, and work otherwise: there is always one pair. */
static void take_queue_count(struct spate_nvme *controller, uint16_t status, uint32_t result) {
  const uint32_t submission = (result & 0xffffu) + 1u, completion = (result >> 16) + 1u;
  const uint32_t given = submission < completion ? submission : completion;

  if (status == 0)
    controller->queues_max = (uint16_t)(given < SPATE_NVME_QUEUES_MAX ? given : SPATE_NVME_QUEUES_MAX);
  else
    controller->queues_max = controller->setup_step == STEP_QUEUES_GIVEN ? 1 : 0;
}

/* Handles the completion of the step. Most steps may be refused without harm. */
static enum spate_error take(struct spate_nvme *controller, uint16_t status, uint32_t result) {
  if (status != 0) {
    controller->status = status;
    spate_port_log("nvme: setup command refused, status", status);
  }
  switch (controller->setup_step) {
  case STEP_BEHAVIOR:
  case STEP_AUTONOMOUS_POWER:
  case STEP_POWER_STATE:
  case STEP_EVENTS: return SPATE_OK;
  case STEP_QUEUE_COUNT:
  case STEP_QUEUES_GIVEN: take_queue_count(controller, status, result); return SPATE_OK;
  case STEP_HOST_BUFFER: controller->host_buffer_lent = status == 0; return SPATE_OK;
  case STEP_WRITE_CACHE: /* in doubt the cache counts as on */
    spate_nvme_write_cache_take(
        controller,
        status != 0 || (controller->cache_choice == 0 ? (result & 1u) != 0 : controller->cache_choice == 2));
    return SPATE_OK;
  case STEP_HEALTH:
    if (status == 0)
      (void)spate_nvme_health_take(controller, controller->data);
    else
      spate_nvme_power_judge(controller, false);
    return SPATE_OK;
  case STEP_NAMESPACE: /* another namespace counts as another drive */
    if (status != 0 || spate_nvme_namespace_mark(controller) != controller->setup_queue->namespace_mark)
      return SPATE_E_GONE;
    return SPATE_OK;
  default: break;
  }
  if (status != 0) return SPATE_E_COMMAND;
  return controller->setup_step == STEP_IDENTIFY ? spate_nvme_identity_take(controller) : SPATE_OK;
}

void spate_nvme_setup_start(struct spate_nvme *controller) {
  controller->stopped_by_us = false;
  controller->admin_registers_readable = spate_nvme_admin_registers_are_ours(controller);
  controller->setup_step = STEP_IDENTIFY;
  controller->setup_sent = false;
  controller->setup_queue = controller->queues;
}

enum spate_error spate_nvme_setup_advance(struct spate_nvme *controller) {
  const struct spate_nvme_admin_slot *slot = &controller->admin[SPATE_NVME_ADMIN_CALLER];
  struct nvme_command command;

  if (slot->busy) return SPATE_E_BUSY;
  if (controller->setup_sent) {
    controller->setup_sent = false;
    const enum spate_error error = take(controller, slot->status, slot->result);
    if (error != SPATE_OK) return error;
    controller->setup_step++;
    if (controller->setup_step == STEPS) {
      controller->setup_queue = controller->setup_queue->next;
      controller->setup_step = STEP_NAMESPACE;
    }
  }
  while (controller->setup_step < STEPS) {
    if (make(controller, &command)) {
      spate_nvme_admin_send(controller, SPATE_NVME_ADMIN_CALLER, &command, ADMIN_TIMEOUT_MS);
      controller->setup_sent = true;
      return SPATE_E_BUSY;
    }
    controller->setup_step++;
  }
  spate_nvme_event_arm(controller);
  return SPATE_OK;
}
