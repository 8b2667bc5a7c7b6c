/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_nvme.h"
#include <spate/bytes.h>
#include <stdlib.h>
#include <string.h>

#define PAGE                  UINT64_C(4096)
#define SQ_ENTRY              64u
#define CQ_ENTRY              16u
#define STATUS_INVALID_OPCODE 0x4001u
#define STATUS_INVALID_FIELD  0x4002u
#define STATUS_ABORTED        0x0007u
#define STATUS_NAMESPACE      0x400bu
#define STATUS_PRP_OFFSET     0x4013u
#define STATUS_LBA            0x4080u
#define STATUS_QUEUE_ID       0x4101u
#define STATUS_QUEUE_SIZE     0x4102u
#define NO_ANSWER             0xffffu /* the command stays with the drive */

void fake_nvme_violate(struct fake_nvme *drive, const char *why) {
  drive->violations++;
  if (drive->violation == NULL) drive->violation = why;
}

static void violate(struct fake_nvme *drive, const char *why) { fake_nvme_violate(drive, why); }

static void *memory(uint64_t address) { return (void *)(uintptr_t)address; }

/* ---- PRPs, written from the specification's section 4.3 alone ---- */

static uint16_t refuse(const char **why, const char *text) {
  *why = text;
  return STATUS_PRP_OFFSET;
}

uint16_t fake_nvme_walk_prps(uint64_t first, uint64_t second, uint64_t bytes,
                             void (*piece)(void *context, uint8_t *at, uint64_t bytes), void *context,
                             const char **why) {
  if (first % 4 != 0) return refuse(why, "PRP1 not dword aligned");
  uint64_t here = PAGE - first % PAGE < bytes ? PAGE - first % PAGE : bytes;
  piece(context, memory(first), here);
  bytes -= here;
  if (bytes == 0) return second == 0 ? 0 : refuse(why, "PRP2 is reserved here, and not zero");
  if (bytes <= PAGE) {
    if (second % PAGE != 0) return refuse(why, "PRP2 has an offset");
    piece(context, memory(second), bytes);
    return 0;
  }
  if (second % 8 != 0) return refuse(why, "PRP list not quadword aligned");
  uint64_t list = second;
  while (bytes > 0) {
    uint64_t entry = spate_get64(memory(list));
    if (entry % PAGE != 0) return refuse(why, "PRP list entry with an offset");
    if (entry == 0) return refuse(why, "PRP list entry zero");
    if (list % PAGE == PAGE - 8 && bytes > PAGE) { /* last entry of its page, and more to come: a chain */
      list = entry;
      continue;
    }
    here = bytes < PAGE ? bytes : PAGE;
    piece(context, memory(entry), here);
    bytes -= here;
    list += 8;
  }
  return 0;
}

struct mover {
  uint8_t *media;
  bool write, skip;
  uint64_t moved;
};

static void move_piece(void *context, uint8_t *at, uint64_t bytes) {
  struct mover *mover = context;
  if (!mover->skip && at != NULL && mover->media != NULL) {
    if (mover->write)
      memcpy(mover->media + mover->moved, at, bytes);
    else
      memcpy(at, mover->media + mover->moved, bytes);
  }
  mover->moved += bytes;
}

/* ---- completions ---- */

static void post(struct fake_nvme *drive, const struct fake_pending *pending) {
  const struct fake_ring *sq = &drive->sq[pending->queue];
  struct fake_ring *cq = &drive->cq[sq->cq];
  uint8_t *entry = memory(cq->address + (uint64_t)cq->tail * CQ_ENTRY);

  if ((cq->tail + 1) % cq->entries == cq->head) violate(drive, "completion queue overrun: heads not reported");
  for (unsigned i = 0; i < 3 && !drive->torn; i++)
    spate_put32(entry + 4 * i, pending->entry[i]);
  if (drive->torn) fake_nvme_order_tear(drive, entry, pending->entry);
  spate_put32(entry + 12, (pending->entry[3] & ~UINT32_C(0x10000)) | (cq->phase ? 0x10000u : 0));
  cq->tail = (cq->tail + 1) % cq->entries;
  if (cq->tail == 0) cq->phase = !cq->phase;
}

static uint32_t random_next(struct fake_nvme *drive) {
  drive->random = drive->random * 1664525u + 1013904223u;
  return drive->random >> 8;
}

