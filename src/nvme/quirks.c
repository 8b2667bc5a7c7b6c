/* SPDX-License-Identifier: Apache-2.0 */
#include "quirks.h"

#include "internal.h"

#define PAUSE_MS 2300u

#define QUIRK(vendor_id, device_id, needs, source, name) {vendor_id, device_id, needs},
static const struct {
  uint16_t vendor_id, device_id;
  uint8_t needs;
} rows[] = {
#include "quirks.def"
};

uint32_t spate_nvme_needs(uint16_t vendor_id, uint16_t device_id) {
  for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].vendor_id == vendor_id && rows[i].device_id == device_id) return rows[i].needs;
  return 0;
}

void spate_nvme_pause(struct spate_nvme *controller) {
  const uint64_t pause_ticks = (controller->needs & NVME_PAUSE) != 0 ? spate_nvme_ticks(controller, PAUSE_MS) : 0;

  controller->pause_until_ticks = spate_port_ticks() + pause_ticks;
  controller->deadline_ticks += pause_ticks;
}

void spate_nvme_needs_apply(struct spate_nvme *controller) {
  struct spate_nvme_identity *identity = &controller->identity;

  if ((controller->needs & NVME_NO_WRITE_ZEROES) != 0) identity->can_zero = false;
  if ((controller->needs & NVME_NO_TRIM) != 0) identity->can_trim = false;
  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next) {
    queue->block.can_zero &= identity->can_zero;
    queue->block.can_trim &= identity->can_trim;
  }
}
