/* SPDX-License-Identifier: Apache-2.0 */
#include "raw_nvme.h"
#include <spate/bytes.h>
#include <string.h>

#define SQ_BYTES 64u
#define CQ_BYTES 16u

enum { REG_CC = 0x14, REG_CSTS = 0x1c, REG_AQA = 0x24, REG_ASQ = 0x28, REG_ACQ = 0x30, REG_DOORBELLS = 0x1000 };

#define CC_START (UINT32_C(4) << 20 | UINT32_C(6) << 16 | 1u)

static uint32_t read32(const struct raw_nvme *raw, uint32_t offset) {
  return raw->target.read32(raw->target.context, offset);
}

static void write32(const struct raw_nvme *raw, uint32_t offset, uint32_t value) {
  raw->target.write32(raw->target.context, offset, value);
}

uint64_t raw_bus(const struct raw_nvme *raw, unsigned page) { return raw->target.bus + (uint64_t)page * RAW_PAGE; }

uint8_t *raw_at(const struct raw_nvme *raw, unsigned page) { return raw->target.memory + (size_t)page * RAW_PAGE; }

void raw_queue_forget(struct raw_nvme *raw, unsigned queue) {
  memset(raw_at(raw, 2u * queue), 0, 2u * RAW_PAGE);
  raw->queues[queue].tail = raw->queues[queue].head = 0;
  raw->queues[queue].phase = true;
}

void raw_init(struct raw_nvme *raw, const struct raw_target *target) {
  *raw = (struct raw_nvme){.target = *target, .next_id = 0x100};
  for (unsigned i = 0; i < RAW_QUEUES; i++)
    raw_queue_forget(raw, i);
}

uint32_t raw_csts(const struct raw_nvme *raw) { return read32(raw, REG_CSTS); }

bool raw_wait_csts(struct raw_nvme *raw, uint32_t mask, uint32_t value) {
  for (unsigned i = 0; i < raw->target.patience; i++) {
    if ((raw_csts(raw) & mask) == value) return true;
    raw->target.wait(raw->target.context);
  }
  return false;
}

bool raw_enable(struct raw_nvme *raw) {
  for (unsigned i = 0; i < RAW_QUEUES; i++)
    raw_queue_forget(raw, i);
  write32(raw, REG_AQA, (RAW_ENTRIES - 1u) << 16 | (RAW_ENTRIES - 1u));
  write32(raw, REG_ASQ, (uint32_t)raw_bus(raw, 0));
  write32(raw, REG_ASQ + 4, (uint32_t)(raw_bus(raw, 0) >> 32));
  write32(raw, REG_ACQ, (uint32_t)raw_bus(raw, 1));
  write32(raw, REG_ACQ + 4, (uint32_t)(raw_bus(raw, 1) >> 32));
  write32(raw, REG_CC, CC_START);
  return raw_wait_csts(raw, 3, 1);
}

bool raw_disable(struct raw_nvme *raw) {
  write32(raw, REG_CC, CC_START & ~1u);
  return raw_wait_csts(raw, 1, 0);
}

uint16_t raw_put(struct raw_nvme *raw, unsigned queue, const struct raw_command *command) {
  const uint16_t id = raw->next_id++;
  uint8_t *entry = raw_at(raw, 2u * queue) + (size_t)raw->queues[queue].tail * SQ_BYTES;

  memset(entry, 0, SQ_BYTES);
  spate_put32(entry, command->opcode | command->flags | (uint32_t)id << 16);
  spate_put32(entry + 4, command->nsid);
  spate_put32(entry + 8, command->dword2);
  spate_put32(entry + 12, command->dword3);
  spate_put64(entry + 24, command->prp1);
  spate_put64(entry + 32, command->prp2);
  spate_put32(entry + 40, command->dword10);
  spate_put32(entry + 44, command->dword11);
  spate_put32(entry + 48, command->dword12);
  spate_put32(entry + 52, command->dword13);
  spate_put32(entry + 56, command->dword14);
  spate_put32(entry + 60, command->dword15);
  raw->queues[queue].tail = (raw->queues[queue].tail + 1u) % RAW_ENTRIES;
  return id;
}

void raw_ring(struct raw_nvme *raw, unsigned queue) {
  write32(raw, REG_DOORBELLS + 8u * queue, raw->queues[queue].tail);
}

struct raw_completion raw_take(struct raw_nvme *raw, unsigned queue) {
  const volatile uint8_t *entry = raw_at(raw, 2u * queue + 1u) + (size_t)raw->queues[queue].head * CQ_BYTES;
  uint8_t bytes[CQ_BYTES];
  unsigned tries = 0;

  while ((entry[14] & 1u) != raw->queues[queue].phase) {
    if (tries++ == raw->target.patience) return (struct raw_completion){.missing = true};
    raw->target.wait(raw->target.context);
  }
  __sync_synchronize();
  for (unsigned i = 0; i < CQ_BYTES; i++)
    bytes[i] = entry[i];
  raw->queues[queue].head = (raw->queues[queue].head + 1u) % RAW_ENTRIES;
  if (raw->queues[queue].head == 0) raw->queues[queue].phase = !raw->queues[queue].phase;
  write32(raw, REG_DOORBELLS + 8u * queue + 4u, raw->queues[queue].head);
  return (struct raw_completion){.result = spate_get32(bytes),
                                 .head = spate_get16(bytes + 8),
                                 .queue = spate_get16(bytes + 10),
                                 .id = spate_get16(bytes + 12),
                                 .status = (uint16_t)(spate_get16(bytes + 14) >> 1),
                                 .phase = (bytes[14] & 1u) != 0};
}

struct raw_completion raw_do(struct raw_nvme *raw, unsigned queue, const struct raw_command *command) {
  (void)raw_put(raw, queue, command);
  __sync_synchronize();
  raw_ring(raw, queue);
  return raw_take(raw, queue);
}

uint16_t raw_queue(struct raw_nvme *raw, unsigned queue) {
  const uint32_t which = (RAW_ENTRIES - 1u) << 16 | queue;

  raw_queue_forget(raw, queue);
  const struct raw_completion cq =
      raw_do(raw, 0,
             &(struct raw_command){.opcode = 5, .prp1 = raw_bus(raw, 2u * queue + 1u), .dword10 = which, .dword11 = 1});
  if (cq.missing || cq.status != 0) return cq.missing ? UINT16_MAX : cq.status;
  const struct raw_completion sq = raw_do(
      raw, 0,
      &(struct raw_command){
          .opcode = 1, .prp1 = raw_bus(raw, 2u * queue), .dword10 = which, .dword11 = (uint32_t)queue << 16 | 1u});
  return sq.missing ? UINT16_MAX : sq.status;
}