static void run(struct fake_nvme *drive) {
  if (drive->gone || (drive->csts & 3u) != 1u) return;
  unsigned start = drive->shuffle ? random_next(drive) % FAKE_PENDING_MAX : 0;
  unsigned left = drive->pending_count; /* most of the time none: not to look is what makes minutes of its time pass */
  for (unsigned i = 0; i < FAKE_PENDING_MAX && left > 0; i++) {
    struct fake_pending *pending = &drive->pending[(start + i) % FAKE_PENDING_MAX];
    if (!pending->used) continue;
    left--;
    if (pending->stalled || pending->due_ticks > drive->ticks) continue;
    pending->used = false;
    drive->pending_count--;
    post(drive, pending);
  }
}

static void complete(struct fake_nvme *drive, uint16_t queue, uint32_t id, uint32_t result, uint16_t status,
                     uint64_t delay, bool stalled) {
  for (unsigned i = 0; i < FAKE_PENDING_MAX; i++) {
    struct fake_pending *pending = &drive->pending[i];
    if (pending->used) continue;
    drive->pending_count++;
    const uint64_t spread = drive->shuffle && queue != 0 ? random_next(drive) % (drive->latency_ticks * 4 + 1) : 0;
    *pending = (struct fake_pending){
        .used = true,
        .stalled = stalled,
        .queue = queue,
        .due_ticks = drive->ticks + drive->latency_ticks + delay + spread,
        .entry = {result, 0, (uint32_t)queue << 16 | drive->sq[queue].head, (uint32_t)status << 17 | (id & 0xffffu)}};
    return;
  }
  violate(drive, "more commands than the drive can hold");
}

/* ---- admin commands ---- */

static uint16_t identify(struct fake_nvme *drive, const uint32_t *dw) {
  uint8_t page[4096] = {0};
  const char *why = "Identify";
  struct mover mover = {.media = page};

  if (drive->version < 0x00010100 && (dw[10] & 0xff) > 1) {
    violate(drive, "CNS has one bit in NVMe 1.0");
    return STATUS_NAMESPACE;
  }
  switch (dw[10] & 0xff) {
  case 0:
    for (unsigned i = 0; drive->namespaces[i] != 0; i++)
      if (drive->namespaces[i] == dw[1]) memcpy(page, drive->namespace_page, sizeof page);
    break;
  case 1: memcpy(page, drive->controller_page, sizeof page); break;
  case 2:
    for (unsigned i = 0, n = 0; drive->namespaces[i] != 0; i++)
      if (drive->namespaces[i] > dw[1]) spate_put32(page + 4 * n++, drive->namespaces[i]);
    break;
  default: return STATUS_INVALID_FIELD;
  }
  const uint64_t first = (uint64_t)dw[7] << 32 | dw[6];
  return fake_nvme_walk_prps(first, (uint64_t)dw[9] << 32 | dw[8], sizeof page, move_piece, &mover, &why);
}

static uint16_t get_log(struct fake_nvme *drive, const uint32_t *dw) {
  uint8_t page[512] = {0};
  struct mover mover = {.media = page};
  const char *why = "";
  const uint32_t bytes = ((dw[10] >> 16) + 1) * 4;

  if (bytes > sizeof page) return STATUS_INVALID_FIELD;
  if ((dw[10] & 0xff) == 2) memcpy(page, drive->health_page, sizeof page);
  return fake_nvme_walk_prps((uint64_t)dw[7] << 32 | dw[6], 0, bytes, move_piece, &mover, &why);
}

static uint16_t create_queue(struct fake_nvme *drive, const uint32_t *dw, bool submission) {
  const uint32_t id = dw[10] & 0xffff, entries = (dw[10] >> 16) + 1;
  const uint64_t address = (uint64_t)dw[7] << 32 | dw[6];
  struct fake_ring *ring = submission ? &drive->sq[id % (FAKE_QUEUES_MAX + 1)] : &drive->cq[id % (FAKE_QUEUES_MAX + 1)];

  if (id == 0 || id > drive->queue_pairs || ring->entries != 0) return STATUS_QUEUE_ID;
  if (entries < 2 || entries > (drive->cap & 0xffff) + 1) return STATUS_QUEUE_SIZE;
  if ((dw[11] & 1) == 0 || address % PAGE != 0) return STATUS_INVALID_FIELD;
  *ring = (struct fake_ring){.address = address, .entries = entries, .phase = true};
  if (submission) {
    ring->cq = (uint16_t)(dw[11] >> 16);
    if (ring->cq == 0 || ring->cq > drive->queue_pairs || drive->cq[ring->cq].entries == 0) return 0x4100;
  }
  return 0;
}

