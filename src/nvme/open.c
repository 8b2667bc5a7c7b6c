/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a controller: its capabilities, its memory, and the first bring-up. */
#include "internal.h"
#include <spate/clock.h>

#define CAP_QUEUE_ENTRIES(cap)   ((uint32_t)((cap)&0xffffu) + 1u)
#define CAP_READY_TIMEOUT(cap)   ((uint32_t)((cap) >> 24) & 0xffu) /* in 500 ms */
#define CAP_DOORBELL_STRIDE(cap) ((uint32_t)((cap) >> 32) & 0xfu)
#define CAP_NVM_COMMAND_SET      (UINT64_C(1) << 37)
#define CAP_PAGE_SIZE_MIN(cap)   ((uint32_t)((cap) >> 48) & 0xfu)
#define COMMAND_TIMEOUT_MS       10000u
#define CAP_SUBSYSTEM_RESET      (UINT64_C(1) << 36)
#define BEHAVIOR_BYTES           512u

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
  if (identity->queue_entries_max < SPATE_NVME_QUEUE_ENTRIES(1u)) return SPATE_E_UNSUPPORTED;
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
  spate_nvme_start(controller);
  spate_nvme_wait_for_running(controller);
  controller->opening = false;
  return spate_nvme_is_running(controller) ? SPATE_OK : controller->error;
}
