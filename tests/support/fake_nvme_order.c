/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are the host's barriers there? A processor that reorders nothing shows no missing one, so they are counted: what a
 * submission doorbell announces must have been in memory at a write barrier before it, and of the completions that a
 * completion doorbell gives back, each must have had a read barrier of its own before its request was reported.
 */
#include "fake_nvme.h"
#include <spate/bytes.h>
#include <string.h>

#define SQ_ENTRY 64u

static const uint8_t *ring_of(const struct fake_ring *ring) { return (const uint8_t *)(uintptr_t)ring->address; }

void fake_nvme_write_barrier(struct fake_nvme *drive) {
  drive->order.write_barrier = true;
  for (unsigned queue = 0; queue <= FAKE_QUEUES_MAX; queue++) {
    const struct fake_ring *ring = &drive->sq[queue];
    if (ring->entries <= FAKE_RING_ENTRIES_MAX && ring->entries != 0)
      memcpy(drive->order.visible[queue], ring_of(ring), (size_t)ring->entries * SQ_ENTRY);
  }
}

void fake_nvme_read_barrier(struct fake_nvme *drive) {
  drive->order.read_barriers++;
  for (unsigned i = 0; i < drive->order.torn_count; i++)
    for (unsigned j = 0; j < 3; j++)
      spate_put32(drive->order.torn[i].entry + 4 * j, drive->order.torn[i].dwords[j]);
  drive->order.torn_count = 0;
}

void fake_nvme_order_tear(struct fake_nvme *drive, uint8_t *entry, const uint32_t dwords[3]) {
  struct fake_torn *torn = &drive->order.torn[drive->order.torn_count++ % FAKE_TORN_MAX];

  if (drive->order.torn_count > FAKE_TORN_MAX) fake_nvme_violate(drive, "more torn completions than the fake can hold");
  torn->entry = entry;
  memcpy(torn->dwords, dwords, sizeof torn->dwords);
}

void fake_nvme_retired(struct fake_nvme *drive) {
  if (++drive->order.retired > drive->order.read_barriers)
    fake_nvme_violate(drive, "a request is done without a read barrier after its completion");
}

static void count_afresh(struct fake_nvme *drive) {
  drive->order.read_barriers = 0;
  drive->order.retired = 0;
}

/* What a host reaps while the controller is disabled, it never gives back. */
void fake_nvme_order_control(struct fake_nvme *drive, bool enable) {
  if (enable && !drive->order.write_barrier) fake_nvme_violate(drive, "no write barrier before CC.EN is set");
  drive->order.write_barrier = false;
  if (enable) drive->order.torn_count = 0;
  count_afresh(drive);
}

void fake_nvme_order_submission(struct fake_nvme *drive, unsigned queue, uint32_t value) {
  const struct fake_ring *ring = &drive->sq[queue];

  if (!drive->order.write_barrier) fake_nvme_violate(drive, "no write barrier before a submission doorbell");
  drive->order.write_barrier = false;
  if (ring->entries > FAKE_RING_ENTRIES_MAX) return;
  for (uint32_t i = ring->tail; i != value; i = (i + 1) % ring->entries)
    if (memcmp(drive->order.visible[queue] + i * SQ_ENTRY, ring_of(ring) + i * SQ_ENTRY, SQ_ENTRY) != 0)
      fake_nvme_violate(drive, "a submission entry was stored after the last write barrier");
}

void fake_nvme_order_completion(struct fake_nvme *drive, unsigned queue, uint32_t value) {
  const struct fake_ring *ring = &drive->cq[queue];
  const uint32_t completions = (value + ring->entries - ring->head) % ring->entries;

  if (drive->order.read_barriers != completions) /* more: they were for nothing, and perhaps before the look */
    fake_nvme_violate(drive, "not one read barrier for each completion given back");
  count_afresh(drive);
}
