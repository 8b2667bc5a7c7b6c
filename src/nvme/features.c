/* SPDX-License-Identifier: Apache-2.0 */
/* Features that callers read and set (5.21.1). */
#include "internal.h"

#define POWER_STATE_MASK 0x1fu

enum spate_error spate_nvme_write_cache_get(struct spate_nvme *controller, bool *on) {
  if (!controller->identity.volatile_cache) return SPATE_E_UNSUPPORTED;
  const enum spate_error error = spate_nvme_call_dwords(controller, NVME_GET_FEATURES, NVME_FEATURE_WRITE_CACHE, 0);
  if (error != SPATE_OK) return error;
  *on = (controller->admin[SPATE_NVME_ADMIN_CALLER].result & 1u) != 0;
  spate_nvme_write_cache_take(controller, *on);
  return SPATE_OK;
}

static enum spate_error send_choice(struct spate_nvme *controller, bool on) {
  return spate_nvme_call_dwords(controller, NVME_SET_FEATURES, NVME_FEATURE_WRITE_CACHE, on ? 1 : 0);
}

/* The specification does not say what happens to cached data when the cache is turned off. So the cache is flushed
 * then, while volatile_cache is still set: without it a flush is not sent. Not every drive that accepts the choice
 * follows it, so the drive is asked. */
static enum spate_error turn_off(struct spate_nvme *controller) {
  enum spate_error error = send_choice(controller, false);

  for (struct spate_nvme_queue *queue = controller->queues; error == SPATE_OK && queue != NULL; queue = queue->next)
    error = spate_block_flush(&queue->block);
  if (error == SPATE_OK) error = spate_nvme_call_dwords(controller, NVME_GET_FEATURES, NVME_FEATURE_WRITE_CACHE, 0);
  if (error != SPATE_OK) return error;
  return (controller->admin[SPATE_NVME_ADMIN_CALLER].result & 1u) == 0 ? SPATE_OK : SPATE_E_UNSUPPORTED;
}

/* Until the cache is known to be off, bring-up turns it on. A reset between two steps therefore starts them again. */
enum spate_error spate_nvme_write_cache_set(struct spate_nvme *controller, bool on) {
  enum spate_error error = SPATE_OK;

  if (!controller->identity.volatile_cache) return SPATE_E_UNSUPPORTED;
  controller->cache_choice = 2;
  spate_nvme_write_cache_take(controller, true);
  for (unsigned tries = 0; tries < SPATE_NVME_RECOVERIES_MAX; tries++) {
    spate_nvme_wait_for_running(controller);
    const uint32_t resets = controller->counters.resets;
    error = on ? send_choice(controller, true) : turn_off(controller);
    if (controller->counters.resets != resets) continue;
    if (error != SPATE_OK || on) return error;
    controller->cache_choice = 1;
    spate_nvme_write_cache_take(controller, false);
    return SPATE_OK;
  }
  return error == SPATE_OK ? SPATE_E_TIMEOUT : error;
}

enum spate_error spate_nvme_power_state_get(struct spate_nvme *controller, uint8_t *state) {
  const enum spate_error error = spate_nvme_call_dwords(controller, NVME_GET_FEATURES, NVME_FEATURE_POWER, 0);
  if (error == SPATE_OK) *state = controller->admin[SPATE_NVME_ADMIN_CALLER].result & POWER_STATE_MASK;
  return error;
}

enum spate_error spate_nvme_power_state_set(struct spate_nvme *controller, uint8_t state) {
  if (state >= controller->identity.power_states) return SPATE_E_INVALID;
  const enum spate_error error = spate_nvme_call_dwords(controller, NVME_SET_FEATURES, NVME_FEATURE_POWER, state);
  if (error != SPATE_OK) return error;
  /* One that carries out no I/O must not come back in the middle of a recovery. */
  controller->power_choice = (controller->power_sleeps >> state & 1u) != 0 ? 0 : (uint8_t)(state + 1u);
  return error;
}
