/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives that need more than the specification asks for, recognised by vendor and device id.
 *
 * These drives need a pause between the write that clears CC.EN and the first read of CSTS. If CSTS is read too early,
 * they do not become ready again, or stop answering (seen after a firmware activation). Source: Linux,
 * drivers/nvme/host/pci.c, the drives with NVME_QUIRK_DELAY_BEFORE_CHK_RDY. The time is in nvme.h there, and was found
 * by experiment on 1c58:0003.
 */
#include "internal.h"

#define PAUSE_MS 2300u

static const struct {
  uint16_t vendor_id, device_id;
} pausing[] = {
    {0x144d, 0xa821}, /* Samsung PM1725 */
    {0x144d, 0xa822}, /* Samsung PM1725a */
    {0x1bb1, 0x0100}, /* Seagate Nytro Flash Storage */
    {0x1c58, 0x0003}, /* HGST SN100 family */
    {0x1c58, 0x0023}, /* WDC SN200 */
    {0x1c5f, 0x0540}, /* Memblaze PBlaze4 */
};

void spate_nvme_pause(struct spate_nvme *controller) {
  const struct spate_nvme_bus *bus = &controller->config.bus;
  uint64_t pause_ticks = 0;

  for (unsigned i = 0; i < sizeof pausing / sizeof pausing[0]; i++)
    if (pausing[i].vendor_id == bus->vendor_id && pausing[i].device_id == bus->device_id)
      pause_ticks = spate_nvme_ticks(controller, PAUSE_MS);
  controller->pause_until_ticks = spate_port_ticks() + pause_ticks;
  controller->deadline_ticks += pause_ticks;
}
