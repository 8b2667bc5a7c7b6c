/* SPDX-License-Identifier: Apache-2.0 */
/* Features that callers read and set (5.21.1). */
#include "internal.h"

#define POWER_STATE_MASK 0x1fu

void spate_nvme_write_cache_take(struct spate_nvme *controller, bool on) {
  controller->cache_on = on;
  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next)
    queue->block.volatile_cache = on;
}

enum spate_error spate_nvme_write_cache_get(struct spate_nvme *controller, bool *on) {
  if (!controller->identity.volatile_cache) return SPATE_E_UNSUPPORTED;
  const enum spate_error error = spate_nvme_call_dwords(controller, NVME_GET_FEATURES, NVME_FEATURE_WRITE_CACHE, 0);
  if (error != SPATE_OK) return error;
  *on = (controller->admin[SPATE_NVME_ADMIN_CALLER].result & 1u) != 0;
  spate_nvme_write_cache_take(controller, *on);
  return SPATE_OK;
}

enum spate_error spate_nvme_write_cache_set(struct spate_nvme *controller, bool on) {
  if (!controller->identity.volatile_cache) return SPATE_E_UNSUPPORTED;
  const enum spate_error error =
      spate_nvme_call_dwords(controller, NVME_SET_FEATURES, NVME_FEATURE_WRITE_CACHE, on ? 1 : 0);
  if (error != SPATE_OK) return error;
  /* The specification does not say what happens to cached data when the cache is turned off. So the cache is flushed
   * now, while volatile_cache is still set: without it a flush is not sent. */
  for (struct spate_nvme_queue *queue = controller->queues; !on && queue != NULL; queue = queue->next) {
    const enum spate_error flush_error = spate_block_flush(&queue->block);
    if (flush_error != SPATE_OK) {
      controller->cache_choice = 2; /* bring-up turns it on again, because a cache that is off counts as empty */
      return flush_error;
    }
  }
  controller->cache_choice = on ? 2 : 1;
  spate_nvme_write_cache_take(controller, on);
  return SPATE_OK;
}

enum spate_error spate_nvme_power_state_get(struct spate_nvme *controller, uint8_t *state) {
  const enum spate_error error = spate_nvme_call_dwords(controller, NVME_GET_FEATURES, NVME_FEATURE_POWER, 0);
  if (error == SPATE_OK) *state = controller->admin[SPATE_NVME_ADMIN_CALLER].result & POWER_STATE_MASK;
  return error;
}

enum spate_error spate_nvme_power_state_set(struct spate_nvme *controller, uint8_t state) {
  if (state >= controller->identity.power_states) return SPATE_E_INVALID;
  return spate_nvme_call_dwords(controller, NVME_SET_FEATURES, NVME_FEATURE_POWER, state);
}