static uint16_t delete_queue(struct fake_nvme *drive, const uint32_t *dw, bool submission) {
  const uint32_t id = dw[10] & 0xffff;

  if (id == 0 || id > drive->queue_pairs) return STATUS_QUEUE_ID;
  if (!submission && drive->sq[id].entries != 0) {
    violate(drive, "completion queue deleted before its submission queue");
    return 0x410c;
  }
  struct fake_ring *ring = submission ? &drive->sq[id] : &drive->cq[id];
  if (ring->entries == 0) return STATUS_QUEUE_ID;
  ring->entries = 0;
  return 0;
}

static uint16_t set_feature(struct fake_nvme *drive, const uint32_t *dw, uint32_t *result) {
  const uint32_t feature = dw[10] & 0xff;

  if (feature == 7) {
    const uint32_t asked = (dw[11] & 0xffff) + 1, given = asked < drive->queue_pairs ? asked : drive->queue_pairs;
    *result = (given - 1) << 16 | (given - 1);
  }
  if (feature == 6) drive->write_cache = (dw[11] & 1) != 0;
  if (feature == 0x0d) {
    memcpy(drive->host_buffer, dw + 11, sizeof drive->host_buffer);
    if ((dw[11] & 1) != 0) memcpy(drive->host_buffer_descriptor, memory((uint64_t)dw[14] << 32 | dw[13]), 16);
  }
  if (feature == 0x16) drive->behavior_acre = *(uint8_t *)memory((uint64_t)dw[7] << 32 | dw[6]) == 1;
  drive->features[feature] = dw[11];
  return 0;
}

static uint16_t get_feature(struct fake_nvme *drive, const uint32_t *dw, uint32_t *result) {
  *result = (dw[10] & 0xff) == 6 ? drive->write_cache : drive->features[dw[10] & 0xff];
  return 0;
}

static uint16_t abort_command(struct fake_nvme *drive, const uint32_t *dw, uint32_t *result) {
  *result = 1;
  for (unsigned i = 0; i < FAKE_PENDING_MAX; i++) {
    struct fake_pending *pending = &drive->pending[i];
    if (!pending->used || !pending->stalled || pending->queue != (dw[10] & 0xffff)) continue;
    if ((pending->entry[3] & 0xffff) != dw[10] >> 16) continue;
    pending->stalled = false;
    pending->due_ticks = drive->ticks;
    pending->entry[3] = (uint32_t)STATUS_ABORTED << 17 | dw[10] >> 16;
    *result = 0;
  }
  return 0;
}

static uint16_t format(struct fake_nvme *drive, const uint32_t *dw) {
  const unsigned index = dw[10] & 0xf;
  const uint32_t lbaf = spate_get32(drive->namespace_page + 128 + 4 * index);

  if (index > drive->namespace_page[25]) return 0x410a;
  const unsigned shift = (lbaf >> 16) & 0xff;
  fake_nvme_geometry(drive, (drive->blocks << drive->block_shift) >> shift, shift);
  drive->namespace_page[26] = (uint8_t)index;
  return 0;
}

static uint16_t admin_command(struct fake_nvme *drive, const uint32_t *dw, uint32_t *result) {
  switch (dw[0] & 0xff) {
  case 0x00: return delete_queue(drive, dw, true);
  case 0x01: return create_queue(drive, dw, true);
  case 0x02: return get_log(drive, dw);
  case 0x04: return delete_queue(drive, dw, false);
  case 0x05: return create_queue(drive, dw, false);
  case 0x06: return identify(drive, dw);
  case 0x08: return abort_command(drive, dw, result);
  case 0x09: return set_feature(drive, dw, result);
  case 0x0a: return get_feature(drive, dw, result);
  case 0x0c:
    if (drive->event_armed) return 0x4105;
    drive->event_armed = true;
    drive->event_id = dw[0] >> 16;
    drive->events_armed++;
    return NO_ANSWER;
  case 0x80: return format(drive, dw);
  default: return STATUS_INVALID_OPCODE;
  }
}

/* ---- I/O commands ---- */

static uint16_t transfer(struct fake_nvme *drive, struct fake_command *command) {
  const uint32_t *dw = command->dwords;
  const uint64_t lba = (uint64_t)dw[11] << 32 | dw[10], blocks = (dw[12] & 0xffff) + 1;
  const uint64_t bytes = blocks << drive->block_shift;
  const uint8_t mdts = drive->controller_page[77];
  const char *why = NULL;
  struct mover mover = {.write = (dw[0] & 0xff) == 1, .skip = drive->no_media};

  if (lba >= drive->blocks || blocks > drive->blocks - lba) return STATUS_LBA;
  if (mdts != 0 && mdts < 20 && bytes > PAGE << mdts) {
    violate(drive, "more than MDTS in a command");
    return STATUS_INVALID_FIELD;
  }
  if ((dw[12] & 0x3fff0000) != 0 || dw[13] != 0) violate(drive, "reserved bits in a read or write");
  if (drive->media != NULL) mover.media = drive->media + (lba << drive->block_shift);
  const uint16_t status = fake_nvme_walk_prps((uint64_t)dw[7] << 32 | dw[6], (uint64_t)dw[9] << 32 | dw[8], bytes,
                                              move_piece, &mover, &why);
  if (why != NULL) violate(drive, why);
  command->bytes = (uint32_t)mover.moved;
  return status;
}

static uint16_t write_zeroes(struct fake_nvme *drive, const uint32_t *dw) {
  const uint64_t lba = (uint64_t)dw[11] << 32 | dw[10], blocks = (dw[12] & 0xffff) + 1;

  if (lba >= drive->blocks || blocks > drive->blocks - lba) return STATUS_LBA;
  memset(drive->media + (lba << drive->block_shift), 0, blocks << drive->block_shift);
  return 0;
}

static uint16_t dataset_management(struct fake_nvme *drive, const uint32_t *dw) {
  const uint8_t *range = memory((uint64_t)dw[7] << 32 | dw[6]);
  const uint64_t blocks = spate_get32(range + 4), lba = spate_get64(range + 8);

  if ((dw[10] & 0xff) != 0 || dw[11] != 4) return STATUS_INVALID_FIELD;
  if (lba >= drive->blocks || blocks > drive->blocks - lba) return STATUS_LBA;
  memset(drive->media + (lba << drive->block_shift), 0xdd, blocks << drive->block_shift);
  return 0;
}

static uint16_t io_command(struct fake_nvme *drive, struct fake_command *command) {
  const uint32_t *dw = command->dwords;

  if (dw[1] != drive->namespaces[0]) return STATUS_NAMESPACE;
  if (dw[2] != 0 || dw[3] != 0 || dw[4] != 0 || dw[5] != 0 || dw[14] != 0 || dw[15] != 0)
    violate(drive, "reserved dwords in an I/O command");
  switch (dw[0] & 0xff) {
  case 0: return 0;
  case 1:
  case 2: return transfer(drive, command);
  case 8: return write_zeroes(drive, dw);
  case 9: return dataset_management(drive, dw);
  default: return STATUS_INVALID_OPCODE;
  }
}

/* ---- queues and registers ---- */

static struct fake_fault *fault_for(struct fake_nvme *drive, bool admin, uint8_t opcode) {
  for (unsigned i = 0; i < drive->fault_count && i < FAKE_FAULTS_MAX; i++) {
    struct fake_fault *fault = &drive->faults[i];
    if (fault->admin != admin || fault->count == 0 || (fault->opcode >= 0 && fault->opcode != opcode)) continue;
    if (fault->skip > 0) {
      fault->skip--;
      continue;
    }
    fault->count--;
    return fault;
  }
  return NULL;
}

static void carry_out(struct fake_nvme *drive, uint16_t queue, struct fake_command *command) {
  const uint8_t opcode = (uint8_t)command->dwords[0];
  const uint32_t id = command->dwords[0] >> 16;
  const struct fake_fault *fault = fault_for(drive, queue == 0, opcode);
  uint32_t result = 0;
  uint64_t delay = 0;

  if (fault != NULL && fault->action == FAKE_STATUS) {
    complete(drive, queue, id, 0, (uint16_t)fault->value, 0, false);
    return;
  }
  if (fault != NULL && fault->action == FAKE_STALL) {
    complete(drive, queue, id, 0, 0, 0, true);
    return;
  }
  if (fault != NULL && fault->action == FAKE_FATAL) drive->csts |= 2u;
  if (fault != NULL && fault->action == FAKE_GONE) drive->gone = true;
  if (fault != NULL && fault->action == FAKE_POWER_CUT) fake_nvme_power_cut(drive);
  if ((drive->csts & 3u) != 1u || drive->gone) return;
  const uint16_t status = queue == 0 ? admin_command(drive, command->dwords, &result) : io_command(drive, command);
  if (status == NO_ANSWER || (fault != NULL && fault->action == FAKE_LOSE)) return;
  if (fault != NULL && fault->action == FAKE_DELAY) delay = fault->value;
  if (fault != NULL && fault->action == FAKE_WRONG_ID) complete(drive, queue, id ^ fault->value, 0, status, 0, false);
  if (fault != NULL && fault->action == FAKE_DOUBLE) complete(drive, queue, id, result, status, 0, false);
  complete(drive, queue, id, result, status, delay, false);
  if (fault != NULL && fault->action == FAKE_WRONG_QUEUE)
    for (unsigned i = 0; i < FAKE_PENDING_MAX; i++)
      if (drive->pending[i].used && drive->pending[i].entry[3] == ((uint32_t)status << 17 | id))
        drive->pending[i].entry[2] ^= UINT32_C(1) << 20;
}

static void fetch(struct fake_nvme *drive, uint16_t queue) {
  struct fake_ring *sq = &drive->sq[queue];

  while (sq->entries != 0 && sq->head != sq->tail && !drive->gone) {
    struct fake_command command = {.queue = queue, .ticks = drive->ticks};
    memcpy(command.dwords, memory(sq->address + (uint64_t)sq->head * SQ_ENTRY), SQ_ENTRY);
    sq->head = (sq->head + 1) % sq->entries;
    if (queue == 0) {
      drive->admin_count[command.dwords[0] & 0xff]++;
      memcpy(drive->admin_dwords[command.dwords[0] & 0xff], command.dwords, SQ_ENTRY);
    }
    const unsigned at = drive->journal_count;
    carry_out(drive, queue, &command);
    if (queue != 0 && at < FAKE_JOURNAL_MAX) {
      drive->journal[at] = command;
      drive->journal_count++;
    }
  }
}

static void doorbell(struct fake_nvme *drive, uint64_t offset, uint32_t value) {
  const unsigned stride_shift = 2 + ((drive->cap >> 32) & 0xf);
  const uint64_t index = (offset - 0x1000) >> stride_shift;
  const uint64_t queue = index / 2;

  drive->doorbells++;
  if ((drive->csts & 1u) == 0) {
    if (!drive->power_was_cut) violate(drive, "doorbell of a controller that is not ready");
    return;
  }
  if (queue > drive->queue_pairs || ((offset - 0x1000) & ((1u << stride_shift) - 1)) != 0) {
    violate(drive, "not a doorbell");
    return;
  }
  struct fake_ring *ring = index % 2 == 0 ? &drive->sq[queue] : &drive->cq[queue];
  if (value >= ring->entries) {
    violate(drive, "doorbell of a queue that is not there, or beyond its size");
    return;
  }
  if (index % 2 == 0) {
    fake_nvme_order_submission(drive, (unsigned)queue, value);
    ring->tail = value;
    fetch(drive, (uint16_t)queue);
  } else {
    fake_nvme_order_completion(drive, (unsigned)queue, value);
    ring->head = value;
  }
}

static void forget(struct fake_nvme *drive) {
  memset(drive->sq, 0, sizeof drive->sq);
  memset(drive->cq, 0, sizeof drive->cq);
  memset(drive->pending, 0, sizeof drive->pending);
  drive->pending_count = 0;
  drive->event_armed = false;
  drive->host_buffer[0] = 0;
  drive->behavior_acre = false;
}

static void reset_subsystem(struct fake_nvme *drive, uint32_t value) {
  if (value != 0x4e564d65) {
    violate(drive, "NSSR takes nothing but \"NVMe\"");
    return;
  }
  drive->subsystem_resets++;
  drive->unasked_resets += !drive->link_asked;
  if (drive->subsystem_reset_mends) drive->fatal_on_enable = false;
  forget(drive);
  drive->cc = 0;
  drive->csts = 0;
}

static void write_cc(struct fake_nvme *drive, uint32_t value) {
  const uint32_t before = drive->cc;

  if (drive->ignores_control) {
    if ((value & 1) == 0) drive->csts &= ~1u;
    return;
  }
  fake_nvme_order_control(drive, (value & ~before & 1) != 0);
  if ((before & 1) != 0 && (value & 1) == 0) drive->disabled_ticks = drive->ticks;
  drive->cc = value;
  if ((value & 1) != 0 && (before & 1) == 0) {
    if ((drive->csts & 1) != 0) violate(drive, "CC.EN set while CSTS.RDY is 1");
    if ((value & 0x00ffffff) != 0x00460001) violate(drive, "CC is not 64/16-byte entries, 4 KiB, NVM, round robin");
    drive->enables++;
    drive->power_was_cut = false;
    if (drive->gone_after_enables != 0 && drive->enables >= drive->gone_after_enables) drive->gone = true;
    forget(drive);
    drive->csts = drive->fatal_on_enable ? 2 : 0;
    drive->sq[0] = (struct fake_ring){.address = drive->asq, .entries = (drive->aqa & 0xfff) + 1};
    drive->cq[0] =
        (struct fake_ring){.address = drive->acq, .entries = ((drive->aqa >> 16) & 0xfff) + 1, .phase = true};
    if (drive->asq % PAGE != 0 || drive->acq % PAGE != 0) violate(drive, "admin queue not page aligned");
    drive->ready_at_ticks = drive->ticks + drive->ready_ticks;
    drive->not_before_ticks = drive->ticks + (drive->cap >> 24 & 0xff) * (FAKE_TICKS_PER_SECOND / 2);
  } else if ((value & 1) == 0 && (before & 1) != 0) {
    if ((drive->csts & 3) == 0 && drive->ticks < drive->not_before_ticks)
      violate(drive, "CC.EN cleared before CSTS.RDY was 1, and before CAP.TO was over");
    forget(drive);
    if (!drive->never_disabled) drive->csts = 0;
  }
  if ((value & 0xc000) == 0x4000 && (before & 0xc000) == 0) {
    drive->shutdowns++;
    for (unsigned i = 1; i <= FAKE_QUEUES_MAX; i++)
      drive->hot_shutdown |= drive->sq[i].entries != 0;
    drive->csts |= 4; /* being shut down */
    drive->shut_down_at_ticks = drive->ticks + drive->shutdown_ticks;
  }
}

void fake_nvme_advance(struct fake_nvme *drive, uint64_t ticks) {
  drive->ticks += ticks;
  if ((drive->cc & 1) != 0 && (drive->csts & 3) == 0 && !drive->never_ready && drive->ticks >= drive->ready_at_ticks)
    drive->csts |= 1;
  if ((drive->csts & 0xc) == 4 && drive->ticks >= drive->shut_down_at_ticks) drive->csts ^= 0xc;
  run(drive);
}

uint32_t fake_nvme_read32(struct fake_nvme *drive, uint64_t address) {
  const uint64_t offset = address - FAKE_REGISTERS;

  fake_nvme_advance(drive, 1);
  drive->link_asked = false;
  drive->reads_gone += drive->gone;
  if (drive->gone) return drive->arbitrary ? (drive->random = drive->random * 1664525u + 1013904223u) : UINT32_MAX;
  switch (offset) {
  case 0x00: return (uint32_t)drive->cap;
  case 0x04: return (uint32_t)(drive->cap >> 32);
  case 0x08: return drive->version;
  case 0x14: return drive->cc;
  case 0x1c:
    if (drive->disabled_ticks != 0) drive->pause_ticks = drive->ticks - drive->disabled_ticks;
    drive->disabled_ticks = 0;
    return drive->csts;
  default: violate(drive, "read of a register nobody needs"); return 0;
  }
}

void fake_nvme_write32(struct fake_nvme *drive, uint64_t address, uint32_t value) {
  const uint64_t offset = address - FAKE_REGISTERS;

  fake_nvme_advance(drive, 1);
  if (offset + 4 > drive->registers_bytes) violate(drive, "write beyond BAR 0");
  drive->writes_gone += drive->gone;
  if (drive->gone) return;
  if ((drive->cc & 1) != 0 && offset >= 0x24 && offset < 0x38) violate(drive, "admin queue moved while enabled");
  switch (offset) {
  case 0x14: write_cc(drive, value); break;
  case 0x20: reset_subsystem(drive, value); break;
  case 0x24: drive->aqa = value; break;
  case 0x28: drive->asq = (drive->asq & ~UINT64_C(0xffffffff)) | value; break;
  case 0x2c: drive->asq = (uint32_t)drive->asq | (uint64_t)value << 32; break;
  case 0x30: drive->acq = (drive->acq & ~UINT64_C(0xffffffff)) | value; break;
  case 0x34: drive->acq = (uint32_t)drive->acq | (uint64_t)value << 32; break;
  default:
    if (offset < 0x1000)
      violate(drive, "write of a register nobody needs");
    else
      doorbell(drive, offset, value);
  }
  drive->link_asked = false;
}

/* ---- set-up ---- */

void fake_nvme_geometry(struct fake_nvme *drive, uint64_t blocks, unsigned block_shift) {
  drive->blocks = blocks;
  drive->block_shift = block_shift;
  spate_put64(drive->namespace_page, blocks);
  spate_put64(drive->namespace_page + 8, blocks);
  drive->namespace_page[25] = 3;
  drive->namespace_page[26] = block_shift == 12 ? 2 : 0;
  spate_put32(drive->namespace_page + 128, UINT32_C(9) << 16 | UINT32_C(2) << 24);
  spate_put32(drive->namespace_page + 132, UINT32_C(9) << 16 | 8); /* with metadata */
  spate_put32(drive->namespace_page + 136, UINT32_C(12) << 16 | UINT32_C(1) << 24);
  spate_put32(drive->namespace_page + 140, UINT32_C(12) << 16 | UINT32_C(0) << 24 | 64);
}

static void put_text(uint8_t *at, const char *text, size_t bytes) {
  memset(at, ' ', bytes);
  memcpy(at, text, strlen(text));
}

void fake_nvme_init(struct fake_nvme *drive, unsigned block_shift) {
  memset(drive, 0, sizeof *drive);
  /* 64 entries, 2 s, round robin only, stride 4, NVM command set, 4 KiB to 64 KiB pages. */
  drive->version = 0x00010400;
  drive->cap = UINT64_C(63) | UINT64_C(1) << 16 | UINT64_C(4) << 24 | UINT64_C(1) << 37 | UINT64_C(4) << 52;
  drive->registers_bytes = 0x4000;
  drive->queue_pairs = 4;
  drive->namespaces[0] = 1;
  drive->media = calloc(1, 8u << 20);
  fake_nvme_geometry(drive, (UINT64_C(8) << 20) >> block_shift, block_shift);
  put_text(drive->controller_page + 4, "FAKE0001", 20);
  put_text(drive->controller_page + 24, "Spate fake drive", 40);
  put_text(drive->controller_page + 64, "1.0", 8);
  drive->controller_page[77] = 5;
  spate_put32(drive->controller_page + 80, 0x00010400);
  spate_put16(drive->controller_page + 256, 2);
  drive->controller_page[263] = 4;
  spate_put16(drive->controller_page + 266, 343);
  spate_put16(drive->controller_page + 268, 353);
  spate_put32(drive->controller_page + 516, 8);
  spate_put16(drive->controller_page + 520, 4 | 8);
  drive->controller_page[525] = 1;
  drive->write_cache = true;
  spate_put16(drive->health_page + 1, 273 + 41);
  drive->health_page[3] = 99;
  spate_put64(drive->health_page + 112, 17);
  spate_put64(drive->health_page + 144, 3);
  drive->ready_ticks = 2000;
  drive->latency_ticks = 20;
  drive->shutdown_ticks = 3000;
  drive->random = 1;
}

void fake_nvme_free(struct fake_nvme *drive) {
  free(drive->media);
  drive->media = NULL;
}

void fake_nvme_fault(struct fake_nvme *drive, struct fake_fault fault) {
  drive->faults[drive->fault_count++ % FAKE_FAULTS_MAX] = fault;
}

bool fake_nvme_event(struct fake_nvme *drive, uint32_t result) {
  if (!drive->event_armed) return false;
  drive->event_armed = false;
  complete(drive, 0, drive->event_id, result, 0, 0, false);
  return true;
}

void fake_nvme_return(struct fake_nvme *drive) {
  drive->gone = false;
  forget(drive);
  drive->cc = 0;
  drive->csts = 0;
}

void fake_nvme_power_cut(struct fake_nvme *drive) {
  forget(drive);
  drive->cc = 0;
  drive->csts = 0;
  drive->power_was_cut = true;
  spate_put64(drive->health_page + 112, spate_get64(drive->health_page + 112) + 1);
  spate_put64(drive->health_page + 144, spate_get64(drive->health_page + 144) + 1);
}
